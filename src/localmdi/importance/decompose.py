"""The training rows' shares of the global importance, bootstrap included.

See "In-bag weights" in ``docs/theory/algorithms.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi._validation import RowSource
    from localmdi.forest.packing import Packing
    from localmdi.typing import FloatArray


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
        The forest and the credits.
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
    The second row counts three times as much, in a tree with one split:

    >>> from localmdi._validation import read_rows
    >>> from localmdi.forest import build_forest
    >>> from localmdi.forest.credit import impurity_drop
    >>> from localmdi.forest.packing import Packing
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     impurity=[0.375, 0, 0], criterion="gini")
    >>> rows = read_rows([[0.0], [1.0]], "float64")
    >>> packing = Packing(forest, impurity_drop(forest))
    >>> decompose(packing, rows, batch=rows.batch(0, 2), n_threads=1,
    ...           weights=lambda first, last: np.array([[1.0, 3.0]])).values
    array([[0.1875],
           [0.5625]])
    """
    forest, credit = packing.forest, packing.credit
    n = rows.shape[0]
    values, residual, baseline = np.zeros((n, forest.n_features)), np.zeros(n), np.zeros(n)
    root = None if credit.remainder is None else credit.remainder[forest.tree_offset[:-1]]
    kernel_rows = packing.rows(batch)
    for trees in packing.tree_blocks(n):
        share = weights(trees.start, trees.stop)
        share = np.ascontiguousarray(share * (n / share.sum(axis=1, keepdims=True)))
        packing.kernel.add_weighted_mdi(
            kernel_rows, trees.start, share, values, residual, n_threads
        )
        if root is not None:
            baseline += (forest.tree_weight * root)[trees] @ share
    total = forest.tree_weight.sum()
    return LocalImportance(
        values / total,
        None if root is None else baseline / total,
        residual=None if root is None else residual / total,
        unit=credit.unit,
        feature_names=forest.names_for(rows.names),
        n_trees=forest.n_trees,
        data=rows.data,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
        groups=rows.groups,
        measure=credit.measure,
    )
