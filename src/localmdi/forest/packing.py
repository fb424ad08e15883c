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
from localmdi.forest.credit import pack_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest.credit import Credit
    from localmdi.forest.forest import Forest
    from localmdi.typing import BoolArray, FloatArray, IntArray

__all__ = ["LeafBlock", "Packing"]

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
    credit : Credit or None
        What the kernels add up; None: they only route.
    n_threads : int
        Number of threads to pack with, where trees can be packed side by side.
    once : bool
        Whether it serves a single call. What that can do without is then not packed.
    """

    def __init__(
        self,
        forest: Forest,
        credit: Credit | None = None,
        *,
        n_threads: int = 1,
        once: bool = False,
    ) -> None:
        self.forest = forest
        self._credit = credit
        self._n_threads = n_threads
        self._once = once
        if not once:
            _ = self.kernel  # now: what it is made from may change

    @cached_property
    def kernel(self) -> _core.Packed32 | _core.Packed64:
        """The packed form itself."""
        if self._credit is None:
            return pack_table(self.forest)
        return self._credit.pack(self.forest, self._n_threads)

    @property
    def credit(self) -> Credit:
        """What the kernels add up."""
        if self._credit is None:
            raise RuntimeError("this packing only routes; make one with a credit")
        return self._credit

    @cached_property
    def baseline(self) -> float | None:
        """The mean remainder of the roots, weighted like the trees; None if there is none."""
        forest, root = self.forest, self.credit.root_remainder(self.forest)
        if root is None:
            return None
        return float(forest.tree_weight @ root / forest.tree_weight.sum())

    @cached_property
    def _router(self) -> _core.Packed32 | _core.Packed64:
        # What is packed straight from a model's records does not number its nodes.
        return self.kernel if self.kernel.knows_nodes else pack_table(self.forest)

    @cached_property
    def result_fields(self) -> dict[str, Any]:
        """What all local results have in common, made once for rows that come one by one.

        The names of the features are those where X has none.
        """
        return {
            "baseline": self.baseline,
            "unit": self.credit.unit,
            "feature_names": self.forest.names_for(None),
            "n_trees": self.forest.n_trees,
            "measure": self.credit.measure,
            "honest": self.credit.honest,
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

    def local_mdi(
        self,
        batch: Any,
        *,
        values: FloatArray,
        residual: FloatArray,
        standard_error: FloatArray | None,
        n_threads: int,
        is_all: bool,
    ) -> None:
        """Fill in the importances of a batch.

        Parameters
        ----------
        batch
            The rows, checked.
        values, residual, standard_error
            Where to write.
        n_threads : int
            Number of threads.
        is_all : bool
            Whether there is no other batch, and nobody sees what is written if the trees turn out
            to be broken.
        """
        rows = self.rows(batch)
        alone = self._once and is_all and standard_error is None
        records = self.credit.records(self.forest) if alone else None
        # One row has work for one thread, its trees for all. Packing says what is wrong with them.
        if records is None or not records.local_mdi(rows, values, residual, self._n_threads):
            self.kernel.local_mdi(rows, values, residual, standard_error, n_threads)

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
