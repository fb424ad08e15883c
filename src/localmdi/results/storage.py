"""Results to and from container files of kind "importance".

Strings, counts and names go into the header; numbers and matrices become arrays, so that every bit
comes back. A CSR matrix is stored as its three arrays. The format is specified in
``docs/format/container.md``.
"""

from __future__ import annotations

import os
import reprlib
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from localmdi._container import read_container, write_container
from localmdi.exceptions import FileFormatError
from localmdi.results.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.results.global_ import GlobalImportance
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray


_KIND = "importance"
_VERSION = 1
_CSR_PARTS = ("data", "indices", "indptr")

STORED: dict[str, type[Any]] = {}
"""The dataclasses that files can hold, by their names there; each enters itself."""


def save_result(path: str | os.PathLike[str], result: LocalImportance | GlobalImportance) -> None:
    """Write the fields of a result; those that are None are left out, and those of a subclass."""
    stored, kind = next(item for item in STORED.items() if isinstance(result, item[1]))
    header: dict[str, Any] = {"result": stored}
    arrays: dict[str, AnyArray] = {}
    for field in fields(kind):
        name, value = field.name, getattr(result, field.name)
        how = FIELDS[name].saved
        if value is None or how is None:
            continue
        if how == "labels":
            header[name], labels = _encode_labels(value)
            arrays.update({f"{name}.{part}": array for part, array in labels.items()})
        elif how == "figures":
            arrays.update({f"{name}.{part}": score for part, score in value.items()})
        elif issparse(value):
            arrays.update({f"{name}.{part}": getattr(value, part) for part in _CSR_PARTS})
        elif isinstance(value, float | np.ndarray):
            arrays[name] = np.asarray(value)
        else:
            header[name] = value
    write_container(path, kind=_KIND, version=_VERSION, header=header, arrays=arrays)


def load_importance(path: str | os.PathLike[str]) -> LocalImportance | GlobalImportance:
    """Read a result that `LocalImportance.save` or `GlobalImportance.save` wrote.

    Everything comes back bit for bit, except ``data``, which is not saved. Row labels come back as
    a pandas index if they were one (and as an array where pandas is not installed). The file holds
    numbers and strings only, and is checked: loading a file of unknown origin runs no code of it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    LocalImportance or GlobalImportance
        Whichever was saved.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or written by a newer version.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
    ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "result.lmdi"
    ...     result.save(path)
    ...     load_importance(path).values
    array([[0.5 , 0.25]])
    """
    _, header, arrays = read_container(path, kind=_KIND, max_version=_VERSION)
    try:
        found = _decode_fields(header, arrays)
        stored = found.pop("result", None)
        if isinstance(stored, str) and stored in STORED:
            result: LocalImportance | GlobalImportance = STORED[stored](**found)
            return result
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"cannot read {os.fspath(path)!r}: its fields must form a result; got one that does "
            f"not: {str(error).rstrip('.')}. Save the result again."
        ) from error
    raise FileFormatError(
        f"cannot read {os.fspath(path)!r}: it must hold a local or a global result; got "
        f"{reprlib.repr(stored)}. A newer localmdi may have written it: upgrade localmdi."
    )


def _decode_fields(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    """Return the fields of a result from the header and the arrays of its file.

    Only what must be put together is checked here; the constructor of the result checks the rest.
    """
    found = dict(header)
    parts: dict[str, dict[str, AnyArray]] = {}
    for name, array in arrays.items():
        field, dot, part = name.partition(".")
        if dot:
            parts.setdefault(field, {})[part] = array
        elif field in found:
            raise ValueError(f"a field must occur once; got {field} twice")
        else:
            found[field] = float(array) if array.ndim == 0 else array
    for field, group in parts.items():
        how = FIELDS[field].saved if field in FIELDS else None
        if how == "labels":
            found[field] = _decode_labels(found.get(field), group)
        elif field in found:
            raise ValueError(f"a field must occur once; got {field} twice")
        elif how == "figures":
            found[field] = group
        else:
            found[field] = _decode_csr(field, group, names=header.get("feature_names"))
    return found


def _decode_csr(field: str, parts: Mapping[str, AnyArray], *, names: Any) -> Any:
    if parts.keys() != set(_CSR_PARTS) or not isinstance(names, list):
        raise ValueError(f"{field} must be stored as data, indices and indptr; got other parts")
    data, indices, indptr = (parts[part] for part in _CSR_PARTS)
    signed = {indices.dtype.name, indptr.dtype.name} <= {"int32", "int64"}
    flat = all(part.ndim == 1 for part in parts.values())
    if data.dtype != np.float64 or not signed or not flat or not len(indptr):
        raise ValueError(f"{field} must have float64 data and int32 or int64 indices; got others")
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(names)))


def _encode_labels(labels: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return a JSON description of row labels, all integers or all strings, and their arrays."""
    array = np.asarray(labels)
    name = getattr(labels, "name", None)
    about = {
        "index": not isinstance(labels, np.ndarray),
        "name": name if isinstance(name, str) else None,
    }
    if array.ndim == 1 and array.dtype.kind in "iu":
        return about, {"integer": array}
    items = array.tolist()
    if array.ndim != 1 or not all(isinstance(item, str) for item in items):
        raise TypeError(
            "row labels must be all integers or all strings to be saved; got "
            f"{getattr(labels, 'dtype', array.dtype)}. Save dataclasses.replace(result, "
            "row_labels=result.row_labels.astype(str)), or row_labels=None."
        )
    texts = [item.encode("utf-8") for item in items]
    return about, {
        "text": np.frombuffer(b"".join(texts), dtype=np.uint8),
        "end": np.cumsum([len(text) for text in texts], dtype=np.int64),
    }


def _decode_labels(about: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Return the labels: a pandas index if it was one and pandas is installed, else an array."""
    if not isinstance(about, dict) or about.keys() != {"index", "name"}:
        raise ValueError(
            f"row labels must be described by index and name; got {reprlib.repr(about)}"
        )
    labels = _label_array(arrays)
    if about["index"] is not True:
        return labels
    try:
        import pandas
    except ImportError:
        return labels
    return pandas.Index(labels, name=about["name"])


def _label_array(arrays: Mapping[str, AnyArray]) -> AnyArray:
    if arrays.keys() == {"integer"} and arrays["integer"].dtype.kind in "iu":
        return arrays["integer"]
    if arrays.keys() != {"text", "end"}:
        raise ValueError(
            f"row labels must be integers or strings; got arrays {reprlib.repr(sorted(arrays))}"
        )
    text, end = arrays["text"], arrays["end"]
    if text.dtype != np.uint8 or end.dtype != np.int64 or (text.ndim, end.ndim) != (1, 1):
        raise ValueError("row labels must be bytes and int64 ends; got other types")
    start = np.concatenate([np.zeros(1, dtype=np.int64), end])
    if (start[1:] < start[:-1]).any() or start[-1] != len(text):
        raise ValueError("the strings of row labels must follow each other; got other ends")
    data = text.tobytes()
    labels = (data[first:last].decode("utf-8") for first, last in pairwise(start.tolist()))
    return np.fromiter(labels, dtype=object, count=len(end))
