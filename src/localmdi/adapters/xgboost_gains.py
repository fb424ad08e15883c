"""The gains of XGBoost's trees as potentials of their nodes, from the model alone.

A node with gradient sum G and hessian sum H has the score G²/(H + λ) = w²(H + λ), where
w = −G/(H + λ) is its step, which the model stores for splits as it is and for leaves times the
learning rate. A split gains the scores of its children minus its own; see ``docs/libraries.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from localmdi import _core
from localmdi.forest import SplitKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.forest import Forest
    from localmdi.typing import BoolArray, FloatArray, IntArray

# Steps and hessians are float32: the gains that the model stores must come back to this precision,
# compared with the scores that they are the difference of.
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class TreeSums:
    """What XGBoost stores about the nodes of a tree; children are negative at a leaf."""

    left: IntArray
    right: IntArray
    hessian: FloatArray
    step: FloatArray
    gain: FloatArray


def row_weights(trees: Sequence[TreeSums], *, first_hessian: float) -> list[FloatArray]:
    """Return the weights of the nodes: their shares of the hessians, times the weight of all rows.

    The model does not count rows. Every tree gets the same weight at its root, that of the first
    one: there the hessian of a row is known.
    """
    total = trees[0].hessian[0] / first_hessian if trees else 0.0
    return [
        tree.hessian * (total / tree.hessian[0] if tree.hessian[0] > 0 else 1.0) for tree in trees
    ]


def score_parts(trees: Sequence[TreeSums], *, reg_lambda: float | None) -> list[FloatArray] | None:
    """Return the score of every leaf, and minus the gain of every split.

    The score of a node is the sum of these over all nodes below it and itself. None: the scores do
    not make the stored gains, where steps were clipped (``max_delta_step``, monotone constraints).

    Parameters
    ----------
    trees : sequence of TreeSums
        All trees.
    reg_lambda : float or None
        λ; None: find it, because the file does not tell.
    """
    splits = _Splits(trees)
    candidates = [*splits.solved_lambda(), 1.0, 0.0] if reg_lambda is None else [reg_lambda]
    score, error = min((splits.scores(each) for each in candidates), key=lambda found: found[1])
    if not error <= _TOLERANCE:
        return None
    return np.split(splits.parts(score), splits.start[1:-1])


def with_potentials(forest: Forest) -> Forest:
    """Return a forest with −G²/((H + λ) n) as impurities, from one that has `score_parts` there.

    Weights are added up from the leaves: the hessians of splits are rounded.
    """
    if forest.impurity is None:
        return forest
    is_leaf = forest.split_kind == SplitKind.LEAF
    leaf_weight = np.where(is_leaf, forest.statistic("weight"), 0.0)
    sums = np.column_stack([forest.impurity, leaf_weight])
    _core.add_children(forest.node_table, sums)
    score, weight = sums.T.copy()
    potential = -score / np.where(weight > 0, weight, 1.0)
    return replace(forest, weight=weight, impurity=potential, criterion="loss")


class _Splits:
    """The splits of all trees with their children, numbered over all nodes."""

    def __init__(self, trees: Sequence[TreeSums]) -> None:
        sizes = [len(tree.left) for tree in trees]
        self.start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._tree = np.repeat(np.arange(len(trees)), sizes)
        left, right, self._hessian, self._step, gain = (
            np.concatenate([getattr(tree, field) for tree in trees])
            for field in ("left", "right", "hessian", "step", "gain")
        )
        self._is_split: BoolArray = left >= 0
        self._at = np.flatnonzero(self._is_split)
        children = (
            np.stack([left, right], axis=1)[self._at] + self.start[self._tree[self._at], None]
        )
        # Wrong children are refused when the forest is built.
        self._children = np.clip(children, 0, len(left) - 1)
        self._gain = gain[self._at]

    @cached_property
    def _inner(self) -> BoolArray:
        inner: BoolArray = self._is_split[self._children]
        return inner

    def solved_lambda(self) -> list[float]:
        """Return λ from splits whose children are splits: their steps are stored unscaled."""
        both = self._inner.all(axis=1)
        if not both.any():
            return []
        at, children = self._at[both], self._children[both]
        with np.errstate(all="ignore"):
            square = self._step**2
            scored = square * self._hessian
        with np.errstate(all="ignore"):
            known = self._gain[both] + scored[at] - scored[children].sum(axis=1)
            factor = square[children].sum(axis=1) - square[at]
            total = float(factor @ factor)
            found = float(known @ factor) / total if total > 0 else np.nan
        # λ is a number that somebody typed.
        return [float(f"{found:.6g}")] if np.isfinite(found) and found >= 0 else []

    def scores(self, reg_lambda: float) -> tuple[FloatArray, float]:
        """Return the scores of all nodes for a λ, and how far the gains are from the stored."""
        with np.errstate(all="ignore"):
            score = self._step**2 * (self._hessian + reg_lambda)
            inner = np.where(self._inner, score[self._children], 0.0).sum(axis=1)
            outer = np.where(self._inner, 0.0, score[self._children]).sum(axis=1)
            # The squared learning rate of each tree, by least squares over its splits.
            owner, n_trees = self._tree[self._at], len(self.start) - 1
            rest = self._gain + score[self._at] - inner
            found = np.bincount(owner, weights=rest * outer, minlength=n_trees)
            square = np.bincount(owner, weights=outer * outer, minlength=n_trees)
            rate = np.where((found > 0) & (square > 0), found / square, 1.0)
            score = np.where(self._is_split, score, score * rate[self._tree])
            below = score[self._children].sum(axis=1)
            miss = np.abs(below - score[self._at] - self._gain) / (below + np.abs(self._gain))
        error = float(np.nan_to_num(miss, nan=0.0, posinf=np.inf).max(initial=0.0))
        return score, error if np.isfinite(score).all() else np.inf

    def parts(self, score: FloatArray) -> FloatArray:
        """Return minus the stored gain where there is a split, the score elsewhere."""
        parts = score.copy()
        parts[self._at] = -self._gain
        return parts
