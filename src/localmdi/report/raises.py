"""Rows for which a feature raised the uncertainty: the most negative values of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import FloatArray, IntArray

__all__ = ["Raises", "largest_raises"]

# Values this close to 0, relative to the largest, are rounding and say nothing.
_ROUNDING = 1e-9


class Raises(NamedTuple):
    """The rows with the most negative values, most negative first, and how many rows have one.

    Examples
    --------
    >>> Raises(np.array([3]), np.array([0]), np.array([-0.5]), n_rows=1).rows
    array([3])
    """

    rows: IntArray
    features: IntArray
    values: FloatArray
    n_rows: int


def largest_raises(result: LocalImportance, k: int) -> Raises:
    """Return, for the k rows where a feature raised the uncertainty most, row, feature and value.

    Every row counts once, with its most negative value. CSR values are not made dense.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, -0.25], [-0.75, 1.0], [0.25, 0.0]]), 1.0,
    ...     residual=np.array([0.75, 0.75, 0.75]), unit="bits", feature_names=("a", "b"), n_trees=1)
    >>> largest_raises(result, 5)
    Raises(rows=array([1, 0]), features=array([0, 1]), values=array([-0.75, -0.25]), n_rows=2)
    """
    lowest = result.values.min(axis=1)
    if not isinstance(lowest, np.ndarray):
        lowest = lowest.toarray().ravel()
    lowest = np.nan_to_num(lowest)
    largest = abs(result.values).max()
    negative = np.flatnonzero(lowest < -_ROUNDING * np.nan_to_num(largest))
    rows = negative[np.argsort(lowest[negative], kind="stable")][:k]
    features = np.array([_argmin(result.values[[row]]) for row in rows], dtype=np.int64)
    return Raises(rows, features, lowest[rows], n_rows=len(negative))


def _argmin(row: object) -> int:
    return int(np.argmin(np.asarray(row.toarray() if hasattr(row, "toarray") else row)))
