"""The global gain and its test: which features tell something about rows that no tree has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.honest.account import EndSums
from localmdi.honest.gain import sum_blocks
from localmdi.results import GlobalImportance

if TYPE_CHECKING:
    from localmdi.honest.account import Ends
    from localmdi.honest.unseen import Unseen
    from localmdi.typing import FloatArray, IntArray


def global_gain(unseen: Unseen, min_rows: int) -> tuple[GlobalImportance, Ends]:
    """Return the mean gain over the rows that trees have not seen, with its error under the null.

    The mean gain is a sum over pairs of a row that a tree has seen and one that it has not. If a
    feature tells nothing, it varies with the rows in either role; each error alone is too small or
    too large, their geometric mean holds ("The test" in ``docs/theory/algorithms.md``).
    """
    forest, shape = unseen.forest, (len(unseen), unseen.forest.n_features)
    out, within = np.zeros(shape), np.zeros(shape)
    weight = np.ascontiguousarray(forest.statistic("weight"))
    total, sums = 0.0, EndSums(unseen)
    for trees in sum_blocks(unseen, min_rows):
        block = trees.block
        total += float(trees.tree_weight[block.held.any(axis=1)].sum())
        sums.add(block)
        trees.kernel.influence(
            trees.rows, block.in_bag, weight, trees.tree_weight, out, within, unseen.n_threads
        )
    ends = sums.result()
    values = out.sum(axis=0) / total
    error = _norm(out, unseen.groups)
    if unseen.candidate is not None:
        # The gain of rows that are held out from all trees varies with these rows alone.
        within += out
        error = np.sqrt(error * _norm(within, unseen.groups))
    result = GlobalImportance(
        values,
        unit=str(forest.unit),
        feature_names=forest.names_for(unseen.rows.names),
        n_trees=forest.n_trees,
        standard_error=error / total,
        weight=float(shape[0]),
        error_kind="sample",
        measure="gain",
        honest=True,
        frame_type=unseen.rows.frame_type,
    )
    return result, ends


def _norm(parts: FloatArray, groups: IntArray | None) -> FloatArray:
    """Return the root of the sum of squares over rows, or over the sums of groups of them."""
    if groups is not None:
        sums = np.zeros((int(groups.max()) + 1, parts.shape[1]))
        np.add.at(sums, groups, parts)
        parts = sums
    norm: FloatArray = np.sqrt((parts**2).sum(axis=0))
    return norm
