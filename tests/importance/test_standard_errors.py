"""Standard errors of trees that nearly agree or weigh very differently, in exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import localmdi as lm
import oracles
from importance.models import X_VALUE, Y_VALUE
from localmdi.forest import build_forest

EPSILON = np.finfo(float).eps


def stumps(values, *, other=None, weights=None):
    """Return trees of one split that give `values` to rows with x > 0 and `other` to the rest.

    Where a value is 0, the tree asks for the second feature instead of the first.
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    rest = np.zeros(n) if other is None else values - other
    return build_forest(
        n_features=2,
        tree_offset=3 * np.arange(n + 1),
        tree_weight=np.ones(n) if weights is None else np.asarray(weights, dtype=float),
        feature=np.ravel([[0 if value else 1, -1, -1] for value in values]),
        split_kind=np.tile([1, 0, 0], n),
        threshold=np.zeros(3 * n),
        child_offset=np.append(np.ravel([[2 * t, 2 * t + 2, 2 * t + 2] for t in range(n)]), 2 * n),
        child=np.ravel([[3 * t + 1, 3 * t + 2] for t in range(n)]),
        impurity=np.ravel(np.stack([values, rest, np.zeros(n)], axis=1)),
        criterion="squared_error",
    )


@pytest.mark.parametrize("rows", [1, 100])
@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-6, 1e-9, 1e-12])
def test_trees_that_nearly_agree(noise, rows):
    values = 1 + noise * np.random.default_rng(0).normal(size=300)
    result = lm.local_mdi(stumps(values), np.ones((rows, 2)), standard_error=True)
    expected = oracles.weighted_standard_error(values, np.ones(300))
    np.testing.assert_allclose(result.standard_error[:, 0], expected, rtol=1e-9)
    assert (result.standard_error[:, 1] == 0).all()


@pytest.mark.parametrize("noise", [1, 1e-4, 1e-8])
def test_weights_of_very_different_size(noise):
    """Powers of two, so that a value times its weight is not rounded."""
    rng = np.random.default_rng(1)
    values = 3 + noise * rng.normal(size=200)
    weights = 2.0 ** rng.integers(-40, 40, 200)
    weights[rng.random(200) < 0.1] = 0
    result = lm.local_mdi(stumps(values, weights=weights), np.ones((80, 2)), standard_error=True)
    expected = oracles.weighted_standard_error(values, weights)
    np.testing.assert_allclose(result.standard_error[:, 0], expected, rtol=1e-9)


WEIGHT = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))


@settings(max_examples=200, deadline=None)
@given(
    trees=st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 1.0, 1.0]), st.floats(-1, 1), WEIGHT),
        min_size=2,
        max_size=60,
    ).filter(lambda trees: sum(weight > 0 for _, _, weight in trees) > 1),
    noise=st.sampled_from([1e-2, 1e-5, 1e-8, 1e-11, 0.0]),
)
def test_any_weights(trees, noise):
    """Values that are times their weights rounded once are off by a few units in the last place."""
    present, deviation, weights = np.array(trees).T
    values = present * (1 + noise * deviation)
    result = lm.local_mdi(stumps(values, weights=weights), np.ones((1, 2)), standard_error=True)
    expected = oracles.weighted_standard_error(values, weights)
    np.testing.assert_allclose(result.standard_error[0, 0], expected, rtol=1e-9, atol=8 * EPSILON)


def test_the_same_bits_however_rows_come():
    """Rows with x > 0 are looked at twice, the others once."""
    rng = np.random.default_rng(2)
    n = 120
    forest = stumps(1 + 1e-9 * rng.normal(size=n), other=rng.random(n))
    explainer = lm.Explainer(forest)
    X = rng.normal(size=(500, 2))
    X[rng.random(X.shape) < 0.1] = 0
    result = explainer(X, standard_error=True)
    assert 0 < result.standard_error[X[:, 0] > 0, 0].max() < 1e-9
    assert result.standard_error[X[:, 0] <= 0, 0].min() > 1e-3
    for n_jobs in (2, 3, 50):
        again = explainer(X, standard_error=True, n_jobs=n_jobs)
        assert np.array_equal(again.standard_error, result.standard_error)
    for batch_rows in (1, 7, 100):
        batches = explainer.iter_batches(X, batch_rows=batch_rows, standard_error=True)
        whole = lm.LocalImportance.concat(batches)
        assert np.array_equal(whole.standard_error, result.standard_error)
    sparse = explainer(sp.csr_array(X), standard_error=True)
    assert np.array_equal(sparse.standard_error, result.standard_error)


def test_forests_of_equal_trees():
    model = RandomForestRegressor(60, bootstrap=False, max_depth=8, random_state=0)
    X = X_VALUE[:, :1]  # one feature: no ties between splits
    result = lm.local_mdi(model.fit(X, Y_VALUE), X, standard_error=True)
    assert result.values.max() > 0
    assert (result.standard_error == 0).all()


def test_squares_that_overflow():
    values = 1e160 * (1 + 1e-10 * np.arange(5))
    result = lm.local_mdi(stumps(values), np.ones((70, 2)), standard_error=True)
    expected = 1e160 * oracles.weighted_standard_error(values / 1e160, np.ones(5))
    np.testing.assert_allclose(result.standard_error[:, 0], expected, rtol=1e-5)
