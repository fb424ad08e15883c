"""A changed kernel is compiled in a hurry, and meets Python's tests, then those in C++.

Python's kill most in a second; those in C++ take longer to build, but run under ASan. Both builds
are kept as they were before any change, and copied back after each: a mutant costs the compiler
the files that include it, once.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mutants.python_sites import Mutant
    from mutants.tree_copy import Copy

ROOMS = ("explain", "forest")
PYTHON_TESTS = ("importance", "forest")
LEFT_OUT = {"test_concurrency.py"}  # of time, which a kernel compiled in a hurry takes
BIN = Path(sys.executable).parent
QUICK = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DLOCALMDI_WERROR=OFF"]
ALLOWED = 3  # times the seconds that tests take without a change, and a few more


class CppTrial:
    """The Python module and the tests of the rooms, built beside a copy of the tree."""

    def __init__(self, copy: Copy) -> None:
        self.copy, root = copy, copy.root
        nanobind = _do([sys.executable, "-m", "nanobind", "--cmake_dir"]).strip()
        options = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}"]
        self.module = _Build(root, "build-module", options=options, targets=["_core"])
        sources = [path for room in ROOMS for path in root.glob(f"cpp/tests/{room}/test_*.cpp")]
        self.programs = [path.stem for path in sources]
        options = ["-DLOCALMDI_TESTS=ON", "-DLOCALMDI_SANITIZERS=address"]
        options += ["-DLOCALMDI_TEST_FLAGS=-O0"]
        self.tests = _Build(root, "build-tests", options=options, targets=self.programs)
        files = [path for room in PYTHON_TESTS for path in root.glob(f"tests/{room}/test_*.py")]
        self.files = [
            file.relative_to(root).as_posix() for file in files if file.name not in LEFT_OUT
        ]
        self.seconds: dict[str, float] = {}
        # What fails without a change would kill every mutant.
        killer = self._python_tests("") or self._core_tests("")
        if killer:
            sys.exit(f"fails without any change: {killer}")

    def outcome(self, mutant: Mutant) -> str:
        """Return what killed the mutant, or ""."""
        file = self.copy.root / mutant.path
        before, times = file.read_text(encoding="utf-8"), file.stat()
        file.write_text(mutant.text, encoding="utf-8")
        about = file.stem.partition("_")[0]
        try:
            return self._python_tests(about) or self._core_tests(about)
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.module.restore()
            self.tests.restore()

    def _python_tests(self, about: str) -> str:
        if not self.module.compiles():
            return "the compiler"
        installed = next((self.copy.root / "src" / "localmdi").glob("_core.*.so"))
        # Not written over: a process may have it in memory.
        installed.unlink()
        shutil.copy2(next(self.module.folder.glob("_core.*.so")), installed)
        return self._first_killer(
            self.files, about, run=lambda file, limit: self.copy.run([file], limit)
        )

    def _core_tests(self, about: str) -> str:
        if not self.tests.compiles():
            return "the compiler"
        return self._first_killer(self.programs, about, run=self._run_program)

    def _run_program(self, program: str, limit: int) -> str:
        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [next(self.tests.folder.rglob(program))]
        done = subprocess.run(command, capture_output=True, preexec_fn=bound)
        return program if done.returncode else ""

    def _first_killer(self, tests: list[str], about: str, *, run: Callable[[str, int], str]) -> str:
        """Run what is named after the changed file, then the rest, quick ones first."""
        for test in sorted(tests, key=lambda t: (about not in t, self.seconds.get(t, 0.0))):
            begin = time.monotonic()
            known = self.seconds.get(test)
            killer = run(test, 1000 if known is None else 10 + int(ALLOWED * known))
            self.seconds.setdefault(test, time.monotonic() - begin)
            if killer:
                return killer
        return ""


class _Build:
    """A build folder that can be as it was."""

    def __init__(self, root: Path, name: str, *, options: list[str], targets: list[str]) -> None:
        self.folder, self._sound = root / name, root / f"{name}-sound"
        cmake = [BIN / "cmake", "-S", root, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={BIN}/ninja"]
        _do([*cmake, "-B", self.folder, *QUICK, *options])
        self._command = [BIN / "cmake", "--build", self.folder, "--target", *targets]
        _do(self._command)
        shutil.copytree(self.folder, self._sound)

    def compiles(self) -> bool:
        return subprocess.run(self._command, capture_output=True).returncode == 0

    def restore(self) -> None:
        """Copy back what changed, with its times, by which ninja knows what is up to date."""
        for sound in self._sound.rglob("*"):
            file = self.folder / sound.relative_to(self._sound)
            if sound.is_file() and (
                not file.exists() or file.stat().st_mtime_ns != sound.stat().st_mtime_ns
            ):
                shutil.copy2(sound, file)


def _do(command: list[str | Path]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
