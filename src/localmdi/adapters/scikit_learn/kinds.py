"""What kind of model it is, by the public attributes it shows once it is fitted."""

from __future__ import annotations

from enum import Enum
from typing import Any

from localmdi.adapters.scikit_learn.refusals import refuse_unknown

__all__ = ["Kind", "kind_of"]


class Kind(Enum):
    """How the trees of a model are put together.

    The values are the attributes by which a kind is recognised; the first that fits is taken.

    Examples
    --------
    >>> Kind.TREE.value
    ('tree_',)
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


# Chains feed a prediction to the next member, codes and pairs vote: they do not stand side by side.
_NOT_SIDE_BY_SIDE = ("order_", "code_book_", "pairwise_indices_")


def kind_of(model: Any) -> Kind:
    """Return the kind of a fitted model, or raise `UnsupportedModelError`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> kind_of(DecisionTreeRegressor().fit([[0.0]], [0.0]))
    <Kind.TREE: ('tree_',)>
    """
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
