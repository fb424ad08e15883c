"""How each tree of a fitted estimator got its rows, as far as the estimator shows it.

A step leads from what an ensemble's ``fit`` got to what it handed to a member; a tree's chain of
steps leads from the model's ``fit`` to the tree.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.pipelines import has_samplers, refuse_resampling
from localmdi.adapters.scikit_learn.kinds import Kind, kind_of, refuse
from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localmdi.adapters.in_bag import Rule, Step, TrainingRows
    from localmdi.typing import AnyArray, FloatArray, IntArray

Chain = tuple["Step", ...]


def steps_to_trees(model: Any) -> list[Chain]:
    """Return for each tree, in the order of `collect`, the steps from ``fit`` to it."""
    return _BY_KIND[kind_of(model)](model)


def _tree(model: Any) -> list[Chain]:
    class_weight = getattr(model, "class_weight", None)
    return [() if class_weight is None else (ClassWeightStep(class_weight),)]


def _forest(model: Any) -> list[Chain]:
    if hasattr(model, "samplers_"):
        refuse_resampling(model)
    class_weight = getattr(model, "class_weight", None)
    bootstrap = bool(getattr(model, "bootstrap", False))
    by_draw = class_weight == "balanced_subsample" and bootstrap
    if class_weight == "balanced_subsample":
        class_weight = None if by_draw else "balanced"
    shared: Chain = () if class_weight is None else (ClassWeightStep(class_weight, "balance"),)
    if not bootstrap:
        return _each((shared, member) for member in model.estimators_)
    return _each(
        ((*shared, BootstrapStep(model, index, needs_y=by_draw)), member)
        for index, member in enumerate(model.estimators_)
    )


def _bagging(model: Any) -> list[Chain]:
    drawn = drawn_rows(model)
    if len(drawn) != len(model.estimators_):
        refuse(
            model,
            "keeps the rows only of the members that the last warm_start added, so the weights of "
            "the earlier ones cannot be rebuilt. Fit it in one go, without warm_start.",
        )
    shared = _encode(model)
    members = zip(drawn, model.estimators_, strict=True)
    return _each(((*shared, SubsetStep(rows)), member) for rows, member in members)


def _voting(model: Any) -> list[Chain]:
    shared = _encode(model)
    return _each((shared, member) for member in model.estimators_)


def _one_vs_rest(model: Any) -> list[Chain]:
    return _each(
        ((OneVsRestStep(model.label_binarizer_, column),), member)
        for column, member in enumerate(model.estimators_)
    )


def _multi_output(model: Any) -> list[Chain]:
    members = enumerate(model.estimators_)
    return _each(((OutputStep(column),), member) for column, member in members)


def _gradient_boosting(model: Any) -> list[Chain]:
    if getattr(model, "subsample", 1.0) < 1:
        refuse(
            model,
            "with subsample < 1 draws rows at every stage and does not record which, so their "
            "weights cannot be rebuilt. Fit it with subsample=1.0.",
        )
    if getattr(model, "n_iter_no_change", None) is not None:
        refuse(
            model,
            "with n_iter_no_change sets rows aside for early stopping and does not record which, "
            "so their weights cannot be rebuilt. Fit it with n_iter_no_change=None.",
        )
    return _each(((), tree) for stage in model.estimators_ for tree in stage)


def _adaboost(model: Any) -> list[Chain]:
    refuse(
        model,
        "reweights the rows for every member and does not keep the weights, so they cannot be "
        "rebuilt. Explain rows with local_mdi instead.",
    )


def _calibrated(model: Any) -> list[Chain]:
    folds = model.calibrated_classifiers_
    if len(folds) > 1:
        refuse(
            model,
            "fits its members on folds of the rows and does not record which, so their weights "
            "cannot be rebuilt. Fit it with ensemble=False, or decompose the uncalibrated model.",
        )
    return steps_to_trees(folds[0].estimator)


def _search(model: Any) -> list[Chain]:
    return steps_to_trees(model.best_estimator_)


def _pipeline(model: Any) -> list[Chain]:
    if has_samplers(model):
        refuse_resampling(model)
    return steps_to_trees(model.steps[-1][1])


_BY_KIND = {
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


def _each(members: Iterable[tuple[Chain, Any]]) -> list[Chain]:
    """Return the chains of all members, each after the steps that led to the member."""
    return [(*before, *after) for before, member in members for after in steps_to_trees(member)]


def _encode(model: Any) -> Chain:
    classes = getattr(model, "classes_", None)
    return () if classes is None else (EncodeStep(classes),)


class _Step:
    """A step that changes no weights."""

    needs_y: bool = False
    depends_on: str | None = None


@dataclass(frozen=True, eq=False)
class EncodeStep(_Step):
    """Labels become the positions of their classes."""

    classes: AnyArray

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        y = None if rows.y is None else np.searchsorted(self.classes, rows.y)
        return replace(rows, y=y)


@dataclass(frozen=True, eq=False)
class OutputStep(_Step):
    """A member gets one column of y."""

    column: int

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        return replace(rows, y=None if rows.y is None else rows.y[:, self.column])


@dataclass(frozen=True, eq=False)
class OneVsRestStep(_Step):
    """A member gets 1 for the rows of its class, 0 for others."""

    binarizer: Any
    column: int

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        if rows.y is None:
            return rows
        labels = self.binarizer.transform(rows.y)
        # The binarizer of OneVsRestClassifier answers with a sparse matrix.
        dense = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
        return replace(rows, y=dense[:, self.column])


@dataclass(frozen=True, eq=False)
class ClassWeightStep(_Step):
    """Weights are multiplied by those of the rows' classes.

    Parameters
    ----------
    class_weight : dict, list of dicts or str
        As given to the estimator.
    depends_on : {"balance", None}
        Whether versions differ in how "balanced" counts rows; else every row is one.
    """

    class_weight: Any
    depends_on: str | None = None
    needs_y = True

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        from sklearn.utils.class_weight import compute_sample_weight

        if self.class_weight == "balanced" and self.depends_on and rule.balance:
            factor = _balanced(rows)
        else:
            factor = compute_sample_weight(self.class_weight, rows.y)
        return replace(rows, weight=rows.weight * factor, once=rows.taken_once * factor)


@dataclass(frozen=True, eq=False)
class BootstrapStep(_Step):
    """A tree of a forest counts the rows that were drawn for it.

    Parameters
    ----------
    model : estimator
        The forest.
    index : int
        Which tree.
    needs_y : bool
        Whether the classes are balanced among the rows drawn.
    """

    model: Any
    index: int
    needs_y: bool = False
    depends_on = "forest_draws"

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        from sklearn.utils.class_weight import compute_sample_weight

        drawn = self._drawn()
        weight, once = _counted(rows, drawn, multiply=not rule.forest_draws), rows.taken_once
        if self.needs_y:
            factor = compute_sample_weight("balanced", rows.y, indices=drawn)
            weight, once = weight * factor, once * factor
        return replace(rows, weight=weight, once=once)

    def _drawn(self) -> IntArray:
        # `estimators_samples_` draws again for every tree at each access: n_rows times n_trees
        # numbers. A copy with one tree draws for that one.
        alone = copy.copy(self.model)
        alone.estimators_ = [self.model.estimators_[self.index]]
        drawn = drawn_rows(alone)
        return drawn[0 if len(drawn) == 1 else self.index]


@dataclass(frozen=True, eq=False)
class SubsetStep(_Step):
    """A member counts the rows that were drawn for it."""

    drawn: IntArray
    depends_on = "bagging_draws"

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        weight = _counted(rows, self.drawn, multiply=not rule.bagging_draws)
        return replace(rows, weight=weight, once=rows.taken_once)


def drawn_rows(model: Any) -> list[IntArray]:
    """Return the rows that were drawn for each member of an ensemble."""
    try:
        return list(model.estimators_samples_)
    except AttributeError as error:
        raise UnsupportedModelError(
            f"{type(model).__name__} has no usable estimators_samples_, so the weights of its rows "
            "cannot be rebuilt. Fit it with the installed scikit-learn."
        ) from error


def _counted(rows: TrainingRows, drawn: IntArray, *, multiply: bool) -> FloatArray:
    n_rows = len(rows.weight)
    counts = np.bincount(drawn, minlength=n_rows).astype(np.float64)
    if len(counts) > n_rows:
        raise ValueError(
            f"the model was trained on at least {len(counts)} rows, X has {n_rows}: X must hold "
            "the training rows. Pass what fit got as X, and rows to explain as at= of honest_mdi; "
            "or, if the model has not seen X, held_out=True."
        )
    return counts * rows.weight if multiply else counts


def _balanced(rows: TrainingRows) -> FloatArray:
    """Return weights that make the classes of each output equally heavy, by the rows' weights."""
    factor = np.ones(len(rows.weight))
    for labels in np.atleast_2d(np.asarray(rows.y).T):
        classes, codes = np.unique(labels, return_inverse=True)
        total = np.bincount(codes, weights=rows.weight)
        factor *= (total.sum() / (len(classes) * total))[codes]
    return factor
