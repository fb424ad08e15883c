"""What a column holds, numbers or categories, and how its cells become that."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from localmdi._text import quote_names

if TYPE_CHECKING:
    from collections.abc import Mapping


# Dates as people write them: 2024-01-31, 31.1.2024, 1/31/24, with or without a time of day.
_DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/]\d{1,2}[-/]\d{2})"
    r"([T ]\d{1,2}:\d{2}.*)?\s*$"
)
_AS_FITTED = "Use the kind of values that the model was fitted with."


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"
    OTHER = "other"


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


class KindGuess:
    """What a column of strings holds, after a look at all of it, part by part.

    Examples
    --------
    >>> import pyarrow as pa
    >>> guess = KindGuess()
    >>> guess.see(pa.chunked_array([["1", None, " 2.5"]]))
    >>> guess.kind.value
    'number'
    >>> guess.see(pa.chunked_array([["unknown"]]))
    >>> guess.kind.value
    'category'
    """

    def __init__(self) -> None:
        self._seen = False
        self._number = True
        self._date = True

    def see(self, strings: Any) -> None:
        """Look at the next part of the column."""
        present = strings.drop_null()
        if not len(present) or not (self._number or self._date):
            return
        self._number = self._number and _parse_numbers(present) is not None
        if self._number:
            self._date = False
        elif self._date:
            self._date = _all_match(present, _DATE)
        self._seen = True

    @property
    def kind(self) -> Kind:
        """What was seen; a column without any value is numeric."""
        if self._number or not self._seen:
            return Kind.NUMBER
        return Kind.DATE if self._date else Kind.CATEGORY


def as_kind(column: Any, kind: Kind, *, name: str) -> Any:
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
    parsed = _parse_numbers(column)
    if parsed is None and holds_flags(column):
        # As typed booleans are: the model may have been fitted with them.
        return _as_booleans(column, name).cast(pa.int8()).cast(pa.float64())
    if parsed is None:
        raise ValueError(
            f"column {quote_names([name])} must hold numbers; got "
            f"{quote_names([_first_string(column)])}. Correct it, or leave the cell empty if the "
            "value is missing."
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
            "Leave it out with --drop, or split it into columns."
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


def _parse_numbers(strings: Any) -> Any:
    """Return strings as float64; None if some are not numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for prepare in (lambda column: column, pc.utf8_trim_whitespace):
        try:
            return prepare(strings).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
    return None


def _all_match(strings: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(strings, pattern)).as_py())


def _first_string(column: Any) -> Any:
    """Return the first cell that is not a number."""
    import pyarrow as pa

    for chunk in column.chunks:
        for cell in chunk:
            single = pa.chunked_array([pa.array([cell.as_py()], pa.string())])
            if cell.is_valid and _parse_numbers(single) is None:
                return cell.as_py()
    return None
