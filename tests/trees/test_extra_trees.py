"""On numeric data our trees are Extra-Trees: the same distribution of importances over trees."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split

from trees.models import classifier, regressor

DATA = {
    "digits": load_digits,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
}
N_TREES = {"digits": 150, "wine": 500, "breast cancer": 400, "diabetes": 300}


@cache
def pair(name, k):
    """Our forest and scikit-learn's, with the importances of every tree."""
    X, y = DATA[name](return_X_y=True)
    settings = {"n_estimators": N_TREES[name], "max_features": k, "random_state": 3}
    if name == "diabetes":
        ours, theirs = regressor(draw="sklearn", **settings), ExtraTreesRegressor(**settings)
    else:
        ours = classifier(draw="sklearn", **settings)
        theirs = ExtraTreesClassifier(criterion="entropy", **settings)
    forest = ours.fit(X, y).forest_
    theirs.fit(X, y)
    expected = [tree.tree_.compute_feature_importances(normalize=False) for tree in theirs]
    sizes = [tree.tree_.node_count for tree in theirs]
    return (
        tree_importances(forest),
        np.array(expected),
        np.diff(forest.tree_offset),
        np.array(sizes),
    )


def tree_importances(forest):
    content = forest.weight * forest.impurity
    parent = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    below = np.bincount(parent, content[forest.child], minlength=forest.n_nodes)
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))
    split = forest.feature >= 0
    out = np.zeros((forest.n_trees, forest.n_features))
    decrease = (content - below) / forest.weight[forest.tree_offset[:-1]][tree]
    np.add.at(out, (tree[split], forest.feature[split]), decrease[split])
    return out


def standard_differences(a, b):
    error = np.sqrt(a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b))
    varies = error > 0
    return (a.mean(axis=0) - b.mean(axis=0))[varies] / error[varies]


@pytest.mark.parametrize("k", [1, "sqrt", None])
@pytest.mark.parametrize("name", DATA)
def test_means_and_spread(name, k):
    ours, theirs, our_sizes, their_sizes = pair(name, k)
    z = standard_differences(ours, theirs)
    assert np.abs(z).max() <= 4.5
    spread = ours.std(axis=0)[theirs.std(axis=0) > 0] / theirs.std(axis=0)[theirs.std(axis=0) > 0]
    assert 0.9 <= np.median(spread) <= 1.1
    # scikit-learn ends a branch where rounding makes a decrease negative; we do not.
    error = np.sqrt(our_sizes.var() / len(our_sizes) + their_sizes.var() / len(their_sizes))
    assert abs(our_sizes.mean() - their_sizes.mean()) <= 4.5 * error + 0.005 * their_sizes.mean()


def test_the_differences_are_as_large_as_chance_makes_them():
    z = np.concatenate(
        [standard_differences(*pair(name, k)[:2]) for name in DATA for k in (1, "sqrt")]
    )
    assert 0.6 <= np.sqrt(np.mean(z**2)) <= 1.4


@pytest.mark.parametrize("k", [1, "sqrt"])
def test_held_out_accuracy(k):
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    ours = classifier(n_estimators=200, max_features=k).fit(train, y_train).score(test, y_test)
    theirs = ExtraTreesClassifier(200, max_features=k, random_state=0).fit(train, y_train)
    assert abs(ours - theirs.score(test, y_test)) < 0.02


def test_held_out_regression():
    X, y = load_diabetes(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    ours = regressor(n_estimators=300, max_features="sqrt").fit(train, y_train).score(test, y_test)
    theirs = ExtraTreesRegressor(300, max_features="sqrt", random_state=0).fit(train, y_train)
    assert abs(ours - theirs.score(test, y_test)) < 0.03
