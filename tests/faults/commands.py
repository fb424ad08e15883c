"""A command that takes long enough to be hit, and what it leaves behind."""

from __future__ import annotations

import shutil
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


# Mounts a small disk that only this command sees, and lists what is on it afterwards.
ON_SMALL_DISK = """
mount -t tmpfs -o size=64k tmpfs small || exit 99
printf 'the old file\\n' > small/old.csv
"$@"
code=$?
cd small && find . -type f -exec stat -c '%n %s' {} + | sort
exit $code
"""


def small_disks():
    """Return whether a user may mount a disk that nobody else sees."""
    if not shutil.which("unshare"):
        return False
    done = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False)
    return done.returncode == 0


def on_small_disk(folder, *arguments, **options):
    """Run the program with a disk of 64 KiB as the folder ``small``."""
    (folder / "small").mkdir()
    command = [sys.executable, "-m", "localmdi", *arguments]
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", ON_SMALL_DISK, "sh", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )
