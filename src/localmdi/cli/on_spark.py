"""``localmdi explain --engine spark``: a Parquet folder becomes a Parquet folder, on a cluster."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._text import count, quote_names
from localmdi.cli.console import Console, show_files, show_ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


_NOT_WITH_SPARK = {
    "target": "--target",
    "rows": "--rows",
    "measure": "--measure",
    "report": "--report",
    "save_model": "--save-model",
    "groups": "--groups",
    "time": "--time",
}


@dataclass(frozen=True)
class SparkSettings:
    """What is used of the options of ``localmdi explain``."""

    data: str
    model: Path
    output: str
    allow_pickle: bool
    exclude: tuple[str, ...]


def explain_on_spark(values: Mapping[str, Any], console: Console) -> None:
    """Explain the rows of a Parquet folder, and write another."""
    from localmdi import distributed
    from localmdi.adapters import adapt
    from localmdi.cli.models import load_model

    settings = _read_settings(values)
    model = load_model(settings.model, allow_pickle=settings.allow_pickle)
    adapted = adapt(model, values=False)
    known = adapted.input_names or (None if adapted.transform else adapted.forest.feature_names)
    with _session() as spark, console.hear_warnings(), _errors_in_a_line():
        rows = spark.read.parquet(settings.data).drop(*settings.exclude)
        # As without Spark, a model that knows no names gets all columns in their order.
        features = rows.columns if known is None else list(known)
        keep = [name for name in rows.columns if name not in features]
        explained = distributed.local_mdi(model, rows, features=features, keep=keep)
        _write(spark, explained, address=settings.output)
        n_rows, means = _summarize(
            spark.read.parquet(settings.output), explained.columns[len(keep) :]
        )
    files = {"output": settings.output}
    document: dict[str, Any] = {"command": "explain", "engine": "spark", "data": settings.data}
    document |= {"model": str(settings.model), "rows": n_rows, "mean": means, "files": files}
    heading = f"{count(n_rows, 'row')} of {settings.data} explained on Spark; mean of each feature:"
    ranking = show_ranking(list(means), list(means.values()), errors=None)
    console.finish(document, lines=[heading, *ranking, *show_files(files)])


def _write(spark: Any, frame: Any, *, address: str) -> None:
    """Write a new folder, or none: what Spark has begun is removed after an error."""
    from py4j.protocol import Py4JError

    path = spark._jvm.org.apache.hadoop.fs.Path(address)
    folder = path.getFileSystem(spark._jsc.hadoopConfiguration())
    if folder.exists(path):
        raise ValueError(f"-o must name a folder that does not exist yet; {address} already exists")
    # A thread that waits for Spark cannot speak to it. So this one waits for another thread, and
    # when a signal ends the waiting, it calls off what the other waits for.
    with ThreadPoolExecutor(1) as other:
        try:
            other.submit(frame.write.parquet, address).result()
        except BaseException:
            with suppress(Py4JError):
                spark.sparkContext.cancelAllJobs()
                other.shutdown()
                folder.delete(path, True)
            raise


@contextmanager
def _errors_in_a_line() -> Iterator[None]:
    """Say what failed in Spark, without the traces of all machines it went through."""
    from pickle import PicklingError  # a broadcast that finds no room on the disk

    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, PicklingError) as error:
        text = str(error)
        if isinstance(error, Py4JJavaError):
            cause = error.java_exception
            while cause.getCause() is not None:
                cause = cause.getCause()
            text = cause.getMessage() or cause.toString()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # An error in a Python worker ends with what it says, others begin with it.
        said = lines[-1 if "Traceback" in text else 0]
        raise ValueError(f"Spark failed: {said}") from error


def _summarize(explained: Any, names: list[str]) -> tuple[int, dict[str, float]]:
    from pyspark.sql.functions import avg, col
    from pyspark.sql.functions import count as count_rows

    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    row = explained.agg(count_rows("*"), *(avg(col(name)) for name in quoted)).first()
    return row[0], dict(zip(names, [value or 0.0 for value in row[1:]], strict=True))


def _read_settings(values: Mapping[str, Any]) -> SparkSettings:
    import click

    refused = [option for name, option in _NOT_WITH_SPARK.items() if values[name] is not None]
    if refused:
        raise click.UsageError(
            f"--engine spark cannot be used with {quote_names(refused)}: it explains all rows with "
            "a fitted model."
        )
    for name, option in (("model", "--model"), ("output", "-o")):
        if values[name] is None:
            raise click.UsageError(f"--engine spark needs {option}.")
    return SparkSettings(
        _address(values["data"]),
        values["model"],
        _address(values["output"]),
        values["allow_pickle"],
        values["exclude"],
    )


def _address(given: Path | str) -> str:
    # A path without a scheme would be looked up in the cluster's own file system.
    return given if isinstance(given, str) else given.resolve().as_uri()


@contextmanager
def _session() -> Iterator[Any]:
    """Yield the session that there is, or one with the settings of this machine's Spark."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        # Not started by spark-submit: workers on this machine must not be another Python's.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    before = signal.getsignal(signal.SIGINT)
    session = SparkSession.builder.appName(__name__.partition(".")[0]).getOrCreate()
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler would interrupt the cleaning up when Ctrl-C comes twice.
        signal.signal(signal.SIGINT, before)
    try:
        yield session
    finally:
        session.stop()
