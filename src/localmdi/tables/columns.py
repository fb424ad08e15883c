"""What the columns of a table are, numbers, categories or dates, and how they become that."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from localmdi._text import quote_names
from localmdi.tables.cells import CellFormat, ColumnLook, Kind, read_days, read_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.tables.cells import Decimal
    from localmdi.tables.open import TableFile

_DATE_PARTS = ("year", "month", "days since 1970")
_AS_FITTED = "Use the kind of values that the model was fitted with."
_PLAIN = CellFormat(Kind.NUMBER)
_LOOK_ROWS = 1 << 16


def kind_of_type(kind: Any) -> Kind:
    """Return what a column of an Arrow type holds; strings and booleans are categories."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return Kind.CATEGORY if kind_of_type(kind.value_type) != Kind.OTHER else Kind.OTHER
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Kind.NUMBER
    if types.is_null(kind):
        return Kind.NUMBER
    if types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind):
        return Kind.CATEGORY
    if types.is_string_view(kind):
        return Kind.CATEGORY
    return Kind.DATE if types.is_temporal(kind) else Kind.OTHER


def look_at(
    batches: Iterable[Any],
    names: Sequence[str],
    *,
    usual: Decimal = ".",
    decimal: Decimal | None = None,
    day_first: bool | None = None,
) -> dict[str, CellFormat]:
    """Return how the cells of each column are written.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        Columns of strings.
    names : sequence of str
        The columns.
    usual : {".", ","}
        The decimal mark of such files, where no column makes sure of one.
    decimal : {".", ","} or None
        The decimal mark wherever cells leave it open; None: that of most other columns.
    day_first : bool or None
        Whether dates that leave it open begin with the day; None: they do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"price": ["1,50", "2,75"], "weight": ["1,250", "2,300"]})
    >>> {name: form.decimal for name, form in look_at([table], ["price", "weight"]).items()}
    {'price': ',', 'weight': ','}
    """
    looks = {name: ColumnLook() for name in names}
    for batch in batches:
        for name, look in looks.items():
            look.see(_as_text(batch[name]))
    votes = Counter(vote for look in looks.values() if (vote := look.vote) is not None)
    mark = decimal or (votes.most_common(1)[0][0] if votes else usual)
    return {name: look.settle(mark, day_first=day_first) for name, look in looks.items()}


def _as_text(column: Any) -> Any:
    """Return a column of strings, or as good as; without cells if it holds something else."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind_of_type(column.type) != Kind.CATEGORY or pa.types.is_boolean(column.type):
        return pa.chunked_array([], pa.string())
    return column.cast(pa.string())


def decisions(formats: Mapping[str, CellFormat]) -> list[str]:
    """Return what was decided about the cells that is not as everybody expects, in words.

    Examples
    --------
    >>> price = CellFormat(Kind.NUMBER, ",", "€")
    >>> born = CellFormat(Kind.DATE, order="day first")
    >>> decisions({"price": price, "born": born})
    ['decimal comma', "€ in 'price'", "dates with the day first in 'born'"]
    """
    said = []
    numbers = {name: form for name, form in formats.items() if form.kind == Kind.NUMBER}
    if any(form.decimal == "," for form in numbers.values()):
        said.append("decimal comma")
    units: dict[str, list[str]] = {}
    for name, form in numbers.items():
        if form.unit:
            units.setdefault(form.unit, []).append(name)
    said += [f"{unit} in {quote_names(names, most=3)}" for unit, names in units.items()]
    orders: dict[tuple[str, bool], list[str]] = {}
    for name, form in formats.items():
        if form.kind == Kind.DATE:
            orders.setdefault((form.order, form.guessed), []).append(name)
    for (order, guessed), names in orders.items():
        part = order.removesuffix(" first")
        said.append(
            f"dates with the {part} first in {quote_names(names, most=3)}"
            + (" (their cells leave it open)" if guessed else "")
        )
    return said


class TypedTable:
    """A table whose columns are known: text is read as numbers, dates become three numbers.

    A column of dates gives its year, its month, and the days since 1970.

    Parameters
    ----------
    table : TableFile
        The file.
    formats : mapping of str to CellFormat
        What each of its columns is.
    as_text : iterable of str
        Columns that stay as they are written.
    target : str or None
        A column whose dates are not to be taken apart.
    """

    def __init__(
        self,
        table: TableFile,
        formats: Mapping[str, CellFormat],
        *,
        as_text: Iterable[str] = (),
        target: str | None = None,
    ) -> None:
        self.file = table
        self.path: Path = table.path
        self.n_rows: int | None = table.n_rows
        self.formats = formats
        self._as_text = frozenset(as_text)
        self._target = target
        self._source: dict[str, str] = {}
        self.kinds: dict[str, Kind] = {}
        for name in table.names:
            kind = Kind.CATEGORY if name in self._as_text else formats[name].kind
            parts = [f"{name} {part}" for part in _DATE_PARTS]
            taken = name == target or set(parts) & set(table.names)
            if kind == Kind.DATE and not taken:
                self._source |= dict.fromkeys(parts, name)
                self.kinds |= dict.fromkeys(parts, Kind.NUMBER)
            else:
                self.kinds[name] = kind
        self.names = tuple(self.kinds)

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""
        formats = {
            name: form
            for name, form in self.formats.items()
            if self.file.kinds is None or form.kind != self.file.kinds[name]
        }
        return [*self.file.decisions(), *decisions(formats)]

    def with_text(self, names: Iterable[str]) -> TypedTable:
        """Return the same table, these columns of the file as they are written."""
        text = self._as_text | set(names)
        return TypedTable(self.file, self.formats, as_text=text, target=self._target)

    def moment_of(self, name: str) -> str:
        """Return the column of numbers by which rows follow each other: days, of dates."""
        return f"{name} {_DATE_PARTS[-1]}" if name in self._source.values() else name

    def date_of(self, name: str) -> str | None:
        """Return the column of dates that a column is a part of."""
        return self._source.get(name)

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa

        needed = list(dict.fromkeys(self._source.get(name, name) for name in names))
        dates = [name for name in needed if name in self._source.values()]
        for batch in self.file.batches(needed, batch_rows):
            days = {name: _as_days(batch[name], self.formats[name], name=name) for name in dates}
            columns = [
                _date_part(name, days[self._source[name]], source=self._source[name])
                if name in self._source
                else self._read(batch[name], name)
                for name in names
            ]
            yield pa.Table.from_arrays(columns, names=list(names))

    def _read(self, column: Any, name: str) -> Any:
        if self.file.kinds is None and self.kinds[name] == Kind.NUMBER:
            return as_kind(column, Kind.NUMBER, name=name, form=self.formats[name])
        return column


def understand(
    table: TableFile,
    *,
    as_text: Iterable[str] = (),
    target: str | None = None,
    decimal: Decimal | None = None,
    day_first: bool | None = None,
    most_rows: int | None = None,
) -> TypedTable:
    """Return a table whose columns are known, by all of its rows or by the first of them."""
    typed = table.kinds or {}
    names = [name for name in table.names if typed.get(name, Kind.CATEGORY) == Kind.CATEGORY]
    rows = _LOOK_ROWS if most_rows is None else min(most_rows, _LOOK_ROWS)
    batches = table.batches(names, rows) if names else iter(())
    found = look_at(
        batches if most_rows is None else islice(batches, 1),
        names,
        usual=table.usual_decimal,
        decimal=decimal,
        day_first=day_first,
    )
    formats = {name: CellFormat(kind) for name, kind in typed.items()}
    # A file with types means what it says; but few have a type for dates.
    dates = {name: form for name, form in found.items() if form.kind == Kind.DATE}
    formats |= dates if typed else found
    return TypedTable(table, formats, as_text=as_text, target=target)


def _as_days(column: Any, form: CellFormat, *, name: str) -> Any:
    """Return a column of dates, text or typed, as days."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_temporal(column.type):
        return column.cast(pa.timestamp("s"), safe=False).cast(pa.date32(), safe=False)
    days = read_days(column.cast(pa.string()), form)
    if days is None:
        raise ValueError(
            f"column {quote_names([name])} must hold dates with the {form.order}, as in the rows "
            "that were read first; some cells do not. Correct them, or leave the column out."
        )
    return days


def _date_part(name: str, days: Any, *, source: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    part = name.removeprefix(f"{source} ")
    if part == "year":
        return pc.year(days).cast(pa.float64())
    if part == "month":
        return pc.month(days).cast(pa.float64())
    return days.cast(pa.int32()).cast(pa.float64())


def as_kind(column: Any, kind: Kind, *, name: str, form: CellFormat = _PLAIN) -> Any:
    """Return a column's cells as numbers (float64), strings or booleans."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind == Kind.CATEGORY:
        return _as_strings(column, name)
    if kind == Kind.BOOLEAN:
        return _as_booleans(column, name)
    given = kind_of_type(column.type)
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8()).cast(pa.float64())
    if given == Kind.NUMBER:
        return _without_nan(column.cast(pa.float64(), safe=False))
    if given != Kind.CATEGORY:
        raise ValueError(
            f"column {quote_names([name])} must hold numbers; its type is {column.type}. "
            f"{_AS_FITTED}"
        )
    parsed = read_numbers(column, form)
    if parsed is None and holds_flags(column):
        # As typed booleans are: the model may have been fitted with them.
        return _as_booleans(column, name).cast(pa.int8()).cast(pa.float64())
    if parsed is None:
        raise ValueError(
            f"column {quote_names([name])} must hold numbers; got "
            f"{quote_names([_first_string(column, form)])}. Correct it, or leave the cell empty if "
            "the value is missing."
        )
    return parsed


def convert_columns(batch: Any, kinds: Mapping[str, Kind]) -> Any:
    """Return the columns of a table as what they hold."""
    import pyarrow as pa

    columns = [as_kind(batch[name], kinds[name], name=name) for name in batch.column_names]
    return pa.Table.from_arrays(columns, names=batch.column_names)


def holds_flags(column: Any) -> bool:
    """Tell whether all cells are true or false, as booleans or as words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type):
        return True
    present = column.drop_null()
    if not pa.types.is_string(column.type) or not len(present):
        return False
    words = pc.ascii_lower(pc.utf8_trim_whitespace(present))
    return bool(pc.all(pc.is_in(words, value_set=pa.array(["true", "false"]))).as_py())


def has_missing(column: Any) -> bool:
    """Tell whether a cell is empty or, in a column of numbers, NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        return True
    return pa.types.is_floating(column.type) and bool(pc.any(pc.is_nan(column)).as_py())


def _without_nan(column: Any) -> Any:
    """Return numbers with null for NaN, as in a text file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nan = pc.is_nan(column)
    if not pc.any(nan).as_py():
        return column
    return pc.if_else(nan, pa.scalar(None, pa.float64()), column)


def _as_strings(column: Any, name: str) -> Any:
    import pyarrow as pa

    if kind_of_type(column.type) == Kind.OTHER:
        raise ValueError(
            f"column {quote_names([name])} must hold single values; its type is {column.type}. "
            "Leave it out with --exclude, or split it into columns."
        )
    return column.cast(pa.string())


def _as_booleans(column: Any, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if kind_of_type(column.type) == Kind.CATEGORY and not pa.types.is_boolean(column.type):
            column = pc.ascii_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
        return column.cast(pa.bool_())
    except pa.ArrowException as error:
        raise ValueError(
            f"column {quote_names([name])} must hold true or false; {error}. {_AS_FITTED}"
        ) from error


def _first_string(column: Any, form: CellFormat) -> Any:
    """Return the first cell that is not a number."""
    import pyarrow as pa

    for chunk in column.chunks:
        for cell in chunk:
            single = pa.chunked_array([pa.array([cell.as_py()], pa.string())])
            if cell.is_valid and read_numbers(single, form) is None:
                return cell.as_py()
    return None
