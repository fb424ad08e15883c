"""The fields of a forest to and from a container file of kind "forest".

The layout is specified in ``docs/format/forest.md``. Only what must be put together is checked
here; whether it makes a forest is decided by `Forest`.
"""

from __future__ import annotations

import math
import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._container import read_container, write_container
from localmdi._validation import default_names
from localmdi.forest.rules import ARRAYS, OPTIONAL

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.typing import AnyArray

_KIND = "forest"
# Version 1 had no n_features and wrote "x0", "x1", … for features without names.
_VERSION = 2
_PLAIN = ("n_features", "feature_names", "criterion", "aggregation", "row_dtype", "boosted")
_LABELS = ("classes", "categories")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
# A few bytes of JSON can ask for strings of a million characters each.
_MAX_TEXT_BYTES = 1 << 28
# Importances have an entry and a name for every feature, used or not.
_MAX_UNNAMED = 1 << 24


def write_fields(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a forest; statistics that are None are left out."""
    if not _has_few_features(fields):
        raise ValueError(
            f"a forest of more than {_MAX_UNNAMED:,} features needs feature names to be saved; got "
            f"{fields['n_features']:,} features without. Use dataclasses.replace to name them."
        )
    labels = _encode_all([fields[field] for field in _LABELS])
    header = {field: fields[field] for field in _PLAIN} | dict(zip(_LABELS, labels, strict=True))
    arrays = {field: fields[field] for field in ARRAYS if fields[field] is not None}
    write_container(path, kind=_KIND, version=_VERSION, header=header, arrays=arrays)


def read_fields(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a forest from its file.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or newer.
    ValueError
        Its header or arrays are not those of a forest.
    """
    version, header, arrays = read_container(path, kind=_KIND, max_version=_VERSION)
    if version == 1:
        header = _from_version_1(header)
    if header.keys() != {*_PLAIN, *_LABELS}:
        names = ", ".join((*_PLAIN, *_LABELS))
        raise ValueError(f"its header must have {names}; got {reprlib.repr(sorted(header))}")
    if not _has_few_features(header):
        raise ValueError(f"more than {_MAX_UNNAMED:,} features must have names; got none")
    names = header["feature_names"]
    if names is not None and not isinstance(names, list):
        raise ValueError(f"its feature_names must be null or a list; got {reprlib.repr(names)}")
    required = ARRAYS.keys() - OPTIONAL.keys()
    if not required <= arrays.keys() <= ARRAYS.keys():
        names = ", ".join(sorted(required))
        optional = ", ".join(OPTIONAL)
        raise ValueError(
            f"its arrays must be {names}, and may be {optional}; got {reprlib.repr(sorted(arrays))}"
        )
    labels = _decode_all([header[field] for field in _LABELS])
    return {**header, **arrays} | dict(zip(_LABELS, labels, strict=True))


def _has_few_features(header: Mapping[str, Any]) -> bool:
    """Tell whether there are names, or a number of features that a file may claim without."""
    given = header["n_features"]
    return (
        header["feature_names"] is not None or not isinstance(given, int) or given <= _MAX_UNNAMED
    )


def _from_version_1(header: dict[str, Any]) -> dict[str, Any]:
    names = header.get("feature_names")
    if not isinstance(names, list) or "n_features" in header:
        return header
    unnamed = names == list(default_names(len(names)))
    return header | {"n_features": len(names), "feature_names": None if unnamed else names}


def _encode_all(groups: Sequence[Any]) -> list[list[Any] | None]:
    encoded = [
        None
        if parts is None
        else [None if labels is None else _encode_labels(labels) for labels in parts]
        for parts in groups
    ]
    try:
        _decode_all(encoded)
    except ValueError as error:
        raise TypeError(
            "classes and categories must be numbers, booleans or strings to be saved: "
            f"{error}. Save dataclasses.replace(forest, classes=...) with other labels."
        ) from error
    return encoded


def _decode_all(groups: Sequence[Any]) -> list[list[AnyArray | None] | None]:
    """Decode the labels of all fields together, so that their size is bounded as a whole."""
    for parts in groups:
        if parts is not None and not isinstance(parts, list):
            raise ValueError(f"its labels must be null or a list; got {reprlib.repr(parts)}")
    described = [part for parts in groups for part in parts or () if part is not None]
    decoded = iter(_decode_labels(described))
    return [
        None if parts is None else [None if part is None else next(decoded) for part in parts]
        for parts in groups
    ]


def _encode_labels(labels: AnyArray) -> dict[str, Any]:
    """Return the labels as JSON; whether they can be stored is what `_decode_labels` decides."""
    dtype = f"U{labels.dtype.itemsize // 4}" if labels.dtype.kind == "U" else labels.dtype.name
    values = labels.tolist()
    if dtype in _FLOATS:
        values = [None if math.isnan(value) else value for value in values]
    return {"dtype": dtype, "values": values}


def _decode_labels(parts: Iterable[Any]) -> list[AnyArray]:
    """Return the arrays that `_encode_labels` described."""
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
                raise ValueError(f"strings of fixed width take at most {_MAX_TEXT_BYTES} bytes")
        elif not _fits(dtype, values):
            raise ValueError(f"labels of type {dtype[:20]} cannot be {reprlib.repr(values)}")
        arrays.append(np.array(values, dtype=dtype))
    return arrays


def _text_width(dtype: str, values: list[Any]) -> int:
    digits = dtype[1:]
    width = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0
    if not width or not all(isinstance(value, str) and len(value) <= width for value in values):
        raise ValueError(f"strings of type {dtype[:20]} cannot be {reprlib.repr(values)}")
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
