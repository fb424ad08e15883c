"""``localmdi explain --engine spark`` on a full disk, and stopped while it writes."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import localmdi as lm
from faults.commands import wait_for_child

if sys.platform != "linux":
    pytest.skip("limits and signals are Linux's", allow_module_level=True)

# Every command starts a Spark of its own.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("spark"), pytest.mark.xdist_group("spark")]

N_ROWS = 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    random = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    X = pd.DataFrame(random.normal(size=(300, 4)), columns=names)
    model = lm.RandomizedForestClassifier(60, random_state=0).fit(X, X["a"] > 0)
    model.forest_.save(folder / "f.lmdi")
    (folder / "rows").mkdir()
    for part in range(2):
        table = pa.table({name: random.normal(size=N_ROWS // 2) for name in names})
        parquet.write_table(table, folder / "rows" / f"{part}.parquet")
    return folder


def start(folder, **options):
    command = [sys.executable, "-m", "localmdi", "explain", "rows", "--engine", "spark"]
    return subprocess.Popen(
        [*command, "--model", "f.lmdi", "-o", "out"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def said(process):
    """Return what we say amid all that Spark says."""
    lines = process.communicate(timeout=600)[1].splitlines()
    return [line for line in lines if line.startswith("localmdi: ")]


def nothing_is_left_running(session):
    end = time.monotonic() + 120
    while subprocess.run(["pgrep", "--session", str(session)], capture_output=True).returncode == 0:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def limit_files():
    import resource

    # Room for the model, not for the importances.
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))


def test_a_disk_that_is_full(folder):
    process = start(folder, preexec_fn=limit_files)
    assert said(process) == ["localmdi: Spark failed: File too large"]
    assert process.returncode == 1
    assert not (folder / "out").exists()


@pytest.mark.parametrize("whom", ["program", "child"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_while_it_writes(folder, number, whom):
    out = folder / "out"
    process = start(folder)
    child = wait_for_child(process)
    while not out.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(np.random.default_rng(number).uniform(0, 0.5))
    with suppress(ProcessLookupError):
        os.kill(child if whom == "child" else process.pid, number)
    lines = said(process)
    assert nothing_is_left_running(process.pid)
    assert len(lines) <= 1
    if process.returncode == 0:
        assert parquet.read_table(out).num_rows == N_ROWS
    elif (number, whom) == (signal.SIGKILL, "child"):
        assert not (out / "_SUCCESS").exists()  # nobody is left to remove what was begun
    else:
        assert process.returncode in (128 + number, -number)
        assert not out.exists()
    subprocess.run(["rm", "-rf", out], check=True)
