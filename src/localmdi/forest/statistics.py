"""Node statistics from rows: push them down, count, and measure the impurity of every node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._validation import (
    RowRules,
    RowSource,
    check_sample_weight,
    check_target,
    count_threads,
    read_encoded_rows,
)
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi.forest.forest import Forest
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["recompute_statistics"]

_CLASS_CRITERIA = ("entropy", "log_loss", "gini")
_VALUE_CRITERIA = ("squared_error", "friedman_mse", "variance")
# Ends of this many (row, tree) pairs are held at a time.
_PAIRS = 1 << 23


def recompute_statistics(
    forest: Forest,
    X: Any,
    *,
    y: Any,
    sample_weight: Any,
    criterion: str | None,
    n_jobs: int | None,
) -> Forest:
    """Return the forest with weights and impurities of the rows (X, y); see `Forest`."""
    criterion = _check_criterion(forest.criterion if criterion is None else criterion)
    rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
    target = check_target(y, rows.shape[0])
    weight = check_sample_weight(sample_weight, rows.shape[0])
    outputs = target[:, None] if target.ndim == 1 else target
    packing = Packing(forest, impurity=False)
    n_threads = count_threads(n_jobs)
    impurities = []
    for output in outputs.T:
        columns, measure = _columns(output, weight, criterion=criterion)
        sums = _node_sums(packing, rows, columns=columns, n_threads=n_threads)
        node_weight, impurity = measure(sums)
        impurities.append(impurity)
    # Multi-output impurity is the mean over outputs, as in scikit-learn.
    mean = np.mean(impurities, axis=0)[_nearest_visited(forest, node_weight)]
    return replace(forest, weight=node_weight, impurity=mean, criterion=criterion)


def _check_criterion(criterion: str | None) -> str:
    if criterion not in (*_CLASS_CRITERIA, *_VALUE_CRITERIA):
        raise ValueError(
            "criterion must be one of "
            f"{', '.join(map(repr, (*_CLASS_CRITERIA, *_VALUE_CRITERIA)))}; got {criterion!r}. "
            "Pass criterion='entropy' or 'gini' for classes, 'squared_error' for numbers."
        )
    return criterion


def _columns(output: AnyArray, weight: FloatArray, *, criterion: str) -> tuple[Any, Any]:
    """Return what to sum over a node's rows, and how to turn the sums into (weight, impurity)."""
    if criterion in _CLASS_CRITERIA:
        classes, codes = np.unique(output, return_inverse=True)
        one_hot = np.zeros((len(output), len(classes)))
        one_hot[np.arange(len(output)), codes] = weight
        return one_hot, _gini if criterion == "gini" else _entropy
    try:
        values = output.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numeric for criterion {criterion!r}; got dtype {output.dtype}. "
            "Use criterion='entropy' or 'gini' for classes."
        ) from error
    if not np.isfinite(values).all():
        raise ValueError("y must be finite; it contains NaN or infinity. Remove those rows.")
    # Centred, so that E[y²] − E[y]² does not cancel.
    values = values - np.average(values, weights=weight)
    return np.stack([weight, weight * values, weight * values**2], axis=1), _variance


def _shares(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = counts.sum(axis=1)
    return total, counts / np.where(total > 0, total, 1.0)[:, None]


def _entropy(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    total, share = _shares(counts)
    return total, -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1) + 0.0


def _gini(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    total, share = _shares(counts)
    return total, np.maximum(1.0 - (share**2).sum(axis=1), 0.0)


def _variance(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = sums[:, 0]
    safe = np.where(total > 0, total, 1.0)
    mean = sums[:, 1] / safe
    return total, np.maximum(sums[:, 2] / safe - mean**2, 0.0)


def _node_sums(
    packing: Packing, rows: RowSource, *, columns: FloatArray, n_threads: int
) -> FloatArray:
    """Sum the columns over the rows that reach each node."""
    forest = packing.forest
    sums = np.zeros((forest.n_nodes, columns.shape[1]))
    for start, stop, batch in packing.batches(rows, RowRules()):
        step = max(1, _PAIRS // max(1, stop - start))
        for first in range(0, forest.n_trees, step):
            last = min(first + step, forest.n_trees)
            ends = packing.ends(batch, first, last=last, n_threads=n_threads)
            _add_ends(sums, ends, columns=columns[start:stop])
    _core.add_children(packing.table, sums)
    return sums


def _add_ends(sums: FloatArray, ends: IntArray, *, columns: FloatArray) -> None:
    lowest, highest = int(ends.min()), int(ends.max()) + 1
    for j in range(columns.shape[1]):
        weights = np.broadcast_to(columns[:, j, None], ends.shape).ravel()
        sums[lowest:highest, j] += np.bincount(
            ends.ravel() - lowest, weights=weights, minlength=highest - lowest
        )


def _nearest_visited(forest: Forest, node_weight: FloatArray) -> IntArray:
    """For each node the nearest node at or above it that a row reached (itself, mostly)."""
    parent = np.arange(forest.n_nodes)
    parent[forest.child] = np.repeat(parent, np.diff(forest.child_offset))
    above = np.where(node_weight > 0, np.arange(forest.n_nodes), parent)
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further
