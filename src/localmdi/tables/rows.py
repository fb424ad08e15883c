"""Tables whose files give a row after the other: Excel's sheets, and lines of JSON.

Cells become the strings that a text file would have, so that one set of rules reads them all.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any

from localmdi._text import quote_names
from localmdi.tables.cells import MISSING
from localmdi.tables.dialect import unique_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from localmdi.tables.cells import Decimal

_FIRST = 1000
_MOST_CELLS = 1 << 28
_LONGEST_LINE = 1 << 20
_WIDE_SHARE = 0.2


class SheetTable:
    """A sheet of a workbook: .xlsx, .xlsm, .xlsb, .xls or .ods.

    Parameters
    ----------
    path : Path
        The workbook.
    sheet : str or None
        The name of the sheet; None: the first with a table.
    header_row : int or None
        The row of the column names, from 1; None: found out.
    """

    n_rows = None
    kinds = None
    usual_decimal: Decimal = "."

    def __init__(
        self, path: Path, *, sheet: str | None = None, header_row: int | None = None
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        sheets = self._sheets()
        if sheet is not None and sheet not in sheets:
            raise ValueError(
                f"{path.name!r} has no sheet {sheet!r}; it has {quote_names(sheets)}. Name one "
                "with sheet=."
            )
        found = None
        for name in sheets if sheet is None else [sheet]:
            self.sheet = name
            found = _find_names(islice(self._rows(), _FIRST), header_row)
            if found is not None:
                break
        if found is None:
            raise ValueError(f"{path.name!r} has no table; a table needs names and rows.")
        self._header, names = found
        self.names, self._renamed = unique_names(names)
        self._others = [name for name in sheets if name != self.sheet]

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""
        said = [f"sheet {self.sheet!r}"] if self._others else []
        if self._header:
            said.append(f"names in row {self._header + 1}")
        if self._renamed:
            said.append(f"repeated names numbered ({quote_names(self._renamed, most=3)})")
        return said

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        places = [self.names.index(name) for name in names]
        rows = (
            [row[place] if place < len(row) else None for place in places]
            for row in islice(self._rows(), self._header + 1, None)
            if any(cell is not None for cell in row)
        )
        yield from _as_batches(rows, names, batch_rows=batch_rows)

    def _sheets(self) -> list[str]:
        with self._workbook() as book:
            return list(book.sheet_names)

    def _workbook(self) -> Any:
        try:
            import python_calamine
        except ImportError as error:
            raise ImportError(
                "tables of Excel need python-calamine. Install it: pip install python-calamine"
            ) from error
        try:
            return python_calamine.CalamineWorkbook.from_path(str(self.path))
        except python_calamine.PasswordError as error:
            raise ValueError(
                f"{self.path.name!r} is locked with a password. Save it without one."
            ) from error
        except python_calamine.CalamineError as error:
            raise ValueError(
                f"{self.path.name!r} is not a readable workbook: {error!s:.200}. Save it again."
            ) from error

    def _rows(self) -> Iterator[list[str | None]]:
        with self._workbook() as book:
            sheet = book.get_sheet_by_name(self.sheet)
            n_cells = sheet.total_height * sheet.total_width
            if n_cells > _MOST_CELLS:
                raise ValueError(
                    f"sheet {self.sheet!r} of {self.path.name!r} says that it has {n_cells:,} "
                    f"cells, more than {_MOST_CELLS:,}. Save the table alone, or as CSV."
                )
            for row in sheet.iter_rows():
                yield [_as_text(cell) for cell in row]


class JsonLinesTable:
    """A file with a JSON object on every line.

    Parameters
    ----------
    path : Path
        The file.
    """

    n_rows = None
    kinds = None
    usual_decimal: Decimal = "."

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        first = list(islice(self._objects(), _FIRST))
        names = list(dict.fromkeys(name for one in first for name in one))
        nested = [
            name for name in names if any(isinstance(one.get(name), dict | list) for one in first)
        ]
        if nested:
            self.notes.append(f"lists and objects are left out: {quote_names(nested, most=3)}.")
        self.names = tuple(name for name in names if name not in nested)
        if not self.names:
            raise ValueError(f"{path.name!r} has no objects with single values.")

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""
        return []

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        rows = ([_as_text(one.get(name)) for name in names] for one in self._objects())
        yield from _as_batches(rows, names, batch_rows=batch_rows)

    def _objects(self) -> Iterator[dict[str, Any]]:
        with open(self.path, encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                where = f"line {number:,} of {self.path.name!r}"
                if len(line) == _LONGEST_LINE:
                    raise ValueError(f"{where} is longer than {_LONGEST_LINE >> 20} MB.")
                if not line.strip():
                    continue
                try:
                    one = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(f"{where} is not JSON ({error!s:.100}).") from error
                if not isinstance(one, dict):
                    raise ValueError(
                        f'{where} must be an object, {{"name": value, …}}; got '
                        f"{type(one).__name__}. Write every row as an object on a line of its own."
                    )
                yield one


def _as_text(cell: Any) -> str | None:
    """Return a cell as a text file has it.

    Examples
    --------
    >>> [_as_text(cell) for cell in (2.0, 0.1, True, None, " ", date(2024, 1, 31))]
    ['2', '0.1', 'true', None, None, '2024-01-31']
    """
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        midnight = cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(timespec="minutes")
    text = cell.isoformat() if isinstance(cell, date) else str(cell)
    return None if text.strip() in MISSING else text


def _find_names(
    rows: Iterable[list[str | None]], header_row: int | None
) -> tuple[int, list[str]] | None:
    """Return the place and the cells of the row of names; None if there is none.

    It is the first row as wide as many others are; above it stand notes.
    """
    first = list(rows)
    widths = [
        max((place for place, cell in enumerate(row, 1) if cell is not None), default=0)
        for row in first
    ]
    filled = Counter(width for width in widths if width)
    if header_row is not None:
        place = header_row - 1
        if place >= len(first) or not widths[place]:
            return None
    elif filled:
        often = [w for w, n in filled.items() if n >= max(2, _WIDE_SHARE * filled.total())]
        place = widths.index(max(often or filled))
    else:
        return None
    return place, [(cell or "").strip() for cell in first[place][: widths[place]]]


def _as_batches(
    rows: Iterable[Sequence[str | None]], names: Sequence[str], *, batch_rows: int
) -> Iterator[Any]:
    import pyarrow as pa

    rows = iter(rows)
    while block := list(islice(rows, batch_rows)):
        columns = [pa.array(column, pa.string()) for column in zip(*block, strict=True)]
        yield pa.Table.from_arrays(columns, names=list(names))
