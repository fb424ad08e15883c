"""Runs tests in forks of one process that has imported the large libraries, but not localmdi.

Every line of the input is a list of tests and a limit in seconds of processor time; every line of
the output is the name of the test that failed, or "".
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

LIBRARIES = (
    *(
        "pytest",
        "hypothesis.strategies",
        "numpy",
        "scipy.stats",
        "sklearn.ensemble",
        "pandas",
        "narwhals",
    ),
    *("pyarrow.parquet", "lightgbm", "xgboost", "catboost"),
)
MEMORY = 6 << 30
WAITING = 10  # times the processor time, on a machine that is busy with other things
LOG, CHOSEN = Path("run.log"), Path("chosen.json")


def serve() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # what is collected at the end of every run
    for line in sys.stdin:
        tests, seconds = json.loads(line)
        CHOSEN.write_text(json.dumps(tests), encoding="utf-8")
        child = os.fork()
        if child == 0:
            _work(tests, seconds)
        print(json.dumps(_verdict(child, seconds)), flush=True)


def _work(tests: list[str], seconds: int) -> None:
    """Run pytest and leave; never return."""
    import resource

    import pytest
    from mutants import test_choice
    from mutants.covering import files_of

    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    out = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ[test_choice.CHOICE] = str(CHOSEN)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--assert=plain"]
    options += ["-m", "not slow"]
    code = 1
    try:
        code = pytest.main([*options, *files_of(tests)], plugins=[test_choice])
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)


def _verdict(child: int, seconds: int) -> str:
    end = time.monotonic() + WAITING * seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        time.sleep(0.02)
    else:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "waiting for ever"
    if status == 0:
        return ""
    log = LOG.read_text("utf-8", "replace").splitlines()
    named = [line for line in log if line.startswith(("FAILED ", "ERROR "))]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    if not named and any(line.startswith("MemoryError") for line in log):
        return "MemoryError"  # too little was left for pytest to name the test
    if not named:
        raise RuntimeError(f"pytest ended without a word of a test, see {LOG.absolute()}")
    return named[0][:200]


if __name__ == "__main__":
    serve()
