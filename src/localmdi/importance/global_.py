"""Global MDI: the weighted impurity decreases of all splits, by feature."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from localmdi.importance.labels import unit_of
from localmdi.results import GlobalImportance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest import Forest
    from localmdi.typing import FloatArray

__all__ = ["global_importance"]


def global_importance(forest: Forest) -> GlobalImportance:
    """Return the mean over trees of Imp(X_m, T), Equations 2 and 3 of the paper.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     weight=[4, 1, 3], impurity=[0.375, 0, 0], criterion="gini")
    >>> global_importance(forest).values
    array([0.375])
    """
    share = forest.tree_weight / forest.tree_weight.sum()
    total = np.zeros(forest.n_features)
    mean, spread, seen = np.zeros_like(total), np.zeros_like(total), 0.0
    for weight, tree in zip(share, _tree_importances(forest), strict=True):
        total += weight * tree
        if weight > 0:
            # West's update of a weighted mean and its sum of squares, as in the local kernel.
            seen += weight
            delta = tree - mean
            mean += delta * (weight / seen)
            spread += weight * delta * (tree - mean)
    effective = float(share @ share)
    degrees = 1.0 - effective if np.count_nonzero(share) > 1 else np.nan
    return GlobalImportance(
        total,
        unit=unit_of(forest),
        feature_names=forest.feature_names,
        n_trees=forest.n_trees,
        standard_error=None if forest.boosted else np.sqrt(spread * effective / degrees),
        baseline=float(share @ forest.statistic("impurity")[forest.tree_offset[:-1]]),
    )


def _tree_importances(forest: Forest) -> Iterator[FloatArray]:
    weight, impurity = forest.statistic("weight"), forest.statistic("impurity")
    content = weight * impurity
    bounds = forest.tree_offset.tolist()
    for start, stop in itertools.pairwise(bounds):
        offsets = forest.child_offset[start : stop + 1]
        parent = np.repeat(np.arange(stop - start), np.diff(offsets))
        children = forest.child[offsets[0] : offsets[-1]]
        below = np.bincount(parent, weights=content[children], minlength=stop - start)
        split = forest.feature[start:stop] >= 0
        # p(t) Δi(s_t, t), with p(t) relative to the root; an empty tree has nothing to share out.
        decrease = (content[start:stop] - below)[split] / (weight[start] or 1.0)
        features = forest.feature[start:stop][split]
        counted = np.bincount(features, weights=decrease, minlength=forest.n_features)
        yield counted.astype(np.float64, copy=False)
