"""A command that takes long enough to be hit, and what it leaves behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import localmdi as lm

OLD = b"the old file\n"


def prepare(folder, *, n_rows=20_000):
    """Write a table and a model for `explain`."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    model = lm.RandomizedForestClassifier(60, random_state=0).fit(X, X[:, 0] > 0)
    model.forest_.save(folder / "f.lmdi")
    table = pa.table({name: random.normal(size=n_rows) for name in "abcd"})
    parquet.write_table(table, folder / "rows.parquet")


def start(folder, *arguments, **options):
    """Start the program and wait until it works in its child."""
    command = [sys.executable, "-m", "localmdi", "explain", "rows.parquet", "--model", "f.lmdi"]
    process = subprocess.Popen(
        [*command, "--quiet", "--jobs", "1", *arguments],
        cwd=folder,
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True} | options,
    )
    return process, wait_for_child(process)


def wait_for_child(process):
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        found = children.read_text(encoding="ascii").split()
        if found:
            return int(found[0])
        time.sleep(0.002)
    return None


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())
