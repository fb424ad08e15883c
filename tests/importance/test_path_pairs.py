"""Pairs of features on paths: sums, brute force, and the indices of the infinite forest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import localmdi as lm
from forest.tables import fields_of_forests
from localmdi.datasets import make_led
from localmdi.forest import build_forest
from oracles import conditional_pairs

INDICES = ("SII", "STII", "FSII")


def tables(result):
    return np.array([result.matrix(i) for i in range(len(result))])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.sampled_from([None, 1, 3]),
    st.floats(0, 0.4),
)
def test_equals_brute_force_also_with_missing_values(seed, n_features, max_depth, missing):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (25, n_features)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = rng.integers(0, 3, 25)
    model = RandomForestClassifier(5, max_depth=max_depth, random_state=seed % 99).fit(X, y)
    result = lm.local_interactions(model, X, pairs="all")
    expected = conditional_pairs([tree.tree_ for tree in model.estimators_], X)
    assert_allclose(tables(result), expected, atol=1e-12)
    assert_allclose(result.by_feature(), lm.local_mdi(model, X).values, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(fields_of_forests(), st.integers(0, 10**6))
def test_adds_up_to_local_mdi_in_any_forest(fields, seed):
    # Multiway and categorical splits, single nodes, missing values, weighted trees.
    fields = {**fields, "criterion": "gini"}
    n_nodes = len(fields["feature"])
    fields["impurity"] = np.random.default_rng(seed).random(n_nodes)
    fields["missing_child"] = np.where(np.diff(fields["child_offset"]) > 0, 0, -1)
    forest = build_forest(**fields)
    X = np.random.default_rng(seed).integers(-2, 4, (7, forest.n_features)).astype(float)
    X[0] = np.nan
    result = lm.local_interactions(forest, X, pairs="all")
    local = lm.local_mdi(forest, X).values
    assert_allclose(result.by_feature(), local, atol=1e-9 * max(np.abs(local).max(initial=1), 1))


def test_trees_of_a_single_node():
    X = np.zeros((5, 2))
    model = RandomForestClassifier(3, random_state=0).fit(X, [0, 1, 0, 1, 1])
    result = lm.local_interactions(model, X)
    assert result.shape == (5, 0)
    assert_array_equal(result.rest, np.zeros(5))
    assert "0 pairs" in repr(result)


def test_categories_that_are_split_exhaustively():
    X, y = make_led()
    model = lm.RandomizedForestClassifier(200, categorical_features=range(7), random_state=0)
    model.fit(X, y)
    result = lm.local_interactions(model, X, pairs="all")
    assert_allclose(result.by_feature(), lm.local_mdi(model, X).values, atol=1e-12)


def test_listed_pairs_and_the_rest_add_up():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = ExtraTreesClassifier(20, criterion="entropy", random_state=0).fit(X, y)
    everything = lm.local_interactions(model, X, pairs="all")
    assert issparse(everything.values)
    assert everything.rest is None
    local = lm.local_mdi(model, X)
    few = lm.local_interactions(model, X, pairs=3)
    assert few.shape == (150, 3)
    assert_allclose(few.values.sum(axis=1) + few.rest, local.baseline - local.residual, atol=1e-12)
    strongest = np.sort(abs(everything.values).mean(axis=0))[-3:]
    assert_allclose(np.sort(np.abs(few.values).mean(axis=0)), strongest)
    assert few[2:4].shape == (2, 3)
    assert few.to_frame(0).shape == (3, 3)
    with pytest.raises(ValueError, match="pairs='all'"):
        few.by_feature()


def test_a_row_alone_has_the_bits_of_the_row_among_others():
    rng = np.random.default_rng(0)
    X = rng.random((300, 5))
    model = RandomForestRegressor(70, max_depth=6, random_state=0).fit(X, X[:, 0] * X[:, 1])
    everything = tables(lm.local_interactions(model, X, pairs="all", n_jobs=2))
    for i in (0, 299):
        assert_array_equal(
            tables(lm.local_interactions(model, X[[i]], pairs="all"))[0], everything[i]
        )
    sparse = lm.local_interactions(model, csr_array(X), pairs="all")
    assert_array_equal(tables(sparse), everything)


@pytest.mark.parametrize("index", INDICES)
def test_indices_agree_with_the_infinite_forest(index):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 4))
    y = (X[:, 0] ^ X[:, 1]) + (rng.random(40) < 0.2)
    model = lm.RandomizedForestClassifier(1500, random_state=0).fit(X, y)
    result = lm.local_interactions(model, X[:6], index=index, training=X, pairs="all")
    exact = lm.infinite_interactions(X, y, X[:6], index=index, criterion="entropy").values
    first, second = result.pairs.T
    z = (result.values - exact[:, first, second]) / result.standard_error
    assert np.abs(z).max() < 4.5
    assert 0.5 < np.sqrt((z**2).mean()) < 1.6


def test_indices_on_categories():
    X, y = make_led()
    model = lm.RandomizedForestClassifier(3000, categorical_features=range(7), random_state=0)
    result = lm.local_interactions(model.fit(X, y), X, index="STII", training=X, pairs="all")
    exact = lm.infinite_interactions(X, y, index="STII").values
    first, second = result.pairs.T
    z = (result.values - exact[:, first, second]) / np.maximum(result.standard_error, 1e-12)
    assert np.abs(z[np.abs(result.values) > 1e-9]).max() < 5


def test_refusals():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 3)), rng.integers(0, 2, 30)
    one = ExtraTreesClassifier(3, max_features=1, random_state=0)
    with pytest.raises(ValueError, match="training=X_train"):
        lm.local_interactions(one.fit(X, y), X, index="SII")
    with pytest.raises(ValueError, match="still varies below its own split"):
        lm.local_interactions(one.fit(X, y), X, index="SII", training=X)
    with pytest.raises(ValueError, match="max_features='sqrt'"):
        lm.local_interactions(ExtraTreesClassifier(3).fit(X, y), X, index="SII", training=X)
    binary = (X > 0.5).astype(float)
    bagged = ExtraTreesClassifier(3, max_features=1, bootstrap=True, random_state=0)
    with pytest.raises(ValueError, match="without bootstrap"):
        lm.local_interactions(bagged.fit(binary, y), binary, index="SII", training=binary)
    with pytest.raises(ValueError, match="index must be"):
        lm.local_interactions(one, X, index="pairs")
    for pairs in (0, "some", True):
        with pytest.raises(ValueError, match="pairs must be"):
            lm.local_interactions(one, X, pairs=pairs)
