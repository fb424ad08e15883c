"""The fields of results: their types, and what must hold for them.

Arrays pass through as read-only views. To add a field to `LocalImportance`, check it in
`check_local`; `localmdi.results.axes` says what becomes of it when rows are chosen or joined.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array, issparse

from localmdi._text import count
from localmdi.typing import ErrorOf, ResultMeasure

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray

__all__ = [
    "Matrix",
    "as_choice",
    "as_count",
    "as_flag",
    "as_matrix",
    "as_names",
    "as_number",
    "as_text",
    "as_vector",
    "check_local",
    "check_measure",
    "dense",
    "predicts_classes",
    "read_only",
]

# SciPy ships no types, so a type checker sees FloatArray | Any.
Matrix: TypeAlias = "FloatArray | csr_array"


def dense(matrix: Matrix) -> FloatArray:
    """Return a matrix as a NumPy array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def predicts_classes(result: LocalImportance) -> bool:
    """Tell whether the direction of a result is that of a class, not of a number.

    Numbers are predicted as floats; boosted trees for classes may measure in any unit.
    """
    said = result.prediction
    is_label = said is not None and said.dtype.kind != "f"
    return result.unit in ("bits", "gini") or is_label


def as_text(field: str, value: Any) -> str:
    """Return a non-empty string."""
    if not isinstance(value, str) or not value:
        raise TypeError(
            f"{field} must be a non-empty string; got {reprlib.repr(value)}. Pass a str."
        )
    return value


def as_names(value: Any) -> tuple[str, ...]:
    """Return feature names as a tuple; a name may occur twice, as in a data frame."""
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    # By type: thousands of names are checked for every row that is explained alone.
    if names is None or not all(issubclass(kind, str) for kind in set(map(type, names))):
        raise TypeError(
            f"feature_names must be a sequence of strings; got {reprlib.repr(value)}. "
            "Pass tuple(map(str, names))."
        )
    return names


def as_count(field: str, value: Any) -> int:
    """Return a non-negative integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TypeError(
            f"{field} must be a non-negative integer; got {reprlib.repr(value)}. Pass an int."
        )
    return int(value)


def as_flag(field: str, value: Any) -> bool:
    """Return a bool."""
    if not isinstance(value, bool | np.bool):
        raise TypeError(f"{field} must be True or False; got {reprlib.repr(value)}. Pass a bool.")
    return bool(value)


def as_choice(field: str, value: Any, *, choices: tuple[str | None, ...]) -> Any:
    """Return one of some values."""
    if not isinstance(value, str | None) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(
            f"{field} must be one of {listed}; got {reprlib.repr(value)}. "
            f"Use {choices[0]!r} if in doubt."
        )
    return value


def as_number(field: str, value: Any) -> float:
    """Return a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{field} must be a number; got {reprlib.repr(value)}. Pass a float.")
    return float(value)


def as_vector(field: str, value: Any, *, length: int) -> FloatArray:
    """Return a read-only view of a float64 array of one dimension and this length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != (length,):
        raise ValueError(
            f"{field} must be a float64 array of shape ({length},); got {_describe(value)}. "
            f"Convert it with np.asarray({field}, dtype=np.float64) or correct its length."
        )
    return read_only(value)


def as_matrix(field: str, value: Any, *, n_features: int, n_rows: int | None = None) -> Matrix:
    """Return a read-only view of a float64 matrix, dense or CSR, of these sizes."""
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
    return read_only(value) if isinstance(value, np.ndarray) else _read_only_csr(field, value)


def check_measure(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked fields that local and global results share."""
    return {
        "feature_names": as_names(fields["feature_names"]),
        "unit": as_text("unit", fields["unit"]),
        "n_trees": as_count("n_trees", fields["n_trees"]),
        "measure": as_choice("measure", fields["measure"], choices=get_args(ResultMeasure)),
        "honest": as_flag("honest", fields["honest"]),
        "error": as_choice("error", fields["error"], choices=get_args(ErrorOf)),
        "note": None if fields["note"] is None else as_text("note", fields["note"]),
    }


def check_local(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a local result, checked and converted."""
    checked = check_measure(fields)
    n_features = len(checked["feature_names"])
    checked["values"] = as_matrix("values", fields["values"], n_features=n_features)
    n_rows = checked["values"].shape[0]
    checked |= _check_ends(fields["baseline"], fields["residual"], n_rows=n_rows)
    checked |= _check_optional(fields, n_rows=n_rows, n_features=n_features)
    as_choice("frame_type", fields["frame_type"], choices=(None, "pandas", "polars", "pyarrow"))
    for field, n_dimensions in (("data", 1), ("row_labels", None), ("prediction", None)):
        given = fields[field]
        if given is not None and getattr(given, "shape", ())[:n_dimensions] != (n_rows,):
            raise ValueError(
                f"{field} must be None or an array, index or frame with {count(n_rows, 'row')}; "
                f"got {_describe(given)}. Convert a list with np.asarray, or correct its shape."
            )
    return checked


def _check_ends(baseline: Any, residual: Any, *, n_rows: int) -> dict[str, Any]:
    if (baseline is None) != (residual is None):
        absent, given = ("baseline", "residual") if baseline is None else ("residual", "baseline")
        raise ValueError(
            f"{absent} must be given together with {given}, or both be None; got {given} only. "
            "A measure whose credits do not add up to a fixed total has neither."
        )
    if baseline is None:
        return {}
    per_row = isinstance(baseline, np.ndarray) and baseline.ndim
    return {
        "baseline": as_vector("baseline", baseline, length=n_rows)
        if per_row
        else as_number("baseline", baseline),
        "residual": as_vector("residual", residual, length=n_rows),
    }


def _check_optional(fields: Mapping[str, Any], *, n_rows: int, n_features: int) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    error, mean_error = fields["standard_error"], fields["mean_standard_error"]
    if error is not None:
        checked["standard_error"] = as_matrix(
            "standard_error", error, n_features=n_features, n_rows=n_rows
        )
    if mean_error is not None:
        checked["mean_standard_error"] = as_vector(
            "mean_standard_error", mean_error, length=n_features
        )
    if fields["direction"] is not None:
        checked["direction"] = as_matrix(
            "direction", fields["direction"], n_features=n_features, n_rows=n_rows
        )
    if fields["groups"] is not None:
        checked["groups"] = _as_groups(fields["groups"])
    if fields["scores"] is not None:
        checked["scores"] = _as_scores(fields["scores"], n_rows=n_rows)
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
    return checked


def _as_groups(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(
            f"groups must be a dict of column → names of its features; got {reprlib.repr(value)}. "
            "Pass None if there are none."
        )
    return {name: as_names(members) for name, members in value.items()}


def _as_scores(value: Any, *, n_rows: int) -> dict[str, FloatArray]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(
            f"scores must be a dict of name → one number per row; got {reprlib.repr(value)}. "
            "Pass None if there are none."
        )
    return {name: as_vector(f"scores[{name!r}]", own, length=n_rows) for name, own in value.items()}


def read_only(array: AnyArray) -> AnyArray:
    """Return a view, because the flags of the caller's own array are not ours to change."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _read_only_csr(field: str, value: Any) -> Any:
    _check_csr(field, value)
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    parts = tuple(read_only(part) for part in (value.data, value.indices, value.indptr))
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
