"""The explained rows' values, and what belongs to them, as lists of Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from localmdi.results.axes import take_table

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import IntArray

__all__ = ["items", "row_labels", "table_columns"]


def items(values: Any) -> list[Any]:
    """Return the entries of any array-like, a missing date as None.

    Examples
    --------
    >>> items(np.array(["2026-11-16", "NaT"], dtype="datetime64[D]"))
    ['2026-11-16', None]
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return [None if np.isnat(value) else str(value).replace("T", " ") for value in values]
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def row_labels(result: LocalImportance, rows: IntArray) -> list[Any]:
    """Return the labels of some rows: those of the explained frame, or the rows' positions.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> row_labels(result, np.array([1]))
    [1]
    """
    labels = result.row_labels
    return items(rows if labels is None else labels[rows])


def table_columns(
    result: LocalImportance, rows: IntArray, *, columns: IntArray
) -> list[list[Any]] | None:
    """Return the values of some rows, one list per feature; None if the result cannot tell them.

    The columns of the data are the features only if there are as many of both: a pipeline may have
    made features of its own.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits", n_trees=1,
    ...                          feature_names=("a", "b"), data=np.array([[1, 2], [3, 4]]))
    >>> table_columns(result, np.array([1]), columns=np.array([1, 0]))
    [[4], [3]]
    """
    data = result.data
    if data is None or tuple(data.shape) != result.shape:
        return None
    part = take_table(data, rows, columns=columns)
    if issparse(part):
        part = part.toarray()
    if isinstance(part, np.ndarray):
        return [items(column) for column in part.T]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(part, eager_only=True)
    return [items(column.to_list()) for column in frame.iter_columns()]
