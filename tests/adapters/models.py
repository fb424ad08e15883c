"""Fitted models of every supported kind, each with its trees listed by hand."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_regression
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
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

N_ROWS, N_FEATURES = 90, 5


@dataclass
class Case:
    """A fitted model, its tree estimators in order, and how they are put together."""

    model: Any
    trees: list
    weights: list | None = None
    columns: list | None = None
    unit: str = "gini"
    aggregation: str = "mean"
    boosted: bool = False


@cache
def classification(n_classes=3):
    X, y = make_classification(
        N_ROWS, N_FEATURES, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0
    )
    return X, np.array(["no", "perhaps", "yes"])[y]


@cache
def regression():
    X, y = make_regression(N_ROWS, N_FEATURES, noise=5.0, random_state=0)
    return X, y


@cache
def two_targets():
    """Two class columns with different numbers of classes, and two numeric columns."""
    X, y = classification()
    labels = np.column_stack([y, np.where(X[:, 0] > 0, "high", "low")])
    numbers = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])
    return X, labels, numbers


def _tree(model, **settings):
    return Case(model, [model], **settings)


def _forest(model, **settings):
    return Case(model, model.estimators_, **settings)


def _criteria():
    X, y = classification()
    A, b = regression()
    units = {"gini": "gini", "entropy": "bits", "log_loss": "bits"}
    for criterion, unit in units.items():
        yield (
            f"tree {criterion}",
            _tree(DecisionTreeClassifier(criterion=criterion).fit(X, y), unit=unit),
        )
    units = {"squared_error": "variance", "absolute_error": "mae", "poisson": "poisson"}
    for criterion, unit in units.items():
        target = np.abs(b) if criterion == "poisson" else b
        forest = RandomForestRegressor(4, criterion=criterion, random_state=0).fit(A, target)
        yield f"forest {criterion}", _forest(forest, unit=unit)


def _plain():
    X, y = classification()
    A, b = regression()
    _, labels, numbers = two_targets()
    yield "extra tree", _tree(ExtraTreeClassifier(random_state=0).fit(X, y))
    yield (
        "extra tree regressor",
        _tree(ExtraTreeRegressor(random_state=0).fit(A, b), unit="variance"),
    )
    yield "one node", _tree(DecisionTreeClassifier().fit(X, np.zeros(N_ROWS)))
    yield "pruned", _tree(DecisionTreeClassifier(ccp_alpha=0.02).fit(X, y))
    yield "best first", _tree(DecisionTreeClassifier(max_leaf_nodes=7).fit(X, y))
    yield "forest", _forest(RandomForestClassifier(7, random_state=0).fit(X, y))
    yield "extra trees", _forest(ExtraTreesRegressor(5, random_state=0).fit(A, b), unit="variance")
    weighted = ExtraTreesClassifier(5, class_weight="balanced", random_state=0)
    yield "weights", _forest(weighted.fit(X, y, sample_weight=np.linspace(0.5, 2, N_ROWS)))
    yield "two outputs", _forest(RandomForestClassifier(5, random_state=0).fit(X, labels))
    several = RandomForestRegressor(5, random_state=0).fit(X, numbers)
    yield "two numeric outputs", _forest(several, unit="variance")


def _bagging():
    X, y = classification()
    A, b = regression()
    tree = DecisionTreeClassifier(max_depth=4)
    some = BaggingClassifier(tree, 6, max_features=3, random_state=0).fit(X, y)
    yield "bagging", Case(some, some.estimators_, columns=some.estimators_features_)
    twice = BaggingRegressor(None, 4, bootstrap_features=True, random_state=0).fit(A, b)
    columns = twice.estimators_features_
    yield "bagging twice", Case(twice, twice.estimators_, columns=columns, unit="variance")
    forests = BaggingClassifier(RandomForestClassifier(3), 2, max_features=4, random_state=0).fit(
        X, y
    )
    trees = [tree for forest in forests.estimators_ for tree in forest.estimators_]
    columns = [columns for columns in forests.estimators_features_ for _ in range(3)]
    yield "bagging of forests", Case(forests, trees, [1 / 3] * 6, columns)


def _boosting():
    X, y = classification()
    A, b = regression()
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, y)
    settings = {"boosted": True}
    weights = list(model.estimator_weights_)
    yield "adaboost", Case(model, model.estimators_, weights, **settings)
    model = AdaBoostRegressor(n_estimators=5, random_state=0).fit(A, b)
    weights = list(model.estimator_weights_[: len(model.estimators_)])
    yield "adaboost regressor", Case(model, model.estimators_, weights, unit="variance", **settings)
    settings |= {"unit": "variance", "aggregation": "sum"}
    binary = classification(2)[1]
    for name, boosting, (rows, target) in (
        ("boosting", GradientBoostingRegressor(n_estimators=4, subsample=0.7), (A, b)),
        ("boosting two classes", GradientBoostingClassifier(n_estimators=4), (X, binary)),
        ("boosting three classes", GradientBoostingClassifier(n_estimators=4), (X, y)),
    ):
        boosting.set_params(random_state=0).fit(rows, target)
        yield name, Case(boosting, list(boosting.estimators_.ravel()), **settings)


def _voting():
    X, y = classification()
    A, b = regression()
    members = [
        ("a", RandomForestClassifier(4, random_state=0)),
        ("b", DecisionTreeClassifier(max_depth=3)),
        ("c", "drop"),
    ]
    for voting in ("soft", "hard"):
        model = VotingClassifier(members, voting=voting, weights=[3, 1, 9]).fit(X, y)
        trees = [*model.estimators_[0].estimators_, model.estimators_[1]]
        yield f"{voting} voting", Case(model, trees, [0.75] * 4 + [1.0])
    members = [("a", RandomForestRegressor(4)), ("b", ExtraTreesRegressor(2))]
    model = VotingRegressor(members).fit(A, b)
    trees = [tree for forest in model.estimators_ for tree in forest.estimators_]
    yield "voting regressor", Case(model, trees, [0.25] * 4 + [0.5] * 2, unit="variance")


def _around():
    X, y = classification()
    _, labels, numbers = two_targets()
    forest = RandomForestClassifier(3, random_state=0)
    for kind in (GridSearchCV, RandomizedSearchCV):
        settings = {} if kind is GridSearchCV else {"n_iter": 2, "random_state": 0}
        model = kind(forest, {"max_depth": [2, 3]}, cv=2, **settings).fit(X, y)
        yield kind.__name__, Case(model, model.best_estimator_.estimators_)
    model = CalibratedClassifierCV(forest, cv=3).fit(X, y)
    trees = [tree for fold in model.calibrated_classifiers_ for tree in fold.estimator.estimators_]
    yield "calibrated", Case(model, trees, [1 / 3] * 9)
    settings = {"weights": [1 / 3] * 6, "aggregation": "sum"}
    model = MultiOutputClassifier(forest).fit(X, labels)
    trees = [tree for member in model.estimators_ for tree in member.estimators_]
    yield "multi-output classifier", Case(model, trees, **settings)
    model = MultiOutputRegressor(RandomForestRegressor(3)).fit(X, numbers)
    trees = [tree for member in model.estimators_ for tree in member.estimators_]
    yield "multi-output regressor", Case(model, trees, unit="variance", **settings)
    model = OneVsRestClassifier(DecisionTreeClassifier(max_depth=3)).fit(X, y)
    yield "one against rest", Case(model, model.estimators_, aggregation="sum")
    model = OneVsRestClassifier(forest).fit(X, classification(2)[1])
    yield "one against one", Case(model, model.estimators_[0].estimators_, [1 / 3] * 3)
    search = GridSearchCV(forest, {"max_depth": [2, 3]}, cv=2)
    model = VotingClassifier([("a", search)]).fit(X, y)
    yield (
        "search inside",
        Case(model, model.estimators_[0].best_estimator_.estimators_, [1 / 3] * 3),
    )
    model = make_pipeline("passthrough", forest).fit(X, y)
    yield "pipeline", Case(model, model[-1].estimators_)


@cache
def cases():
    """Return the cases by name."""
    groups = (_criteria, _plain, _bagging, _boosting, _voting, _around)
    return {name: case for group in groups for name, case in group()}


NAMES = tuple(cases())
