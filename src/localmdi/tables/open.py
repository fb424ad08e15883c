"""Files that hold a table: which format they have, and what all formats can do.

To add a format, write a class with the members of `TableFile` in a file of its own, give its
endings and first bytes below, and open it in `_open`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from localmdi._text import quote_names
from localmdi.exceptions import LocalMDIError
from localmdi.io.child_process import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from localmdi.tables.cells import Decimal, Kind
    from localmdi.tables.columns import TypedTable

# Name ending → format. Text may be compressed.
_ENDINGS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".csv.gz": "gzip",
    ".tsv.gz": "gzip",
    ".txt.gz": "gzip",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Feather",
    ".xlsx": "a workbook",
    ".xlsm": "a workbook",
    ".xlsb": "a workbook",
    ".ods": "a workbook",
    ".xls": "an old workbook",
    ".jsonl": "lines of JSON",
    ".ndjson": "lines of JSON",
}
# First bytes → format; text may begin with anything else.
_FIRST_BYTES = {
    b"PAR1": "Parquet",
    b"ARROW1": "Feather",
    b"FEA1": "Feather",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a workbook",
    b"\xd0\xcf\x11\xe0": "an old workbook",
}

# A batch of a wide table has fewer rows, and none may take more memory than this.
_BATCH_VALUES = 1 << 22
_FEWEST_ROWS = 64
_BATCH_BYTES = 1 << 30
_SNIFFED = 1 << 12
# The standard input is kept on the disk while it is read.
_MOST_INPUT = 1 << 34
_TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "insgesamt", "somme")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What somebody says about a file; what is not said is found out.

    Parameters
    ----------
    separator, encoding : str or None
        Of text.
    decimal : {".", ","} or None
        The decimal mark wherever the cells leave it open.
    day_first : bool or None
        Whether dates that leave it open begin with the day.
    header_row : int or None
        The line of the column names, from 1.
    sheet : str or None
        Of a workbook.
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: Decimal | None = None
    day_first: bool | None = None
    header_row: int | None = None
    sheet: str | None = None


T = TypeVar("T", Path, Path | None)


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

    @property
    def usual_decimal(self) -> Decimal:
        """The decimal mark that such files have."""

    @property
    def notes(self) -> list[str]:
        """What was left out, once the rows have been read."""

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""


def open_table(path: Path, options: ReadOptions = ReadOptions()) -> TableFile:
    """Open a table, or a folder of Parquet files."""
    if path.is_dir():
        from localmdi.tables.directory import TableDirectory

        return TableDirectory(path, open_table)
    with _read_carefully(path):
        table = _open(path, options)
    if not table.names:
        raise ValueError(f"{path.name!r} has no columns.")
    repeated = [name for name, n in Counter(table.names).items() if n > 1 and name]
    if repeated:
        raise ValueError(
            f"column names must be unique; {path.name!r} has {quote_names(repeated[:1])} more than "
            "once. Rename one of them."
        )
    return _GuardedTable(table)


def _open(path: Path, options: ReadOptions) -> TableFile:
    kind = _format(path)
    table: TableFile
    if kind in ("Parquet", "Feather"):
        from localmdi.tables.arrow import FeatherTable, ParquetTable

        table = ParquetTable(path) if kind == "Parquet" else FeatherTable(path)
    elif kind in ("a workbook", "an old workbook"):
        from localmdi.tables.rows import SheetTable

        table = SheetTable(path, sheet=options.sheet, header_row=options.header_row)
    elif kind == "lines of JSON":
        from localmdi.tables.rows import JsonLinesTable

        table = JsonLinesTable(path)
    else:
        from localmdi.tables.text import TextTable

        table = TextTable(
            path,
            separator=options.separator,
            encoding=options.encoding,
            header_row=options.header_row,
        )
    return table


@contextmanager
def from_standard_input(path: T) -> Iterator[T | Path]:
    """Return a path; for "-" that of a file with the standard input: tables are read repeatedly."""
    if path is None or str(path) != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        first = sys.stdin.buffer.read(_SNIFFED)
        ending = next(
            (
                ending
                for mark, kind in _FIRST_BYTES.items()
                for ending, promised in _ENDINGS.items()
                if first.startswith(mark) and promised == kind
            ),
            ".jsonl" if first.lstrip().startswith(b"{") else ".csv",
        )
        kept = Path(folder) / f"standard input{ending}"
        with kept.open("wb") as file:
            block = first
            while block:
                file.write(block)
                if file.tell() > _MOST_INPUT:
                    raise ValueError(
                        f"the standard input is larger than {_MOST_INPUT >> 30} GiB. Save it as a "
                        "file, and name that."
                    )
                block = sys.stdin.buffer.read(_SNIFFED << 8)
        yield kept


def columns_of(table: TableFile | TypedTable) -> tuple[list[str], list[str]]:
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
        self.usual_decimal: Decimal = table.usual_decimal
        self.notes: list[str] = []

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""
        return self._table.decisions()

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as sound Arrow tables of at most `batch_rows` rows."""
        first = self.names[0]
        # Totals are seen by the first cell of the last row.
        read = list(names) if self.kinds is not None or first in names else [first, *names]
        rows = min(batch_rows, max(_FEWEST_ROWS, _BATCH_VALUES // max(1, len(read))))
        parts = self._table.batches(read, rows)
        held, n_rows = None, 0
        while True:
            with _read_carefully(self.path):
                part = next(parts, None)
                if part is None:
                    break
                # A damaged file gives arrays whose offsets point anywhere.
                part.validate(full=True)
            if part.nbytes > _BATCH_BYTES:
                raise ValueError(
                    f"{self.path.name!r} has rows that take too much memory: {part.num_rows} of "
                    f"them {part.nbytes / 2**30:.1f} GiB. Look for very large cells."
                )
            if held is not None:
                yield held.select(list(names))
            held = part if part.num_rows else held
            n_rows += part.num_rows
        self.notes = list(self._table.notes)
        if held is None:
            return
        if self.kinds is None and n_rows > 1 and _is_total(held[first][-1].as_py()):
            self.notes.append("the last row holds totals and is left out.")
            held = held.slice(0, held.num_rows - 1)
        if held.num_rows:
            yield held.select(list(names))


def _is_total(cell: str | None) -> bool:
    """Tell whether a row whose first cell this is adds up those above it."""
    return cell is not None and cell.strip().rstrip(":").lower() in _TOTALS


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
    if found == "an old workbook" and expected == "a workbook":
        raise ValueError(f"{path.name!r} is locked with a password. Save it without one.")
    if found != expected:
        content = f"looks like {found}" if found else f"is not {promised}"
        raise ValueError(
            f"the name {path.name!r} says {promised}, but the content {content}. "
            "Rename the file, or save it again."
        )
    return promised
