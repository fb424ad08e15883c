"""CPU seconds and memory of a process and of those below it, from /proc (Linux)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    pid: int
    parent: int
    seconds: float
    """CPU seconds of its own, and of those of its children that have ended."""
    command: str


def processes() -> dict[int, Process]:
    """Return all processes that can be seen, by their number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue  # it has ended
        pid = int(folder.name)
        seconds = sum(map(int, fields[11:15])) / TICKS
        found[pid] = Process(pid, int(fields[1]), seconds, command)
    return found


def below(pid: int, found: dict[int, Process]) -> list[Process]:
    """Return the processes that a process has started, and those that they have started."""
    children = [process for process in found.values() if process.parent == pid]
    return children + [further for child in children for further in below(child.pid, found)]


def peak_megabytes(pid: int | str = "self") -> float:
    """Return the most memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0
