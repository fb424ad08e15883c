"""``localmdi explain --engine spark``: a folder is complete if it holds ``_SUCCESS``."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from faults.commands import on_small_disk, prepare, small_disks, start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc are Linux's"),
    pytest.mark.skipif(not shutil.which("java"), reason="tools/install_java.sh installs Java"),
]
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}


def descendants(pid):
    """Return the processes below this one."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children] + [
        below for child in children for below in descendants(int(child))
    ]


def alive(pids):
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def n_rows(folder):
    from pyarrow import parquet

    return parquet.read_table(folder).num_rows


@pytest.fixture
def folder(tmp_path):
    prepare(tmp_path)
    return tmp_path


def test_stopped_at_random_moments(folder):
    begin = time.monotonic()
    process, _ = start(folder, "--engine", "spark", "-o", "complete")
    process.communicate(timeout=600)
    assert process.returncode == 0
    duration = time.monotonic() - begin
    random = np.random.default_rng(0)
    for i in range(9):
        out = folder / f"out-{i}"
        number = [*CODES][i % 3]
        process, _ = start(folder, "--engine", "spark", "-o", out.name)
        time.sleep(random.uniform(0, duration))
        below = descendants(process.pid) if process.poll() is None else []
        process.send_signal(number)
        complaint = process.communicate(timeout=300)[1]
        assert process.returncode in (0, CODES[number]), complaint
        if number != signal.SIGKILL:
            own = [line for line in complaint.splitlines() if line.startswith("localmdi: ")]
            assert len(own) == (process.returncode != 0), complaint
            assert "Traceback" not in complaint
        assert not (out / "_SUCCESS").exists() or n_rows(out) == 20_000
        # Java and the workers end by themselves.
        deadline = time.monotonic() + 120
        while alive(below) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not alive(below), [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in alive(below)]


def test_a_small_disk(folder):
    if not small_disks():
        pytest.skip("this system lets no user mount a disk of their own")
    command = ["explain", "rows.parquet", "--model", "f.lmdi", "--quiet", "--engine", "spark"]
    done = on_small_disk(folder, *command, "-o", "small/out", env=os.environ)
    assert done.returncode == 1
    own = [line for line in done.stderr.splitlines() if line.startswith("localmdi: ")]
    assert len(own) == 1
    assert "No space left on device" in own[0]
    assert "_SUCCESS" not in done.stdout
    assert "./old.csv 13" in done.stdout.splitlines()
