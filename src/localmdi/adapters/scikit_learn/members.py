"""The trees of a model of any kind: every ensemble is a weighted list of members.

Where a prediction is not linear in the trees' values (AdaBoost, hard voting, calibration), the
values stand for the weighted mean of the trees' values instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import UNIT_OF
from localmdi.adapters.pipelines import transformers
from localmdi.adapters.scikit_learn.kinds import (
    Kind,
    accepts_missing,
    allows_missing,
    check_purpose,
    kind_of,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localmdi.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class TreeMember:
    """One tree of a model.

    Parameters
    ----------
    tree : object
        The fitted tree's ``tree_``.
    weight : float
        In the mean over trees, up to a common factor.
    scale : float
        Factor of the tree's values in the model's prediction, where that is linear in them.
    columns : ndarray of int or None
        Column of X for each feature of the tree; None: the same.
    targets : ndarray of int or None
        Value column of the model for each of the tree's, -1: none; None: the same.
    """

    tree: Any
    weight: float
    scale: float
    columns: IntArray | None = None
    targets: IntArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """All trees of a model, in its order, and what they have in common.

    Parameters
    ----------
    trees : list of TreeMember
        The trees.
    criterion : str
        What their impurities measure.
    n_values : int
        Number of value columns.
    classes : tuple of ndarray or None
        Class labels of each output.
    missing : bool
        Whether the model accepts missing values.
    summed : bool
        Whether the prediction is the sum of scaled values; else their weighted mean.
    boosted : bool
        Whether each tree depends on the ones before it.
    base : ndarray of shape (n_values,) or None
        What the model adds to the trees; NaN: it differs from row to row.
    """

    trees: list[TreeMember]
    criterion: str
    n_values: int
    classes: tuple[AnyArray, ...] | None
    missing: bool
    summed: bool = False
    boosted: bool = False
    base: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an ensemble, itself one tree or many, and its place in the ensemble.

    Parameters
    ----------
    members : Members
        Its trees.
    weight : float
        In the mean over members, up to a common factor.
    scale : float
        Factor of its prediction in the ensemble's.
    columns, targets : ndarray of int or None
        As in `TreeMember`, for all its trees.
    """

    members: Members
    weight: float = 1.0
    scale: float = 1.0
    columns: IntArray | None = None
    targets: IntArray | None = None

    def trees(self) -> list[TreeMember]:
        """Return its trees as the ensemble's; together they weigh what the member weighs."""
        total = sum(tree.weight for tree in self.members.trees)
        share = self.weight / total
        return [
            TreeMember(
                tree.tree,
                tree.weight * share,
                tree.scale * self.scale,
                _through(self.columns, tree.columns),
                _through(self.targets, tree.targets),
            )
            for tree in self.members.trees
        ]

    def base(self, n_values: int) -> FloatArray:
        """Return what it adds to the ensemble's prediction, besides its trees."""
        total = np.zeros(n_values)
        if self.members.base is not None:
            own = np.arange(n_values) if self.targets is None else self.targets
            total[own[own >= 0]] = self.scale * self.members.base[own >= 0]
        return total


def join(
    model: Any,
    parts: Sequence[Part],
    *,
    n_values: int,
    classes: tuple[AnyArray, ...] | None,
) -> Members:
    """Return the trees of an ensemble, from those of its members."""
    members = [part.members for part in parts]
    _check_units(model, [member.criterion for member in members])
    widths = {part.members.n_values for part in parts if part.targets is None} | {n_values}
    if len(widths) > 1:
        refuse(
            model,
            f"must have members that predict the same columns; they predict {sorted(widths)}. "
            "Explain each of them separately.",
        )
    return Members(
        trees=[tree for part in parts for tree in part.trees()],
        criterion=members[0].criterion,
        n_values=n_values,
        classes=classes,
        missing=all(member.missing for member in members),
        summed=any(member.summed for member in members),
        boosted=any(member.boosted for member in members),
        base=(
            np.sum([part.base(n_values) for part in parts], axis=0)
            if any(member.base is not None for member in members)
            else None
        ),
    )


def common_criterion(model: Any, estimators: Sequence[Any]) -> str:
    """Return what the impurities of tree estimators measure."""
    criteria = {str(getattr(estimator, "criterion", None)) for estimator in estimators}
    unknown = sorted(criteria - UNIT_OF.keys())
    if unknown:
        refuse(
            model,
            f"must have trees with a known criterion ({', '.join(UNIT_OF)}); got {unknown[0]}. "
            "Fit it with one of these.",
        )
    if len(criteria) > 1:
        _check_units(model, criteria)
    return min(criteria)


def _check_units(model: Any, criteria: Iterable[str]) -> None:
    units = sorted({UNIT_OF[criterion] for criterion in criteria})
    if len(units) > 1:
        refuse(
            model,
            f"must have trees whose impurities share one unit; they are in {' and '.join(units)}. "
            "Fit all with the same criterion, or explain each separately.",
        )


def _through(outer: IntArray | None, inner: IntArray | None) -> IntArray | None:
    """Return where an index goes by `inner`, then by `outer`; -1 stays -1."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return np.where(inner < 0, -1, outer[inner])


def collect(model: Any) -> Members:
    """Return the trees of a fitted model and how they make it, or raise `UnsupportedModelError`."""
    kind = kind_of(model)
    check_purpose(model)
    return _COLLECTORS[kind](model)


def _tree(model: Any) -> Members:
    return _equal_trees(model, [model])


def _forest(model: Any) -> Members:
    members = list(model.estimators_)
    if all(hasattr(member, "tree_") for member in members):
        return _equal_trees(model, members)
    return _mean(model, [collect(member) for member in members])


def _equal_trees(model: Any, estimators: Sequence[Any]) -> Members:
    """Return trees that were grown with the same settings, so that the first stands for all."""
    first = estimators[0]
    share = 1.0 / len(estimators)
    return Members(
        trees=[TreeMember(estimator.tree_, 1.0, share) for estimator in estimators],
        criterion=common_criterion(model, estimators),
        n_values=int(np.sum(first.tree_.n_classes)),
        classes=_classes(model),
        missing=accepts_missing(first),
    )


def _bagging(model: Any) -> Members:
    parts = [collect(member) for member in model.estimators_]
    all_columns = np.arange(model.n_features_in_)
    columns = [
        None if np.array_equal(features, all_columns) else np.asarray(features, dtype=np.int64)
        for features in model.estimators_features_
    ]
    # Members are fitted on the classes' codes.
    targets = [
        None if classes is None else classes.astype(np.int64)
        for classes in _partial_classes(model, parts)
    ]
    return _mean(model, parts, columns=columns, targets=targets)


def _calibrated(model: Any) -> Members:
    parts = [collect(fold.estimator) for fold in model.calibrated_classifiers_]
    targets = [
        None if classes is None else np.searchsorted(model.classes_, classes)
        for classes in _partial_classes(model, parts)
    ]
    return _mean(model, parts, targets=targets)


def _partial_classes(model: Any, parts: Sequence[Members]) -> list[AnyArray | None]:
    """Return for each member the classes it knows, if its rows lacked some; else None."""
    n_values = len(getattr(model, "classes_", ()))
    return [
        None if part.classes is None or part.n_values == n_values else part.classes[0]
        for part in parts
    ]


def _adaboost(model: Any) -> Members:
    parts = [collect(member) for member in model.estimators_]
    weights = np.asarray(model.estimator_weights_, dtype=np.float64)[: len(parts)]
    # Boosting that stops at its first member leaves it with the weight 0.
    members = _mean(model, parts, weights=weights if weights.any() else None)
    return replace(members, boosted=True, missing=members.missing and allows_missing(model))


def _voting(model: Any) -> Members:
    parts = [collect(member) for member in model.estimators_]
    if model.weights is None:
        return _mean(model, parts)
    is_kept = [not isinstance(member, str) for _, member in model.estimators]
    return _mean(model, parts, weights=np.asarray(model.weights, dtype=np.float64)[is_kept])


def _gradient_boosting(model: Any) -> Members:
    stages = np.asarray(model.estimators_)
    n_values = stages.shape[1]
    scale = float(model.learning_rate)
    targets = [np.array([column]) for column in range(n_values)]
    return Members(
        trees=[
            TreeMember(estimator.tree_, 1.0, scale, None, target)
            for stage in stages
            for estimator, target in zip(stage, targets, strict=True)
        ],
        criterion=common_criterion(model, stages.ravel().tolist()),
        n_values=n_values,
        # Two classes share one raw value.
        classes=_classes(model) if n_values > 1 else None,
        missing=allows_missing(model),
        summed=True,
        boosted=True,
        base=_initial_score(model, n_values),
    )


def _initial_score(model: Any, n_values: int) -> FloatArray:
    """Return the score from which gradient boosting starts."""
    init: Any = getattr(model, "init_", None)
    if isinstance(init, str):
        # The only one is "zero".
        return np.zeros(n_values)
    if type(init).__name__ not in ("DummyClassifier", "DummyRegressor"):
        return np.full(n_values, np.nan)
    # The same for every row, whatever the row: dummies do not look at it.
    row = np.zeros((1, model.n_features_in_))
    if not hasattr(init, "predict_proba"):
        return np.asarray(init.predict(row), dtype=np.float64).reshape(n_values)
    share = np.asarray(init.predict_proba(row)[0], dtype=np.float64)
    if init.strategy == "stratified" or not (share > 0).all():
        # Drawn for each row; or cut off at a small number, which depends on the version.
        return np.full(n_values, np.nan)
    if n_values > 1:
        score: FloatArray = np.log(share) - np.log(share).mean()
        return score
    odds = np.log(share[1:] / (1.0 - share[1:]))
    return np.asarray(0.5 * odds if model.loss == "exponential" else odds)


def _one_vs_rest(model: Any) -> Members:
    parts = [collect(member) for member in model.estimators_]
    if len(parts) == 1 and len(model.classes_) == 2:
        return _mean(model, parts)
    # The last column of a member is that of its class.
    targets = [np.append(np.full(part.n_values - 1, -1), i) for i, part in enumerate(parts)]
    classes = (np.asarray(model.classes_),)
    return _side_by_side(model, parts, targets=targets, classes=classes)


def _multi_output(model: Any) -> Members:
    parts = [collect(member) for member in model.estimators_]
    starts = np.cumsum([0, *(part.n_values for part in parts[:-1])]).tolist()
    targets = [start + np.arange(part.n_values) for start, part in zip(starts, parts, strict=True)]
    labels = [part.classes for part in parts if part.classes is not None]
    classes = sum(labels, ()) if len(labels) == len(parts) else None
    return _side_by_side(model, parts, targets=targets, classes=classes)


def _search(model: Any) -> Members:
    return collect(model.best_estimator_)


def _pipeline(model: Any) -> Members:
    if transformers(model):
        refuse(
            model,
            "inside an ensemble transforms X for one member only, so the members have no "
            "columns in common. Put the ensemble at the end of one Pipeline instead.",
        )
    return collect(model.steps[-1][1])


_COLLECTORS = {
    Kind.TREE: _tree,
    Kind.SEARCH: _search,
    Kind.PIPELINE: _pipeline,
    Kind.CALIBRATED: _calibrated,
    Kind.GRADIENT_BOOSTING: _gradient_boosting,
    Kind.BAGGING: _bagging,
    Kind.ADABOOST: _adaboost,
    Kind.VOTING: _voting,
    Kind.ONE_VS_REST: _one_vs_rest,
    Kind.FOREST: _forest,
    Kind.MULTI_OUTPUT: _multi_output,
}


def _mean(
    model: Any,
    parts: Sequence[Members],
    *,
    weights: FloatArray | None = None,
    columns: Sequence[IntArray | None] | None = None,
    targets: Sequence[IntArray | None] | None = None,
) -> Members:
    """Return the trees of a model that averages its members, whatever their tree counts."""
    same = [None] * len(parts)
    shares = np.ones(len(parts)) if weights is None else weights
    total = float(shares.sum())
    if not (total > 0 and shares.min() >= 0):
        refuse(
            model,
            f"must have non-negative weights with a positive sum; they are {shares.tolist()}. "
            "Fit it with other weights.",
        )
    places = zip(shares.tolist(), columns or same, targets or same, strict=True)
    placed = [
        Part(part, weight, weight / total, column, target)
        for part, (weight, column, target) in zip(parts, places, strict=True)
    ]
    has_classes = all(part.classes is not None for part in parts)
    classes = _classes(model) if has_classes else None
    n_values = parts[0].n_values if classes is None else sum(map(len, classes))
    return join(model, placed, n_values=n_values, classes=classes)


def _side_by_side(
    model: Any,
    parts: Sequence[Members],
    *,
    targets: Sequence[IntArray],
    classes: tuple[AnyArray, ...] | None,
) -> Members:
    """Return the trees of a model whose members predict different columns."""
    placed = [Part(part, targets=target) for part, target in zip(parts, targets, strict=True)]
    n_values = int(max(target.max() for target in targets)) + 1
    return replace(join(model, placed, n_values=n_values, classes=classes), summed=True)


def _classes(model: Any) -> tuple[AnyArray, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    return tuple(map(np.asarray, classes)) if isinstance(classes, list) else (np.asarray(classes),)
