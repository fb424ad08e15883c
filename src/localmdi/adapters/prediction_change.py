"""CatBoost's PredictionValuesChange, row by row."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from localmdi._validation import RowRules, count_threads, read_encoded_rows
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi.forest import Forest
    from localmdi.typing import FloatArray, RowsLike


def prediction_values_change(
    forest: Forest, X: RowsLike, *, n_jobs: int | None = None
) -> FloatArray:
    """Return for every row how much each feature's splits change its prediction, squared.

    For a split that parts two groups of training rows, a row of one of them gets the squared
    distance of its group's value to the mean of both. In a symmetric tree the groups of a split are
    the two leaves that differ in its answer alone; in other trees they are all rows of its two
    children. The mean over the training rows, divided by its sum, is CatBoost's
    ``PredictionValuesChange`` (times 100).

    Parameters
    ----------
    forest : Forest
        ``as_forest(model)`` of a CatBoost model.
    X : array, or pandas, polars or pyarrow table
        The rows.
    n_jobs : int or None
        As in `local_mdi`.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
    """
    rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
    changes = np.zeros((rows.shape[0], forest.n_features))
    packing = Packing(forest)
    bounds = list(itertools.pairwise(forest.tree_offset.tolist()))
    tables: dict[int, tuple[FloatArray, int]] = {}
    for block in packing.leaf_blocks(rows, RowRules(), n_threads=count_threads(n_jobs)):
        part = changes[block.rows]
        for tree, leaf in zip(
            range(block.trees.start, block.trees.stop), block.leaf.T, strict=True
        ):
            if tree not in tables:
                tables[tree] = _leaf_changes(forest, bounds[tree][0], end=bounds[tree][1])
            table, first = tables[tree]
            part += table[leaf - first]
    return changes


def _leaf_changes(forest: Forest, first: int, *, end: int) -> tuple[FloatArray, int]:
    """Return the changes of every node of a tree that is a leaf, and the first node's number."""
    table = np.zeros((end - first, forest.n_features))
    levels = _symmetric_levels(forest, first, end=end)
    if levels is None:
        _add_edges(forest, table, first=first, end=end)
        return table, first
    depth = len(levels)
    value, weight = forest.statistic("value")[first:end], forest.statistic("weight")[first:end]
    start = 2**depth - 1
    position = np.arange(2**depth)
    for level, feature in enumerate(levels):
        # Leaves stand in the order of the answers, the root's first.
        other = start + (position ^ (1 << (depth - 1 - level)))
        both = weight[start:] + weight[other]
        share = np.where(both > 0, weight[other] / np.where(both > 0, both, 1.0), 0.0)
        distance = (value[start:] - value[other]) * share[:, None]
        table[start:, feature] += (distance**2).sum(axis=1)
    return table, first


def _symmetric_levels(forest: Forest, first: int, *, end: int) -> list[int] | None:
    """Return the feature of each level, if all its nodes ask the same."""
    depth = (end - first).bit_length() - 1
    if end - first != 2 ** (depth + 1) - 1:
        return None
    levels = []
    for level in range(depth):
        at = slice(first + 2**level - 1, first + 2 ** (level + 1) - 1)
        feature, threshold = forest.feature[at], forest.threshold[at]
        if feature[0] < 0 or (feature != feature[0]).any() or (threshold != threshold[0]).any():
            return None
        levels.append(int(feature[0]))
    return levels


def _add_edges(forest: Forest, table: FloatArray, *, first: int, end: int) -> None:
    """Add the changes along the paths to the leaves; parents stand before their children."""
    value = forest.statistic("value")
    for node in range(first, end):
        children = forest.child[forest.child_offset[node] : forest.child_offset[node + 1]]
        for child in children.tolist():
            table[child - first] = table[node - first]
            distance = value[child] - value[node]
            table[child - first, forest.feature[node]] += float(distance @ distance)
