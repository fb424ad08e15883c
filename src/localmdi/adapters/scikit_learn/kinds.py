"""What kind of model it is, by its public attributes; what is refused; which values it accepts."""

from __future__ import annotations

import warnings
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from localmdi.exceptions import UnsupportedModelError


class Kind(Enum):
    """How the trees of a model are put together.

    The values are the attributes by which a kind is recognised; the first that fits is taken.
    """

    TREE = ("tree_",)
    SEARCH = ("best_estimator_",)
    PIPELINE = ("steps", "named_steps")
    CALIBRATED = ("calibrated_classifiers_",)
    GRADIENT_BOOSTING = ("estimators_", "init_", "learning_rate")
    BAGGING = ("estimators_", "estimators_features_")
    ADABOOST = ("estimators_", "estimator_weights_")
    VOTING = ("estimators_", "named_estimators_", "weights")
    ONE_VS_REST = ("estimators_", "label_binarizer_")
    FOREST = ("estimators_", "estimator_")
    MULTI_OUTPUT = ("estimators_", "estimator")


# Chains feed a prediction to the next member; codes and pairs vote.
_NOT_SIDE_BY_SIDE = ("order_", "code_book_", "pairwise_indices_")


def kind_of(model: Any) -> Kind:
    """Return the kind of a fitted model, or raise `UnsupportedModelError`."""
    for kind in Kind:
        if all(hasattr(model, attribute) for attribute in kind.value):
            break
    else:
        refuse_unknown(model)
    if kind is Kind.MULTI_OUTPUT and not _is_side_by_side(model):
        refuse_unknown(model)
    return kind


def _is_side_by_side(model: Any) -> bool:
    from sklearn.utils import get_tags

    is_chain = any(hasattr(model, name) for name in _NOT_SIDE_BY_SIDE)
    return not is_chain and not get_tags(model).target_tags.single_output


_SUPPORTED = (
    "decision trees and extra trees; forests of them; Bagging, AdaBoost, Voting and "
    "GradientBoosting of trees; a search, CalibratedClassifierCV, MultiOutput or OneVsRest around "
    "one of these; a Pipeline that ends in one of these; classifiers and regressors"
)


def refuse(model: Any, reason: str) -> NoReturn:
    """Raise the error that says why a model cannot be explained."""
    raise UnsupportedModelError(f"{type(model).__name__} {reason}")


def check_purpose(model: Any) -> None:
    """Refuse what is neither a classifier nor a regressor."""
    from sklearn.utils import get_tags

    purpose = get_tags(model).estimator_type
    if purpose not in ("classifier", "regressor"):
        refuse(
            model,
            f"must be a classifier or a regressor; its estimator type is {purpose!r}. Trees of "
            "outlier detectors, embeddings and survival models store impurities of a random or "
            "censored target, not of a y. Fit a classifier or a regressor.",
        )


def refuse_unknown(model: Any) -> NoReturn:
    """Raise the error for a model of an unknown kind."""
    if hasattr(model, "cv_results_"):
        refuse(model, "was fitted with refit=False and has no best_estimator_. Use refit=True.")
    refuse(
        model,
        f"is not supported. Supported are {_SUPPORTED}. If it wraps such a model, pass that one; "
        "for other models see register_adapter and __to_forest__.",
    )


def accepts_missing(tree: Any) -> bool:
    """Whether ``predict`` of a tree estimator accepts NaN in dense X."""
    if not allows_missing(tree):
        return False
    if getattr(tree, "monotonic_cst", None) is None:
        return True
    # Versions differ about trees with monotonic constraints, and no tag says so.
    row = np.full((1, tree.n_features_in_), np.nan, dtype=np.float32)
    with warnings.catch_warnings():
        # The row has no feature names.
        warnings.simplefilter("ignore", UserWarning)
        try:
            tree.predict(row)
        except ValueError:
            return False
    return True


def allows_missing(model: Any) -> bool:
    """Whether a model declares that X may have missing values."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
