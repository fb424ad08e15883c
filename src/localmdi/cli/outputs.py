"""Files that are written wholly or not at all."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray, IntArray

__all__ = ["check_outputs", "extra_names", "open_writer", "whole_file", "write_table"]

_ENDINGS = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")


def check_outputs(
    outputs: dict[str, Path | None], *, inputs: Sequence[Path | None], table: Path | None
) -> None:
    """Refuse, before any work, files that cannot be written or that would replace an input.

    Parameters
    ----------
    outputs : dict of str to Path or None
        Option → file.
    inputs : sequence of Path or None
        Files that are read.
    table : Path or None
        The output that is a table, so that its name must tell the format.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_outputs({"-o": Path("a.xls")}, inputs=[], table=Path("a.xls"))
    Traceback (most recent call last):
    click.exceptions.UsageError: -o must name a file that ends in .parquet, .csv, ...
    """
    import click

    if table is not None and not table.name.lower().endswith(_ENDINGS):
        raise click.UsageError(
            f"-o must name a file that ends in {', '.join(_ENDINGS)}; got {table.name!r}."
        )
    taken = {path.resolve() for path in inputs if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        folder = path.resolve().parent
        if not folder.is_dir():
            raise click.UsageError(
                f"{option} must name a file in a folder that exists; {str(path.parent)!r} does "
                "not. Make it first."
            )
        if not os.access(folder, os.W_OK):
            raise click.UsageError(f"{option} must be writable; the folder {str(folder)!r} is not.")
        if path.resolve() in taken:
            raise click.UsageError(
                f"{option} must name a file of its own; {str(path)!r} is read or written already."
            )
        taken.add(path.resolve())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name, and give the file its own name when all went well.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(pathlib.Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("text")
    ...     [found.name for found in pathlib.Path(folder).iterdir()]
    ['a.txt']
    """
    path = path.resolve()
    temporary = path.with_name(f".{path.name[:100]}-{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def extra_names(features: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns beside the features': none of them is a feature's.

    Examples
    --------
    >>> extra_names(["age", "_row"])
    {'row': '__row', 'baseline': '_baseline', 'residual': '_residual', 'prediction': '_prediction'}
    """
    taken = set(features)
    names = {}
    for noun in ("row", "baseline", "residual", "prediction"):
        name = f"_{noun}"
        while name in taken:
            name = f"_{name}"
        names[noun] = name
    return names


class TableWriter:
    """Writes explained rows, batch by batch, to a Parquet or CSV file.

    Examples
    --------
    >>> import pathlib
    >>> TableWriter(pathlib.Path("a.csv"), "CSV").n_written
    0
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.n_written = 0
        self._path = path
        self._kind = kind.lower()
        self._writer: Any = None
        self._sink: Any = None

    def write(
        self, result: LocalImportance, rows: IntArray, *, prediction: AnyArray | None
    ) -> None:
        """Write the next rows."""
        table = _as_table(result, rows, prediction=prediction)
        self.write_table(table)

    def write_table(self, table: Any) -> None:
        """Write a table whose columns are those of the first one."""
        if self._writer is None:
            self._open(table.schema)
        self._writer.write_table(table)
        self.n_written += table.num_rows

    def close(self) -> None:
        """End the file."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()

    def _open(self, schema: Any) -> None:
        import pyarrow as pa
        from pyarrow import csv, parquet

        zipped = self._kind.endswith(".gz")
        self._sink = pa.output_stream(str(self._path), compression="gzip" if zipped else None)
        if self._kind.endswith(".parquet"):
            self._writer = parquet.ParquetWriter(self._sink, schema)
        else:
            separator = "\t" if self._kind.endswith((".tsv", ".tsv.gz")) else ","
            options = csv.WriteOptions(delimiter=separator)
            self._writer = csv.CSVWriter(self._sink, schema, write_options=options)


@contextmanager
def open_writer(path: Path) -> Iterator[TableWriter]:
    """Yield a writer of rows; the file appears when all rows are there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     with open_writer(path) as writer:
    ...         writer.write_table(pa.table({"age": [0.5]}))
    ...     path.read_text().split()
    ['"age"', '0.5']
    """
    with whole_file(path) as temporary:
        writer = TableWriter(temporary, path.name)
        try:
            yield writer
        except BaseException:
            # The first error is the one to tell; closing a file on a full disk fails again.
            with suppress(Exception):
                writer.close()
            raise
        writer.close()


def write_table(table: Any, path: Path) -> None:
    """Write one whole table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"age": [0.5]}), pathlib.Path(folder) / "a.parquet")
    """
    with open_writer(path) as writer:
        writer.write_table(table)


def _as_table(result: LocalImportance, rows: IntArray, *, prediction: AnyArray | None) -> Any:
    import pyarrow as pa

    names = extra_names(result.feature_names)
    values = result.to_arrow()
    columns = [pa.array(rows), *values.columns]
    columns += [pa.array(np.broadcast_to(result.baseline, len(rows)).astype(np.float64))]
    columns += [pa.array(result.residual)]
    labels = [names["row"], *result.feature_names, names["baseline"], names["residual"]]
    if prediction is not None:
        columns.append(_labels(prediction))
        labels.append(names["prediction"])
    table = pa.Table.from_arrays(columns, names=labels)
    about = {"unit": result.unit, "trees": str(result.n_trees)}
    return table.replace_schema_metadata({f"localmdi.{key}": about[key] for key in about})


def _labels(prediction: AnyArray) -> Any:
    """Return predictions as numbers or texts, so that all batches have one type."""
    import pyarrow as pa

    if prediction.dtype.kind in "biuf":
        return pa.array(prediction)
    return pa.array([str(label) for label in prediction.tolist()], pa.string())
