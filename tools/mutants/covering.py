"""Which tests execute which line, and how long they take: one run of the tests with coverage."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mutants.test_choice import file_of
from mutants.tree_copy import ROOT, Copy

if TYPE_CHECKING:
    from pathlib import Path

ROOMS = ("forest", "importance", "adapters", "results")
TESTS = (
    *(f"src/localmdi/{room}" for room in ROOMS),
    *(f"tests/{room}" for room in ROOMS),
    "tests/test_container.py",
)
SPARK = "spark_ml.py"  # its tests start Java, which only mutants of the file itself are worth
FIRST = 30  # tests of the first stage
SECONDS = 40.0  # of processor time for tests of the second one


@dataclass
class Covering:
    """The tests of every line, by file."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]
    newer: list[str]  # files of tests that were written since

    @classmethod
    def of(cls, folder: Path, stored: Path) -> Covering:
        """Read what an earlier run stored, or run in a new copy of the tree."""
        if not stored.exists():
            print("running all tests of the rooms once, with coverage", flush=True)
            copy = Copy(folder)
            _run(copy)
            found = (_lines(copy), _seconds(copy))
            stored.write_text(json.dumps(found), encoding="utf-8")
        changed = [
            path.relative_to(ROOT).as_posix()
            for room in ROOMS
            for path in (ROOT / "tests" / room).glob("test_*.py")
            if path.stat().st_mtime > stored.stat().st_mtime
        ]
        return cls(*json.loads(stored.read_text(encoding="utf-8")), changed)

    def stages(self, path: str, line: int) -> list[list[str]]:
        """Return tests in order: quick ones that execute the line, then the rest of their files."""
        room = path.split("/")[2]
        tests = self.lines.get(path, {}).get(str(line), [])
        # Lines that run at import, or in processes of their own, may matter to any test.
        everything = "import" in tests or not tests
        files = {file_of(test) for test in tests}
        wanted = {
            test
            for test in self.seconds
            if (everything or test in tests or file_of(test) in files)
            and (path.endswith(SPARK) or not file_of(test).endswith(SPARK))
        }

        def order(test: str) -> tuple[bool, bool, float]:
            at_home = f"/{room}/" in test
            return not at_home, test not in tests and not everything, self.seconds[test]

        ordered = sorted(wanted, key=order)
        first, rest = ordered[:FIRST], ordered[FIRST:]
        chosen, total = [], 0.0
        for test in rest:
            total += self.seconds[test]
            if total > SECONDS:
                break
            chosen.append(test)
        newer = [file for file in self.newer if f"/{room}/" in file]
        return [stage for stage in (first, chosen, newer) if stage]


def _run(copy: Copy) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    command += ["--cov", "--cov-context=test", "--cov-report=", "--cov-fail-under=0", "-n", "2"]
    command += ["-p", "mutants.test_choice", *TESTS]
    done = subprocess.run(command, cwd=copy.root, env=copy.environment, check=False)
    if done.returncode:
        sys.exit("the tests must pass before anything is changed")


def _lines(copy: Copy) -> dict[str, dict[str, list[str]]]:
    from coverage import CoverageData

    data = CoverageData(str(copy.root / ".coverage"))
    data.read()
    found: dict[str, dict[str, list[str]]] = {}
    for file in data.measured_files():
        path = file.removeprefix(f"{copy.root}/")
        found[path] = {
            str(line): sorted(_names(contexts))
            for line, contexts in data.contexts_by_lineno(file).items()
        }
    return found


def _names(contexts: list[str]) -> set[str]:
    names = {context.rpartition("|")[0] for context in contexts}
    return {name or "import" for name in names}


def _seconds(copy: Copy) -> dict[str, float]:
    return json.loads((copy.root / "seconds.json").read_text(encoding="utf-8"))


def files_of(tests: list[str]) -> list[str]:
    """Return the files of these tests, in order."""
    return list(dict.fromkeys(file_of(test) for test in tests))
