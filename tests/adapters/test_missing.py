"""Missing values: accepted where scikit-learn's predict accepts them, and sent where it does."""

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
)

from adapters.models import NAMES, cases, classification, regression
from adapters.walk import leaves
from localmdi.adapters import adapt


def with_gaps(X, seed=0):
    gaps = np.random.default_rng(seed).uniform(size=X.shape) < 0.2
    return np.where(gaps, np.nan, X)


def accepts_gaps(model, X):
    """Whether the model itself predicts rows with missing values."""
    try:
        model.predict(with_gaps(X))
    except ValueError as error:
        if "contains NaN" in str(error):
            return False
        raise
    return True


@pytest.mark.parametrize("name", NAMES)
def test_a_model_without_gaps_in_training(name):
    case = cases()[name]
    X, _ = classification()
    adapted = adapt(case.model)
    assert adapted.missing == accepts_gaps(case.model, X)
    if not adapted.missing:
        assert (adapted.forest.missing_child == -1).all()
        return
    check_leaves(case, adapted.forest, with_gaps(X))


def check_leaves(case, forest, X):
    found = leaves(forest, X) - forest.tree_offset[:-1, None]
    for index, tree in enumerate(case.trees):
        columns = slice(None) if case.columns is None else case.columns[index]
        np.testing.assert_array_equal(found[index], tree.apply(X[:, columns]))


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(splitter="random"),
        ExtraTreeClassifier(),
        RandomForestClassifier(5),
        ExtraTreesClassifier(5),
        BaggingClassifier(None, 4),
    ],
    ids=str,
)
def test_a_model_with_gaps_in_training(model):
    X, y = classification()
    model.set_params(random_state=0).fit(with_gaps(X), y)
    adapted = adapt(model)
    assert adapted.missing
    found = leaves(adapted.forest, with_gaps(X, seed=1)) - adapted.forest.tree_offset[:-1, None]
    for index, tree in enumerate(getattr(model, "estimators_", [model])):
        np.testing.assert_array_equal(found[index], tree.apply(with_gaps(X, seed=1)))


@pytest.mark.parametrize(
    "model",
    [
        ExtraTreeClassifier(splitter="best"),
        DecisionTreeRegressor(criterion="absolute_error"),
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0, -1]),
        RandomForestRegressor(3, monotonic_cst=[1, 0, 0, 0, -1]),
    ],
    ids=str,
)
def test_settings_on_which_versions_differ(model):
    X, y = regression()
    if hasattr(model, "predict_proba"):
        X, y = classification()
    adapted = adapt(model.fit(X, y))
    assert adapted.missing == accepts_gaps(model, X)


def test_constraints_of_a_model_with_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    model = DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0, 0])
    frame = pandas.DataFrame(X, columns=list("abcde"))
    missing = adapt(model.fit(frame, y)).missing
    assert missing == accepts_gaps(model.fit(X, y), X)


def test_one_member_that_refuses_gaps_speaks_for_all():
    X, y = classification()
    members = [
        ("a", DecisionTreeClassifier()),
        ("b", ExtraTreeClassifier(splitter="best")),
    ]
    model = VotingClassifier(members).fit(X, y)
    adapted = adapt(model)
    assert adapted.missing is accepts_gaps(model, X) is False
    assert (adapted.forest.missing_child == -1).all()
