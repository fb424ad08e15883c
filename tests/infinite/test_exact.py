"""The exact ways give Theorem 2 on the sample's law, and therefore each other's numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from infinite.samples import CRITERIA, draw_sample, samples
from localmdi.datasets import make_led
from localmdi.infinite import infinite_mdi
from localmdi.infinite.categorical_sample import read_samples
from localmdi.infinite.exact import Plan, Run, exact_rows, unseen_rows
from localmdi.theory import (
    Distribution,
    population_local_mdi,
    population_local_profile,
    population_mdi,
    population_profile,
)

WAYS = ("block search", "shared partition", "row dual")


def by_way(sample, rows, way, n_threads=1):
    return exact_rows(sample, rows, plan=Plan(way, 1.0, 1.0), run=Run(n_threads))


@settings(max_examples=60, deadline=None)
@given(samples(), st.sampled_from(CRITERIA))
def test_equals_the_oracle(case, criterion):
    X, y, weight = case
    law = Distribution.from_samples(X, y, weight)
    result = infinite_mdi(X, y, criterion=criterion, sample_weight=weight)
    for x, values in list(zip(X, result.values, strict=True))[:3]:
        expected = population_local_mdi(law, x, criterion=criterion)
        assert_allclose(values, expected, atol=1e-10, rtol=0)
    if X.shape[1] <= 8:
        expected = population_mdi(law, criterion=criterion)
        assert_allclose(result.mean().values, expected, atol=1e-10, rtol=0)
    assert result.additivity_error() < 1e-10
    assert result.n_trees == 0
    assert result.unit == {"entropy": "bits"}.get(criterion, criterion)
    assert_array_equal(result.support, np.ones(len(X)))


@settings(max_examples=40, deadline=None)
@given(samples(max_rows=14), st.sampled_from(CRITERIA))
def test_all_ways_agree(case, criterion):
    X, y, weight = case
    (sample,) = read_samples(X, y, criterion=criterion, sample_weight=weight)
    rows = np.arange(sample.shape[0])
    first, *others = (by_way(sample, rows, way) for way in WAYS)
    sets, ends = unseen_rows(sample, sample.codes, unseen="skip", budget=1e12, run=Run())
    for other in (*others, sets):
        assert_allclose(other, first, atol=1e-10, rtol=0)
    assert_allclose(ends[:, 1:], 1.0, atol=1e-12)
    assert_allclose(ends[:, 0], sample.impurity(sample.sums), atol=1e-12)


@pytest.mark.parametrize("arity", [2, 4])
def test_ways_agree_where_the_search_has_tasks_and_blocks(arity):
    X, y, _ = draw_sample(3, n_rows=18, n_features=19, arity=arity, full=True)
    (sample,) = read_samples(X, y)
    rows = np.array([0, 7])
    assert_allclose(
        by_way(sample, rows, "block search"), by_way(sample, rows, "row dual"), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("way", WAYS)
def test_threads_change_no_bit(way):
    X, y, weight = draw_sample(5, n_rows=17, n_features=18, arity=2, weights="real", full=True)
    (sample,) = read_samples(X, y, sample_weight=weight)
    rows = np.arange(4)
    one, three = (by_way(sample, rows, way, n_threads) for n_threads in (1, 3))
    assert_array_equal(one, three)


@settings(max_examples=30, deadline=None)
@given(samples(max_features=7), st.sampled_from(CRITERIA))
def test_degree_profile(case, criterion):
    X, y, weight = case
    law = Distribution.from_samples(X, y, weight)
    result = infinite_mdi(X, y, criterion=criterion, sample_weight=weight, profile=True)
    expected = population_local_profile(law, X[0], criterion=criterion)
    assert_allclose(result.profile[0], expected, atol=1e-10, rtol=0)
    expected = population_profile(law, criterion=criterion)
    assert_allclose(result.mean_profile(), expected, atol=1e-10, rtol=0)


def test_led():
    X, y = make_led()
    printed = [0.412693, 0.581541, 0.531156, 0.542129, 0.656582, 0.225816, 0.372011]
    result = infinite_mdi(X, y)
    assert_allclose(result.mean().values, printed, atol=5e-7)
    assert result.mean().values.sum() == pytest.approx(np.log2(10), abs=1e-12)
    assert result.baseline == pytest.approx(np.log2(10))


def test_example_2():
    X, y = [[0], [0], [1], [1]], [0, 1, 0, 0]
    assert infinite_mdi(X, y).values[0, 0] == pytest.approx(-0.188722, abs=5e-7)


def test_five_thousand_features_and_twelve_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (12, 5000)), np.arange(12) % 3
    result = infinite_mdi(X, y)
    assert result.method == "exact (row dual)"
    assert result.additivity_error() < 1e-10
    # Sampled paths know nothing of the transform.
    sampled = infinite_mdi(X, y, X[:1], method="sampled", n_paths=4000, random_state=0)
    gap = np.abs(result.values[0] - sampled.values[0])
    assert gap.max() < 6 * sampled.standard_error.max()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[3, 4, 5]], [1]),
        ([[1, 1]] * 5, [0, 1, 0, 1, 1]),
        ([[0, 1], [1, 0], [1, 1]], [2, 2, 2]),
    ],
    ids=["one row", "equal rows", "constant y"],
)
@pytest.mark.parametrize("method", ["auto", "exact", "sampled"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_to_tell(X, y, method, criterion):
    result = infinite_mdi(X, y, method=method, criterion=criterion, random_state=0)
    assert_array_equal(result.values, np.zeros(np.shape(X)))
    assert_allclose(result.residual, result.baseline, atol=1e-15)


def test_one_feature():
    assert_allclose(infinite_mdi([["a"], ["b"]], [0, 1]).values, [[1.0], [1.0]])


def test_beyond_feasibility():
    X, y, _ = draw_sample(0, n_rows=2000, n_features=60, arity=2, full=True)
    with pytest.raises(ValueError, match=r"take about \d+ \w+ and .* MB .*\. Use method='sampled'"):
        infinite_mdi(X, y, X[:1], method="exact")
    X, y, _ = draw_sample(0, n_rows=400, n_features=500, full=True)
    with pytest.raises(ValueError, match="1,000,000 years"):
        infinite_mdi(X, y, X[:1], method="exact")
    x = 1 - X[:1] % 2
    with pytest.raises(ValueError, match="row sets"):
        infinite_mdi(X, y, x, method="exact")
    assert infinite_mdi(X, y, x, n_paths=100, random_state=0).method == "sampled"


def test_rows_of_weight_zero_do_not_belong_to_the_sample():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    weighted = infinite_mdi(X, y, X[:3], sample_weight=[1, 1, 1, 0])
    assert_array_equal(weighted.values, infinite_mdi(X[:3], y[:3]).values)
    assert infinite_mdi(X, y, sample_weight=[1, 1, 1, 0]).support[3] == 1.0


def test_many_small_terms_lose_no_digits():
    X, y, _ = draw_sample(0, n_rows=14, n_features=40, full=True)
    (sample,) = read_samples(X, y)
    rows = np.arange(3)
    expected = by_way(sample, rows, "row dual")
    for way in ("block search", "shared partition"):
        assert_allclose(by_way(sample, rows, way), expected, atol=1e-13, rtol=0)


@pytest.mark.parametrize("gain", [False, True])
@pytest.mark.parametrize(
    ("n_rows", "n_features", "arity"),
    [(200, 10, 2), (300, 11, 4), (8, 24, 2), (20, 60, 10), (50, 60, 20), (20, 30, 4)],
)
def test_the_cost_of_the_shared_partition_is_what_it_counts(n_rows, n_features, arity, gain):
    # Few rows with many features: nearly all visits are of features that leave no group.
    X, y, _ = draw_sample(0, n_rows=n_rows, n_features=n_features, arity=arity, full=True)
    (sample,) = read_samples(X, y)
    counted = sample.kernel.shared_partition(gain, np.empty(sample.shape), 1)
    cost = sample.kernel.shared_partition_cost(gain, np.inf)
    assert 0.5 < cost / counted < 2
    # Counted as far as a limit only: whether it is above is known all the same.
    for limit in (0.0, 0.3 * cost, 0.9 * cost):
        assert limit < sample.kernel.shared_partition_cost(gain, limit) <= cost
    assert sample.kernel.shared_partition_cost(gain, cost) == cost
