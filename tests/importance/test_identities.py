"""The "Identities in finite samples" of docs/theory/algorithms.md, on random forests and data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import localmdi as lm
from importance.models import trees_of

FEW = settings(max_examples=25, deadline=None)


@st.composite
def samples(draw, *, classes=3, outputs=1):
    """A random table with ties, constant columns and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    X = rng.integers(0, draw(st.sampled_from([1, 2, 5, 1000])), (n, p)).astype(np.float32)
    y = rng.integers(0, classes, (n, outputs)) if outputs > 1 else rng.integers(0, classes, n)
    return X, y, rng.random(n) + 0.1, int(rng.integers(2**31))


@FEW
@given(samples(), st.sampled_from(["gini", "entropy"]), st.booleans())
def test_path_sum_is_root_minus_leaf(sample, criterion, bootstrap):
    X, y, weight, seed = sample
    model = RandomForestClassifier(
        4, criterion=criterion, bootstrap=bootstrap, random_state=seed
    ).fit(X, y, sample_weight=weight)
    result = lm.local_mdi(model, X)
    trees = trees_of(model)
    leaf = np.mean([t.impurity[t.apply(X)] for t in trees], axis=0)
    root = np.mean([t.impurity[0] for t in trees])
    np.testing.assert_allclose(result.residual, leaf, atol=1e-12)
    np.testing.assert_allclose(result.values.sum(axis=1), root - leaf, atol=1e-12)
    assert result.additivity_error() <= 1e-12


@FEW
@given(samples())
def test_weighted_mean_is_global_without_bootstrap(sample):
    X, y, weight, seed = sample
    model = ExtraTreesClassifier(4, random_state=seed).fit(X, y, sample_weight=weight)
    result = lm.local_mdi(model, X)
    mean = np.average(result.values, axis=0, weights=weight)
    np.testing.assert_allclose(mean, lm.global_mdi(model).values, atol=1e-12)


@FEW
@given(samples(), st.sampled_from([None, "balanced", "balanced_subsample"]), st.booleans())
def test_in_bag_shares_average_to_global_with_bootstrap(sample, class_weight, weighted):
    X, y, weight, seed = sample
    given_weight = weight if weighted else None
    model = RandomForestClassifier(5, class_weight=class_weight, random_state=seed)
    model.fit(X, y, sample_weight=given_weight)
    shares = lm.decompose_global(model, X, y, sample_weight=given_weight)
    np.testing.assert_allclose(
        shares.values.mean(axis=0), lm.global_mdi(model).values, rtol=0, atol=1e-12
    )
    assert shares.additivity_error() <= 1e-12


def test_plain_mean_is_not_global_with_bootstrap():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 4)), rng.integers(0, 2, 80)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    plain = lm.local_mdi(model, X).mean().values
    assert np.abs(plain - lm.global_mdi(model).values).max() > 0.005


@FEW
@given(samples())
def test_feature_importances_are_the_mean_of_normalised_trees(sample):
    X, y, _, seed = sample
    model = RandomForestClassifier(6, random_state=seed).fit(X, y)
    trees = [lm.global_mdi(tree).values for tree in model.estimators_]
    shares = [tree / tree.sum() for tree in trees if tree.sum() > 0]
    if shares and model.feature_importances_.sum() > 0:
        mean = np.mean(shares, axis=0)
        np.testing.assert_allclose(mean / mean.sum(), model.feature_importances_, atol=1e-12)


@FEW
@given(samples(outputs=2))
def test_multi_output_impurity_is_the_mean_over_outputs(sample):
    X, y, weight, seed = sample
    model = DecisionTreeClassifier(random_state=seed).fit(X, y, sample_weight=weight)
    forest = lm.as_forest(model)
    again = forest.with_statistics(X, y, sample_weight=weight)
    np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)
    singles = [forest.with_statistics(X, y[:, k], sample_weight=weight) for k in range(2)]
    np.testing.assert_allclose(
        again.impurity, (singles[0].impurity + singles[1].impurity) / 2, atol=1e-12
    )


@FEW
@given(samples())
def test_three_row_wise_decompositions_of_one_global_importance(sample):
    X, y, _, seed = sample
    gini = ExtraTreesClassifier(4, random_state=seed, criterion="gini").fit(X, y)
    codes = np.searchsorted(gini.classes_, y)
    moves = lm.saabas(gini, X)[np.arange(len(y)), :, codes]
    np.testing.assert_allclose(moves.mean(axis=0), lm.global_mdi(gini).values, atol=1e-12)
    bits = ExtraTreesClassifier(4, random_state=seed, criterion="entropy").fit(X, y)
    drop = np.mean([_loss_drop(tree, X, codes) for tree in trees_of(bits)], axis=0)
    np.testing.assert_allclose(drop.mean(axis=0), lm.global_mdi(bits).values, atol=1e-12)
    np.testing.assert_allclose(
        lm.local_mdi(bits, X).mean().values, lm.global_mdi(bits).values, atol=1e-12
    )


def _loss_drop(tree, X, codes):
    """log2 of p(y) at the child over p(y) at the node, by split feature: pointwise information."""
    out = np.zeros(X.shape)
    for i, (x, code) in enumerate(zip(X, codes, strict=True)):
        node = 0
        while tree.feature[node] >= 0:
            f = tree.feature[node]
            side = tree.children_left if x[f] <= tree.threshold[node] else tree.children_right
            child = side[node]
            out[i, f] += np.log2(tree.value[child, 0, code] / tree.value[node, 0, code])
            node = child
    return out


@FEW
@given(samples(classes=2))
def test_gini_is_twice_the_variance_of_binary_labels(sample):
    X, y, _, seed = sample
    tree = DecisionTreeClassifier(random_state=seed).fit(X, y)
    forest = lm.as_forest(tree)
    variance = forest.with_statistics(X, y.astype(float), criterion="squared_error")
    np.testing.assert_allclose(forest.impurity, 2 * variance.impurity, atol=1e-12)
    gini, doubled = lm.local_mdi(tree, X).values, 2 * lm.local_mdi(variance, X).values
    np.testing.assert_allclose(gini, doubled, atol=1e-12)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_weight_check_of_a_weighted_regression(bootstrap):
    rng = np.random.default_rng(1)
    X, y, weight = rng.random((90, 4)), rng.random(90), rng.random(90) + 0.5
    model = RandomForestRegressor(6, bootstrap=bootstrap, max_samples=50 if bootstrap else None)
    model.set_params(random_state=0).fit(X, y, sample_weight=weight)
    shares = lm.decompose_global(model, X, sample_weight=weight)
    np.testing.assert_allclose(
        shares.values.mean(axis=0), lm.global_mdi(model).values, rtol=0, atol=1e-12
    )
    with pytest.raises(lm.exceptions.UnsupportedModelError, match="weight of every node"):
        lm.decompose_global(model, X[::-1], sample_weight=weight)


def test_statistics_of_a_regression_tree_are_its_own():
    rng = np.random.default_rng(2)
    X, y, weight = rng.random((200, 3)), 1e6 + rng.random(200), rng.random(200)
    tree = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, y - 1e6, sample_weight=weight)
    forest = lm.as_forest(tree)
    # A large offset of y must not cost digits.
    again = forest.with_statistics(X, y, sample_weight=weight, criterion="squared_error")
    np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-9)
    np.testing.assert_allclose(again.weight, forest.weight, rtol=1e-12)
