"""Class labels and categories as JSON: their type and their values."""

from __future__ import annotations

import math
import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localmdi.typing import AnyArray

__all__ = ["decode_labels", "encode_labels"]

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = ("float16", "float32", "float64")
# A few bytes of JSON can ask for texts of a million characters each.
_MAX_TEXT_BYTES = 1 << 28


def encode_labels(labels: AnyArray) -> dict[str, Any]:
    """Return the labels as JSON; whether they can be stored is what `decode_labels` decides.

    Examples
    --------
    >>> encode_labels(np.array(["no", "yes"]))
    {'dtype': 'U3', 'values': ['no', 'yes']}
    """
    dtype = f"U{labels.dtype.itemsize // 4}" if labels.dtype.kind == "U" else labels.dtype.name
    values = labels.tolist()
    if dtype in _FLOATS:
        values = [None if math.isnan(value) else value for value in values]
    return {"dtype": dtype, "values": values}


def decode_labels(parts: Iterable[Any]) -> list[AnyArray]:
    """Return the arrays that `encode_labels` described.

    Examples
    --------
    >>> decode_labels([{"dtype": "U3", "values": ["no", "yes"]}])
    [array(['no', 'yes'], dtype='<U3')]
    """
    room = _MAX_TEXT_BYTES
    arrays = []
    for part in parts:
        if not isinstance(part, dict) or part.keys() != {"dtype", "values"}:
            raise ValueError(f"labels have dtype and values; got {reprlib.repr(part)}")
        dtype, values = part["dtype"], part["values"]
        if not isinstance(dtype, str) or not isinstance(values, list):
            raise ValueError(f"labels have a type and a list; got {reprlib.repr(part)}")
        if dtype.startswith("U"):
            dtype = f"U{_text_width(dtype, values)}"
            room -= np.dtype(dtype).itemsize * len(values)
            if room < 0:
                raise ValueError(f"texts of fixed width take at most {_MAX_TEXT_BYTES} bytes")
        elif not _fits(dtype, values):
            raise ValueError(f"labels of type {dtype[:20]} cannot be {reprlib.repr(values)}")
        arrays.append(np.array(values, dtype=dtype))
    return arrays


def _text_width(dtype: str, values: list[Any]) -> int:
    digits = dtype[1:]
    width = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0
    if not width or not all(isinstance(value, str) and len(value) <= width for value in values):
        raise ValueError(f"texts of type {dtype[:20]} cannot be {reprlib.repr(values)}")
    return width


def _fits(dtype: str, values: list[Any]) -> bool:
    """Whether every value is a value of this type; null is NaN, or None among objects."""
    if dtype == "bool":
        return all(isinstance(value, bool) for value in values)
    if dtype == "object":
        return all(value is None or isinstance(value, str) for value in values)
    if dtype in _INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return all(type(value) is int and low <= value <= high for value in values)
    if dtype in _FLOATS:
        largest = float(np.finfo(dtype).max)
        return all(
            value is None or (type(value) is float and abs(value) <= largest) for value in values
        )
    return False
