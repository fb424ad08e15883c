"""The editor's picture of the compiled module is the compiled module's."""

import subprocess
import sys

from architecture.source import ROOT


def test_stub_is_current():
    command = [sys.executable, str(ROOT / "tools" / "stub.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
