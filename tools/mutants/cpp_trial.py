"""A changed kernel is compiled in a hurry, and meets Python's tests, then those in C++.

Python's kill most in a second; those in C++ take a minute without optimization, but run under ASan.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mutants.covering import Covering
    from mutants.python_sites import Mutant
    from mutants.tree_copy import Copy

ROOMS = ("explain", "forest")
PYTHON_TESTS = ("tests/importance/", "tests/forest/")
SECONDS = 30.0  # of processor time for Python tests, with kernels that are compiled for speed
SLOWER = 10  # times, with kernels that are not
BIN = Path(sys.executable).parent


class CppTrial:
    """Two build folders beside a copy: the tests of the rooms, and the Python module."""

    def __init__(self, copy: Copy, covering: Covering) -> None:
        self.copy = copy
        self.tests, self.module = copy.root / "build-tests", copy.root / "build-module"
        cmake = [BIN / "cmake", "-S", copy.root, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={BIN}/ninja"]
        quick = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DLOCALMDI_WERROR=OFF"]
        options = ["-DLOCALMDI_TESTS=ON", "-DLOCALMDI_SANITIZERS=address"]
        options += ["-DLOCALMDI_TEST_FLAGS=-O0"]
        _do([*cmake, "-B", self.tests, *quick, *options])
        nanobind = _do([sys.executable, "-m", "nanobind", "--cmake_dir"]).strip()
        options = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}"]
        _do([*cmake, "-B", self.module, *quick, *options])
        sources = [
            path for room in ROOMS for path in copy.root.glob(f"cpp/tests/{room}/test_*.cpp")
        ]
        self.programs = [path.stem for path in sources]
        self.built = next((copy.root / "src" / "localmdi").glob("_core.*.so"))
        seconds = covering.seconds
        self.stage, total = [], 0.0
        for test in sorted(seconds, key=seconds.__getitem__):
            if test.startswith(PYTHON_TESTS) and total < SECONDS:
                self.stage.append(test)
                total += seconds[test]
        # What fails without a change would kill every mutant.
        killer = self._python_tests(120)
        if killer:
            sys.exit(f"fails without any change: {killer}")

    def outcome(self, mutant: Mutant, seconds: int) -> str:
        """Return what killed the mutant, or ""."""
        file = self.copy.root / mutant.path
        before = file.read_text(encoding="utf-8")
        file.write_text(mutant.text, encoding="utf-8")
        try:
            return self._python_tests(seconds) or self._core_tests(seconds)
        finally:
            file.write_text(before, encoding="utf-8")

    def _python_tests(self, seconds: int) -> str:
        if not _compiles(self.module, ["_core"]):
            return "the compiler"
        kept = self.built.read_bytes()
        # Not written over: a process may have it in memory.
        self.built.unlink()
        shutil.copy2(next(self.module.glob("_core.*.so")), self.built)
        try:
            return self.copy.run(self.stage, SLOWER * seconds)
        finally:
            self.built.unlink()
            self.built.write_bytes(kept)

    def _core_tests(self, seconds: int) -> str:
        if not _compiles(self.tests, self.programs):
            return "the compiler"
        for program in self.programs:
            command = [next(self.tests.rglob(program))]
            try:
                done = subprocess.run(command, capture_output=True, timeout=SLOWER * seconds)
            except subprocess.TimeoutExpired:
                return f"{program}, which never ended"
            if done.returncode:
                return program
        return ""


def _compiles(folder: Path, targets: list[str]) -> bool:
    build = [BIN / "cmake", "--build", folder, "--target", *targets]
    return subprocess.run(build, capture_output=True).returncode == 0


def _do(command: list[str | Path]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
