"""What must hold for the fields of a result; arrays pass through as read-only views."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray, FloatArray

__all__ = [
    "Matrix",
    "as_count",
    "as_matrix",
    "as_names",
    "as_number",
    "as_text",
    "as_vector",
    "check_local",
]

# SciPy ships no types, so a type checker sees FloatArray | Any.
Matrix: TypeAlias = "FloatArray | csr_array"


def as_text(field: str, value: Any) -> str:
    """Return a non-empty text.

    Examples
    --------
    >>> as_text("unit", "bits")
    'bits'
    """
    if not isinstance(value, str) or not value:
        raise TypeError(f"{field} must be a non-empty text; got {reprlib.repr(value)}. Pass a str.")
    return value


def as_names(value: Any) -> tuple[str, ...]:
    """Return feature names as a tuple of texts; a name may occur twice, as in a data frame.

    Examples
    --------
    >>> as_names(["age", "dose"])
    ('age', 'dose')
    """
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    # By type: thousands of names are checked for every row that is explained alone.
    if names is None or not all(issubclass(kind, str) for kind in set(map(type, names))):
        raise TypeError(
            f"feature_names must be a sequence of texts; got {reprlib.repr(value)}. "
            "Pass tuple(map(str, names))."
        )
    return names


def as_count(field: str, value: Any) -> int:
    """Return a non-negative integer.

    Examples
    --------
    >>> as_count("n_trees", 100)
    100
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TypeError(
            f"{field} must be a non-negative integer; got {reprlib.repr(value)}. Pass an int."
        )
    return int(value)


def as_number(field: str, value: Any) -> float:
    """Return a float.

    Examples
    --------
    >>> as_number("baseline", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{field} must be a number; got {reprlib.repr(value)}. Pass a float.")
    return float(value)


def as_vector(field: str, value: Any, *, length: int) -> FloatArray:
    """Return a read-only view of a float64 array of one dimension and this length.

    Examples
    --------
    >>> as_vector("residual", np.zeros(2), length=2).flags.writeable
    False
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != (length,):
        raise ValueError(
            f"{field} must be a float64 array of shape ({length},); got {_describe(value)}. "
            f"Convert it with np.asarray({field}, dtype=np.float64) or correct its length."
        )
    return _read_only(value)


def as_matrix(field: str, value: Any, *, n_features: int, n_rows: int | None = None) -> Matrix:
    """Return a read-only view of a float64 matrix, dense or CSR, of these sizes.

    Examples
    --------
    >>> as_matrix("values", np.zeros((2, 3)), n_features=3).shape
    (2, 3)
    """
    known = isinstance(value, np.ndarray) or (issparse(value) and value.format == "csr")
    if (
        not known
        or value.dtype != np.float64
        or value.ndim != 2
        or value.shape[1] != n_features
        or n_rows not in (None, value.shape[0])
    ):
        rows = "n_rows" if n_rows is None else n_rows
        raise ValueError(
            f"{field} must be a float64 array or CSR array of shape ({rows}, {n_features}), one "
            f"column per feature name; got {_describe(value)}. "
            f"Convert it with np.asarray or csr_array, or correct its shape."
        )
    return _read_only(value) if isinstance(value, np.ndarray) else _read_only_csr(field, value)


def check_local(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Check the fields of a local result against each other and return them as they are kept.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> LocalImportance(np.eye(2), 1.0, residual=np.zeros(3), unit="bits",
    ...                 feature_names=("a", "b"), n_trees=1)
    Traceback (most recent call last):
    ValueError: residual must be a float64 array of shape (2,); got float64 of shape (3,)...
    """
    names = as_names(fields["feature_names"])
    values = as_matrix("values", fields["values"], n_features=len(names))
    n_rows = values.shape[0]
    baseline = fields["baseline"]
    checked: dict[str, Any] = {
        "feature_names": names,
        "values": values,
        "baseline": as_vector("baseline", baseline, length=n_rows)
        if isinstance(baseline, np.ndarray) and baseline.ndim
        else as_number("baseline", baseline),
        "residual": as_vector("residual", fields["residual"], length=n_rows),
        "unit": as_text("unit", fields["unit"]),
        "n_trees": as_count("n_trees", fields["n_trees"]),
    }
    _check_optional(checked, fields, n_rows=n_rows, n_features=len(names))
    if fields["frame_type"] not in (None, "pandas", "polars", "pyarrow"):
        raise ValueError(
            f"frame_type must be 'pandas', 'polars', 'pyarrow' or None; got "
            f"{reprlib.repr(fields['frame_type'])}. Use None for arrays."
        )
    for field, n_dimensions in (("data", 1), ("row_labels", None)):
        given = fields[field]
        if given is not None and getattr(given, "shape", ())[:n_dimensions] != (n_rows,):
            raise ValueError(
                f"{field} must be None or an array, index or frame with {n_rows} rows; got "
                f"{_describe(given)}. Convert a list with np.asarray, or correct its shape."
            )
    return checked


def _check_optional(
    checked: dict[str, Any], fields: Mapping[str, Any], *, n_rows: int, n_features: int
) -> None:
    error, mean_error = fields["standard_error"], fields["mean_standard_error"]
    if error is not None:
        checked["standard_error"] = as_matrix(
            "standard_error", error, n_features=n_features, n_rows=n_rows
        )
    if mean_error is not None:
        checked["mean_standard_error"] = as_vector(
            "mean_standard_error", mean_error, length=n_features
        )
    if fields["method"] is not None:
        checked["method"] = as_text("method", fields["method"])
    if fields["row_weight"] is not None:
        weight = as_vector("row_weight", fields["row_weight"], length=n_rows)
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError(
                "row_weight must be finite and not negative; got other weights. "
                "Pass the sample weights of the rows."
            )
        checked["row_weight"] = weight


def _read_only(array: AnyArray) -> AnyArray:
    # A view, because the flags of the caller's own array are not ours to change.
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _read_only_csr(field: str, value: Any) -> Any:
    _check_csr(field, value)
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    parts = tuple(_read_only(part) for part in (value.data, value.indices, value.indptr))
    view = csr_array(parts, shape=value.shape)
    view.has_canonical_format = True
    return view


def _check_csr(field: str, value: Any) -> None:
    """SciPy trusts these arrays and would read beyond their ends; its own check skips some."""
    n_rows, n_features = value.shape
    indices, indptr = value.indices, value.indptr
    if (
        indptr.shape != (n_rows + 1,)
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or not indptr[-1] == len(indices) == len(value.data)
    ):
        raise ValueError(
            f"the indptr of {field} must rise from 0 to the number of stored values; got another "
            "sequence. Build the array with scipy.sparse.csr_array."
        )
    if len(indices) and (indices.min() < 0 or indices.max() >= n_features):
        raise ValueError(
            f"the column indices of {field} must lie in [0, {n_features}); got "
            f"{indices.min()} to {indices.max()}. Build the array with scipy.sparse.csr_array."
        )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray) or issparse(value):
        kind = f"{value.format} " if issparse(value) else ""
        return f"{kind}{value.dtype} of shape {value.shape}"
    return type(value).__name__
