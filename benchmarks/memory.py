"""The memory that a piece of work needs is measured in a process of its own (Linux)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    # getrusage would report that of the process that started it, too, if it was larger.
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert found, "the kernel does not tell the peak memory"
    return int(found[1]) * 1024


def numbers(script: str, *arguments: object) -> list[float]:
    """Run a script in a new process, and return the numbers it prints."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(word) for word in printed.split()]


def measure(script: str, *arguments: object) -> float:
    """Run a script in a new process, and return the one number it prints."""
    (number,) = numbers(script, *arguments)
    return number
