"""A forest made ready for the kernels, and rows handed to them: all routing starts here."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi import _core
from localmdi._validation import (
    RowRules,
    RowSource,
    apply_column_rules,
    check_batch,
    has_effect,
)
from localmdi.forest.credit import credit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest.credit import Credit
    from localmdi.forest.forest import Forest
    from localmdi.typing import BoolArray, FloatArray, IntArray, Measure

# Leaves or weights of this many (row, tree) pairs are held at a time.
_PAIRS = 1 << 22


class LeafBlock(NamedTuple):
    """The nodes where some rows end in some trees."""

    rows: slice
    trees: slice
    leaf: IntArray
    """Shape (rows, trees); nodes are numbered over the whole forest."""


class Packing:
    """The packed form of a forest, built once and shared by calls and threads.

    Parameters
    ----------
    forest : Forest
        The forest.
    credit : Credit, the name of a measure, or None
        What the kernels add up; None: they only route.
    n_threads : int
        Number of threads to pack with, where trees can be packed side by side.
    """

    def __init__(
        self, forest: Forest, credit: Credit | Measure | None = None, *, n_threads: int = 1
    ) -> None:
        self.forest = forest
        self._given = credit
        self.kernel, self.baseline = self._pack(n_threads)

    def __reduce__(self) -> tuple[Any, ...]:
        # What is packed is made again where it arrives, and is smaller until then.
        return Packing, (self.forest, self._given)

    def _pack(self, n_threads: int) -> tuple[_core.Packed32 | _core.Packed64, float | None]:
        """Return the packed form, and the mean remainder of the roots if there is one."""
        forest, source = self.forest, self.forest.source
        if self._given is None:
            return _pack_table(forest), None
        if source is not None and self._given == "drop":
            kernel = source.pack_drops(
                forest.tree_weight, n_features=forest.n_features, n_threads=n_threads
            )
            if kernel is not None:
                return kernel, self._mean(source.root_impurity())
            # The table says what is wrong, or has more ways to read a tree.
        credit = self.credit
        left = credit.remainder
        baseline = None if left is None else self._mean(left[forest.tree_offset[:-1]])
        return _pack_table(forest, credit), baseline

    def _mean(self, root: FloatArray) -> float:
        """Return the mean over trees of a number of each root."""
        return float(self.forest.tree_weight @ root / self.forest.tree_weight.sum())

    @cached_property
    def credit(self) -> Credit:
        """What the kernels add up."""
        if self._given is None:
            raise RuntimeError("this packing only routes; make one with a credit")
        if isinstance(self._given, str):
            return credit_of(self.forest, self._given)
        return self._given

    @cached_property
    def _router(self) -> _core.Packed32 | _core.Packed64:
        # What is packed straight from a model's records does not number its nodes.
        return self.kernel if self.kernel.knows_nodes else _pack_table(self.forest)

    @cached_property
    def result_fields(self) -> dict[str, Any]:
        """What all local results have in common, made once for rows that come one by one.

        The names of the features are those where X has none.
        """
        named = isinstance(self._given, str)
        return {
            "baseline": self.baseline,
            "unit": self.forest.unit if named else self.credit.unit,
            "feature_names": self.forest.names_for(None),
            "n_trees": self.forest.n_trees,
            "measure": self._given if named else self.credit.measure,
            "honest": not named and self.credit.honest,
        }

    @cached_property
    def _refused(self) -> BoolArray:
        forest = self.forest
        refused = np.zeros(forest.n_features, dtype=bool)
        if forest.source is not None and forest.source.routes_missing:
            return refused  # without a look at the nodes
        refused[forest.feature[(forest.feature >= 0) & (forest.missing_child < 0)]] = True
        return refused

    def check(self, rows: RowSource, rules: RowRules) -> None:
        """Check the width and every value of the rows, so that nothing fails half-way."""
        for _ in self.batches(rows, rules):
            pass

    def batches(
        self, rows: RowSource, rules: RowRules, *, batch_rows: int | None = None
    ) -> Iterator[tuple[int, int, Any]]:
        """Yield (start, stop, batch) over all rows, each batch checked."""
        n_rows, n_features = rows.shape
        if n_features != self.forest.n_features:
            raise ValueError(
                f"X must have the model's {self.forest.n_features} features; got {n_features}. "
                "Pass the columns that the model was fitted with."
            )
        rule = self.forest.column_rule
        if rule is not None and not has_effect(rule, sparse=rows.sparse):
            rule = None
        # Rows that are changed are dense, whatever they were.
        step = batch_rows or (rows.batch_rows if rule is None else rows.dense_batch_rows)
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            batch = rows.batch(start, stop)
            if rule is not None:
                batch = apply_column_rules(batch, rule)
            if not _core.all_finite(batch.data if hasattr(batch, "indptr") else batch):
                check_batch(batch, rules, refused=lambda: self._refused)
            yield start, stop, batch

    def rows(self, batch: Any) -> Any:
        """Return a batch as the kernels take it."""
        kind = _core.Rows32 if self.forest.row_dtype == "float32" else _core.Rows64
        if not hasattr(batch, "indptr"):
            return kind(batch)
        indices = batch.indices.astype(np.int64, copy=False)
        indptr = batch.indptr.astype(np.int64, copy=False)
        return kind(batch.data, indices, indptr, batch.shape[1])

    def tree_blocks(self, n_rows: int, *, max_trees: int | None = None) -> Iterator[slice]:
        """Yield ranges of trees for which a (rows × trees) table is small."""
        step = min(max(1, _PAIRS // max(1, n_rows)), max_trees or self.forest.n_trees)
        for first in range(0, self.forest.n_trees, step):
            yield slice(first, min(first + step, self.forest.n_trees))

    def leaf_blocks(
        self,
        rows: RowSource,
        rules: RowRules,
        *,
        n_threads: int,
        batch_rows: int | None = None,
        max_trees: int | None = None,
    ) -> Iterator[LeafBlock]:
        """Yield the nodes where the rows end, block by block of rows and then of trees.

        Parameters
        ----------
        rows, rules
            The rows, and what they may contain.
        n_threads : int
            Number of threads.
        batch_rows : int or None
            Rows of a block; None: as many as are converted at a time.
        max_trees : int or None
            Most trees of a block; None: as many as make a small table.
        """
        for start, stop, batch in self.batches(rows, rules, batch_rows=batch_rows):
            kernel_rows = self.rows(batch)
            for trees in self.tree_blocks(stop - start, max_trees=max_trees):
                leaf = np.empty((stop - start, trees.stop - trees.start), dtype=np.int64)
                self._router.find_ends(kernel_rows, trees.start, leaf, n_threads)
                yield LeafBlock(slice(start, stop), trees, leaf)

    def predict(self, rows: RowSource, rules: RowRules, *, n_threads: int) -> FloatArray:
        """Return the forest's values for the rows: the trees' weighted mean, or their sum.

        The base value, if there is one, is added.

        Returns
        -------
        ndarray of shape (n_rows, n_values)
        """
        value = self.forest.statistic("value")
        is_mean = self.forest.aggregation == "mean"
        weight = self.forest.tree_weight if is_mean else np.ones(self.forest.n_trees)
        out = np.zeros((rows.shape[0], value.shape[1]))
        for block in self.leaf_blocks(rows, rules, n_threads=n_threads):
            part = out[block.rows]
            for tree_weight, leaf in zip(weight[block.trees].tolist(), block.leaf.T, strict=True):
                part += value[leaf] if tree_weight == 1 else tree_weight * value[leaf]
        if is_mean:
            out /= weight.sum()
        return out if self.forest.base_value is None else out + self.forest.base_value


def _pack_table(forest: Forest, credit: Credit | None = None) -> _core.Packed32 | _core.Packed64:
    """Return the packed form of a forest's table; without a credit, the kernels only route."""
    kind = _core.Packed32 if forest.row_dtype == "float32" else _core.Packed64
    if credit is None:
        return kind(forest.node_table, None, None, forest.tree_weight)
    return kind(forest.node_table, credit.amount, credit.remainder, forest.tree_weight)
