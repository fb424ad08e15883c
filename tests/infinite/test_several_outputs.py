"""Several outputs: the mean over them, as in a forest that is grown on all of them at once."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

import localmdi as lm
from infinite.samples import CRITERIA, draw_sample, impurity
from localmdi.theory import Distribution, population_local_mdi, population_local_profile

MEASURES = ("drop", "gain")
RULES = ("skip", "stop", "tree")


def draw_outputs(seed, *, n_rows, n_outputs, n_features=3, weights="none", full=True):
    """Outputs of 1 to 4 values each; the first is often known early."""
    X, _, weight = draw_sample(
        seed, n_rows=n_rows, n_features=n_features, weights=weights, full=full
    )
    rng = np.random.default_rng([seed, n_outputs])
    Y = rng.integers(0, rng.integers(1, 5, n_outputs), (n_rows, n_outputs))
    Y[:, 0] = X[:, 0] > 0
    return X, Y, weight


@st.composite
def questions(draw, max_features=5):
    return draw_outputs(
        draw(st.integers(0, 2**32 - 1)),
        n_rows=draw(st.integers(1, 15)),
        n_outputs=draw(st.integers(1, 3)),
        n_features=draw(st.integers(1, max_features)),
        weights=draw(st.sampled_from(["none", "whole", "real"])),
        full=draw(st.booleans()),
    )


@settings(max_examples=60, deadline=None)
@given(questions(), st.sampled_from(CRITERIA), st.sampled_from(MEASURES))
def test_equals_theorem_2_on_the_law_of_all_outputs(case, criterion, measure):
    X, Y, weight = case
    result = lm.infinite_mdi(X, Y, criterion=criterion, measure=measure, sample_weight=weight)
    law = Distribution.from_samples(X, Y, weight)
    for x, values in zip(X, result.values, strict=True):
        exact = population_local_mdi(law, x, criterion=criterion, measure=measure)
        assert_allclose(values, exact, atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(questions(max_features=4), st.sampled_from(CRITERIA), st.sampled_from(MEASURES))
def test_the_profile_too(case, criterion, measure):
    X, Y, _ = case
    result = lm.infinite_mdi(X, Y, criterion=criterion, measure=measure, profile=True)
    law = Distribution.from_samples(X, Y)
    exact = [population_local_profile(law, x, criterion=criterion, measure=measure) for x in X]
    assert_allclose(result.profile, exact, atol=1e-11)
    assert_allclose(result.values, result.profile.sum(axis=2), atol=1e-15)


def mean_impurity(Y, rows, criterion):
    return np.mean([impurity(y[rows], np.ones(len(rows)), criterion) for y in Y.T])


def all_orders(X, Y, x, *, rule, criterion):
    """Values, residual and support of paths that end when every output is known."""
    p = X.shape[1]
    values, residual, support = np.zeros(p), 0.0, 0.0
    orders = list(permutations(range(p)))
    for order in orders:
        node, supported = np.arange(len(X)), True
        for j in order:
            if len(np.unique(Y[node], axis=0)) == 1:
                break
            below = node[X[node, j] == x[j]]
            if below.size:
                drop = mean_impurity(Y, node, criterion) - mean_impurity(Y, below, criterion)
                values[j] += drop
                node = below
                continue
            if rule == "tree" and len(np.unique(X[node, j])) == 1:
                continue
            supported = False
            if rule != "skip":
                break
        residual += mean_impurity(Y, node, criterion)
        support += supported
    return values / len(orders), residual / len(orders), support / len(orders)


@settings(max_examples=80, deadline=None)
@given(
    questions(max_features=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.sampled_from(RULES),
    st.sampled_from(CRITERIA),
)
def test_rows_outside_the_sample_equal_all_orders(case, x, rule, criterion):
    X, Y, _ = case
    x = np.array(x[: X.shape[1]])
    values, residual, support = all_orders(X, Y, x, rule=rule, criterion=criterion)
    for profile in (False, True):
        result = lm.infinite_mdi(
            X, Y, [x], unseen=rule, criterion=criterion, method="exact", profile=profile
        )
        assert_allclose(result.values[0], values, atol=1e-12)
        assert_allclose(result.residual[0], residual, atol=1e-12)
        assert_allclose(result.support[0], support, atol=1e-12)
        assert result.additivity_error() < 1e-12


def test_the_support_is_that_of_paths_until_all_outputs_are_known():
    """Each output needs one of the features; only the second has a value that X does not have."""
    X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [1, 0], [1, 1]]
    x = [[0, 7]]
    alone = [lm.infinite_mdi(X, [row[o] for row in Y], x).support[0] for o in (0, 1)]
    assert alone == [0.5, 0.0]
    assert lm.infinite_mdi(X, Y, x).support[0] == 0.0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_sampled_paths_are_unbiased_and_their_errors_are_right(criterion):
    X, Y, weight = draw_outputs(3, n_rows=30, n_outputs=3, n_features=5, weights="real")
    options = {"criterion": criterion, "sample_weight": weight}
    exact = lm.infinite_mdi(X, Y, **options)
    z = []
    for seed in range(40):
        sampled = lm.infinite_mdi(
            X, Y, X[:3], method="sampled", n_paths=200, random_state=seed, **options
        )
        assert sampled.method == "sampled"
        known = sampled.standard_error > 0
        z.append((sampled.values - exact.values[:3])[known] / sampled.standard_error[known])
    z = np.concatenate(z)
    # Were the paths shared by the outputs, their errors would not average out as the squares do.
    assert abs(z.mean()) < 5 / np.sqrt(40)
    assert 0.8 < z.std() < 1.25


def test_sampling_stops_at_the_same_tol_for_any_number_of_outputs():
    X, Y, _ = draw_outputs(5, n_rows=40, n_outputs=4, n_features=6)
    result = lm.infinite_mdi(X, Y, method="sampled", tol=0.02, random_state=0)
    assert 1.96 * result.standard_error.max() <= 0.02 + 1e-9
    assert 1.96 * result.standard_error.max() > 0.01


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("criterion", "grower"), [("entropy", 0), ("gini", 0), ("variance", 1)])
def test_a_grown_forest_comes_near(measure, criterion, grower):
    rng = np.random.default_rng(8)
    X = rng.integers(2, size=(60, 4))
    flips = rng.random((2, 60)) < 0.2
    Y = np.column_stack([(X[:, 0] & X[:, 1]) ^ flips[0], X[:, 1] + X[:, 2] + flips[1], X[:, 3]])
    name = "squared_error" if grower else criterion
    model = (ExtraTreesClassifier, ExtraTreesRegressor)[grower](
        3000, criterion=name, max_features=1, random_state=0
    ).fit(X, Y)
    grown = lm.local_mdi(model, X, measure=measure)
    limit = lm.infinite_mdi(X, Y, criterion=criterion, measure=measure)
    scale = np.abs(limit.values).max()
    assert np.abs(grown.values - limit.values).max() < 0.06 * scale
    assert np.abs(grown.mean().values - limit.mean().values).max() < 0.02 * scale
    if measure == "drop":
        assert grown.baseline == pytest.approx(limit.baseline)
        gap = lm.forest_gap(model, X, Y)
        assert_allclose(gap.infinite.values, limit.values, atol=1e-14)


def test_our_regressor_on_categories():
    X, Y, _ = draw_outputs(4, n_rows=50, n_outputs=2)
    model = lm.RandomizedForestRegressor(
        3000, max_features=1, categorical_features=range(3), random_state=0
    ).fit(X, Y)
    grown = lm.local_mdi(model, X)
    limit = lm.infinite_mdi(X, Y, criterion="variance")
    assert np.abs(grown.values - limit.values).max() < 0.06 * np.abs(limit.values).max()


def test_numeric_columns():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=9), rng.integers(2, size=9)])
    Y = np.column_stack([X[:, 0] > 0, X[:, 1]])
    at = [*X[:3], [0.1, 1.0]]
    both = lm.infinite_mdi(X, Y, at)
    parts = [lm.infinite_mdi(X, y, at) for y in Y.T]
    assert_allclose(both.values, np.mean([part.values for part in parts], axis=0), atol=1e-12)
    assert both.method == "exact (row sets)"


def test_interactions_are_means():
    X, Y, weight = draw_outputs(6, n_rows=25, n_outputs=3, n_features=4, weights="whole")
    for method in ("exact", "sampled"):
        options = {"method": method, "sample_weight": weight, "random_state": 0}
        both = lm.infinite_interactions(X, Y, X[:4], **options)
        parts = [
            lm.infinite_interactions(X, y, X[:4], method="exact", sample_weight=weight) for y in Y.T
        ]
        mean = np.mean([part.values for part in parts], axis=0)
        if method == "exact":
            assert_allclose(both.values, mean, atol=1e-12)
        else:
            off = np.abs(both.values - mean) - 5 * both.standard_error
            assert np.nanmax(off) <= 1e-12


def test_relevance_is_of_one_output():
    with pytest.raises(ValueError, match="got 2"):
        lm.local_relevance([[0], [1]], [[0, 1], [1, 0]], [[0]])


def test_one_column_is_one_output():
    X, Y, _ = draw_outputs(2, n_rows=20, n_outputs=1, n_features=6)
    for options in ({}, {"method": "sampled", "random_state": 0, "n_paths": 100}):
        column, plain = (lm.infinite_mdi(X, y, **options) for y in (Y, Y[:, 0]))
        assert_array_equal(column.values, plain.values)
        assert column.method == plain.method


def test_outputs_of_several_kinds():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    table = pd.DataFrame({"colour": ["red", "red", "blue", "blue"], "size": [1.0, 2.0, 1.0, 2.0]})
    assert_allclose(lm.infinite_mdi(X, table).mean().values, [0.5, 0.5], atol=1e-15)
    with pytest.raises(ValueError, match="measured numbers"):
        lm.infinite_mdi(X, table.assign(size=[0.5, 1, 2, 3]))
    with pytest.raises(ValueError, match="finite numbers"):
        lm.infinite_mdi(X, table, criterion="variance")


def test_the_result_does_not_depend_on_threads_or_rows_beside():
    X, Y, _ = draw_outputs(9, n_rows=60, n_outputs=3, n_features=8)
    for method in ("exact", "sampled"):
        options = {"method": method, "random_state": 4}
        whole = lm.infinite_mdi(X, Y, n_jobs=1, **options)
        assert_array_equal(lm.infinite_mdi(X, Y, n_jobs=3, **options).values, whole.values)
    alone = lm.infinite_mdi(X, Y, X[5:6], method="sampled", random_state=4)
    assert_array_equal(alone.values[0], whole.values[5])


def test_the_encoding_warns_once():
    X = np.column_stack([np.r_[np.zeros(8), 0.5, 1.5], np.arange(10) % 2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lm.infinite_mdi(X, np.column_stack([X[:, 1], X[:, 1]]), bins=4)
    assert len(caught) == 1
    assert caught[0].filename == __file__
