"""A command that is stopped at any moment leaves the old file, none, or a complete one."""

import os
import signal
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

from faults.commands import OLD, names_in, prepare, start

if sys.platform != "linux":
    pytest.skip("files without names are Linux's", allow_module_level=True)

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    prepare(folder)
    return folder


def stop_at_random_moments(folder, *, n, seed):
    begin = time.monotonic()
    process, _ = start(folder, "-o", "complete.csv")
    assert process.communicate(timeout=300)[1] == ""
    duration = time.monotonic() - begin
    complete = (folder / "complete.csv").read_bytes()
    random = np.random.default_rng(seed)
    stopped = 0
    for i in range(n):
        out = folder / "out.csv"
        out.unlink(missing_ok=True)
        if i % 2:
            out.write_bytes(OLD)
        before = names_in(folder)
        number = [*CODES][i % 3]
        process, child = start(folder, "-o", "out.csv")
        time.sleep(random.uniform(0, duration))
        # Every other SIGKILL hits the child, as the kernel does when memory runs out.
        target = child if number == signal.SIGKILL and i % 2 else process.pid
        with suppress(ProcessLookupError):  # ended just before
            if process.poll() is None:
                os.kill(target, number)
        complaint = process.communicate(timeout=300)[1]
        content = out.read_bytes() if out.exists() else None
        assert content in (complete, OLD if i % 2 else None)
        assert names_in(folder) in (before, sorted({*before, "out.csv"}))
        assert complaint.count("\n") <= 1, complaint
        assert "Traceback" not in complaint
        expected = 137 if target == child else CODES[number]
        assert process.returncode in (0, expected), complaint
        if process.returncode:
            # Killed itself, the program can say nothing; its child may.
            assert "either complete or unchanged" in complaint or expected == -signal.SIGKILL
            stopped += 1
    return stopped


def test_a_dozen_moments(folder):
    assert stop_at_random_moments(folder, n=12, seed=0) >= 4


@pytest.mark.slow
def test_two_hundred_moments(folder):
    assert stop_at_random_moments(folder, n=200, seed=1) >= 60
