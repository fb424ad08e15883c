"""Numbers and columns as compact JSON, which `assets/unpack.js` reads.

Arrays are little-endian bytes in base64; columns of text are a list of distinct strings and one
code per row. `fit_columns` keeps all columns together within a number of bytes.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import clean, cut
from localmdi._validation import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, FloatArray


MAX_TEXT = 80

_TEXT_LIMITS = (MAX_TEXT, 40, 20, 10)
# A float32 takes 5.33 bytes in base64. With 100,000 cells this leaves a page below 2 MB.
_BYTES_PER_CELL = 5.45
_ALWAYS_ALLOWED = 200_000

_MISSING_VALUE = -32768
_LARGEST = 32767
# A float64 counts integers exactly up to here; beyond it an identifier would be misprinted.
_EXACT = 2**53


def pack(array: AnyArray) -> dict[str, str]:
    """Return an array as its type and its bytes in base64.

    Examples
    --------
    >>> pack(np.array([1, 2], dtype=np.uint8))
    {'type': 'u1', 'data': 'AQI='}
    """
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {
        "type": f"{array.dtype.kind}{array.dtype.itemsize}",
        "data": base64.b64encode(little.tobytes()).decode("ascii"),
    }


def encode_values(values: FloatArray) -> dict[str, Any]:
    """Return importances as 16-bit steps of a scale per feature, feature by feature.

    Examples
    --------
    >>> encode_values(np.array([[0.5], [-0.5]]))
    {'scale': [1.5259...e-05], 'steps': {'type': 'i2', 'data': '/38BgA=='}}
    """
    size = np.nan_to_num(np.abs(values)).max(axis=0, initial=0.0)
    # Below the smallest normal number a step would be zero; such values are none.
    scale = np.where(size / _LARGEST >= np.finfo(np.float64).tiny, size / _LARGEST, 1.0)
    steps = np.where(np.isfinite(values), np.rint(values / scale), _MISSING_VALUE)
    return {"scale": scale.tolist(), "steps": pack(steps.T.astype(np.int16))}


def encode_errors(errors: FloatArray) -> dict[str, Any] | None:
    """Return standard errors in 8 bits, spaced evenly on a log scale: 0 is missing, 1 is zero.

    None if there are none to show. Neighbouring steps differ by a few percent, which is precise
    enough for an error.
    """
    known = np.isfinite(errors)
    positive = errors[known & (errors > 0)]
    if not known.any():
        return None
    low, high = np.log([positive.min(), positive.max()]) if positive.size else (0.0, 0.0)
    width = (high - low) / 253 or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        level = 2 + np.rint((np.log(errors) - low) / width)
    steps = np.where(known, np.where(errors > 0, level, 1), 0)
    return {"low": float(low), "width": float(width), "steps": pack(steps.T.astype(np.uint8))}


def value_text(value: Any) -> str:
    """Return a value as clean text; dates lose an empty time of day."""
    return clean(str(value).removesuffix(" 00:00:00"))


def read_column(values: Sequence[Any]) -> FloatArray | list[str | None]:
    """Return a column as numbers, NaN where one is missing, or else as strings and None.

    Examples
    --------
    >>> read_column([1, None]), read_column(["b", None, 7])
    (array([ 1., nan]), ['b', None, '7'])
    """
    numbers = _as_numbers(values)
    if numbers is not None:
        return numbers
    return [None if is_missing(value) else cut(value_text(value), MAX_TEXT) for value in values]


def encode_column(column: FloatArray | list[str | None], limit: int = MAX_TEXT) -> dict[str, Any]:
    """Return what `read_column` read as JSON values, strings cut to `limit`.

    Strings, and numbers with few distinct values, are listed once and referred to by code.

    Examples
    --------
    >>> encode_column(["b", None, "b"])
    {'kind': 'text', 'levels': ['b'], 'codes': {'type': 'u1', 'data': 'AP8A'}}
    """
    if isinstance(column, list):
        texts = [None if text is None else cut(text, limit) for text in column]
        return {"kind": "text"} | _levels(texts)
    distinct = np.unique(column[~np.isnan(column)])
    kind: dict[str, Any] = {"kind": "number"}
    if (distinct != np.rint(distinct)).any():
        # Numbers of such a column are written alike, those without decimals too.
        kind["whole"] = False
    if len(distinct) < 255 and np.isfinite(distinct).all():
        listed = [None if np.isnan(number) else _shortest(number) for number in column.tolist()]
        return kind | _levels(listed)
    return kind | {"array": pack(_narrow(column))}


@dataclass(frozen=True)
class FittedColumns:
    """Encoded columns, None for those that the page has no room for, and where text was cut."""

    columns: tuple[dict[str, Any] | None, ...]
    text_limit: int

    @property
    def n_dropped(self) -> int:
        """How many columns there was no room for."""
        return sum(column is None for column in self.columns)


def fit_columns(columns: Sequence[Sequence[Any]], *, beside: Any = None) -> FittedColumns:
    """Encode columns of equal length, the most important first, within the page's budget.

    Long text is cut, the shorter the less room there is; if that is not enough, the last columns
    are left out. What stands `beside` them, JSON values, takes its part of the room.
    """
    room = int(_BYTES_PER_CELL * sum(map(len, columns)))
    budget = max(_ALWAYS_ALLOWED, room - _size(beside))
    read = [read_column(column) for column in columns]
    for limit in _TEXT_LIMITS:
        encoded = [encode_column(column, limit) for column in read]
        sizes = [_size(column) for column in encoded]
        if sum(sizes) <= budget:
            return FittedColumns(tuple(encoded), limit)
    kept: list[dict[str, Any] | None] = []
    for column, size in zip(encoded, sizes, strict=True):
        budget -= size
        kept.append(column if budget >= 0 else None)
    return FittedColumns(tuple(kept), limit)


def _size(column: Any) -> int:
    """Count the bytes in the page, where each of <, > and & is escaped in six characters."""
    text = json.dumps(column, ensure_ascii=False)
    return len(text.encode("utf-8")) + 5 * sum(text.count(character) for character in "<>&")


def _as_numbers(values: Sequence[Any]) -> FloatArray | None:
    numbers = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if is_missing(value):
            continue
        if not _is_number(value):
            return None
        numbers[i] = float(value)
    return numbers


def _is_number(value: Any) -> bool:
    if isinstance(value, int | np.integer):
        return not isinstance(value, bool) and abs(int(value)) <= _EXACT
    return isinstance(value, float | np.floating | Decimal)


def _shortest(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) <= _EXACT else float(f"{number:.7g}")


def _narrow(numbers: FloatArray) -> AnyArray:
    """Return float32 if that keeps seven digits and every whole number, else the float64."""
    with np.errstate(over="ignore", under="ignore"):
        single = numbers.astype(np.float32)
    known = np.isfinite(numbers)
    whole = known & (numbers == np.rint(numbers))
    gap = np.abs(single[known] - numbers[known])
    fits = (gap <= 1e-7 * np.abs(numbers[known])).all()
    return single if fits and (single[whole] == numbers[whole]).all() else numbers


def _levels(values: Sequence[Any]) -> dict[str, Any]:
    """Return the distinct values and a code for each value; the largest code means missing."""
    codes = {value: i for i, value in enumerate(dict.fromkeys(v for v in values if v is not None))}
    kind = np.uint8 if len(codes) < 255 else np.uint16 if len(codes) < 65535 else np.uint32
    missing = np.iinfo(kind).max
    coded = [missing if value is None else codes[value] for value in values]
    return {"levels": list(codes), "codes": pack(np.array(coded, dtype=kind))}
