"""Pairs of features on the paths of rows: what one told after another, and interaction indices.

What a path gives to pairs depends on its leaf alone. So the leaves of some trees become one sparse
table (leaf x pair), and rows are sums of its lines. See "Pairs of features on paths" in
``docs/theory/algorithms.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi.results import PairImportance

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi._validation import RowRules, RowSource
    from localmdi.forest import Forest
    from localmdi.forest.packing import Packing
    from localmdi.typing import BoolArray, FloatArray, IntArray

PairIndex: TypeAlias = Literal["conditional", "SII", "STII", "FSII"]

# Fixed sizes of blocks, so that a row's sums do not depend on the rows beside it.
_TREES = 64
_ROWS = 4096


@dataclass(frozen=True)
class PairRequest:
    """How to explain pairs: everything but the forest and the rows.

    Parameters
    ----------
    index : {"conditional", "SII", "STII", "FSII"}
        What is computed.
    n_pairs : int or None
        How many of the strongest pairs are listed; None: all that occur.
    n_threads : int
        Threads that route rows.
    rules : RowRules
        What the rows may contain.
    training : RowSource or None
        The rows that the trees were grown on; the indices need them.
    """

    index: PairIndex
    n_pairs: int | None
    n_threads: int
    rules: RowRules
    training: RowSource | None = None


@dataclass(frozen=True, eq=False)
class _Paths:
    """The paths to some leaves, padded to the longest: (n_leaves, depth).

    `node` and `feature` are those that the path passes, `drop` the amount of the edge that leaves
    them; `feature` is −1 where a path has ended.
    """

    node: IntArray
    feature: IntArray
    drop: FloatArray


def explain_pairs(packing: Packing, rows: RowSource, *, request: PairRequest) -> PairImportance:
    """Return the pairs of all rows."""
    from scipy.sparse import csr_array

    forest = packing.forest
    n_rows, p = rows.shape[0], forest.n_features
    varying = None if request.index == "conditional" else _Varying(packing, request)
    parent = _parents(forest)
    share = forest.tree_weight / forest.tree_weight.sum()
    total = csr_array((n_rows, p * p))
    square = csr_array((n_rows, p * p))
    blocks = packing.leaf_blocks(
        rows, request.rules, n_threads=request.n_threads, batch_rows=_ROWS, max_trees=_TREES
    )
    for block in blocks:
        leaf, place = np.unique(block.leaf, return_inverse=True)
        paths = _follow(forest, leaf, parent=parent, amount=packing.credit.amount)
        if varying is None:
            table = _conditional(paths, p)
        else:
            table = varying.table(paths, index=request.index)
        start, n_here = block.rows.start, block.leaf.shape[0]
        at = np.repeat(np.arange(start, start + n_here), block.leaf.shape[1])
        weight = np.tile(share[block.trees], n_here)
        reached = csr_array((weight, (at, place.ravel())), shape=(n_rows, len(leaf)))
        total = total + reached @ table
        if varying is not None:
            square = square + reached @ table.power(2)
    return _result(packing, rows, request=request, total=total, square=square)


def _result(
    packing: Packing, rows: RowSource, *, request: PairRequest, total: Any, square: Any
) -> PairImportance:
    forest = packing.forest
    p = forest.n_features
    size = np.asarray(abs(total).sum(axis=0)).ravel()
    found = np.flatnonzero(size)
    if request.n_pairs is not None and len(found) > request.n_pairs:
        found = np.sort(found[np.argsort(-size[found], kind="stable")[: request.n_pairs]])
    listed = total.tocsc()[:, found].tocsr()
    error = None
    if request.index != "conditional":
        mean = listed.toarray()
        spread = np.maximum(square.tocsc()[:, found].toarray() - mean**2, 0.0)
        error = np.sqrt(spread / max(forest.n_trees - 1, 1))
    rest = None
    if request.n_pairs is not None:
        rest = np.asarray(total.sum(axis=1)).ravel() - np.asarray(listed.sum(axis=1)).ravel()
    dense = request.n_pairs is not None or request.index != "conditional"
    return PairImportance(
        listed.toarray() if dense else listed,
        np.stack([found // p, found % p], axis=1),
        forest.names_for(rows.names),
        unit=packing.credit.unit,
        index=request.index,
        n_trees=forest.n_trees,
        rest=rest,
        standard_error=error,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
    )


def _parents(forest: Forest) -> IntArray:
    parent = np.full(forest.n_nodes, -1, dtype=np.int64)
    parent[forest.child] = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    return parent


def _follow(forest: Forest, leaf: IntArray, *, parent: IntArray, amount: FloatArray) -> _Paths:
    """Climb from the leaves to their roots, and turn the ways round."""
    edges = []
    at = leaf
    while (parent[at] >= 0).any():
        edges.append(at)
        at = np.where(parent[at] >= 0, parent[at], at)
    if not edges:
        none = np.empty((len(leaf), 0))
        return _Paths(none.astype(np.int64), none.astype(np.int64), none)
    # Columns from the end of the way; at a root `at` stayed, so that these are no edges.
    below = np.stack(edges, axis=1)
    is_edge = parent[below] >= 0
    depth = is_edge.sum(axis=1)
    place = np.arange(below.shape[1])
    turned = np.where(place < depth[:, np.newaxis], depth[:, np.newaxis] - 1 - place, place)
    below = np.take_along_axis(below, turned, axis=1)
    is_edge = np.take_along_axis(is_edge, turned, axis=1)
    node = np.where(is_edge, parent[below], -1)
    feature = np.where(is_edge, forest.feature[node], -1)
    return _Paths(node, feature, np.where(is_edge, amount[below], 0.0))


def _conditional(paths: _Paths, p: int) -> Any:
    """Share the drop of every split equally among the other features that were split above it."""
    n_leaves, depth = paths.feature.shape
    entries = _Entries(n_leaves, p)
    first = np.zeros((n_leaves, depth), dtype=bool)
    for k in range(depth):
        now = paths.feature[:, k]
        above = paths.feature[:, :k]
        others = first[:, :k] & (above != now[:, np.newaxis])
        n_others = others.sum(axis=1)
        first[:, k] = (now >= 0) & ~(above == now[:, np.newaxis]).any(axis=1)
        alone = (now >= 0) & (n_others == 0)
        entries.add(alone, (now, now), amount=paths.drop[:, k])
        part = paths.drop[:, k] / np.maximum(n_others, 1)
        for a in range(k):
            entries.add((now >= 0) & others[:, a], (now, above[:, a]), amount=part)
    return entries.table()


class _Entries:
    """Amounts for pairs of features at leaves, collected column by column."""

    def __init__(self, n_leaves: int, p: int) -> None:
        self._shape, self._p = (n_leaves, p * p), p
        self._leaf: list[IntArray] = []
        self._pair: list[IntArray] = []
        self._amount: list[FloatArray] = []

    def add(self, where: BoolArray, pair: tuple[IntArray, IntArray], *, amount: FloatArray) -> None:
        (leaf,) = np.nonzero(where)
        first, second = pair
        self._leaf.append(leaf)
        self._pair.append(first[leaf] * self._p + second[leaf])
        self._amount.append(amount[leaf])

    def table(self) -> Any:
        from scipy.sparse import csr_array

        if not self._leaf:
            return csr_array(self._shape)
        place = (np.concatenate(self._leaf), np.concatenate(self._pair))
        # The sum of an entry that occurs twice on a path is one amount of the tree.
        return csr_array((np.concatenate(self._amount), place), shape=self._shape)


class _Ranges:
    """The smallest and the largest value of every feature among the rows of every node."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.low = np.full((forest.n_nodes, forest.n_features), np.inf)
        self.high = np.full((forest.n_nodes, forest.n_features), -np.inf)
        self.n_rows = np.zeros(forest.n_nodes)

    def add(self, leaf: IntArray, values: FloatArray) -> None:
        order = np.argsort(leaf, kind="stable")
        node, start, n_rows = np.unique(leaf[order], return_index=True, return_counts=True)
        self._widen(node, start, low=values[order], high=values[order])
        self.n_rows[node] += n_rows

    def climb(self) -> None:
        """Give every node the ranges of its children, the deepest first."""
        forest, parent = self._forest, _parents(self._forest)
        depth = np.zeros(forest.n_nodes, dtype=np.int64)
        at = parent
        while (at >= 0).any():
            depth += at >= 0
            at = np.where(at >= 0, parent[at], -1)
        n_children = np.diff(forest.child_offset)
        for level in range(int(depth.max()), -1, -1):
            node = np.flatnonzero((depth == level) & (n_children > 0))
            if not node.size:
                continue
            start = np.cumsum(n_children[node]) - n_children[node]
            place = np.arange(int(n_children[node].sum())) + np.repeat(
                forest.child_offset[node] - start, n_children[node]
            )
            child = forest.child[place]
            self._widen(node, start, low=self.low[child], high=self.high[child])
            self.n_rows[node] += np.add.reduceat(self.n_rows[child], start)

    def _widen(self, node: IntArray, start: IntArray, *, low: FloatArray, high: FloatArray) -> None:
        if node.size:
            self.low[node] = np.minimum(self.low[node], np.minimum.reduceat(low, start))
            self.high[node] = np.maximum(self.high[node], np.maximum.reduceat(high, start))


class _Varying:
    """Which features vary among the training rows of each node, and the indices that need it.

    A totally randomized tree takes each of the r features that vary in a node with the same chance.
    So what is seen when it takes i, and then j, is divided by these chances to estimate what every
    pair would show: Δ = ½ (drop of j after i + drop of i after j) − ½ (drop of i + drop of j).
    """

    def __init__(self, packing: Packing, request: PairRequest) -> None:
        forest, training = packing.forest, request.training
        if training is None:
            raise ValueError(
                f"index={request.index!r} needs the rows that the trees were grown on, to know "
                "which features vary in a node. Pass training=X_train, or use index='conditional'."
            )
        found = _Ranges(forest)
        blocks = packing.leaf_blocks(training, request.rules, n_threads=request.n_threads)
        for block in blocks:
            values = _codes(training, block.rows)
            for leaf in block.leaf.T:
                found.add(leaf, values)
        found.climb()
        self._varies = found.low < found.high
        self._check(forest, found.n_rows, parent=_parents(forest))
        self._n = self._varies.sum(axis=1)

    def _check(self, forest: Forest, n_rows: FloatArray, *, parent: IntArray) -> None:
        weight = forest.statistic("weight")
        if not np.allclose(weight, n_rows, rtol=1e-9):
            raise ValueError(
                "training must be the rows that every tree was grown on, each once: they must add "
                "up to the weight of every node, but do not. Fit without bootstrap and weights, "
                "or use index='conditional'."
            )
        inner = np.flatnonzero(parent >= 0)
        again = self._varies[inner, forest.feature[parent[inner]]]
        if again.any():
            name = forest.names_for(None)[int(forest.feature[parent[inner[again][0]]])]
            raise ValueError(
                "the indices need features that one split uses up: of two values, or categorical "
                f"and split exhaustively; {name!r} still varies below its own split. Use "
                "index='conditional'."
            )

    def table(self, paths: _Paths, *, index: PairIndex) -> Any:
        n_leaves, depth = paths.feature.shape
        p = self._varies.shape[1]
        entries = _Entries(n_leaves, p)
        product = np.ones(n_leaves)
        for k in range(depth):
            feature, node = paths.feature[:, k], paths.node[:, k]
            r = np.where(node >= 0, self._n[node], 0)
            weight, product = _INDEX_WEIGHT[index](product, np.maximum(r, 2).astype(np.float64))
            pairs = r >= 2
            seen = 0.5 * weight * r
            for j in range(p):
                other = np.full(n_leaves, j)
                where = pairs & (feature != j) & self._varies[node, j]
                entries.add(where, _ordered(feature, other), amount=-seen * paths.drop[:, k])
            if k + 1 < depth:
                then = paths.feature[:, k + 1]
                chance = np.where(then >= 0, self._n[paths.node[:, k + 1]], 0)
                drop = seen * chance * paths.drop[:, k + 1]
                entries.add(pairs & (then >= 0), _ordered(feature, then), amount=drop)
        return entries.table()


def _ordered(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
    return np.minimum(one, other), np.maximum(one, other)


def _codes(training: RowSource, rows: slice) -> FloatArray:
    batch = training.batch(rows.start, rows.stop)
    table = np.asarray(batch.todense() if hasattr(batch, "indptr") else batch, dtype=np.float64)
    # A missing value is a value of its own.
    return np.where(np.isnan(table), -1e300, table)


def _shapley(above: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    return above / (r - 1), above * r / (r - 1)


def _shapley_taylor(above: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 2 / r, above


def _faith_shap(above: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 6 * (1 / r - above / (r + 1)), above * r / (r + 1)


# The weight of a node with r varying features, from a product over the nodes above, and the
# product with this node.
_INDEX_WEIGHT: dict[str, Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]] = {
    "SII": _shapley,
    "STII": _shapley_taylor,
    "FSII": _faith_shap,
}
