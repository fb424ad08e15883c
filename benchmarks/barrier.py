"""What reading files with care costs: ratios of processor time, printed as a table.

python -m benchmarks.barrier
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REPEATS = 3
PLAIN = "import sys; from localmdi.cli import main; sys.exit(main(sys.argv[1:]))"


def seconds(call, *, repeats=REPEATS):
    """The least processor time of a call in this process."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def child_seconds(command):
    """The least processor time of a command and its children."""
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def command(folder):
    """The whole command, with and without a child."""
    table = folder / "people.csv"
    rows = np.random.default_rng(0).normal(size=(500, 4)).round(3)
    lines = [",".join(map(str, row)) + f",{'ab'[int(row[0] > 0)]}" for row in rows]
    table.write_text("\n".join(["a,b,c,d,y", *lines]), encoding="utf-8")
    arguments = ["explain", str(table), "--target", "y", "--trees", "100"]
    guarded = child_seconds([sys.executable, "-m", "localmdi", *arguments])
    return guarded, child_seconds([sys.executable, "-c", PLAIN, *arguments])


def batches(folder):
    """Rows of a Parquet file: with limits and full validation, and as the reader gives them."""
    import pyarrow as pa
    from pyarrow import parquet

    from localmdi.tables.arrow import ParquetTable
    from localmdi.tables.open import open_table

    random = np.random.default_rng(0)
    n = 1_000_000
    columns = {name: random.normal(size=n) for name in "abcd"}
    labels = pa.array(np.array(["Rom", "Bern", "Wien"])[random.integers(0, 3, n)])
    path = folder / "rows.parquet"
    parquet.write_table(pa.table(columns | {"city": labels}), path)
    names = [*columns, "city"]

    def read(table):
        for _ in table.batches(names, 1 << 16):
            pass

    return seconds(lambda: read(open_table(path))), seconds(lambda: read(ParquetTable(path)))


def skops_files(folder):
    """A skops file: checked and loaded, and loaded alone."""
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    from localmdi.cli.models import load_model

    X = np.random.default_rng(0).normal(size=(2000, 10))
    path = folder / "model.skops"
    skops.io.dump(RandomForestClassifier(100, random_state=0).fit(X, X[:, 0] > 0), path)
    trusted = skops.io.get_untrusted_types(file=path)
    checked = seconds(lambda: load_model(path, allow_pickle=False), repeats=3)
    return checked, seconds(lambda: skops.io.load(path, trusted=trusted), repeats=3)


def main():
    print("| what | with care (s) | without (s) | ratio |\n|---|---|---|---|")
    cases = {
        "`localmdi explain` of 500 rows, in a child": command,
        "a million rows of Parquet, validated": batches,
        "a skops file of 100 trees, checked": skops_files,
    }
    for name, case in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            careful, plain = case(Path(folder))
        print(f"| {name} | {careful:.3f} | {plain:.3f} | {careful / plain:.2f} |", flush=True)


if __name__ == "__main__":
    main()
