"""Why a model is refused, and what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from localmdi.exceptions import UnsupportedModelError

__all__ = ["check_purpose", "refuse", "refuse_unknown"]

_SUPPORTED = (
    "decision trees and extra trees; forests of them; Bagging, AdaBoost, Voting and "
    "GradientBoosting of trees; a search, CalibratedClassifierCV, MultiOutput or OneVsRest around "
    "one of these; a Pipeline that ends in one of these; classifiers and regressors"
)


def refuse(model: Any, reason: str) -> NoReturn:
    """Raise the error that says why a model cannot be explained.

    Examples
    --------
    >>> refuse(1.5, "is a number. Pass a model.")
    Traceback (most recent call last):
    localmdi.exceptions.UnsupportedModelError: float is a number. Pass a model.
    """
    raise UnsupportedModelError(f"{type(model).__name__} {reason}")


def check_purpose(model: Any) -> None:
    """Refuse what is neither a classifier nor a regressor.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> check_purpose(IsolationForest())
    Traceback (most recent call last):
    localmdi.exceptions.UnsupportedModelError: IsolationForest must be a classifier or a ...
    """
    from sklearn.utils import get_tags

    purpose = get_tags(model).estimator_type
    if purpose not in ("classifier", "regressor"):
        refuse(
            model,
            f"must be a classifier or a regressor, but its estimator type is {purpose!r}. Trees "
            "of outlier detectors, embeddings and survival models store impurities of a random "
            "or censored target, which say nothing about a Y. Fit a classifier or regressor.",
        )


def refuse_unknown(model: Any) -> NoReturn:
    """Raise the error for a model of a kind that is not known.

    Examples
    --------
    >>> refuse_unknown("tree")
    Traceback (most recent call last):
    localmdi.exceptions.UnsupportedModelError: str is not a kind of model that can be explained...
    """
    if hasattr(model, "n_trees_per_iteration_"):
        refuse(
            model,
            "stores no impurities at its nodes, so that there is nothing to decompose. Build a "
            "Forest of its trees with build_forest and compute them with "
            "Forest.with_statistics(X, y), or fit a GradientBoosting or forest model.",
        )
    if hasattr(model, "cv_results_"):
        refuse(model, "was fitted with refit=False and has no best_estimator_. Use refit=True.")
    refuse(
        model,
        f"is not a kind of model that can be explained. Supported are {_SUPPORTED}. If it wraps "
        "such a model, pass that one; for other models see register_adapter and __to_forest__.",
    )
