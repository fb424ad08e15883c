"""The same bits for any threads, batches, row order and processor; and the standard errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from importance.models import CLASSIFIERS, REGRESSORS, X_CLASS, X_VALUE, Y_CLASS, Y_VALUE, trees_of

RNG = np.random.default_rng(0)
MODEL = RandomForestClassifier(40, criterion="entropy", random_state=0).fit(X_CLASS, Y_CLASS)
EXPLAINER = lm.Explainer(MODEL)
# More rows than a tile of 64, fewer than one of 16,384, some of them missing a value.
X = RNG.normal(size=(1500, 6)).astype(np.float32)
X[RNG.random(X.shape) < 0.02] = np.nan
ALL = EXPLAINER(X, standard_error=True)


def assert_same(result, expected=ALL):
    assert np.array_equal(result.values, expected.values)
    assert np.array_equal(result.residual, expected.residual)
    if result.standard_error is not None:
        assert np.array_equal(result.standard_error, expected.standard_error)


@pytest.mark.parametrize("standard_error", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, 100])
def test_any_number_of_threads(n_jobs, standard_error):
    assert_same(EXPLAINER(X, n_jobs=n_jobs, standard_error=standard_error))


@pytest.mark.parametrize("batch_rows", [1, 7, 63, 64, 65, 1000, None])
def test_any_batch_size(batch_rows):
    batches = EXPLAINER.iter_batches(X, batch_rows=batch_rows, standard_error=True, n_jobs=2)
    assert_same(lm.LocalImportance.concat(batches))


def test_any_row_order():
    order = RNG.permutation(len(X))
    assert_same(EXPLAINER(X[order], standard_error=True), ALL[order])


def test_a_row_alone_and_among_a_hundred_thousand():
    model = RandomForestClassifier(5, max_depth=6, random_state=0).fit(X_CLASS, Y_CLASS)
    explainer = lm.Explainer(model)
    many = RNG.normal(size=(100_000, 6)).astype(np.float32)
    result = explainer(many, standard_error=True)
    for row in (0, 1, 24_999, 25_000, 50_000, 99_999):  # tiles have 25,000 rows
        assert_same(explainer(many[row : row + 1], standard_error=True), result[row])


@pytest.mark.parametrize("n_features", [16, 64])  # whole rows, and paths
def test_rows_that_are_sorted_on_the_way(n_features):
    rows = RNG.normal(size=(1300, n_features))
    labels = RNG.integers(0, 3, len(rows))
    model = ExtraTreesClassifier(64, max_features=1, random_state=0).fit(rows, labels)
    explainer = lm.Explainer(model)
    many = RNG.normal(size=(2**18 // n_features + 1, n_features)).astype(np.float32)
    assert explainer.forest.n_nodes >= 64 * 1024  # else they would not be sorted
    sorted_rows = explainer(many, n_jobs=2, standard_error=True)
    batches = explainer.iter_batches(many, batch_rows=1000, standard_error=True)
    assert_same(lm.LocalImportance.concat(batches), sorted_rows)
    assert_same(explainer(many), sorted_rows)


def test_rows_of_wide_data():
    rows = RNG.normal(size=(500, 1100)).astype(np.float32)
    labels = rows[:, :20].sum(axis=1) > 0
    model = RandomForestClassifier(20, max_depth=6, random_state=0).fit(rows, labels)
    explainer = lm.Explainer(model)
    result = explainer(rows[:5])
    values, residual = oracles.local_mdi([(tree, 1) for tree in trees_of(model)], rows[:5])
    assert np.allclose(result.values, values, atol=1e-12)
    assert np.allclose(result.residual, residual, atol=1e-12)
    assert_same(explainer(rows)[:5], result)  # all of them from lists: 4 MB of results
    rows[RNG.random(rows.shape) < 0.01] = np.nan
    together = explainer(rows, n_jobs=2, standard_error=True)
    batches = explainer.iter_batches(rows, batch_rows=200, standard_error=True)
    assert_same(lm.LocalImportance.concat(batches), together)
    assert_same(explainer(rows), together)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_vector_instructions(n_threads, dtype):
    packing = lm.Explainer(replace(lm.as_forest(MODEL), row_dtype=dtype))._packing
    results = []
    for simd in (False, True):
        values, error, residual = np.empty(X.shape), np.empty(X.shape), np.empty(len(X))
        rows = packing.rows(X.astype(dtype))
        packing.kernel.local_mdi(rows, values, residual, error, n_threads, simd=simd)
        results.append((values, residual, error))
    for plain, vector in zip(*results, strict=True):
        assert np.array_equal(plain, vector)
    assert np.array_equal(results[0][0], ALL.values)


@pytest.mark.parametrize("gaps_in", ["data", "indices", "indptr"])
def test_compressed_rows_with_gaps_in_memory(gaps_in):
    compressed = sp.csr_array(X_CLASS.astype(np.float32))
    setattr(compressed, gaps_in, np.repeat(getattr(compressed, gaps_in), 2)[::2])
    assert not getattr(compressed, gaps_in).flags.c_contiguous
    assert np.array_equal(EXPLAINER(compressed).values, EXPLAINER(X_CLASS).values)


def test_dense_and_sparse_rows_and_results():
    zeros = np.where(RNG.random(X.shape) < 0.5, 0, np.nan_to_num(X)).astype(np.float32)
    expected = EXPLAINER(zeros, standard_error=True)
    assert_same(EXPLAINER(sp.csr_array(zeros), standard_error=True, n_jobs=2), expected)
    for rows in (zeros, sp.csr_array(zeros)):
        for n_jobs in (1, 3):
            result = EXPLAINER(rows, output="sparse", n_jobs=n_jobs)
            assert np.array_equal(result.values.toarray(), expected.values)
            assert np.array_equal(result.residual, expected.residual)


def test_explainer_and_function_agree():
    assert_same(lm.local_mdi(MODEL, X, standard_error=True))
    assert_same(lm.local_mdi(lm.as_forest(MODEL), X, standard_error=True))


@pytest.mark.parametrize("name", ["RandomForestClassifier-entropy", "ExtraTreesRegressor-poisson"])
def test_order_of_summation(name):
    """Per tree and feature along the path, then trees in index order, then one division."""
    classifier = name in CLASSIFIERS
    model = (CLASSIFIERS | REGRESSORS)[name]
    rows = X_CLASS if classifier else X_VALUE
    model.fit(rows, Y_CLASS if classifier else np.abs(Y_VALUE) + 1)
    trees = trees_of(model)
    expected = np.zeros((100, 6))
    for i, x in enumerate(rows[:100]):
        for tree in trees:
            expected[i] += oracles.tree_local_mdi(tree, x)[0]
    assert np.array_equal(lm.local_mdi(model, rows[:100]).values, expected / len(trees))
    assert np.array_equal(lm.local_mdi(model, rows[:1]).values, expected[:1] / len(trees))


@pytest.mark.parametrize("rows", [20, 80])
def test_standard_error_is_that_of_the_mean_over_trees(rows):
    result = EXPLAINER(X_CLASS[:rows], standard_error=True)
    expected = oracles.standard_error(trees_of(MODEL), X_CLASS[:rows])
    np.testing.assert_allclose(result.standard_error, expected, rtol=0, atol=1e-12)
    forest = RandomForestRegressor(12, max_depth=4, random_state=0).fit(X_VALUE, Y_VALUE)
    scale = Y_VALUE.var()
    result = lm.local_mdi(forest, X_VALUE[:rows], standard_error=True)
    expected = oracles.standard_error(trees_of(forest), X_VALUE[:rows])
    np.testing.assert_allclose(result.standard_error / scale, expected / scale, rtol=0, atol=1e-12)


def test_standard_error_needs_two_trees():
    model = DecisionTreeClassifier(max_depth=3).fit(X_CLASS, Y_CLASS)
    assert np.isnan(lm.local_mdi(model, X_CLASS, standard_error=True).standard_error).all()
    forest = lm.as_forest(model)
    for weight in (0.1, 1 / 3, 0.7, 1e-200, 1e150):
        single = replace(forest, tree_weight=np.array([weight]))
        assert np.isnan(lm.local_mdi(single, X_CLASS, standard_error=True).standard_error).all()


@pytest.mark.parametrize("weights", [[1, 1, 1], [0.1, 0.1, 0.1], [2, 2, 0], [1e-200] * 3])
def test_standard_error_of_equal_trees_is_zero(weights):
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = RandomForestClassifier(3, bootstrap=False, max_features=None, random_state=0)
    model.fit(X_CLASS, Y_CLASS)
    model.estimators_ = [tree.fit(X_CLASS, Y_CLASS)] * 3
    forest = replace(lm.as_forest(model), tree_weight=np.array(weights, dtype=float))
    for rows in (X_CLASS[:10], X_CLASS):
        assert (lm.local_mdi(forest, rows, standard_error=True).standard_error == 0).all()


def test_standard_error_of_weighted_trees():
    """The variance with reliability weights, over the effective number of trees."""
    weights = np.array([0.5, 3.0, 0.0, 1.0, 7.25])
    model = RandomForestClassifier(5, random_state=0).fit(X_CLASS, Y_CLASS)
    forest = replace(lm.as_forest(model), tree_weight=weights)
    result = lm.local_mdi(forest, X_CLASS, standard_error=True)
    trees = np.array([lm.local_mdi(tree, X_CLASS).values for tree in model.estimators_])
    mean = np.average(trees, axis=0, weights=weights)
    np.testing.assert_allclose(result.values, mean, atol=1e-12)
    shares = weights / weights.sum()
    variance = np.average((trees - mean) ** 2, axis=0, weights=weights) / (1 - (shares**2).sum())
    expected = np.sqrt(variance * (shares**2).sum())
    np.testing.assert_allclose(result.standard_error, expected, rtol=0, atol=1e-12)
    equal = replace(forest, tree_weight=np.full(5, 0.3))
    plain = lm.local_mdi(model, X_CLASS, standard_error=True).standard_error
    again = lm.local_mdi(equal, X_CLASS, standard_error=True).standard_error
    np.testing.assert_allclose(again, plain, rtol=0, atol=1e-12)
    assert plain.max() == pytest.approx(trees.std(axis=0, ddof=1).max() / math.sqrt(5))


def test_weights_may_have_any_scale():
    forest = lm.as_forest(MODEL)
    plain = lm.local_mdi(forest, X_CLASS, standard_error=True)
    for scale in (2.0**-500, 2.0**500):
        scaled = replace(forest, tree_weight=forest.tree_weight * scale)
        result = lm.local_mdi(scaled, X_CLASS, standard_error=True)
        np.testing.assert_allclose(result.values, plain.values, rtol=1e-12)
        np.testing.assert_allclose(result.standard_error, plain.standard_error, rtol=1e-12)
