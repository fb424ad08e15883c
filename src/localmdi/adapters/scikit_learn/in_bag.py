"""How each tree of a fitted estimator came to its rows, where the estimator tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.adapters.scikit_learn.kinds import Kind, kind_of
from localmdi.adapters.scikit_learn.refusals import refuse
from localmdi.adapters.scikit_learn.steps import (
    BootstrapStep,
    ClassWeightStep,
    EncodeStep,
    OneVsRestStep,
    OutputStep,
    SubsetStep,
    drawn_rows,
)
from localmdi.adapters.wrappers import has_samplers, refuse_resampling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localmdi.adapters.in_bag import Step

__all__ = ["steps_to_trees"]

Chain = tuple["Step", ...]


def steps_to_trees(model: Any) -> list[Chain]:
    """Return for each tree, in the order of `collect`, the steps from ``fit`` to it.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> model = RandomForestRegressor(3, bootstrap=False).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> steps_to_trees(model)
    [(), (), ()]
    """
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
            "no longer knows the rows of the members it had before warm_start added some, so that "
            "their weights cannot be rebuilt. Fit it at once, without warm_start.",
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
            "with subsample < 1 draws rows at every stage and does not keep which, so that their "
            "weights cannot be rebuilt. Fit it with subsample=1.0.",
        )
    if getattr(model, "n_iter_no_change", None) is not None:
        refuse(
            model,
            "with n_iter_no_change sets rows aside for early stopping and does not keep which, "
            "so that their weights cannot be rebuilt. Fit it with n_iter_no_change=None.",
        )
    return _each(((), tree) for stage in model.estimators_ for tree in stage)


def _adaboost(model: Any) -> list[Chain]:
    refuse(
        model,
        "weighs the rows anew for every member and does not keep the weights, so that they cannot "
        "be rebuilt. Explain rows with local_mdi instead.",
    )


def _calibrated(model: Any) -> list[Chain]:
    folds = model.calibrated_classifiers_
    if len(folds) > 1:
        refuse(
            model,
            "fits its members on folds of the rows and does not keep which, so that their weights "
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
