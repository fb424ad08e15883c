"""Files that are written: importances as Parquet or CSV, and the report.

A file is written as a whole or not at all.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localmdi._atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi._quality import Quality
    from localmdi.cli.explained import Explained
    from localmdi.forest import Forest
    from localmdi.report.sections import Whole
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import AnyArray


_ENDINGS = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
# Spreadsheet programs calculate a cell that begins so, some of them after blanks.
_WIDE = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\uff20"
_FORMULA = rf"\s*[=+@\-\t\r{_WIDE}]"
REPORT_ROWS = 1000
_REPORT_FEATURES = 100


def check_outputs(
    outputs: Mapping[str, Path | None], *, inputs: Sequence[Path | None] = ()
) -> None:
    """Refuse, before any work, files that cannot be written or that would replace an input.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        Option → file; that of "-o" is a table, whose name must tell the format.
    inputs : sequence of Path or None
        Files that are read.
    """
    import click

    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        # A link that leads to itself is there, but is no file.
        if os.path.lexists(os.path.realpath(path)) and not path.is_file():
            what = "a directory" if path.is_dir() else "not a regular file"
            raise click.UsageError(f"{option}: {str(path)!r} is {what}. Choose another name.")
    table = given.get("-o")
    if table is not None and not table.name.lower().endswith(_ENDINGS):
        raise click.UsageError(
            f"-o must name a file that ends in {', '.join(_ENDINGS)}; got {table.name!r}."
        )
    taken = {path.resolve() for path in inputs if path is not None}
    for option, path in given.items():
        folder = path.resolve().parent
        if not folder.is_dir():
            named = folder if path.is_symlink() else path.parent
            raise click.UsageError(f"{option}: the folder {str(named)!r} does not exist.")
        if not os.access(folder, os.W_OK):
            raise click.UsageError(f"{option}: the folder {str(folder)!r} is not writable.")
        if any(place.is_dir() and path.resolve().is_relative_to(place) for place in taken):
            raise click.UsageError(
                f"{option}: {str(path)!r} lies in a folder that is read. Choose another folder."
            )
        if path.resolve() in taken:
            raise click.UsageError(
                f"{option}: {str(path)!r} is already an input or another output. "
                "Choose another name."
            )
        taken.add(path.resolve())


class TableWriter:
    """Writes explained rows, batch by batch, to a Parquet or CSV file."""

    def __init__(self, path: Path, name: str, *, safe_csv: bool = False) -> None:
        self._path = path
        self._name = name.lower()
        self._safe = safe_csv and not self._name.endswith(".parquet")
        self._writer: Any = None
        self._sink: Any = None

    def write(self, part: Explained) -> None:
        """Write the next rows."""
        self.write_table(_as_table(part))

    def write_table(self, table: Any) -> None:
        """Write an Arrow table whose columns are those of the first one."""
        if self._safe:
            table = _without_formulas(table)
        if self._writer is None:
            self._open(table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """End the file."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()

    def _open(self, schema: Any) -> None:
        import pyarrow as pa
        from pyarrow import csv, parquet

        zipped = self._name.endswith(".gz")
        self._sink = pa.output_stream(str(self._path), compression="gzip" if zipped else None)
        if self._name.endswith(".parquet"):
            self._writer = parquet.ParquetWriter(self._sink, schema)
        else:
            separator = "\t" if self._name.endswith((".tsv", ".tsv.gz")) else ","
            options = csv.WriteOptions(delimiter=separator)
            self._writer = csv.CSVWriter(self._sink, schema, write_options=options)


@contextmanager
def open_writer(path: Path, *, safe_csv: bool = False) -> Iterator[TableWriter]:
    """Yield a writer of rows; the file appears when all rows are there."""
    with write_atomically(path) as temporary:
        writer = TableWriter(temporary, path.name, safe_csv=safe_csv)
        try:
            yield writer
        except BaseException:
            # The first error is the one to tell; closing a file on a full disk fails again.
            with suppress(Exception):
                writer.close()
            raise
        writer.close()


def write_table(table: Any, path: Path, *, safe_csv: bool = False) -> None:
    """Write one whole Arrow table."""
    with open_writer(path, safe_csv=safe_csv) as writer:
        writer.write_table(table)


def extra_names(features: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns beside the features, none of which is a feature's.

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


def write_page(
    part: Explained,
    path: Path,
    *,
    global_importance: GlobalImportance | None,
    title: str,
    notes: Sequence[str],
    seed: int,
    whole: Whole | None = None,
    quality: Quality | None = None,
) -> None:
    """Write the report of these rows, which have the numbers that they have in the file.

    `whole` describes all explained rows, of which these may be some; `quality` the predictions.
    """
    from localmdi.report import write

    request = write.Request(
        result=replace(part.result, row_labels=part.rows),
        global_importance=global_importance,
        prediction=None if part.prediction is None else part.prediction.tolist(),
        target=None if part.target is None else part.target.tolist(),
        sure=part.sure,
        expected=part.expected,
        title=title,
        notes=tuple(notes),
        max_shape=(REPORT_ROWS, _REPORT_FEATURES),
        whole=whole,
        quality=quality,
        origin={**page_origin(), "seed": str(seed)},
    )
    write.write_page(request, path)


def page_origin() -> dict[str, str]:
    """Return the command of this process as it was typed."""
    import shlex

    import click

    context = click.get_current_context(silent=True)
    typed = None if context is None else context.find_root().obj
    return {} if typed is None else {"command": shlex.join(typed)}


def global_importance_of(forest: Forest, result: LocalImportance) -> GlobalImportance | None:
    """Return a forest's global importance under the names of a result.

    None if the forest does not know the weights of its nodes.
    """
    from localmdi._api import global_mdi
    from localmdi.exceptions import MissingStatisticsError

    try:
        importance = global_mdi(forest)
    except MissingStatisticsError:
        return None
    return replace(importance, feature_names=result.feature_names)


def _as_table(part: Explained) -> Any:
    import numpy as np
    import pyarrow as pa

    result = part.result
    names = extra_names(result.feature_names)
    columns = [pa.array(part.rows), *result.to_arrow().columns]
    labels = [names["row"], *result.feature_names]
    if result.baseline is not None:
        baseline = np.broadcast_to(result.baseline, len(part.rows)).astype(np.float64)
        columns += [pa.array(baseline), pa.array(result.residual)]
        labels += [names["baseline"], names["residual"]]
    if part.prediction is not None:
        columns.append(_labels(part.prediction))
        labels.append(names["prediction"])
    about = {
        "localmdi.unit": result.unit,
        "localmdi.features": str(result.shape[1]),
        "localmdi.measure": result.measure,
        "localmdi.honest": "yes" if result.honest else "no",
    }
    if result.n_trees:
        # The infinite forest has no number of trees.
        about["localmdi.trees"] = str(result.n_trees)
    return pa.Table.from_arrays(columns, names=labels).replace_schema_metadata(about)


def _without_formulas(table: Any) -> Any:
    """Return a table whose names and strings no spreadsheet program takes for formulas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [
        pc.replace_substring_regex(column, pattern=f"^({_FORMULA})", replacement=r"'\1")
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    names = [re.sub(f"^({_FORMULA})", r"'\1", name) for name in table.column_names]
    return pa.Table.from_arrays(columns, names=names).replace_schema_metadata(table.schema.metadata)


def _labels(prediction: AnyArray) -> Any:
    """Return predictions as numbers or strings, so that all batches have one type."""
    import pyarrow as pa

    if prediction.dtype.kind in "biuf":
        return pa.array(prediction)
    return pa.array([str(label) for label in prediction.tolist()], pa.string())
