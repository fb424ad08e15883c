"""The fields of a forest to and from a container file of kind "forest".

The layout is specified in ``docs/format/forest.md``. Only what must be put together is checked
here; whether it makes a forest is the business of `Forest`.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

from localmdi._container import write_container
from localmdi.forest.labels import decode_labels, encode_labels
from localmdi.forest.schema import FLOATS, STATISTICS, STRUCTURE

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from localmdi.typing import AnyArray

__all__ = ["KIND", "VERSION", "decode_fields", "write_fields"]

KIND = "forest"
VERSION = 1
_PLAIN = ("feature_names", "criterion", "aggregation", "row_dtype", "boosted")
_LABELS = ("classes", "categories")


def write_fields(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a forest; statistics that are None are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi._container import read_container
    >>> from localmdi.forest import build_forest
    >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                     threshold=[0.0], child_offset=[0, 0], child=[])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "forest.lmdi"
    ...     write_fields(path, vars(leaf))
    ...     read_container(path, kind=KIND, max_version=VERSION)[1]["feature_names"]
    ['x0']
    """
    labels = _encode_all([fields[field] for field in _LABELS])
    header = {field: fields[field] for field in _PLAIN} | dict(zip(_LABELS, labels, strict=True))
    arrays = {field: fields[field] for field in (*STRUCTURE, *FLOATS) if fields[field] is not None}
    write_container(path, kind=KIND, version=VERSION, header=header, arrays=arrays)


def decode_fields(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    """Return the fields of a forest from the header and the arrays of its file.

    Examples
    --------
    >>> decode_fields({}, {})
    Traceback (most recent call last):
    ValueError: its header must have feature_names, criterion, aggregation, row_dtype, boosted,
    classes, categories; got []
    """
    if header.keys() != {*_PLAIN, *_LABELS}:
        names = ", ".join((*_PLAIN, *_LABELS))
        raise ValueError(f"its header must have {names}; got {reprlib.repr(sorted(header))}")
    required = {*STRUCTURE, *FLOATS} - {*STATISTICS}
    if not required <= arrays.keys() <= {*STRUCTURE, *FLOATS}:
        names = ", ".join(sorted(required))
        optional = ", ".join(STATISTICS)
        raise ValueError(
            f"its arrays must be {names}, and may be {optional}; got {reprlib.repr(sorted(arrays))}"
        )
    fields = {**header, **arrays}
    names = header["feature_names"]
    fields["n_features"] = len(names) if isinstance(names, list) else 0
    labels = _decode_all([header[field] for field in _LABELS])
    return fields | dict(zip(_LABELS, labels, strict=True))


def _encode_all(groups: Sequence[Any]) -> list[list[Any] | None]:
    encoded = [
        None
        if parts is None
        else [None if labels is None else encode_labels(labels) for labels in parts]
        for parts in groups
    ]
    try:
        _decode_all(encoded)
    except ValueError as error:
        raise TypeError(
            "classes and categories must be numbers, bools or texts to be saved; got others: "
            f"{error}. Save dataclasses.replace(forest, classes=...) with other labels."
        ) from error
    return encoded


def _decode_all(groups: Sequence[Any]) -> list[list[AnyArray | None] | None]:
    """Decode the labels of all fields together, so that their size is bounded as a whole."""
    for parts in groups:
        if parts is not None and not isinstance(parts, list):
            raise ValueError(f"its labels must be null or a list; got {reprlib.repr(parts)}")
    described = [part for parts in groups for part in parts or () if part is not None]
    decoded = iter(decode_labels(described))
    return [
        None if parts is None else [None if part is None else next(decoded) for part in parts]
        for parts in groups
    ]
