"""A forest made ready for the kernels, and rows handed to them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._validation import RowRules, RowSource, check_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest.forest import Forest
    from localmdi.typing import BoolArray

__all__ = ["Packing"]


class Packing:
    """The packed form of a forest, built once and shared by calls and threads.

    Parameters
    ----------
    forest : Forest
        The forest.
    impurity : bool
        Whether impurities are needed; routing alone does without.

    Examples
    --------
    >>> from localmdi._validation import read_rows
    >>> from localmdi.forest import build_forest
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...                       split_kind=[1, 0, 0], threshold=[0.5, 0, 0],
    ...                       child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> packing = Packing(forest, impurity=False)
    >>> rows = read_rows([[0], [1]], forest.row_dtype)
    >>> packing.ends(rows.batch(0, 2), 0, last=1, n_threads=1)
    array([[1],
           [2]])
    """

    def __init__(self, forest: Forest, *, impurity: bool = True) -> None:
        self.forest = forest
        self.table = _core.NodeTable(**forest.table)
        kind = _core.Packed32 if forest.row_dtype == "float32" else _core.Packed64
        self.kernel = kind(
            self.table, forest.statistic("impurity") if impurity else None, forest.tree_weight
        )

    @cached_property
    def _refused(self) -> BoolArray:
        forest = self.forest
        refused = np.zeros(forest.n_features, dtype=bool)
        refused[forest.feature[(forest.feature >= 0) & (forest.missing_child < 0)]] = True
        return refused

    @cached_property
    def baseline(self) -> float:
        """The mean impurity of the roots, weighted like the trees."""
        forest = self.forest
        root = forest.statistic("impurity")[forest.tree_offset[:-1]]
        return float(forest.tree_weight @ root / forest.tree_weight.sum())

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
        step = batch_rows or rows.batch_rows
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            batch = rows.batch(start, stop)
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

    def ends(self, batch: Any, first: int, *, last: int, n_threads: int) -> Any:
        """Return the node where each row ends in the trees first..last, shape (n, last - first)."""
        ends = np.empty((batch.shape[0], last - first), dtype=np.int64)
        self.kernel.find_ends(self.rows(batch), first, ends, n_threads)
        return ends
