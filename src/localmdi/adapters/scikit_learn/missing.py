"""Whether a fitted tree takes missing values, by scikit-learn's own rule."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["accepts_missing", "allows_missing"]


def accepts_missing(tree: Any) -> bool:
    """Whether ``predict`` of a tree estimator accepts NaN in dense X.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
    >>> X, y = [[0.0], [1.0]], [0.0, 1.0]
    >>> accepts_missing(DecisionTreeRegressor().fit(X, y))
    True
    >>> accepts_missing(ExtraTreeRegressor(splitter="best").fit(X, y))
    False
    """
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
    """Whether a model says of itself that X may have missing values.

    Examples
    --------
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> allows_missing(AdaBoostClassifier())
    False
    """
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
