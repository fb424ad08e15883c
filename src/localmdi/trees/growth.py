"""Growing: trees are added batch by batch to sums; the grown trees become a `Forest` when asked.

A warm start adds the trees of an earlier fit, explaining the rows of the new one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._progress import progress_bar
from localmdi._validation import RowRules, RowSource
from localmdi.forest import Forest, build_forest
from localmdi.forest.credit import impurity_drop
from localmdi.forest.joining import chain_nodes
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi.trees.table import Table
    from localmdi.typing import AnyArray, FloatArray, IntArray

# With a progress bar or a tolerance, a call of the kernel grows this many trees: a multiple of its
# chunk, so that the sums do not depend on it.
_BATCH = 64
# Standard errors from fewer chunks than this are too noisy to stop on.
_MIN_CHUNKS = 32
_RULES = RowRules(finite=True)


@dataclass(frozen=True)
class GrowthPlan:
    """How many trees, and how."""

    rules: _core.GrowRules
    last: int
    first: int = 0
    n_threads: int = 1
    tol: float | None = None
    progress: bool = False
    keep_trees: bool = True
    out_of_bag: bool = False


class Growth:
    """Sums over the trees grown so far.

    Parameters
    ----------
    n_rows, n_features, n_values : int
        Rows, features, and classes or outputs.
    plan : GrowthPlan
        Which sums are needed.
    """

    def __init__(self, n_rows: int, n_features: int, *, n_values: int, plan: GrowthPlan) -> None:
        self.values = np.zeros((n_rows, n_features))
        self.residual = np.zeros(n_rows)
        self.feature = np.zeros((3, n_features))
        self.root = np.zeros(2)
        self.chunk_squares = None if plan.tol is None else np.zeros((n_rows, n_features))
        self.out_of_bag = np.zeros((n_rows, n_values + 1)) if plan.out_of_bag else None
        self.trees = _core.GrownTrees(n_values) if plan.keep_trees else None
        # By row: the number of trees that it was held out of.
        self.held_out = np.zeros(n_rows) if plan.rules.honest else None
        self.n_trees = 0

    def add(
        self, rows: _core.TrainingRows, target: _core.Target, *, plan: GrowthPlan, count: int
    ) -> None:
        """Grow the next trees."""
        sums = _core.GrowSums(
            self.values,
            self.residual,
            self.feature,
            self.root,
            self.chunk_squares,
            self.out_of_bag,
            self.held_out,
        )
        first = plan.first + self.n_trees
        _core.grow(rows, target, plan.rules, (first, count), sums, self.trees, plan.n_threads)
        self.n_trees += count

    def largest_error(self) -> float:
        """Return the largest standard error of a local importance; infinite from few trees.

        Trees are independent, so the spread of the chunks' sums gives that of the mean over trees.
        """
        n_chunks = self.n_trees // _core.GROW_CHUNK
        if self.chunk_squares is None or n_chunks < _MIN_CHUNKS:
            return float("inf")
        with np.errstate(over="ignore", invalid="ignore"):
            spread = self.chunk_squares - self.values**2 / n_chunks
        if not np.isfinite(spread).all():
            return float("inf")
        variance = float(spread.max(initial=0.0)) / (n_chunks - 1)
        # In every pair of trees a row is held out of one.
        n_values = self.n_trees if self.held_out is None else self.n_trees / 2
        return float(np.sqrt(variance * n_chunks)) / n_values

    @property
    def importances_error(self) -> FloatArray:
        """Standard error over trees of the global importances; NaN for one tree."""
        total, square = self.feature[0], self.feature[1]
        if self.n_trees < 2:
            return np.full(len(total), np.nan)
        # Squares of variances beyond 1e154 are infinite, and so is what is known of the error.
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.maximum(square - total**2 / self.n_trees, 0.0)
            error: FloatArray = np.sqrt(spread / (self.n_trees - 1) / self.n_trees)
        return np.where(np.isnan(error), np.inf, error)


def grow(
    rows: _core.TrainingRows, target: _core.Target, *, plan: GrowthPlan, growth: Growth
) -> bool:
    """Grow the trees of a plan; return whether the tolerance, if there is one, was reached."""
    n_trees = plan.last - plan.first
    batch = _BATCH if plan.progress or plan.tol is not None else n_trees
    with progress_bar(plan.progress, n_trees, unit="tree") as advance:
        while growth.n_trees < n_trees:
            count = min(batch, n_trees - growth.n_trees)
            growth.add(rows, target, plan=plan, count=count)
            advance(count)
            if plan.tol is not None and growth.largest_error() <= plan.tol:
                return True
    return plan.tol is None


class GrownForest:
    """Trees that predict.

    Parameters
    ----------
    trees : _core.GrownTrees
        What the kernel has grown.
    header : dict
        The fields of `Forest` that are not its nodes.
    center : ndarray of shape (n_values,)
        Added to the nodes' values: responses are centred while trees grow.
    before : Forest or None
        Trees of an earlier fit.
    """

    def __init__(
        self,
        trees: _core.GrownTrees,
        header: dict[str, Any],
        *,
        center: FloatArray,
        before: Forest | None,
    ) -> None:
        self._source: tuple[Any, ...] = (trees, header, center, before)

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": (), "forest": self.forest}

    @cached_property
    def forest(self) -> Forest:
        """The trees as a table of nodes."""
        trees, header, center, before = self._source
        arrays = trees.arrays()
        arrays["value"] = arrays["value"].reshape(-1, len(center))
        if center.any():
            arrays["value"] += center
        for array in arrays.values():
            array.flags.writeable = False
        forest = build_forest(**arrays, **header)
        self._source = ()
        return forest if before is None else _join_forests(before, forest)

    @cached_property
    def packing(self) -> Packing:
        """The trees ready for the kernels."""
        return Packing(self.forest)

    def values(self, rows: RowSource, *, n_threads: int) -> FloatArray:
        """Return the mean over trees of the values where each row ends."""
        return self.packing.predict(rows, _RULES, n_threads=n_threads)

    def ends(self, rows: RowSource, *, n_threads: int) -> IntArray:
        """Return the node, numbered within its tree, where each row ends in each tree."""
        forest = self.forest
        out = np.empty((rows.shape[0], forest.n_trees), dtype=np.int64)
        for block in self.packing.leaf_blocks(rows, _RULES, n_threads=n_threads):
            out[block.rows, block.trees] = block.leaf - forest.tree_offset[block.trees]
        return out


def _join_forests(before: Forest, after: Forest) -> Forest:
    """Return one forest with the trees of both; they must have one header."""
    joined = {field.name: getattr(after, field.name) for field in fields(Forest)}
    joined |= chain_nodes([before, after])
    for field in ("tree_weight", "value"):
        joined[field] = np.concatenate([getattr(before, field), getattr(after, field)])
    return Forest(**joined)


def check_same_problem(
    forest: Forest, table: Table, *, classes: tuple[AnyArray, ...] | None, n_values: int
) -> None:
    """Raise an error unless features, categories and outputs are those of the earlier fit."""
    before = forest.categories or (None,) * forest.n_features
    same = len(before) == len(table.categories) and all(
        np.array_equal(_known(a), _known(b)) for a, b in zip(before, table.categories, strict=True)
    )
    if not same:
        raise ValueError(
            "with warm_start=True, X must have the features and categories of the earlier fit. "
            "Pass the same columns, or use warm_start=False."
        )
    same = forest.statistic("value").shape[1] == n_values
    if forest.classes is not None and classes is not None:
        same = same and np.array_equal(forest.classes[0], classes[0])
    if not same:
        raise ValueError(
            "with warm_start=True, y must have the classes or outputs of the earlier fit. "
            "Pass the same kind of y, or use warm_start=False."
        )


def _known(labels: AnyArray | None) -> AnyArray:
    return np.array([], dtype=object) if labels is None else labels.astype(str)


def add_earlier_trees(
    growth: Growth, before: Forest, *, table: Table, sums: tuple[Any, ...], n_threads: int
) -> None:
    """Add the earlier trees to the sums; their importances are those of the rows of this fit."""
    packing = Packing(before, impurity_drop(before))
    rows = np.ascontiguousarray(table.columns.T)
    packing.check(RowSource(rows, rows, rows.dtype), RowRules())
    values, residual = np.empty(rows.shape), np.empty(len(rows))
    packing.kernel.local_mdi(packing.rows(rows), values, residual, None, n_threads)
    growth.values += before.n_trees * values
    growth.residual += before.n_trees * residual
    feature, root, out_of_bag = sums
    growth.feature += feature
    growth.root += root
    if growth.out_of_bag is not None and np.shape(out_of_bag) == growth.out_of_bag.shape:
        growth.out_of_bag += out_of_bag
    growth.n_trees += before.n_trees
