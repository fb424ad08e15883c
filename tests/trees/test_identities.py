"""What the forest adds up while it grows is what its trees say when they are walked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi import global_mdi, local_mdi
from trees.models import CLASSIFIERS, classifier, mixed_table, numeric_table, regressor

TABLES = {"mixed": mixed_table, "numeric": numeric_table}


def check(model, X, sample_weight=None):
    grown = model.local_importances_
    walked = local_mdi(model, X)
    np.testing.assert_allclose(grown.values, walked.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(grown.residual, walked.residual, rtol=0, atol=1e-12)
    assert grown.baseline == pytest.approx(walked.baseline, abs=1e-12)
    assert grown.additivity_error() < 1e-12
    assert (grown.unit, grown.n_trees) == (walked.unit, walked.n_trees)
    assert grown.feature_names == walked.feature_names


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier(name, table):
    X, y = TABLES[table](np.random.default_rng(0))
    check(classifier(**CLASSIFIERS[name]).fit(X, y), X)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "setting",
    [{}, {"max_features": 2}, {"bootstrap": True}, {"draw": "sklearn", "max_features": 3}],
)
def test_regressor(setting, outputs, table):
    rng = np.random.default_rng(1)
    X, y = TABLES[table](rng)
    Y = 1e6 + rng.normal(size=(len(y), outputs)) + y[:, None]
    model = regressor(**setting).fit(X, Y if outputs > 1 else Y[:, 0])
    check(model, X)
    variance = Y.var(axis=0).mean()
    if not setting.get("bootstrap"):
        assert model.local_importances_.baseline == pytest.approx(variance, rel=1e-9)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_small_table(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, p = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 6))
    X = rng.integers(0, data.draw(st.integers(1, 5)), size=(n, p)).astype(float)
    X[rng.random((n, p)) < data.draw(st.sampled_from([0.0, 0.3]))] = np.nan
    y = rng.integers(0, 3, size=n)
    weight = rng.exponential(size=n) * (rng.random(n) < 0.8)
    weight[0] = 1
    model = classifier(
        n_estimators=9,
        categorical_features=rng.random(p) < 0.5,
        max_features=data.draw(st.integers(1, p)),
        draw=data.draw(st.sampled_from(["theory", "sklearn"])),
        criterion=data.draw(st.sampled_from(["entropy", "gini"])),
        bootstrap=data.draw(st.booleans()),
    ).fit(X, y, sample_weight=weight)
    check(model, X)
    if not model.bootstrap:
        mean = model.local_importances_.mean().values
        np.testing.assert_allclose(mean, global_mdi(model).values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["totally randomized", "best of two", "balanced"])
def test_the_mean_over_rows_is_the_global_importance(name):
    X, y = mixed_table(np.random.default_rng(2))
    model = classifier(**CLASSIFIERS[name]).fit(X, y)
    mean, walked = model.local_importances_.mean(), global_mdi(model)
    np.testing.assert_allclose(mean.values, walked.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mean.standard_error, walked.standard_error, rtol=1e-9, atol=1e-14)


def test_statistics_of_the_nodes_are_those_of_the_rows():
    X, y = mixed_table(np.random.default_rng(3))
    weight = np.random.default_rng(4).exponential(size=len(y))
    forest = classifier(max_features=2).fit(X, y, sample_weight=weight).forest_
    again = forest.with_statistics(X, y, sample_weight=weight)
    np.testing.assert_allclose(again.weight, forest.weight, rtol=1e-12)
    np.testing.assert_allclose(again.impurity, forest.impurity, rtol=0, atol=1e-12)


def test_feature_importances_are_scikit_learn_s():
    X, y = numeric_table(np.random.default_rng(5))
    y = np.where(np.arange(len(y)) < 50, 0, y)
    model = classifier(n_estimators=20, bootstrap=True, max_samples=3).fit(X, y)
    forest = model.forest_
    trees = []
    for start, stop in zip(forest.tree_offset[:-1], forest.tree_offset[1:], strict=True):
        total = np.zeros(4)
        for node in range(start, stop):
            children = forest.child[forest.child_offset[node] : forest.child_offset[node + 1]]
            content = forest.weight[children] @ forest.impurity[children]
            if forest.feature[node] >= 0:
                total[forest.feature[node]] += forest.weight[node] * forest.impurity[node] - content
        if stop - start > 1:
            trees.append(total / total.sum() if total.sum() > 0 else total)
    assert 0 < len(trees) < 20
    expected = np.mean(trees, axis=0)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_values_of_the_nodes_predict():
    X, y = mixed_table(np.random.default_rng(6))
    model = classifier().fit(X, y)
    forest, leaf = model.forest_, model.apply(X)
    shares = np.mean([forest.value[forest.tree_offset[t] + leaf[:, t]] for t in range(30)], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    root = forest.value[forest.tree_offset[:-1]]
    np.testing.assert_allclose(root, np.tile(np.bincount(y) / len(y), (30, 1)), atol=1e-12)
