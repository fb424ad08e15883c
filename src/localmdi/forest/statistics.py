"""Node statistics from rows: route them, add up, and measure the impurity of every node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._criteria import Criterion, criterion_names, find_criterion
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
    name = forest.criterion if criterion is None else criterion
    measured = find_criterion(name, among=criterion_names(computed=True))
    rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
    target = check_target(y, rows.shape[0])
    weight = check_sample_weight(sample_weight, rows.shape[0])
    outputs = target[:, None] if target.ndim == 1 else target
    packing = Packing(forest)
    n_threads = count_threads(n_jobs)
    impurities, values, classes = [], [], []
    for output in outputs.T:
        summed = read_node_target(output, weight, criterion=measured)
        sums = _node_sums(packing, rows, columns=summed.summands, n_threads=n_threads)
        node_weight = measured.weight(sums)
        impurities.append(measured.impurity(sums))
        values.append(summed.means(sums, node_weight))
        if summed.classes is not None:
            classes.append(summed.classes)
    nearest = _nearest_visited(forest, node_weight)
    return replace(
        forest,
        weight=node_weight,
        # Multi-output impurity is the mean over outputs, as in scikit-learn.
        impurity=np.mean(impurities, axis=0)[nearest],
        value=np.concatenate(values, axis=1)[nearest],
        criterion=name,
        classes=tuple(classes) or None,
        aggregation="mean",
        base_value=None,
    )


@dataclass(frozen=True, eq=False)
class NodeTarget:
    """One output as numbers that add up over rows, which is all that a criterion needs.

    Parameters
    ----------
    summands : ndarray of shape (n_rows, n_sums)
        What each row adds to a node: its weight in the column of its class; or w, wy, wy².
    classes : ndarray or None
        The class of each column; None: numbers.
    center : float
        What was subtracted from y, so that E[y²] − E[y]² does not cancel.
    """

    summands: FloatArray
    classes: AnyArray | None = None
    center: float = 0.0

    def means(self, sums: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the class frequencies, or the mean responses, of nodes with these sums."""
        columns = sums if self.classes is not None else sums[:, 1:2]
        means: FloatArray = columns / np.where(weight > 0, weight, 1.0)[:, None] + self.center
        return means


def read_node_target(output: AnyArray, weight: FloatArray, *, criterion: Criterion) -> NodeTarget:
    """Check one output against the criterion."""
    if criterion.target == "classes":
        classes, codes = np.unique(output, return_inverse=True)
        one_hot = np.zeros((len(output), len(classes)))
        one_hot[np.arange(len(output)), codes] = weight
        return NodeTarget(one_hot, classes)
    try:
        values = output.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numeric for criterion {criterion.name!r}; got dtype {output.dtype}. "
            "Use criterion='entropy' or 'gini' for classes."
        ) from error
    if not np.isfinite(values).all():
        raise ValueError("y must be finite; it contains NaN or infinity. Remove those rows.")
    center = float(np.average(values, weights=weight))
    values = values - center
    return NodeTarget(np.stack([weight, weight * values, weight * values**2], axis=1), None, center)


def _node_sums(
    packing: Packing, rows: RowSource, *, columns: FloatArray, n_threads: int
) -> FloatArray:
    """Sum the columns over the rows that reach each node."""
    forest = packing.forest
    sums = np.zeros((forest.n_nodes, columns.shape[1]))
    for block in packing.leaf_blocks(rows, RowRules(), n_threads=n_threads):
        _add_leaves(sums, block.leaf, columns=columns[block.rows])
    _core.add_children(forest.node_table, sums)
    return sums


def _add_leaves(sums: FloatArray, leaf: IntArray, *, columns: FloatArray) -> None:
    lowest, highest = int(leaf.min()), int(leaf.max()) + 1
    for j in range(columns.shape[1]):
        weights = np.broadcast_to(columns[:, j, None], leaf.shape).ravel()
        sums[lowest:highest, j] += np.bincount(
            leaf.ravel() - lowest, weights=weights, minlength=highest - lowest
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
