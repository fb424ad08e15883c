"""The nodes' values: put together as the forest says, they make the model's prediction."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, VotingRegressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeClassifier

from adapters.models import cases, classification, regression, two_targets
from adapters.walk import predict
from localmdi.adapters import adapt

PROBABILITY = (
    "tree gini",
    "extra tree",
    "one node",
    "pruned",
    "forest",
    "weights",
    "bagging",
    "bagging of forests",
    "soft voting",
    "GridSearchCV",
    "one against one",
    "pipeline",
)
NUMBER = (
    "extra tree regressor",
    "forest squared_error",
    "extra trees",
    "bagging twice",
    "voting regressor",
)


@pytest.mark.parametrize("name", PROBABILITY)
def test_class_fractions_make_probabilities(name):
    model = cases()[name].model
    X, _ = classification()
    forest = adapt(model, values=True).forest
    np.testing.assert_allclose(predict(forest, X), model.predict_proba(X), atol=1e-14)
    assert [labels.tolist() for labels in forest.classes] == [model.classes_.tolist()]


@pytest.mark.parametrize("name", NUMBER)
def test_means_make_predictions(name):
    model = cases()[name].model
    X, _ = regression()
    forest = adapt(model, values=True).forest
    np.testing.assert_allclose(predict(forest, X)[:, 0], model.predict(X), rtol=1e-12)
    assert forest.classes is None


@pytest.mark.parametrize("name", ["two outputs", "multi-output classifier"])
def test_outputs_stand_side_by_side(name):
    model = cases()[name].model
    X, labels, _ = two_targets()
    forest = adapt(model, values=True).forest
    assert [each.tolist() for each in forest.classes] == [
        np.unique(column).tolist() for column in labels.T
    ]
    np.testing.assert_allclose(
        predict(forest, X), np.concatenate(model.predict_proba(X), axis=1), atol=1e-14
    )


@pytest.mark.parametrize("name", ["two numeric outputs", "multi-output regressor"])
def test_numeric_outputs_stand_side_by_side(name):
    model = cases()[name].model
    X, _, _ = two_targets()
    forest = adapt(model, values=True).forest
    np.testing.assert_allclose(predict(forest, X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("name", ["boosting two classes", "boosting three classes"])
def test_boosting_sums_to_the_raw_value(name):
    model = cases()[name].model
    X, _ = classification()
    forest = adapt(model, values=True).forest
    without = (model.decision_function(X) - predict(forest, X).squeeze()).T
    # What is left is the constant from which boosting starts.
    np.testing.assert_allclose(without, without[..., :1] * np.ones(len(X)), atol=1e-12)
    if name.endswith("two classes"):
        assert forest.classes is None
    else:
        assert [labels.tolist() for labels in forest.classes] == [model.classes_.tolist()]


def test_boosted_numbers():
    model = cases()["boosting"].model
    X, y = regression()
    forest = adapt(model, values=True).forest
    np.testing.assert_allclose(predict(forest, X)[:, 0] + y.mean(), model.predict(X))


def test_one_against_rest_before_it_normalises():
    model = cases()["one against rest"].model
    X, _ = classification()
    forest = adapt(model, values=True).forest
    parts = predict(forest, X)
    total = parts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.divide(parts, total, where=total > 0, out=np.zeros_like(parts)),
        model.predict_proba(X),
        atol=1e-14,
    )
    assert [labels.tolist() for labels in forest.classes] == [model.classes_.tolist()]


@pytest.mark.parametrize("name", ["adaboost", "hard voting", "calibrated"])
def test_otherwise_the_weighted_mean_of_the_trees(name):
    case = cases()[name]
    X, _ = classification()
    forest = adapt(case.model, values=True).forest
    each = [tree.predict_proba(X) for tree in case.trees]
    np.testing.assert_allclose(predict(forest, X), np.average(each, axis=0, weights=case.weights))


def test_sums_inside_other_ensembles():
    X, y = regression()
    boosting = GradientBoostingRegressor(n_estimators=3, init="zero", random_state=0)
    voting = VotingRegressor([("a", boosting), ("b", boosting)], weights=[1, 4]).fit(X, y)
    forest = adapt(voting, values=True).forest
    assert (forest.aggregation, forest.boosted) == ("sum", True)
    np.testing.assert_allclose(predict(forest, X)[:, 0], voting.predict(X))
    several = MultiOutputRegressor(boosting).fit(X, np.column_stack([y, -y]))
    forest = adapt(several, values=True).forest
    np.testing.assert_allclose(predict(forest, X), several.predict(X))


def test_a_member_that_lacks_a_class():
    X, y = classification()
    order = np.argsort(y, kind="stable")
    rare = np.r_[order[:60], order[-2:]]
    split = [(np.arange(0, 60), np.arange(60, 62)), (np.arange(2, 62), np.arange(2))]
    model = CalibratedClassifierCV(DecisionTreeClassifier(), cv=split)
    model.fit(X[rare], y[rare])
    assert [len(fold.estimator.classes_) for fold in model.calibrated_classifiers_] == [2, 3]
    forest = adapt(model, values=True).forest
    first = model.calibrated_classifiers_[0].estimator.tree_
    expected = np.column_stack([first.value[:, 0], np.zeros(first.node_count)])
    np.testing.assert_array_equal(forest.value[: first.node_count], expected)


def test_values_are_copied_only_when_asked():
    X, y = classification()
    model = RandomForestClassifier(2).fit(X, y)
    assert adapt(model).forest.value is None
    assert adapt(model, values=True).forest.value.shape[1] == 3
