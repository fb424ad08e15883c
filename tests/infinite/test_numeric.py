"""Numeric columns: exact values by recursion, sampled ones within their errors, and forests."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from infinite.samples import CRITERIA, gain, impurity
from localmdi import RandomizedForestClassifier, RandomizedForestRegressor, forest_gap
from localmdi.infinite import infinite_interactions, infinite_mdi, local_relevance


def parts_of(X, x, node, feature, *, is_number):
    """Yield (probability, x's part) of a split of a node; nothing if the feature splits nothing."""
    if not is_number:
        below = tuple(i for i in node if X[i, feature] == x[feature])
        if below and len(below) < len(node):
            yield 1.0, below
        return
    levels = np.unique(X[list(node), feature])
    for low, high in pairwise(levels):
        for left in (True, False):
            start = max(low, x[feature]) if left else low
            stop = high if left else min(high, x[feature])
            if stop > start:
                part = tuple(i for i in node if (X[i, feature] <= low) == left)
                yield (stop - start) / (levels[-1] - levels[0]), part


def by_recursion(X, y, x, *, numeric, criterion="entropy", measure="drop"):
    """The mean over all trees, by the words of the documentation: (values, residual)."""
    p, ones = X.shape[1], np.ones(len(y))

    def amount(rows, part):
        if measure == "gain":
            return gain(y, ones, rows, part, criterion=criterion)
        before = impurity(y[rows], ones[rows], criterion)
        return before - impurity(y[part], ones[part], criterion)

    @cache
    def below(node):
        rows = list(node)
        ways = {}
        if len(set(y[rows])) > 1:
            ways = {j: list(parts_of(X, x, node, j, is_number=numeric[j])) for j in range(p)}
            ways = {j: of for j, of in ways.items() if of}
        values, residual = np.zeros(p), 0.0 if ways else impurity(y[rows], ones[rows], criterion)
        for j, of in ways.items():
            for chance, part in of:
                share = chance / len(ways)
                deeper, end = below(part)
                values = values + share * deeper
                values[j] += share * amount(rows, list(part))
                residual += share * end
        return values, residual

    return below(tuple(range(len(y))))


@st.composite
def questions(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    numeric = rng.random(p) < 0.6
    numeric[0] = True
    # Halves, which float32 holds exactly; some values repeat.
    X = np.where(numeric, rng.integers(0, 12, (n, p)) / 2, rng.integers(0, 3, (n, p)))
    X[0, 0] += 0.25
    y = rng.integers(0, 3, n)
    x = X[0] if draw(st.booleans()) else np.where(numeric, rng.integers(-2, 14, p) / 4, X[1])
    return X, y, x, numeric


@settings(max_examples=80, deadline=None)
@given(questions(), st.sampled_from(CRITERIA), st.sampled_from(["drop", "gain"]))
def test_exact_values_are_the_mean_over_all_trees(question, criterion, measure):
    X, y, x, numeric = question
    options = {"numeric_features": np.flatnonzero(numeric).tolist(), "method": "exact"}
    result = infinite_mdi(X, y, [x], criterion=criterion, measure=measure, **options)
    values, residual = by_recursion(X, y, x, numeric=numeric, criterion=criterion, measure=measure)
    assert result.method == "exact (row sets)"
    assert_allclose(result.values[0], values, atol=1e-12)
    if measure == "drop":
        assert_allclose(result.residual[0], residual, atol=1e-12)
        assert result.additivity_error() < 1e-12


def mixed_sample(n=40, seed=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"dose": rng.random(n), "sex": rng.choice(["f", "m"], n), "age": rng.normal(size=n)}
    )
    y = (X["dose"] > 0.5) ^ (X["sex"] == "f") ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


@pytest.mark.parametrize("measure", ["drop", "gain"])
def test_sampled_values_are_within_their_errors(measure):
    X, y = mixed_sample(9)
    exact = infinite_mdi(X, y, measure=measure, method="exact")
    options = {"measure": measure, "method": "sampled", "n_paths": 4000}
    sampled = infinite_mdi(X, y, random_state=0, **options)
    z = (sampled.values - exact.values) / np.maximum(sampled.standard_error, 1e-12)
    assert np.abs(z[sampled.standard_error > 0]).max() < 5
    two = infinite_mdi(X, y, random_state=0, n_jobs=2, **options)
    assert_array_equal(two.values, sampled.values)
    alone = infinite_mdi(X, y, X[3:4], random_state=0, **options)
    assert_array_equal(alone.values[0], sampled.values[3])


def test_tol_is_kept_and_every_row_adds_up():
    X, y = mixed_sample()
    result = infinite_mdi(X, y, X[:5], method="sampled", tol=0.05, random_state=0)
    assert result.method == "sampled"
    assert (1.96 * result.standard_error).max() <= 0.0501
    assert result.additivity_error() < 1e-12
    assert_array_equal(result.support, np.ones(5))


def compare_with_a_forest(X, y, forest, **options):
    """Return the differences from a forest's importances in standard errors of both."""
    local = forest.fit(X, y).local_importances_
    rows = slice(0, 10)
    infinite = infinite_mdi(X, y, X[rows], random_state=1, **options)
    # An importance lies within the impurities' range, so that this is no small error.
    of_trees = local.baseline / np.sqrt(forest.n_estimators)
    assert infinite.baseline == pytest.approx(local.baseline)
    error = np.sqrt(infinite.standard_error**2 + of_trees**2)
    return (infinite.values - local.values[rows]) / error


def test_a_forest_comes_near():
    X, y = mixed_sample()
    forest = RandomizedForestClassifier(2000, random_state=0, keep_forest=False)
    z = compare_with_a_forest(X, y, forest, method="sampled", n_paths=4000)
    assert np.abs(z).max() < 4


@pytest.mark.slow
def test_forests_of_twenty_thousand_trees_come_nearer():
    X, y = mixed_sample()
    forest = RandomizedForestClassifier(20_000, random_state=0, keep_forest=False)
    z = compare_with_a_forest(X, y, forest, method="sampled", n_paths=40_000)
    assert np.abs(z).max() < 4
    numbers = X[["dose", "age"]]
    target = numbers["dose"] * numbers["age"]
    forest = RandomizedForestRegressor(20_000, random_state=0, keep_forest=False)
    options = {"criterion": "variance", "method": "sampled", "n_paths": 40_000}
    assert np.abs(compare_with_a_forest(numbers, target, forest, **options)).max() < 4


def test_numbers_of_two_values_are_categories():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (12, 3)), rng.integers(0, 2, 12)
    expected = infinite_mdi(X, y)
    result = infinite_mdi(X, y, numeric_features=[0, 2])
    assert_allclose(result.values, expected.values, atol=1e-12)


def test_the_scale_of_a_number_does_not_matter_but_its_spacing_does():
    X, y = np.array([[0.5, 0], [1.5, 1], [2.5, 0], [3.5, 1]]), [0, 0, 1, 1]
    result = infinite_mdi(X, y)
    scaled = infinite_mdi(X * [8, 1] + [16, 0], y, numeric_features=[0])
    assert_allclose(scaled.values, result.values, atol=1e-12)
    wide = infinite_mdi(np.where(X == 3.5, 30.5, X), y)
    assert np.abs(wide.values - result.values).max() > 0.01


def test_rows_outside_the_range():
    X, y = np.array([[0.5], [1.5], [2.5]]), [0, 1, 1]
    result = infinite_mdi(X, y, [[-7.5], [9.5], [1.25]])
    assert_allclose(result.residual, 0, atol=1e-12)
    assert_allclose(result.values.sum(axis=1), result.baseline, atol=1e-12)
    assert_array_equal(result.support, np.ones(3))


def test_weights_count_and_rows_of_weight_zero_are_explained():
    X, y = np.array([[0.5, 1], [1.5, 0], [2.5, 1], [3.5, 0]]), [0, 1, 1, 0]
    result = infinite_mdi(X, y, sample_weight=[2, 1, 1, 0])
    repeated = infinite_mdi(X[[0, 0, 1, 2]], np.array(y)[[0, 0, 1, 2]], X)
    assert_allclose(result.values, repeated.values, atol=1e-12)


def test_a_forest_on_numbers_has_a_gap():
    X, y = mixed_sample(8)
    forest = RandomizedForestClassifier(50, random_state=0).fit(X, y)
    assert forest_gap(forest, X, y).features.shape == (3,)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[0.5], [np.nan]], {}, "'x0' holds missing"),
        ([[0.5], [np.inf]], {}, "'x0' holds missing, infinite"),
        ([[0.5], [1.5]], {"profile": True}, "profile=True needs categories"),
        ([[0.5], [1.5]], {"numeric_features": ["z"]}, "numeric_features must be columns"),
        ([["a"], ["b"]], {"numeric_features": [0]}, "a numeric column must hold numbers"),
        ([[0.5], [1.5]], {"numeric_features": [0], "bins": {0: 2}}, "both binned and numeric"),
    ],
)
def test_refusals(X, options, message):
    with pytest.raises(ValueError, match=message):
        infinite_mdi(X, [0, 1], **options)


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr("localmdi.infinite.mdi._MAX_ROW_SET_OPERATIONS", 1e6)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="row sets, the cheapest way"):
        infinite_mdi(rng.random((200, 6)), rng.integers(0, 2, 200), method="exact")


def test_interactions_and_relevance_need_categories():
    with pytest.raises(ValueError, match=r"'x0' holds measured numbers, such as 0\.5"):
        infinite_interactions([[0.5], [1.5]], [0, 1])
    with pytest.raises(ValueError, match="'x0' holds measured numbers"):
        local_relevance([[0.5], [1.5]], [0, 1], [[0.5]])
