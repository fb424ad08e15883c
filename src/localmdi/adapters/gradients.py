"""Gradients of boosted trees, from their training rows: what every node took from the loss.

Round by round the rows' gradients and hessians are computed as the library did, and added up at
every node. That they are the ones it used shows in the leaves, whose values it stores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._validation import (
    RowRules,
    check_sample_weight,
    check_target,
    count_threads,
    read_encoded_rows,
)
from localmdi.adapters.objectives import Boosting, describe_boosting
from localmdi.adapters.registry import adapt
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi.forest import Forest
    from localmdi.typing import ArrayLike, FittedModel, IntArray, RowsLike

# Gradients are float32 in all libraries. A wrong row, weight or formula misses by far more.
_TOLERANCE = 1e-3


def with_gradients(
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Forest:
    """Return the forest of a boosted model with what its training rows say about every node.

    The impurity of a node becomes −G²/((H + λ) n): G and H are the sums of the rows' gradients and
    hessians before the tree's round, n is their weight. A split takes from it what the library
    calls its gain, so that `local_mdi` of this forest adds up, over the training rows, to the
    library's gain importance.

    Parameters
    ----------
    model : fitted LightGBM, XGBoost or HistGradientBoosting model
        With squared error, log loss of two or more classes, or HistGradientBoosting's Poisson loss.
    X, y, sample_weight
        What ``fit`` got.
    n_jobs : int or None
        As in `local_mdi`.

    Returns
    -------
    Forest
        In the unit "loss".

    Raises
    ------
    UnsupportedModelError
        The gradients cannot be rebuilt, because the model was trained on part of the rows (bagging,
        GOSS, early stopping), dropped trees (DART), or changed its steps (``max_delta_step``,
        monotone constraints, ``cat_l2``); or because X, y or the weights are not what ``fit`` got.

    Examples
    --------
    >>> import localmdi as lm
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    >>> forest = with_gradients(model, X, y)
    >>> result = lm.local_mdi(forest, X)
    >>> result.unit, result.mean().top(1)[0][0]
    ('loss', 'x8')
    """
    adapted = adapt(model, values=True)
    forest = adapted.forest
    rows = read_encoded_rows(
        X if adapted.transform is None else adapted.transform(X),
        forest.row_dtype,
        categories=forest.categories,
    )
    target = check_target(y, rows.shape[0])
    weight = check_sample_weight(sample_weight, rows.shape[0])
    boosting = describe_boosting(_last_step(model), target, weight=weight)
    replay = _Replay(forest, boosting)
    packing = Packing(forest)
    blocks = packing.leaf_blocks(
        rows, RowRules(), n_threads=count_threads(n_jobs), batch_rows=max(1, rows.shape[0])
    )
    for block in blocks:
        for tree, leaf in zip(
            range(block.trees.start, block.trees.stop), block.leaf.T, strict=True
        ):
            replay.add(tree, leaf)
    return replay.forest()


def _last_step(model: Any) -> Any:
    """Return the boosted model in a search or a Pipeline."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        else:
            return model


@dataclass
class _Replay:
    """The rounds of a model on its training rows, one tree after the other."""

    trees: Forest
    boosting: Boosting

    def __post_init__(self) -> None:
        boosting = self.boosting
        n_rows = len(boosting.weight)
        self._value = self.trees.statistic("value")
        self._n_scores = self._value.shape[1]
        before = np.zeros_like(boosting.start) if boosting.start_in_trees else boosting.start
        self._score = np.tile(before, (n_rows, 1))
        self._sums = np.zeros((self.trees.n_nodes, 4))
        self._gradient = self._hessian = np.zeros((0, 0))

    def add(self, tree: int, leaf: IntArray) -> None:
        """Add up the gradients at the leaves of the next tree, and take its step."""
        column = tree % self._n_scores
        if column == 0:
            # All trees of a round see the scores before it.
            score = np.tile(self.boosting.start, (len(leaf), 1)) if tree == 0 else self._score
            self._gradient, self._hessian = self.boosting.gradients(score)
        first, end = self.trees.tree_offset[[tree, tree + 1]].tolist()
        parts = (
            self._gradient[:, column],
            self._hessian[:, column],
            self.boosting.weight,
            np.ones(len(leaf)),
        )
        for i, part in enumerate(parts):
            self._sums[first:end, i] = np.bincount(
                leaf - first, weights=part, minlength=end - first
            )
        self._check(tree, slice(first, end), column=column)
        self._score[:, column] += self._value[leaf, column]

    def _check(self, tree: int, nodes: slice, *, column: int) -> None:
        """Compare the leaves' values with the steps that these gradients ask for."""
        gradient, hessian, _, n = self._sums[nodes].T
        is_leaf = self.trees.feature[nodes] < 0
        value = self._value[nodes, column]
        if self.boosting.start_in_trees and tree < self._n_scores:
            value = value - self.boosting.start[column]
        used = is_leaf & (n > 0)
        if self.boosting.counted and is_leaf.sum() > 1:
            stored = self.trees.statistic("weight")[nodes]
            if not np.array_equal(stored[is_leaf], n[is_leaf]):
                _refuse(tree, "the numbers of rows at its leaves are others")
        step = self.boosting.step(gradient[used], hessian[used])
        value = value[used]
        size = float(step @ step)
        rate = float(step @ value) / size if size > 0 else 0.0
        largest = float(np.abs(value).max(initial=0.0))
        if used.sum() > 1 and np.abs(value - rate * step).max() > _TOLERANCE * largest + 1e-7:
            _refuse(tree, "the values of its leaves are others")

    def forest(self) -> Forest:
        """Return the forest with weights and potentials."""
        sums = self._sums
        _core.add_children(self.trees.node_table, sums)
        weight = sums[:, 2].copy()
        score = self.boosting.score(sums[:, 0], sums[:, 1])
        if not self.boosting.root_has_score:
            score[self.trees.tree_offset[:-1]] = 0.0
        potential = -score / np.where(weight > 0, weight, 1.0)
        return replace(self.trees, weight=weight, impurity=potential, criterion="loss")


def _refuse(tree: int, what: str) -> None:
    raise UnsupportedModelError(
        f"the gradients of these rows do not make tree {tree} of the model: {what}. Either X, y or "
        "sample_weight are not what fit got, or the model was trained on part of the rows "
        "(bagging, GOSS, early stopping), with initial scores, dropped trees or changed steps "
        "(max_delta_step, monotone constraints, cat_l2, path_smooth). Measure it with "
        "as_forest(model).with_statistics(X, y, criterion=...) instead."
    )
