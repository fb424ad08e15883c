"""Every parameter does what it says, and refuses what it cannot do."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.class_weight import compute_sample_weight

from localmdi import local_mdi
from localmdi.forest import SplitKind
from trees.models import classifier, mixed_table, numeric_table, regressor

X, Y = numeric_table(np.random.default_rng(0))


def depth(forest):
    levels = np.zeros(forest.n_nodes, dtype=int)
    for node in range(forest.n_nodes):
        children = forest.child[forest.child_offset[node] : forest.child_offset[node + 1]]
        levels[children] = levels[node] + 1
    return levels


def leaves(forest):
    return forest.split_kind == SplitKind.LEAF


def test_max_depth():
    forest = classifier(max_depth=3).fit(X, Y).forest_
    assert depth(forest).max() == 3
    assert depth(classifier().fit(X, Y).forest_).max() > 3


def test_without_limits_leaves_are_pure():
    forest = classifier().fit(X, Y).forest_
    assert forest.impurity[leaves(forest)].max() == 0
    assert forest.impurity[~leaves(forest)].min() > 0


@pytest.mark.parametrize("name", ["max_depth", "min_samples_split", "min_samples_leaf", "min_rows"])
def test_limits_beyond_all_integers_of_the_kernel(name):
    honest = {"honest": True} if name == "min_rows" else {}
    forests = [classifier(**{name: limit}, **honest).fit(X, Y).forest_ for limit in (10**6, 10**30)]
    assert forests[0] == forests[1]


@pytest.mark.parametrize("setting", [5, 5 / 60])
def test_min_samples_leaf(setting):
    forest = classifier(min_samples_leaf=setting).fit(X, Y).forest_
    assert forest.weight[leaves(forest)].min() == 5


def test_min_samples_leaf_of_categories():
    table, y = mixed_table(np.random.default_rng(1))
    for k in (1, 3):
        forest = classifier(min_samples_leaf=6, max_features=k).fit(table, y).forest_
        assert forest.weight[leaves(forest)].min() >= 6
        assert forest.n_nodes > forest.n_trees


@pytest.mark.parametrize("setting", [10, 10 / 60])
def test_min_samples_split(setting):
    forest = classifier(min_samples_split=setting).fit(X, Y).forest_
    assert forest.weight[~leaves(forest)].min() >= 10
    mixed = leaves(forest) & (forest.impurity > 0)
    assert forest.weight[mixed].max() < 10


def test_min_weight_fraction_leaf():
    weight = np.random.default_rng(2).exponential(size=len(Y))
    forest = classifier(min_weight_fraction_leaf=0.1).fit(X, Y, sample_weight=weight).forest_
    assert forest.weight[leaves(forest)].min() >= 0.1 * weight.sum() * (1 - 1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_min_impurity_decrease(k):
    forest = classifier(min_impurity_decrease=0.05, max_features=k).fit(X, Y).forest_
    content = forest.weight * forest.impurity / len(Y)
    parent = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    decrease = content - np.bincount(parent, content[forest.child], minlength=forest.n_nodes)
    assert decrease[~leaves(forest)].min() >= 0.05
    assert (forest.impurity[leaves(forest)] > 0).any()


def test_the_best_of_all_features_is_better():
    first = [
        classifier(n_estimators=300, max_features=k, max_depth=1).fit(X, Y).local_importances_
        for k in (1, 2, None)
    ]
    gains = [result.values.sum(axis=1).mean() for result in first]
    assert gains[0] < gains[1] < gains[2]


def test_bootstrap_draws_rows():
    forest = classifier(bootstrap=True, max_samples=0.5).fit(X, Y).forest_
    assert (forest.weight[forest.tree_offset[:-1]] == 30).all()
    assert len(np.unique(forest.impurity[forest.tree_offset[:-1]])) > 10


def test_out_of_bag():
    model = classifier(n_estimators=300, bootstrap=True, oob_score=True, max_samples=40).fit(X, Y)
    assert 0.6 < model.oob_score_ < 1
    assert model.oob_decision_function_.shape == (60, 3)
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1)
    target = np.column_stack([X[:, 0], X[:, 1]])
    model = regressor(n_estimators=300, bootstrap=True, oob_score=True).fit(X, target)
    assert model.oob_prediction_.shape == (60, 2)
    assert 0.5 < model.oob_score_ < 1
    one = regressor(n_estimators=300, bootstrap=True, oob_score=True).fit(X, X[:, 0])
    assert one.oob_prediction_.shape == (60,)


def test_out_of_bag_is_what_the_trees_say():
    # One tree: out of the bag are the rows whose weight is missing from the root.
    with pytest.warns(UserWarning, match="drawn by every tree"):
        model = classifier(n_estimators=1, bootstrap=True, oob_score=True).fit(X, Y)
    seen = ~np.isnan(model.oob_decision_function_[:, 0])
    assert 10 < seen.sum() < 35
    np.testing.assert_allclose(model.oob_decision_function_[seen], model.predict_proba(X[seen]))


def test_weights():
    weight = np.random.default_rng(3).integers(0, 4, size=len(Y))
    repeated = classifier().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    weighted = classifier().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-12)
    balanced = classifier(class_weight="balanced").fit(X, Y)
    by_hand = classifier().fit(X, Y, sample_weight=compute_sample_weight("balanced", Y))
    np.testing.assert_array_equal(balanced.predict_proba(X), by_hand.predict_proba(X))
    assert balanced.local_importances_.baseline == pytest.approx(np.log2(3))
    same = classifier(class_weight="balanced_subsample").fit(X, Y)
    np.testing.assert_array_equal(same.predict_proba(X), balanced.predict_proba(X))
    chosen = classifier(class_weight={0: 2.0, 1: 1.0, 2: 1.0}).fit(X, Y)
    root = chosen.forest_.value[0]
    assert root[0] == pytest.approx(2 * np.mean(Y == 0) / (1 + np.mean(Y == 0)))


def test_classes_weigh_the_same_in_every_bootstrap():
    model = classifier(
        n_estimators=20, bootstrap=True, max_samples=40, class_weight="balanced_subsample"
    )
    y = np.arange(len(X)) % 3
    forest = model.fit(X, y).forest_
    roots = forest.tree_offset[:-1]
    np.testing.assert_allclose(forest.weight[roots], 40)
    np.testing.assert_allclose(forest.value[roots], 1 / 3)
    # Weights of the rows come on top.
    forest = model.fit(X, y, sample_weight=1.0 + y).forest_
    roots = forest.tree_offset[:-1]
    np.testing.assert_allclose(forest.value[roots], np.tile([1 / 6, 2 / 6, 3 / 6], (20, 1)))
    values = model.local_importances_.values
    np.testing.assert_allclose(values, local_mdi(model, X).values, atol=1e-12)


def test_a_class_that_was_not_drawn_weighs_nothing():
    y = np.r_[np.zeros(30, int), [1]]
    model = classifier(n_estimators=30, bootstrap=True, class_weight="balanced_subsample")
    forest = model.fit(np.arange(31.0)[:, None], y).forest_
    shares = forest.value[forest.tree_offset[:-1], 1]
    assert set(shares.round(12)) == {0.0, 0.5}


def test_criteria_have_units():
    assert classifier().fit(X, Y).local_importances_.unit == "bits"
    assert classifier(criterion="log_loss").fit(X, Y).local_importances_.unit == "bits"
    assert classifier(criterion="gini").fit(X, Y).local_importances_.unit == "gini"
    assert regressor(criterion="variance").fit(X, Y).local_importances_.unit == "variance"


def test_gini_of_two_classes_is_twice_the_variance():
    binary = Y > 0
    gini = classifier(criterion="gini", n_estimators=8).fit(X, binary).local_importances_
    variance = regressor(n_estimators=8).fit(X, binary).local_importances_
    np.testing.assert_allclose(gini.values, 2 * variance.values, atol=1e-12)


def test_several_outputs():
    target = np.column_stack([X[:, 0], -X[:, 1], X[:, 2]])
    model = regressor(n_estimators=50).fit(X, target)
    assert model.n_outputs_ == 3
    np.testing.assert_allclose(model.predict(X), target, atol=0.5)
    assert model.predict(X).shape == (60, 3)


WRONG = {
    "n_estimators": [0, 1.5, True, "many", 2**31, 10**30],
    "max_features": [0, 5, 1.5, 0.0, "half", True],
    "draw": ["Theory", None],
    "criterion": ["squared_error", None],
    "max_depth": [0, 1.5],
    "min_samples_split": [1, 0.0, 1.5],
    "min_samples_leaf": [0, 2.5],
    "min_weight_fraction_leaf": [-0.1, 0.6],
    "min_impurity_decrease": [-1, np.inf],
    "bootstrap": ["yes"],
    "max_samples": [10],
    "oob_score": [True],
    "tol": [0, -1.0, np.nan],
    "n_jobs": [0],
    "keep_forest": [None],
    "warm_start": [2],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_refusals(name, value):
    with pytest.raises(ValueError, match=rf"{name} must.*got .*Use "):
        classifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [0, 61, 1.5])
def test_max_samples_beyond_the_rows(value):
    with pytest.raises(ValueError, match="max_samples must be"):
        classifier(bootstrap=True, max_samples=value).fit(X, Y)


def test_bad_data():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        classifier().fit(csr_array(X), Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        classifier().fit(X, Y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="y to be passed"):
        regressor().fit(X, None)


def test_no_warnings_in_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier().fit(X, Y).predict(X)
