"""Fitted models for the tests of the measures: small, seeded, of every kind."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

X_CLASS, Y_CLASS = make_classification(
    120, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0
)
X_CLASS = X_CLASS.astype(np.float32)
X_VALUE, Y_VALUE = make_regression(120, 6, noise=5.0, random_state=0)
X_VALUE = X_VALUE.astype(np.float32)
Y_POSITIVE = np.abs(Y_VALUE) + 1.0
IRIS = load_iris()

CLASSIFIERS = {
    f"{kind.__name__}-{criterion}": kind(criterion=criterion, random_state=0, **options)
    for kind, options in (
        (DecisionTreeClassifier, {}),
        (ExtraTreeClassifier, {}),
        (RandomForestClassifier, {"n_estimators": 7}),
        (ExtraTreesClassifier, {"n_estimators": 7, "max_features": 1}),
    )
    for criterion in ("gini", "entropy", "log_loss")
}
REGRESSORS = {
    f"{kind.__name__}-{criterion}": kind(criterion=criterion, random_state=0, **options)
    for kind, options in (
        (DecisionTreeRegressor, {"max_depth": 6}),
        (ExtraTreeRegressor, {"max_depth": 6}),
        (RandomForestRegressor, {"n_estimators": 5, "max_depth": 5}),
        (ExtraTreesRegressor, {"n_estimators": 5, "max_depth": 5}),
    )
    for criterion in ("squared_error", "absolute_error", "poisson")
}


def trees_of(model):
    """The ``tree_`` objects of a tree or a flat forest."""
    members = getattr(model, "estimators_", [model])
    return [member.tree_ for member in np.ravel(members)]


def bagging():
    """A bagging of trees on drawn columns, fitted."""
    return BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), 9, max_features=3, random_state=0
    ).fit(X_CLASS, Y_CLASS)
