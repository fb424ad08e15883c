"""Files that hold a table: which format, and what they all can do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.cli.kinds import Kind
    from localmdi.cli.settings import TableSettings

__all__ = ["TableFile", "columns_of", "open_table"]

# How a name ends → the format. Texts may be compressed.
_ENDINGS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".csv.gz": "gzip",
    ".tsv.gz": "gzip",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Feather",
}
# How the content of a format begins; texts may begin with anything else.
_BEGINNINGS = {
    b"PAR1": "Parquet",
    b"ARROW1": "Feather",
    b"FEA1": "Feather",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
}


class TableFile(Protocol):
    r"""A table that is read in batches of rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli.csv_table import CsvTable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sex\n31,f\n")
    ...     table: TableFile = CsvTable(path, ",", encoding="utf8")
    ...     [batch.to_pylist() for batch in table.batches(["sex"], 100)]
    [[{'sex': 'f'}]]
    """

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, None if only reading would tell."""

    @property
    def kinds(self) -> Mapping[str, Kind] | None:
        """What the columns hold; None if they are texts of which anything can be thought."""

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield the columns of these names as Arrow tables of at most so many rows."""


def open_table(settings: TableSettings) -> TableFile:
    """Open the table of a command.

    Examples
    --------
    >>> import pathlib
    >>> from localmdi.cli.settings import TableSettings
    >>> open_table(TableSettings(seed=0, jobs=1, quiet=True, as_json=False,
    ...                          data=pathlib.Path("table.xlsx")))
    Traceback (most recent call last):
    ValueError: the name of a table must end in .csv, .tsv, ...; got 'table.xlsx'. ...
    """
    path = settings.path
    kind = _format(path)
    if kind == "Parquet":
        from localmdi.cli.arrow_tables import ParquetTable

        table: TableFile = ParquetTable(path)
    elif kind == "Feather":
        from localmdi.cli.arrow_tables import FeatherTable

        table = FeatherTable(path)
    else:
        from localmdi.cli.csv_table import CsvTable

        tabs = path.name.lower().endswith((".tsv", ".tsv.gz"))
        usual = "\t" if tabs else ","
        table = CsvTable(path, settings.separator or usual, encoding=settings.encoding)
    twice = [name for name, n in Counter(table.names).items() if n > 1]
    if twice:
        raise ValueError(
            f"the columns of {path.name!r} must have different names; {twice[0]!r:.80} stands "
            "there more than once. Rename one of them."
        )
    return table


def columns_of(table: TableFile) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and of those that only number the rows.

    pandas writes its index as a column without a name, or with one of its own.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns_of(SimpleNamespace(names=("", "age", "__index_level_0__")))
    (['age'], ['', '__index_level_0__'])
    """
    labels = [name for name in table.names if not name or name.startswith("__index_level_")]
    return [name for name in table.names if name not in labels], labels


def _format(path: Path) -> str:
    """Return the format that a name promises and the content does not deny."""
    name = path.name.lower()
    endings = [ending for ending in _ENDINGS if name.endswith(ending)]
    if not endings:
        raise ValueError(
            f"the name of a table must end in {', '.join(_ENDINGS)}; got {path.name!r}. "
            "Save the table in one of these formats."
        )
    promised = _ENDINGS[max(endings, key=len)]
    with open(path, "rb") as file:
        beginning = file.read(8)
    found = next((kind for magic, kind in _BEGINNINGS.items() if beginning.startswith(magic)), None)
    expected = promised if promised in _BEGINNINGS.values() else None
    if found != expected:
        raise ValueError(
            f"{path.name!r} must hold what its name says, {promised}; it begins like "
            f"{found or 'something else'}. Rename it, or save it again."
        )
    return promised
