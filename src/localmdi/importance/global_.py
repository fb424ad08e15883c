"""Global importance: the credits of all edges, weighted by the rows that take them, by feature."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from localmdi.results import GlobalImportance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest import Forest
    from localmdi.forest.credit import Credit
    from localmdi.typing import FloatArray


def global_importance(forest: Forest, credit: Credit) -> GlobalImportance:
    """Return the mean over trees of Imp(X_m, T), Equations 2 and 3 of the paper.

    A tree's importance is the mean of the local one over the rows that its node weights count.
    """
    share = forest.tree_weight / forest.tree_weight.sum()
    total = np.zeros(forest.n_features)
    mean, spread, seen = np.zeros_like(total), np.zeros_like(total), 0.0
    for weight, tree in zip(share, _tree_importances(forest, credit.amount), strict=True):
        total += weight * tree
        if weight > 0:
            # West's update of a weighted mean and its sum of squares, as in the local kernel.
            seen += weight
            delta = tree - mean
            mean += delta * (weight / seen)
            # Beyond 1e154 squares are infinite, and so is what is known of the error.
            with np.errstate(over="ignore"):
                spread += weight * delta * (tree - mean)
    effective = float(share @ share)
    degrees = 1.0 - effective if np.count_nonzero(share) > 1 else np.nan
    remainder = credit.remainder
    return GlobalImportance(
        total,
        unit=credit.unit,
        feature_names=forest.names_for(None),
        n_trees=forest.n_trees,
        standard_error=None if forest.boosted else np.sqrt(spread * effective / degrees),
        baseline=None if remainder is None else float(share @ remainder[forest.tree_offset[:-1]]),
        measure=credit.measure,
        honest=credit.honest,
    )


def _tree_importances(forest: Forest, amount: FloatArray) -> Iterator[FloatArray]:
    """Yield for each tree Σ_edges w(child) / w(root) · amount(edge), by split feature.

    For the impurity drop this is Σ_t p(t) Δi(s_t, t), because w(t) = Σ w(child).
    """
    weight = forest.statistic("weight")
    for start, stop in itertools.pairwise(forest.tree_offset.tolist()):
        offsets = forest.child_offset[start : stop + 1]
        feature = np.repeat(forest.feature[start:stop], np.diff(offsets))
        children = forest.child[offsets[0] : offsets[-1]]
        # A tree that no row reached has nothing to share out.
        part = weight[children] * amount[children] / (weight[start] or 1.0)
        counted = np.bincount(feature, weights=part, minlength=forest.n_features)
        yield counted.astype(np.float64, copy=False)
