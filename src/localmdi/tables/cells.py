"""What the cells of a column of strings are: numbers as people write them, dates, or categories.

A column follows one convention: a decimal point or a decimal comma, the day first or the month. All
of its cells are looked at, part by part, before it is settled which; where a column leaves it open,
as "1,234" does, the other columns decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

# What stands for a missing cell in any column, and what does where all others are numbers.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
_NO_NUMBER = ("-", "--", "?", ".", "\N{EN DASH}", "\N{EM DASH}", "na", "n.a.", "#DIV/0!", "#VALUE!")

_BLANK = "[ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}]"
_QUOTE = "['\N{RIGHT SINGLE QUOTATION MARK}]"
_SIGN = "[-+\N{MINUS SIGN}]"
_UNIT = r"(?:[%$€£¥₹]|(?i:eur|usd|gbp|chf|cad|aud|jpy|inr|sek|nok|dkk|kr|fr)\b\.?)"


def _pattern(decimal: str, thousands: str) -> str:
    """Return the pattern of a number, its unit in front of it or behind."""
    grouped = "|".join(rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+" for mark in (thousands, _BLANK, _QUOTE))
    size = rf"(?:(?:{grouped}|\d+)(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][-+]?\d+)?"
    return rf"^{_SIGN}?{_UNIT}?{_BLANK}*{_SIGN}?{size}{_BLANK}*{_UNIT}?$"


_PATTERN = {".": _pattern(r"\.", ","), ",": _pattern(",", r"\.")}

_TIME = r"(?:[T ]+\d{1,2}:\d{2}.*)?$"
_ORDER = {
    "year first": rf"^(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_TIME}",
    "day first": rf"^(?P<d>\d{{1,2}})[-/.](?P<m>\d{{1,2}})[-/.](?P<y>\d{{4}}|\d{{2}}){_TIME}",
    "month first": rf"^(?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})[-/.](?P<y>\d{{4}}|\d{{2}}){_TIME}",
}
# Years of two digits are of this century up to 68, as POSIX has it.
_CENTURY_ENDS = 68

Decimal = Literal[".", ","]
Order = Literal["year first", "day first", "month first"]


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"
    OTHER = "other"


@dataclass(frozen=True)
class CellFormat:
    """How the cells of a column are written.

    Parameters
    ----------
    kind : Kind
        What they are.
    decimal : {".", ","}
        The decimal mark of numbers.
    unit : str
        What stands beside the numbers, such as "%" or "€".
    order : {"year first", "day first", "month first"}
        Of the parts of dates.
    guessed : bool
        Whether the cells alone leave the decimal mark, or the order, open.
    """

    kind: Kind
    decimal: Decimal = "."
    unit: str = ""
    order: Order = "year first"
    guessed: bool = False


class ColumnLook:
    """What a column of strings may be, after a look at its cells, part by part.

    Examples
    --------
    >>> import pyarrow as pa
    >>> look = ColumnLook()
    >>> look.see(pa.chunked_array([["1.234,50 €", None, "-"]]))
    >>> look.see(pa.chunked_array([["80 €"]]))
    >>> form = look.settle()
    >>> form.kind.value, form.decimal, form.unit
    ('number', ',', '€')
    >>> read_numbers(pa.chunked_array([["1.234,50 €", "-", "\N{MINUS SIGN}2"]]), form).to_pylist()
    [1234.5, None, -2.0]
    """

    def __init__(self) -> None:
        self._empty = True
        self._marked = False
        self._decimals: set[Decimal] = {".", ","}
        self._orders: set[Order] = {"year first", "day first", "month first"}
        self._units: set[str] = set()

    def see(self, strings: Any) -> None:
        """Look at the next part of the column."""
        import pyarrow.compute as pc

        cells = strings.drop_null()
        if not len(cells) or not (self._decimals or self._orders):
            return
        if self._decimals == {"."} and not self._units and _cast(cells) is not None:
            return
        cells = pc.unique(pc.utf8_trim_whitespace(cells))
        numbers = _without(cells, _NO_NUMBER)
        if self._decimals and len(numbers):
            self._decimals = {mark for mark in self._decimals if _match(numbers, _PATTERN[mark])}
            if not self._decimals and self._empty and _cast(numbers) is not None:
                # Such as infinity, of which somebody else must judge.
                self._decimals = {"."}
            self._units |= _units(numbers) if self._decimals else set()
            self._marked = self._marked or not _match(numbers, "^[^.,]*$")
            self._empty = False
        if self._orders:
            dates = _without(cells, MISSING)
            self._orders = {order for order in self._orders if not _days(dates, order).null_count}
            self._empty = self._empty and not len(dates)

    @property
    def vote(self) -> Decimal | None:
        """The decimal mark of numbers, if these cells allow only one."""
        return next(iter(self._decimals)) if len(self._decimals) == 1 else None

    def settle(self, usual: Decimal = ".", *, day_first: bool | None = None) -> CellFormat:
        """Return what the column is; one without any value is numeric.

        Parameters
        ----------
        usual : {".", ","}
            The decimal mark where the cells leave it open.
        day_first : bool or None
            Whether dates that leave it open begin with the day; None: they do.
        """
        if self._empty:
            return CellFormat(Kind.NUMBER)
        units = self._units - {""}
        if self._decimals and len(units) <= 1:
            mark, open_ = self.vote or usual, self._marked and self.vote is None
            return CellFormat(Kind.NUMBER, mark, next(iter(units), ""), guessed=open_)
        if self._orders:
            first: Order = "month first" if day_first is False else "day first"
            order = first if first in self._orders else min(self._orders)
            return CellFormat(Kind.DATE, order=order, guessed=len(self._orders) > 1)
        return CellFormat(Kind.CATEGORY)


def read_numbers(strings: Any, form: CellFormat) -> Any:
    """Return strings as float64; None if some are not numbers of this form."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if form.decimal == "." and not form.unit:
        plain = _cast(strings)
        if plain is not None:
            return plain
    cells = pc.utf8_trim_whitespace(strings)
    none = pc.is_in(cells, value_set=pa.array([*MISSING, *_NO_NUMBER]))
    cells = pc.if_else(none, pa.scalar(None, pa.string()), cells)
    if not _match(cells.drop_null(), _PATTERN[form.decimal]):
        return _cast(cells)
    cells = pc.replace_substring_regex(cells, _UNIT, "")
    thousands = "," if form.decimal == "." else r"\."
    cells = pc.replace_substring_regex(cells, f"{thousands}|{_BLANK}|{_QUOTE}", "")
    cells = pc.replace_substring(cells, "\N{MINUS SIGN}", "-")
    return _cast(pc.replace_substring(cells, ",", "."))


def read_days(strings: Any, form: CellFormat) -> Any:
    """Return strings as dates; None if some are not, in this order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> form = CellFormat(Kind.DATE, order="day first")
    >>> read_days(pa.chunked_array([["31.1.2024", "1/2/24 08:30", None]]), form).to_pylist()
    [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1), None]
    """
    import pyarrow.compute as pc

    days = _days(pc.utf8_trim_whitespace(strings), form.order)
    return days if days.null_count == strings.null_count else None


def _days(cells: Any, order: Order) -> Any:
    """Return dates; missing where a cell is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(cells, _ORDER[order])
    year, month, day = (pc.struct_field(parts, key) for key in "ymd")
    short = pc.equal(pc.utf8_length(year), 2)
    number = pc.if_else(short, year, pa.scalar("0")).cast(pa.int64())
    century = pc.if_else(pc.less_equal(number, _CENTURY_ENDS), pa.scalar("20"), pa.scalar("19"))
    year = pc.if_else(short, pc.binary_join_element_wise(century, year, ""), year)
    text = pc.binary_join_element_wise(year, month, day, "-")
    dates = pc.strptime(text, format="%Y-%m-%d", unit="s", error_is_null=True).cast(pa.date32())
    # Arrow takes 31 February for 2 March.
    same = pc.fill_null(pc.equal(pc.day(dates), day.cast(pa.int64())), False)
    return pc.if_else(same, dates, pa.scalar(None, pa.date32()))


def _cast(strings: Any) -> Any:
    """Return strings as float64, as computers write them; None if some are not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for prepare in (lambda cells: cells, pc.utf8_trim_whitespace):
        try:
            return prepare(strings).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
    return None


def _match(cells: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py())


def _without(cells: Any, words: tuple[str, ...]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return cells.filter(pc.invert(pc.is_in(cells, value_set=pa.array(words))))


def _units(cells: Any) -> set[str]:
    import pyarrow.compute as pc

    found = pc.struct_field(pc.extract_regex(cells, f"(?P<unit>{_UNIT})"), "unit")
    return {str(unit).upper().rstrip(".") for unit in pc.unique(found.drop_null()).to_pylist()}
