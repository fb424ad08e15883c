"""Take and join rows of whatever belongs to them: matrices, input frames, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse, vstack

from localmdi.results.select import is_everything

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import IntArray

__all__ = ["join_labels", "join_tables", "select_fields", "take_table"]


def take_table(table: Any, rows: slice | IntArray, *, columns: slice | IntArray) -> Any:
    """Return rows and columns of an array, a sparse array or a data frame, of the same type.

    Examples
    --------
    >>> take_table(np.arange(6).reshape(2, 3), np.array([1]), columns=np.array([2, 0]))
    array([[5, 3]])
    """
    if isinstance(table, np.ndarray) or issparse(table):
        if issparse(table) and table.format not in ("csr", "csc"):
            table = table.tocsr()
        table = table if is_everything(rows) else table[rows]
        return table if is_everything(columns) else table[:, columns]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(table, eager_only=True)
    if not is_everything(rows):
        frame = frame[np.arange(len(frame))[rows].tolist()]
    if not is_everything(columns):
        frame = frame[:, np.arange(frame.shape[1])[columns].tolist()]
    return frame.to_native()


def join_tables(parts: Sequence[Any]) -> Any:
    """Stack arrays, sparse arrays or data frames; None if one is missing or of another type.

    Examples
    --------
    >>> join_tables([np.zeros((1, 2)), np.ones((1, 2))])
    array([[0., 0.],
           [1., 1.]])
    """
    first = parts[0]
    if first is None or any(type(part) is not type(first) for part in parts):
        return None
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if issparse(first):
        return vstack(parts, format=first.format)
    import narwhals.stable.v2 as nw

    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def join_labels(parts: Sequence[Any]) -> Any:
    """Join row labels (arrays or pandas indexes); None if one is missing.

    Examples
    --------
    >>> join_labels([np.array(["a"]), np.array(["b"])])
    array(['a', 'b'], dtype='<U1')
    """
    if any(part is None for part in parts):
        return None
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    import pandas

    first, *rest = (pandas.Index(part) for part in parts)
    return first.append(rest)


def select_fields(
    result: Any, rows: slice | IntArray, *, columns: slice | IntArray
) -> dict[str, Any]:
    """Return the fields of a local result that change when rows and features are selected.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> select_fields(result, slice(None), columns=np.array([1]))["feature_names"]
    ('b',)
    """
    names = result.feature_names
    chosen = {"values": take_table(result.values, rows, columns=columns)}
    chosen["feature_names"] = tuple(names[i] for i in np.arange(len(names))[columns])
    if result.standard_error is not None:
        chosen["standard_error"] = take_table(result.standard_error, rows, columns=columns)
    if result.mean_standard_error is not None:
        kept = is_everything(rows)
        chosen["mean_standard_error"] = result.mean_standard_error[columns] if kept else None
    if result.data is not None:
        matches = is_everything(columns) or result.data.shape[1:] == (len(names),)
        chosen["data"] = take_table(result.data, rows, columns=columns) if matches else None
    for field in ("baseline", "residual", "row_weight", "row_labels"):
        value = getattr(result, field)
        if value is not None and not isinstance(value, float):
            chosen[field] = value[rows]
    return chosen
