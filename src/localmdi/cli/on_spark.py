"""``localmdi explain --engine spark``: a Parquet folder becomes a Parquet folder, on a cluster."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._text import count, quote_names
from localmdi.cli.console import Console, show_files, show_ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


__all__ = ["explain_on_spark"]

_NOT_WITH_SPARK = {
    "target": "--target",
    "rows": "--rows",
    "report": "--report",
    "save_model": "--save-model",
}


@dataclass(frozen=True)
class SparkSettings:
    """What is used of the options of ``localmdi explain``."""

    data: str
    model: Path
    output: str
    allow_pickle: bool
    drop: tuple[str, ...]


def explain_on_spark(values: Mapping[str, Any], console: Console) -> None:
    """Explain the rows of a Parquet folder, and write another."""
    from localmdi import distributed
    from localmdi.adapters import adapt
    from localmdi.cli.models import load_model

    settings = _read_settings(values)
    model = load_model(settings.model, allow_pickle=settings.allow_pickle)
    adapted = adapt(model, values=False)
    known = adapted.input_names or (None if adapted.transform else adapted.forest.feature_names)
    with _session() as spark, console.hear_warnings():
        rows = spark.read.parquet(settings.data).drop(*settings.drop)
        # As without Spark, a model that knows no names gets all columns in their order.
        features = rows.columns if known is None else list(known)
        keep = [name for name in rows.columns if name not in features]
        explained = distributed.local_mdi(model, rows, features=features, keep=keep)
        explained.write.parquet(settings.output)
        n_rows, means = _summarize(
            spark.read.parquet(settings.output), explained.columns[len(keep) :]
        )
    files = {"output": settings.output}
    document: dict[str, Any] = {"command": "explain", "engine": "spark", "data": settings.data}
    document |= {"model": str(settings.model), "rows": n_rows, "mean": means, "files": files}
    heading = f"{count(n_rows, 'row')} of {settings.data} explained on Spark; mean of each feature:"
    ranking = show_ranking(list(means), list(means.values()), errors=None)
    console.finish(document, lines=[heading, *ranking, *show_files(files)])


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
        values["drop"],
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
    session = SparkSession.builder.appName(__name__.partition(".")[0]).getOrCreate()
    try:
        yield session
    finally:
        session.stop()
