"""A fitted scikit-learn estimator as a forest."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.adapted import AdaptedModel
from localmdi.adapters.in_bag import InBag
from localmdi.adapters.scikit_learn.collect import collect
from localmdi.adapters.scikit_learn.in_bag import steps_to_trees
from localmdi.adapters.scikit_learn.refusals import refuse, refuse_unknown
from localmdi.adapters.scikit_learn.table import node_columns, node_values
from localmdi.forest import build_forest

if TYPE_CHECKING:
    from localmdi.adapters.scikit_learn.members import Members
    from localmdi.typing import Names

__all__ = ["adapt_estimator", "check_fitted"]


def adapt_estimator(model: Any, *, values: bool, names: Names | None) -> AdaptedModel:
    """Return a fitted estimator as a forest.

    Parameters
    ----------
    model : estimator
        The fitted estimator, no Pipeline.
    values : bool
        Whether to copy the nodes' values.
    names : sequence of str or None
        Names of its columns; None: those it was fitted with.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> model = ExtraTreesRegressor(5).fit(*load_diabetes(return_X_y=True))
    >>> forest = adapt_estimator(model, values=True, names=None).forest
    >>> forest.n_trees, forest.unit, forest.value.shape == (forest.n_nodes, 1)
    (5, 'variance', True)
    """
    members = collect(model)
    n_features = int(getattr(model, "n_features_in_", members.trees[0].tree.n_features))
    _check_columns(model, members, n_features=n_features)
    _check_ordered(model, members)
    own_names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != n_features:
        names = None if own_names is None else tuple(map(str, own_names))
    forest = build_forest(
        n_features=n_features,
        **node_columns(members.trees, missing=members.missing),
        value=node_values(members) if values else None,
        tree_weight=np.array([member.weight for member in members.trees]),
        feature_names=None if names is None else _distinct(names),
        criterion=members.criterion,
        aggregation="sum" if members.summed else "mean",
        classes=members.classes,
        row_dtype="float32",
        boosted=members.boosted,
    )
    return AdaptedModel(
        forest=forest,
        in_bag=InBag(partial(steps_to_trees, model)),
        input_names=None if own_names is None else tuple(map(str, own_names)),
        n_features_in=n_features,
        finite=True,
        missing=members.missing,
    )


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` if an estimator is not fitted.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> check_fitted(DecisionTreeClassifier())
    Traceback (most recent call last):
    sklearn.exceptions.NotFittedError: This DecisionTreeClassifier instance is not fitted yet...
    """
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except TypeError:
        refuse_unknown(model)


def _check_columns(model: Any, members: Members, *, n_features: int) -> None:
    """Refuse trees that were grown on something else than columns of X."""
    for member in members.trees:
        expected = n_features if member.columns is None else len(member.columns)
        if member.tree.n_features != expected:
            refuse(
                model,
                f"must have trees that split the {expected} columns they were given, but one "
                f"splits {member.tree.n_features}: the model makes its own features. Compute these "
                "outside of it, and fit trees on them.",
            )


def _check_ordered(model: Any, members: Members) -> None:
    """Refuse trees that split categories; their thresholds would be misread."""
    tree_classes = {type(member.tree) for member in members.trees}
    # Newer versions count the categories of each feature; which name they settle on is not known.
    counts = {name for each in tree_classes for name in dir(each) if "categor" in name}
    for name in counts:
        if any(np.any(np.asarray(getattr(member.tree, name)) > 0) for member in members.trees):
            refuse(
                model,
                "splits categorical features, which cannot be read yet. Fit it on encoded "
                "columns instead, for instance those of an OrdinalEncoder.",
            )


def _distinct(names: Names) -> list[str]:
    """Return names that differ; scikit-learn accepts frames in which two columns share one."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
