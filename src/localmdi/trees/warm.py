"""Warm start: trees of an earlier fit stay, and count for the rows of the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import RowRules, RowSource
from localmdi.forest.credit import impurity_drop
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi.forest import Forest
    from localmdi.trees.growth import Growth
    from localmdi.trees.table import Table
    from localmdi.typing import AnyArray

__all__ = ["add_earlier_trees", "check_same_problem"]


def check_same_problem(
    forest: Forest, table: Table, *, classes: tuple[AnyArray, ...] | None, n_values: int
) -> None:
    """Refuse rows or targets that the earlier trees know nothing about."""
    before = forest.categories or (None,) * forest.n_features
    same = len(before) == len(table.categories) and all(
        np.array_equal(_known(a), _known(b)) for a, b in zip(before, table.categories, strict=True)
    )
    if not same:
        raise ValueError(
            "with warm_start X must have the features and categories of the earlier fit; they "
            "differ. Pass the same columns, or use warm_start=False."
        )
    same = forest.statistic("value").shape[1] == n_values
    if forest.classes is not None and classes is not None:
        same = same and np.array_equal(forest.classes[0], classes[0])
    if not same:
        raise ValueError(
            "with warm_start the classes or outputs must be those of the earlier fit; they "
            "differ. Pass the same kind of y, or use warm_start=False."
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
