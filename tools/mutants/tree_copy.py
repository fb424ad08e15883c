"""A copy of the tree that may be changed, and a process that runs tests in it.

The process imports the large libraries once and forks for every run, so that a run costs little
more than its tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mutants.python_sites import Mutant

ROOT = Path(__file__).parents[2]
# An editable install looks the package up in the user's tree; here it must be that of the copy.
SITE = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable_")]
"""


class Copy:
    """A copy of the tree, with the compiled module."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in files.rstrip("\0").split("\0"):
            if (ROOT / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        core = ROOT / _output("import localmdi._core as core; print(core.__file__)")
        shutil.copy2(core, root / "src" / "localmdi" / core.name)
        (root / "site").mkdir()
        (root / "site" / "sitecustomize.py").write_text(SITE, encoding="utf-8")
        folders = [root / "site", root / "src", root / "tests", ROOT / "tools"]
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "PYTHONDONTWRITEBYTECODE": "",  # all but one file are as they were
            "CI": "1",  # the same examples of Hypothesis in every run
        }
        self._process: subprocess.Popen[str] | None = None

    def outcome(self, mutant: Mutant, stages: list[list[str]], *, seconds: int) -> str:
        """Run tests with the mutant in place; return what killed it, or ""."""
        file = self.root / mutant.path
        before = file.read_text(encoding="utf-8")
        _write_source(file, mutant.text)
        try:
            for stage in stages:
                killer = self.run(stage, seconds)
                if killer:
                    return killer
        finally:
            _write_source(file, before)
        return ""

    def run(self, tests: list[str], seconds: int) -> str:
        """Run these tests until one fails; return its name, a signal's, or ""."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mutants.test_server"],
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        asked.write(json.dumps([tests, seconds]) + "\n")
        asked.flush()
        return json.loads(told.readline())


def _write_source(file: Path, text: str) -> None:
    """Write a source and forget its bytecode, which a second change in a second would not."""
    file.write_text(text, encoding="utf-8")
    for stale in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
        stale.unlink()


def _output(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
