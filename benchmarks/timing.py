"""Times that are compared with each other are taken in turn, so that both meet the same machine."""

from __future__ import annotations

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def best_in_turn(
    calls: dict[str, Callable[[], Any]],
    repeats: int = 3,
    *,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, float]:
    """Return the least seconds for each call, the calls taking turns: CPU seconds of this thread.

    Another clock: time.process_time counts all threads, time.perf_counter what passes on the wall.
    """
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def header() -> str:
    """Return the machine and the versions that the numbers belong to."""
    packages = ["localmdi", "scikit-learn", "numpy"]
    return "\n".join(
        [
            f"CPU: {_processor()}; Python {platform.python_version()}; {platform.system()}",
            "; ".join(f"{name} {_version(name)}" for name in packages),
            "One thread each unless said; CPU time of the thread, best of the turns.",
        ]
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Return its name, and the family and model: virtual machines hide the rest of a name."""
    info = Path("/proc/cpuinfo")
    pairs = [line.partition(":") for line in info.read_text().splitlines()] if info.exists() else []
    found = {name.strip(): value.strip() for name, _, value in pairs}
    if "model name" not in found:
        return platform.processor()
    n_visible = sum(name.strip() == "model name" for name, _, _ in pairs)
    which = f"family {found.get('cpu family', '?')}, model {found.get('model', '?')}"
    return f"{found['model name']} ({which}; {n_visible} visible)"
