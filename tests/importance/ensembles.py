"""Every kind of scikit-learn model that can be explained, not fitted, with its target."""

from __future__ import annotations

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)).astype(np.float32)
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
LABELS = (X[:, 0] + X[:, 1] > 0).astype(int)
TARGET = np.abs(X[:, 0] + X[:, 1]) + 1
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
CURVE = DecisionTreeRegressor(max_depth=3, random_state=0)
MONOTONE = {"monotonic_cst": [1, 0, 0, 0], "random_state": 0}
FEW = {"n_estimators": 3, "random_state": 0}

CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(splitter="random", random_state=0),
    DecisionTreeClassifier(**MONOTONE),
    ExtraTreeClassifier(random_state=0),
    ExtraTreeClassifier(splitter="best", random_state=0),
    RandomForestClassifier(**FEW),
    RandomForestClassifier(3, **MONOTONE),
    ExtraTreesClassifier(**FEW),
    ExtraTreesClassifier(3, **MONOTONE),
    BaggingClassifier(TREE, **FEW),
    BaggingClassifier(ExtraTreeClassifier(), max_features=2, **FEW),
    AdaBoostClassifier(TREE, **FEW),
    GradientBoostingClassifier(**FEW),
    VotingClassifier([("tree", TREE), ("forest", RandomForestClassifier(**FEW))]),
    CalibratedClassifierCV(TREE, cv=3),
    GridSearchCV(TREE, {"max_depth": [2, 3]}, cv=3),
    OneVsRestClassifier(TREE),
    MultiOutputClassifier(TREE),
    make_pipeline(SimpleImputer(), RandomForestClassifier(**FEW)),
]
REGRESSORS = [
    DecisionTreeRegressor(random_state=0),
    DecisionTreeRegressor(criterion="absolute_error", random_state=0),
    ExtraTreeRegressor(random_state=0),
    RandomForestRegressor(**FEW),
    RandomForestRegressor(criterion="poisson", **FEW),
    RandomForestRegressor(3, **MONOTONE),
    ExtraTreesRegressor(**FEW),
    BaggingRegressor(CURVE, **FEW),
    AdaBoostRegressor(CURVE, **FEW),
    GradientBoostingRegressor(**FEW),
    VotingRegressor([("tree", CURVE), ("forest", RandomForestRegressor(**FEW))]),
    MultiOutputRegressor(CURVE),
]
CASES = [(model, LABELS) for model in CLASSIFIERS] + [(model, TARGET) for model in REGRESSORS]


def target_of(model, y):
    """The target in the form that the model takes."""
    return np.stack([y, y], axis=1) if "MultiOutput" in type(model).__name__ else y
