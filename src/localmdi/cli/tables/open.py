"""Files that hold a table: which format they have, and what all formats can do.

To add a format, write a class with the members of `TableFile` in a file of its own, give its
endings and first bytes below, and open it in `_open`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from localmdi._text import quote_names
from localmdi.cli.barrier import reading
from localmdi.exceptions import LocalMDIError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.cli.tables.kinds import Kind


# Name ending → format. Text may be compressed.
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
# First bytes → format; text may begin with anything else.
_FIRST_BYTES = {
    b"PAR1": "Parquet",
    b"ARROW1": "Feather",
    b"FEA1": "Feather",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
}

# A batch of a wide table has fewer rows, and none may take more memory than this.
_BATCH_VALUES = 1 << 22
_FEWEST_ROWS = 64
_BATCH_BYTES = 1 << 30


class TableFile(Protocol):
    """A table that is read in batches of rows."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if only reading would tell."""

    @property
    def kinds(self) -> Mapping[str, Kind] | None:
        """What the columns hold; None if all cells are strings that first have to be looked at."""

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""


def open_table(path: Path, *, separator: str | None = None, encoding: str = "utf8") -> TableFile:
    """Open a table, or a folder of Parquet files; separator and encoding matter for CSV only."""
    if path.is_dir():
        from localmdi.cli.tables.directory import TableDirectory

        return TableDirectory(path, open_table)
    with _read_carefully(path):
        table = _open(path, separator=separator, encoding=encoding)
    if not table.names:
        raise ValueError(f"{path.name!r} has no columns.")
    repeated = [name for name, n in Counter(table.names).items() if n > 1]
    if repeated:
        raise ValueError(
            f"column names must be unique; {path.name!r} has {quote_names(repeated[:1])} more than "
            "once. Rename one of them."
        )
    return _GuardedTable(table)


def _open(path: Path, *, separator: str | None, encoding: str) -> TableFile:
    kind = _format(path)
    table: TableFile
    if kind == "Parquet":
        from localmdi.cli.tables.arrow import ParquetTable

        table = ParquetTable(path)
    elif kind == "Feather":
        from localmdi.cli.tables.arrow import FeatherTable

        table = FeatherTable(path)
    else:
        from localmdi.cli.tables.csv import CsvTable

        usual = "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","
        table = CsvTable(path, separator or usual, encoding=encoding)
    return table


def columns_of(table: TableFile) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and of those that only number the rows.

    pandas writes its index as a column without a name, or with a name of its own.
    """
    labels = [name for name in table.names if not name or name.startswith("__index_level_")]
    return [name for name in table.names if name not in labels], labels


class _GuardedTable:
    """A table whose reader is not trusted: batches are bounded, checked, read within limits.

    Parameters
    ----------
    table : TableFile
        What reads the file.
    """

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self.path: Path = table.path
        self.names: tuple[str, ...] = table.names
        self.n_rows: int | None = table.n_rows
        self.kinds: Mapping[str, Kind] | None = table.kinds

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as sound Arrow tables of at most `batch_rows` rows."""
        rows = min(batch_rows, max(_FEWEST_ROWS, _BATCH_VALUES // max(1, len(names))))
        parts = self._table.batches(names, rows)
        while True:
            with _read_carefully(self.path):
                part = next(parts, None)
                if part is None:
                    return
                # A damaged file gives arrays whose offsets point anywhere.
                part.validate(full=True)
            if part.nbytes > _BATCH_BYTES:
                raise ValueError(
                    f"{self.path.name!r} has rows that take too much memory: {part.num_rows} of "
                    f"them {part.nbytes / 2**30:.1f} GiB. Look for very large cells."
                )
            yield part


@contextmanager
def _read_carefully(path: Path) -> Iterator[None]:
    """Read a part of a table; whatever its reader raises becomes an error of ours."""
    try:
        with reading(path, mute=True):
            yield
    except (LocalMDIError, ImportError):
        raise
    except OSError as error:
        if error.errno is not None:
            raise
        raise _unreadable(path, error) from error
    except ValueError as error:
        # Arrow's own errors are ValueErrors too.
        if type(error) is ValueError:
            raise
        raise _unreadable(path, error) from error
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"{path.name!r} is not a readable table ({type(error).__name__}: {error!s:.300}). "
        "Save it again."
    )


def _format(path: Path) -> str:
    """Return the format that the name promises, if the content agrees."""
    name = path.name.lower()
    endings = [ending for ending in _ENDINGS if name.endswith(ending)]
    if not endings:
        raise ValueError(
            f"the name of a table must end in {', '.join(_ENDINGS)}; got {path.name!r}. "
            "Save the table in one of these formats."
        )
    promised = _ENDINGS[max(endings, key=len)]
    if not path.is_file():
        raise ValueError(f"a table must be a regular file; {path.name!r} is not. Save it as one.")
    with open(path, "rb") as file:
        first = file.read(8)
    found = next((kind for magic, kind in _FIRST_BYTES.items() if first.startswith(magic)), None)
    expected = promised if promised in _FIRST_BYTES.values() else None
    if found != expected:
        content = f"looks like {found}" if found else f"is not {promised}"
        raise ValueError(
            f"the name {path.name!r} says {promised}, but the content {content}. "
            "Rename the file, or save it again."
        )
    return promised
