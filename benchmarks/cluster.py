"""Explaining on Spark beside one process that calls the Explainer: CPU seconds and memory.

Wall time says little on a shared machine, and in a cluster it is the engine's business.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial, reduce
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
from benchmarks.processes import below, peak_megabytes, processes
from localmdi import distributed

if TYPE_CHECKING:
    from collections.abc import Callable

N_FEATURES = 20
TRAINING = 50_000
FILES = 8
BATCH = 65_536
NAMES = [f"x{i}" for i in range(N_FEATURES)]


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the Python workers and of the JVM, and the largest worker's memory."""

    workers: float
    jvm: float
    megabytes: float


def main(n_rows: int) -> None:
    """Print a line per way, and the ratios that matter."""
    if shutil.which("java") is None:
        print("cluster: no Java here (tools/install_java.sh installs it), so Spark is left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        X, y = rows_in(Path(folder), n_rows)
        spark = session(folder)
        try:
            compare(spark, str(Path(folder, "rows")), X=X, y=y)
        finally:
            spark.stop()
        few = RandomForestClassifier(100, max_depth=8, random_state=0).fit(X[: len(y)], y)
        lm.as_forest(few).save(Path(folder, "forest.npz"))
        for copies in (0, 2):
            # A process of its own, which has never held the rows.
            driver = get_context("spawn").Process(target=drive, args=(folder, copies))
            driver.start()
            driver.join()


def rows_in(folder: Path, n_rows: int) -> tuple[Any, Any]:
    """Write the rows as Parquet files; return them too, and the labels of the first."""
    import pyarrow as pa
    from pyarrow import parquet

    X, y = make_classification(TRAINING, N_FEATURES, n_informative=10, random_state=0)
    X = np.tile(X, (-(-n_rows // TRAINING), 1))[:n_rows]
    (folder / "rows").mkdir()
    for i, part in enumerate(np.array_split(X, FILES)):
        table = pa.table(dict(zip(NAMES, part.T, strict=True)))
        parquet.write_table(table, folder / "rows" / f"part-{i}.parquet")
    return X, y


def session(folder: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.local.dir", folder).config("spark.driver.memory", "2g")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", BATCH).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def compare(spark: Any, path: str, *, X: Any, y: Any) -> None:
    forest = RandomForestClassifier(100, random_state=0, n_jobs=-1)
    light = RandomForestClassifier(100, max_depth=8, random_state=0, n_jobs=-1)
    frame = spark.read.parquet(path)
    explain = partial(distributed.local_mdi, frame=frame, features=NAMES)
    ways: dict[str, Callable[[Any], Any]] = {
        "array": partial(explain, output="array"),
        "columns": explain,
        "top 3": partial(explain, output="top", k=3),
    }
    warm_up = warmer(spark, X=X, y=y)
    costs: dict[str, Cost] = {}
    alone: dict[str, float] = {}
    steps: dict[str, float] = {}
    identity = [run(spark, lambda: frame.mapInArrow(lambda batches: batches, frame.schema))]
    for name, model in (("forest of b", forest), ("depth 8", light)):
        model.fit(X[: len(y)], y[: len(X)])
        for way in ways if model is forest else ["array"]:
            line = f"{name}, {way}"
            alone[line] = seconds_alone(model, X)
            steps[line] = len(X) * steps_per_row(model, X)
            warm_up()
            costs[line] = run(spark, lambda way=way, model=model: ways[way](model))
    # Java gets quicker while it runs: the cheaper of the first and the last is the fair one.
    identity.append(run(spark, lambda: frame.mapInArrow(lambda batches: batches, frame.schema)))
    least = min(cost.jvm for cost in identity)
    columns = ["Explainer alone s", "workers s", "ratio", "JVM s", "JVM ÷ identity", "worker MB"]
    columns = [f"{len(X):,} rows x {N_FEATURES} on Spark", *columns, "ns per row, tree and level"]
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for cost in identity:
        print(f"| identity mapInArrow | | {cost.workers:.1f} | | {cost.jvm:.1f} | | | |")
    for line, cost in costs.items():
        print(
            f"| {line} | {alone[line]:.1f} | {cost.workers:.1f} | {cost.workers / alone[line]:.2f} "
            f"| {cost.jvm:.1f} | {cost.jvm / least:.2f} | {cost.megabytes:.0f} "
            f"| {cost.workers / steps[line] * 1e9:.2f} |",
            flush=True,
        )
    sizes(forest)


def warmer(spark: Any, *, X: Any, y: Any) -> Callable[[], Any]:
    """Return what makes workers import all that they need: part of the start of a session.

    Spark ends workers that are idle for a minute, so it is called before every job.
    """
    small = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X[:1000], y[:1000])
    rows = spark.sparkContext.parallelize(X[:64].tolist(), 8).toDF(NAMES)
    explained = distributed.local_mdi(small, rows, features=NAMES, output="top", k=3)
    return explained.collect


def run(spark: Any, make: Callable[[], Any]) -> Cost:
    """Return what it costs to compute a frame and to throw it away."""
    jvm = spark.sparkContext._gateway.proc.pid
    frame = make()
    before = processes()
    frame.write.format("noop").mode("overwrite").save()
    after = processes()
    python = [p for p in below(jvm, after) if "pyspark" in p.command]
    known = {p.pid: p.seconds for p in below(jvm, before)}
    # A daemon's seconds have those of the workers that have ended.
    workers = sum(p.seconds - known.get(p.pid, 0.0) for p in python)
    return Cost(
        workers,
        after[jvm].seconds - before[jvm].seconds,
        max((peak_megabytes(p.pid) for p in python), default=0.0),
    )


def seconds_alone(model: Any, X: Any) -> float:
    explainer = lm.Explainer(model)
    start = time.process_time()
    for first in range(0, len(X), BATCH):
        explainer(X[first : first + BATCH])
    return time.process_time() - start


def steps_per_row(model: Any, X: Any) -> float:
    """Return the mean over rows of the number of splits on their paths in all trees."""
    return float(
        model.decision_path(X[:2000])[0].sum() / min(len(X), 2000) - len(model.estimators_)
    )


def sizes(model: Any) -> None:
    """Print what is sent beside what it becomes."""
    from localmdi.adapters import adapt
    from localmdi.distributed.shipping import shipped_explainer

    adapted = adapt(model, values=False)
    forest = adapted.forest
    sent = len(pickle.dumps(shipped_explainer(adapted, tuple(NAMES))))
    # 24 bytes a node, 8 for what is left at a leaf, 4 for the node's number in the table.
    packed = 28 * forest.n_nodes + 8 * int((forest.feature < 0).sum())
    print(f"Broadcast: {sent / 2**20:.1f} MB, packed {packed / 2**20:.1f} MB: {sent / packed:.2f}")


def drive(folder: str, copies: int) -> None:
    """Print what the driver needs for the mean of all rows `copies` times, or of few for 0."""
    spark = session(folder)
    frame = spark.read.parquet(str(Path(folder, "rows")))
    rows = frame.limit(100_000) if copies == 0 else reduce(type(frame).union, [frame] * copies)
    model = lm.load_forest(Path(folder, "forest.npz"))
    mean = distributed.mean_mdi(model, rows, features=NAMES)
    memory = peak_megabytes(os.getpid())
    print(f"Driver, mean of {int(mean.weight):,} rows: peak of {memory:.0f} MB", flush=True)
    spark.stop()
