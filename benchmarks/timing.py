"""Times that are compared with each other are taken in turn, so that both meet the same machine."""

from __future__ import annotations

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def best_in_turn(calls: dict[str, Callable[[], Any]], repeats: int = 3) -> dict[str, float]:
    """Return the least CPU seconds of this thread for each call, the calls taking turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.thread_time()
            call()
            best[name] = min(best[name], time.thread_time() - start)
    return best


def best_wall(calls: dict[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    """Return the least wall seconds for each call, the calls taking turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def header() -> str:
    """Return the machine and the versions that the numbers belong to."""
    packages = ["localmdi", "scikit-learn", "numpy", "treeinterpreter", "shap"]
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
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} visible)" if names else platform.processor()
