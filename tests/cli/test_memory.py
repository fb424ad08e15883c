"""Rows stream: ten million need no more memory than a hundred thousand."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import localmdi as lm

SCHEMA = pa.schema([("dose", pa.float64()), ("sex", pa.string())])
BLOCK = 100_000
# The allocators' own habits, and the blocks that a reader of texts runs ahead.
SLACK_MB = 80


def write_rows(path, n_rows):
    random = np.random.default_rng(0)
    if not path.suffix:
        path.mkdir(exist_ok=True)
        for part in range(n_rows // BLOCK):
            write_rows(path / f"part-{part:05}.parquet", BLOCK)
        return
    kind = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
    with kind(path, SCHEMA) as writer:
        for _ in range(n_rows // BLOCK):
            dose = random.normal(size=BLOCK).round(3)
            sex = np.where(random.random(BLOCK) < 0.5, "f", "m")
            writer.write_table(pa.table([dose, sex], schema=SCHEMA))


def peak_megabytes(path, folder):
    # The kernel's own figure: getrusage would report the peak of pytest, too, if it was larger.
    code = (
        "import re, sys; from localmdi.cli import main; code = main(sys.argv[1:]); "
        "peak = re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]; "
        "print(int(peak) // 1024, file=sys.stderr); "
        "sys.exit(code)"
    )
    out = folder / f"out{path.suffix or '.parquet'}"
    arguments = ["explain", str(path), "--model", str(folder / "f.lmdi"), "--quiet", "--jobs", "2"]
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments, "-o", str(out)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return int(run.stderr)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("ending", [".parquet", ".csv", ""])
def test_memory_does_not_grow_with_the_rows(tmp_path, ending):
    random = np.random.default_rng(1)
    frame = pa.table({"dose": random.normal(size=1000), "sex": ["f", "m"] * 500})
    y = random.integers(2, size=1000)
    lm.RandomizedForestClassifier(5, max_depth=4).fit(frame, y).forest_.save(tmp_path / "f.lmdi")
    peaks = []
    for n_rows in (100_000, 10_000_000):
        path = tmp_path / f"rows{ending}"
        write_rows(path, n_rows)
        peaks.append(peak_megabytes(path, tmp_path))
    assert peaks[1] < peaks[0] + SLACK_MB, peaks
