"""Global measures of the literature, from their published formulas.

MDI-oob is that of Li et al. (2019), "A debiased MDI feature importance measure for random forests";
UFI that of Zhou and Hooker (2021), "Unbiased measurement of feature importance in tree-based
methods". Both compare what the rows of a tree's bag say about a node, p, with what the others say,
q.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from localmdi import _core
from localmdi.exceptions import MissingStatisticsError
from localmdi.honest.gain import laws_of
from localmdi.results import GlobalImportance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.honest.unseen import Unseen
    from localmdi.typing import FloatArray, IntArray


class _NodeSums(NamedTuple):
    """Sums over the unseen rows that reach the nodes of some trees; of the nodes' laws p too."""

    nodes: slice
    up: IntArray
    """The parent of each node, its own place for a root."""
    root: IntArray
    weight: FloatArray
    answered: FloatArray
    """By column: the weight of a class, or the sum of a number."""
    square: FloatArray


def mdi_oob(unseen: Unseen) -> GlobalImportance:
    """Return MDI-oob: the mean over a tree's unseen rows i of Σ_k f_mk(x_i) y_ik, over trees.

    f_m is what the splits on feature m add to the tree's prediction. Numbers count from the mean of
    the tree's root: otherwise the measure would depend on where y has its zero.
    """
    forest, laws = unseen.forest, laws_of(unseen.forest)
    amount = np.zeros(forest.n_nodes)
    for sums in _node_sums(unseen):
        p, root = laws.law[sums.nodes], sums.root
        centre = 0.0 if forest.classes is not None else p[root]
        answered = sums.answered - sums.weight[:, None] * centre
        move = ((p - p[sums.up]) * answered).sum(axis=1)
        amount[sums.nodes] = move / np.where(sums.weight[root] > 0, sums.weight[root], np.nan)
    return _by_feature(unseen, amount / laws.n_outputs.max())


def ufi(unseen: Unseen) -> GlobalImportance:
    """Return UFI: Δ H' over all splits, weighted like the rows of the bag, the mean over trees.

    H' is 1 − Σ_k p_k q_k for Gini, and q[y²] − 2 p[y] q[y] for numbers. A split of which a child
    has no unseen row is skipped.
    """
    forest, laws = unseen.forest, laws_of(unseen.forest)
    if forest.criterion not in ("gini", "squared_error"):
        raise MissingStatisticsError(
            "method='ufi' is defined for the criteria 'gini' and 'squared_error'; the forest has "
            f"{forest.criterion!r}. Pass criterion='gini', or use method='mdi_oob'."
        )
    weight, n_outputs = forest.statistic("weight"), laws.n_outputs.max()
    amount = np.zeros(forest.n_nodes)
    for sums in _node_sums(unseen):
        here = np.where(sums.weight > 0, sums.weight, 1.0)
        both = (laws.law[sums.nodes] * sums.answered).sum(axis=1) / here
        level = n_outputs - both if forest.classes is not None else sums.square / here - 2.0 * both
        empty = np.bincount(sums.up, weights=sums.weight == 0, minlength=len(here)) > 0
        share = weight[sums.nodes] / weight[sums.nodes][sums.root]
        drop = np.where(empty[sums.up], 0.0, share * (level[sums.up] - level))
        amount[sums.nodes] = np.where(sums.weight[sums.root] > 0, drop, np.nan)
    return _by_feature(unseen, amount / n_outputs)


def _node_sums(unseen: Unseen) -> Iterator[_NodeSums]:
    """Yield the trees, block by block."""
    forest, (column, value) = unseen.forest, unseen.responses
    n_columns = forest.statistic("value").shape[1]
    parent = np.arange(forest.n_nodes)
    parent[forest.child] = np.repeat(parent, np.diff(forest.child_offset))
    for block in unseen.blocks():
        first, last = block.trees.start, block.trees.stop
        offset = forest.tree_offset[first : last + 1]
        nodes = slice(int(offset[0]), int(offset[-1]))
        n_nodes, held = nodes.stop - nodes.start, block.held.T
        leaf = block.leaf - nodes.start
        sums = np.zeros((n_nodes, n_columns + 2, 1))
        for k in range(column.shape[1]):
            place = leaf * (n_columns + 2) + column[:, k, None]
            # The last two columns: Σ w y² over all targets, and, once, Σ w.
            parts = ((place, value[:, k, None]), (_last(leaf, n_columns), value[:, k, None] ** 2))
            for where, amount in parts:
                sums += np.bincount(
                    where.ravel(), weights=(held * amount).ravel(), minlength=sums.size
                ).reshape(sums.shape)
        sums[:, -1, 0] = np.bincount(leaf.ravel(), weights=held.ravel(), minlength=n_nodes)
        _core.add_subtrees(forest.node_table, first, last, sums)
        root = np.repeat(offset[:-1] - nodes.start, np.diff(offset))
        yield _NodeSums(
            nodes,
            parent[nodes] - nodes.start,
            root,
            sums[:, -1, 0],
            sums[:, :-2, 0],
            sums[:, -2, 0],
        )


def _last(leaf: IntArray, n_columns: int) -> IntArray:
    return leaf * (n_columns + 2) + n_columns


def _by_feature(unseen: Unseen, amount: FloatArray) -> GlobalImportance:
    """Return the mean over trees of the amounts of the edges, and its error over trees.

    Trees without an unseen row, whose amounts are NaN, know nothing.
    """
    forest = unseen.forest
    parent = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))[forest.child]
    place = tree * forest.n_features + forest.feature[parent]
    by_tree = np.bincount(
        place, weights=amount[forest.child], minlength=forest.n_trees * forest.n_features
    ).reshape(forest.n_trees, forest.n_features)
    known = ~np.isnan(by_tree).any(axis=1)
    by_tree, weight = by_tree[known], forest.tree_weight[known] / forest.tree_weight[known].sum()
    values = weight @ by_tree
    share = float((weight**2).sum())
    spread = weight @ (by_tree - values) ** 2
    return GlobalImportance(
        values,
        unit=str(forest.unit),
        feature_names=forest.names_for(unseen.rows.names),
        n_trees=forest.n_trees,
        standard_error=np.sqrt(spread * share / (1.0 - share)) if share < 1 else None,
        measure="drop",
        honest=True,
        frame_type=unseen.rows.frame_type,
    )
