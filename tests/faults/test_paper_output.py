"""``python -m paper`` on a full disk, on a wrong output, and stopped at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from faults.commands import OLD

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and signals are Linux's")

ROOT = Path(__file__).parents[2]


def start(out, **options):
    command = [sys.executable, "-m", "paper", "--only", "datasets", "-o", str(out)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, **streams, **options)


def limit_files():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))  # less than the page, not the tables


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_disk_that_is_full(tmp_path):
    (tmp_path / "index.html").write_bytes(OLD)
    process = start(tmp_path, preexec_fn=limit_files)
    heading, complaint = filter(None, process.communicate(timeout=300)[1].split("\n"))
    assert heading == "[1/1] datasets"
    assert complaint == f"python -m paper: File too large: {tmp_path}/index.html"
    assert process.returncode == 1
    found = files(tmp_path)
    assert found["index.html"] == OLD
    assert not any(name.endswith(".tmp") for name in found)


def test_an_output_that_is_a_file(tmp_path):
    (tmp_path / "out").write_bytes(OLD)
    process = start(tmp_path / "out")
    complaint = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert f"python -m paper: Not a directory: {tmp_path}/out/figures" in complaint
    assert files(tmp_path) == {"out": OLD}


@pytest.mark.slow
def test_stopped_at_random_moments(tmp_path):
    begin = time.monotonic()
    process = start(tmp_path / "complete")
    process.communicate(timeout=300)
    assert process.returncode == 0
    duration = time.monotonic() - begin
    complete = files(tmp_path / "complete")
    random = np.random.default_rng(0)
    for i in range(30):
        folder = tmp_path / f"out-{i}"
        process = start(folder)
        number = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3]
        time.sleep(random.uniform(0, duration))
        os.kill(process.pid, number)
        process.communicate(timeout=300)
        found = files(folder)
        # A process that is killed cannot clean up; what it leaves is hidden and nobody reads it.
        left = [name for name in found if name.endswith(".tmp")]
        assert len(left) <= (number != signal.SIGINT)
        for name in found.keys() - set(left):
            assert found[name] == complete[name]
