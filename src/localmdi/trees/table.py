"""The training table: which columns are categories, and all of them as the kernel takes them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import (
    Categories,
    Columns,
    as_labels,
    encode_columns,
    frame_labels,
    frame_type,
    learn_categories,
    read_columns,
    read_frame,
)

if TYPE_CHECKING:
    from localmdi.results.frames import FrameType
    from localmdi.typing import AnyArray, RowsLike


@dataclass(frozen=True, eq=False)
class Table:
    """The rows to grow on.

    Parameters
    ----------
    columns : ndarray of float32, shape (n_features, n_rows)
        Numbers, and codes of categories.
    categories : tuple of (ndarray or None)
        For each feature the category of each code; None: numeric.
    names : tuple of str or None
        Feature names, if X has any.
    data, frame_type, row_labels
        X as it was given, the library of a frame, and its index if it is pandas'.
    """

    columns: AnyArray
    categories: tuple[AnyArray | None, ...]
    names: tuple[str, ...] | None
    data: Any
    frame_type: FrameType = None
    row_labels: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_features, n_rows = self.columns.shape
        return int(n_rows), int(n_features)


def read_table(estimator: Any, X: RowsLike) -> Table:
    """Read X for ``fit``, and set the estimator's number of features and their names."""
    from sklearn.utils.validation import validate_data

    wanted = estimator.categorical_features
    columns = _columns_with_categories(X, wanted)
    if columns is None:
        array = validate_data(
            estimator, X, dtype=np.float32, ensure_all_finite="allow-nan", reset=True
        )
        values = np.ascontiguousarray(array.T)
        known: tuple[Categories | None, ...] = (None,) * array.shape[1]
    else:
        validate_data(estimator, X, skip_check_array=True, reset=True)
        flags = _flags(wanted, columns)
        known = tuple(
            learn_categories(column) if flag else None
            for column, flag in zip(columns.arrays, flags, strict=True)
        )
        values = np.ascontiguousarray(encode_columns(columns, known, dtype=np.float32).T)
        _check_finite(values, columns)
    frame = None if isinstance(X, np.ndarray) else read_frame(X)
    names = getattr(estimator, "feature_names_in_", None)
    return Table(
        values,
        tuple(None if learned is None else as_labels(learned) for learned in known),
        names=None if names is None else tuple(map(str, names)),
        data=X if hasattr(X, "shape") else np.array(X, dtype=object if columns else None),
        frame_type=None if frame is None else frame_type(frame),
        row_labels=None if frame is None else frame_labels(frame),
    )


def _columns_with_categories(X: Any, wanted: Any) -> Columns | None:
    """Return the columns of X; None if it is all numeric, so that scikit-learn's check reads it."""
    from_dtype = isinstance(wanted, str) and wanted == "from_dtype"
    if hasattr(X, "tocsr") or (wanted is None or (not from_dtype and np.size(wanted) == 0)):
        return None
    if isinstance(X, np.ndarray) and (X.ndim != 2 or X.size == 0 or X.dtype.kind == "c"):
        return None
    if isinstance(X, np.ndarray) and X.dtype.kind in "iuf" and from_dtype:
        return None
    columns = read_columns(X)
    if 0 in columns.shape or (from_dtype and not any(columns.is_categorical)):
        return None
    return columns


def _flags(wanted: Any, columns: Columns) -> list[bool]:
    n_features = columns.shape[1]
    if isinstance(wanted, str) and wanted == "from_dtype":
        return list(columns.is_categorical)
    chosen = np.asarray(wanted)
    if chosen.dtype == bool and chosen.shape == (n_features,):
        return [bool(flag) for flag in chosen]
    flags = [False] * n_features
    for entry in chosen.tolist() if chosen.ndim == 1 else [wanted]:
        flags[_position(entry, columns)] = True
    return flags


def _position(entry: Any, columns: Columns) -> int:
    if isinstance(entry, str) and columns.names is not None and entry in columns.names:
        return columns.names.index(entry)
    if isinstance(entry, Integral) and 0 <= int(entry) < columns.shape[1]:
        return int(entry)
    raise ValueError(
        'categorical_features must be "from_dtype", None, a mask, or a list of positions or '
        f"column names of X; got {entry!r} for {columns.shape[1]} columns. Name columns of X."
    )


def _check_finite(values: AnyArray, columns: Columns) -> None:
    infinite = np.isinf(values).any(axis=1)
    if infinite.any():
        j = int(infinite.argmax())
        name = j if columns.names is None else repr(columns.names[j])
        raise ValueError(
            f"X must be finite; column {name} contains infinity or a value too large for float32. "
            "Remove or clip such values."
        )
