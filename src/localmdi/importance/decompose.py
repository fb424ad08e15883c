"""The training rows' shares of the global importance, bootstrap included (identity I3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.importance.labels import names_for, unit_of
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi._validation import RowSource
    from localmdi.forest.packing import Packing
    from localmdi.typing import FloatArray

__all__ = ["decompose", "tree_blocks"]

# Weights of this many (row, tree) pairs are held at a time.
_PAIRS = 1 << 23


def tree_blocks(n_trees: int, n_rows: int) -> list[tuple[int, int]]:
    """Return ranges of trees for which a (trees × rows) table is small.

    Examples
    --------
    >>> tree_blocks(3, 1 << 22)
    [(0, 2), (2, 3)]
    """
    step = max(1, _PAIRS // max(1, n_rows))
    return [(first, min(first + step, n_trees)) for first in range(0, n_trees, step)]


def decompose(
    packing: Packing,
    rows: RowSource,
    *,
    batch: Any,
    weights: Callable[[int, int], FloatArray],
    n_threads: int,
) -> LocalImportance:
    """Return importances whose plain mean over the rows is the global importance.

    Parameters
    ----------
    packing : Packing
        The forest.
    rows : RowSource
        The training rows.
    batch : array or csr_array
        The same rows, converted and checked.
    weights : callable
        ``weights(first, last)``: the rows' in-bag weights in these trees, (last - first, n_rows).
    n_threads : int
        Number of threads.

    Examples
    --------
    >>> from localmdi._validation import read_rows
    >>> from localmdi.forest import build_forest
    >>> from localmdi.forest.packing import Packing
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     impurity=[0.375, 0, 0], criterion="gini")
    >>> rows = read_rows([[0.0], [1.0]], "float64")
    >>> decompose(Packing(forest), rows, batch=rows.batch(0, 2), n_threads=1,
    ...           weights=lambda first, last: np.array([[1.0, 3.0]])).values
    array([[0.1875],
           [0.5625]])
    """
    forest = packing.forest
    n = rows.shape[0]
    values, residual = np.zeros((n, forest.n_features)), np.zeros(n)
    baseline = np.zeros(n)
    root = forest.tree_weight * forest.statistic("impurity")[forest.tree_offset[:-1]]
    kernel_rows = packing.rows(batch)
    for first, last in tree_blocks(forest.n_trees, n):
        share = weights(first, last)
        share = np.ascontiguousarray(share * (n / share.sum(axis=1, keepdims=True)))
        packing.kernel.add_weighted_mdi(kernel_rows, first, share, values, residual, n_threads)
        baseline += root[first:last] @ share
    total = forest.tree_weight.sum()
    return LocalImportance(
        values / total,
        baseline / total,
        residual=residual / total,
        unit=unit_of(forest),
        feature_names=names_for(forest, rows),
        n_trees=forest.n_trees,
        data=rows.data,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
    )
