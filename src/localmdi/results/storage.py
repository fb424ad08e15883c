"""The fields of a result to and from a container file of kind "importance".

Texts, counts and names go into the header; numbers and matrices become arrays, so that every bit
comes back. A CSR matrix is stored as its three arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from localmdi._container import write_container
from localmdi.results.labels import decode_labels, encode_labels

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from localmdi.typing import AnyArray

__all__ = ["KIND", "VERSION", "decode_fields", "write_fields"]

KIND = "importance"
VERSION = 1
_CSR_PARTS = ("data", "indices", "indptr")


def write_fields(path: str | os.PathLike[str], result: str, *, fields: Mapping[str, Any]) -> None:
    """Write the fields of a result, "local" or "global"; fields that are None are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi._container import read_container
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "result.lmdi"
    ...     fields = {"values": np.ones(2), "unit": "bits", "baseline": None}
    ...     write_fields(path, "global", fields=fields)
    ...     read_container(path, kind=KIND, max_version=VERSION)
    (1, {'result': 'global', 'unit': 'bits'}, {'values': array([1., 1.])})
    """
    header: dict[str, Any] = {"result": result}
    arrays: dict[str, AnyArray] = {}
    for name, value in fields.items():
        if value is None:
            continue
        if name == "row_labels":
            header[name], labels = encode_labels(value)
            arrays.update({f"{name}.{part}": array for part, array in labels.items()})
        elif issparse(value):
            arrays.update({f"{name}.{part}": getattr(value, part) for part in _CSR_PARTS})
        elif isinstance(value, float | np.ndarray):
            arrays[name] = np.asarray(value)
        else:
            header[name] = value
    write_container(path, kind=KIND, version=VERSION, header=header, arrays=arrays)


def decode_fields(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    """Return the fields of a result from the header and the arrays of its file.

    Only what must be put together is checked here; the constructor of the result checks the rest.

    Examples
    --------
    >>> decode_fields({"unit": "bits"}, {"weight": np.asarray(3.0)})
    {'unit': 'bits', 'weight': 3.0}
    """
    fields = dict(header)
    parts: dict[str, dict[str, AnyArray]] = {}
    for name, array in arrays.items():
        field, dot, part = name.partition(".")
        if dot:
            parts.setdefault(field, {})[part] = array
        elif field in fields:
            raise ValueError(f"a field must stand once; got {field} twice")
        else:
            fields[field] = float(array) if array.ndim == 0 else array
    if "row_labels" in parts:
        fields["row_labels"] = decode_labels(header.get("row_labels"), parts.pop("row_labels"))
    for field, group in parts.items():
        if field in fields:
            raise ValueError(f"a field must stand once; got {field} twice")
        fields[field] = _decode_csr(field, group, names=header.get("feature_names"))
    return fields


def _decode_csr(field: str, parts: Mapping[str, AnyArray], *, names: Any) -> Any:
    if parts.keys() != set(_CSR_PARTS) or not isinstance(names, list):
        raise ValueError(f"{field} must be stored as data, indices and indptr; got other parts")
    data, indices, indptr = (parts[part] for part in _CSR_PARTS)
    signed = {indices.dtype.name, indptr.dtype.name} <= {"int32", "int64"}
    flat = all(part.ndim == 1 for part in parts.values())
    if data.dtype != np.float64 or not signed or not flat or not len(indptr):
        raise ValueError(f"{field} must have float64 data and int32 or int64 indices; got others")
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(names)))
