"""The gain: all ways against all orders of the features and against theory, and its own laws."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from infinite.samples import CRITERIA, draw_sample, gain, samples
from infinite.test_unseen import RULES, questions
from localmdi.datasets import make_led
from localmdi.infinite import infinite_mdi, local_relevance, measure_gap
from localmdi.infinite.categorical_sample import read_samples
from localmdi.infinite.exact import Plan, Run, cheapest, exact_rows
from localmdi.theory import Distribution, population_local_mdi, population_local_profile

WAYS = ("block search", "shared partition", "row sets")


def by_way(sample, rows, way, n_threads=1):
    plan = Plan(way, 1.0, 1.0)
    return exact_rows(sample, rows, plan=plan, run=Run(n_threads), measure="gain")


def by_orders(X, y, x, *, weight, criterion, rule="skip"):
    """Mean over all orders of the features of the gains on the path of x."""
    p = X.shape[1]
    values = np.zeros(p)
    orders = list(permutations(range(p)))
    for order in orders:
        node = np.arange(len(y))
        for j in order:
            if len(np.unique(y[node])) == 1:
                break
            below = node[X[node, j] == x[j]]
            if below.size:
                values[j] += gain(y, weight, node, below, criterion=criterion)
                node = below
            elif rule == "stop" or (rule == "tree" and len(np.unique(X[node, j])) > 1):
                break
    return values / len(orders)


@settings(max_examples=60, deadline=None)
@given(samples(), st.sampled_from(CRITERIA))
def test_equals_the_oracle(case, criterion):
    X, y, weight = case
    law = Distribution.from_samples(X, y, weight)
    options = {"criterion": criterion, "sample_weight": weight}
    result = infinite_mdi(X, y, measure="gain", **options)
    for x, values in list(zip(X, result.values, strict=True))[:3]:
        expected = population_local_mdi(law, x, criterion=criterion, measure="gain")
        assert_allclose(values, expected, atol=1e-10, rtol=0)
    assert (result.values >= 0).all()
    mean = infinite_mdi(X, y, **options).mean().values
    assert_allclose(result.mean().values, mean, atol=1e-10, rtol=0)
    assert_array_equal(result.support, np.ones(len(X)))


@settings(max_examples=40, deadline=None)
@given(samples(max_features=5, max_rows=14), st.sampled_from(CRITERIA))
def test_all_ways_are_the_mean_over_all_orders(case, criterion):
    X, y, weight = case
    (sample,) = read_samples(X, y, criterion=criterion, sample_weight=weight)
    rows = np.arange(sample.shape[0])
    weight = np.ones(len(y)) if weight is None else weight
    expected = [
        by_orders(X, y, x, weight=weight, criterion=criterion)
        for x in X[[np.flatnonzero(sample.given.inverse == row)[0] for row in rows]]
    ]
    for way in WAYS:
        assert_allclose(by_way(sample, rows, way), expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(samples(max_rows=14), st.sampled_from(CRITERIA))
def test_all_ways_agree(case, criterion):
    X, y, weight = case
    (sample,) = read_samples(X, y, criterion=criterion, sample_weight=weight)
    rows = np.arange(sample.shape[0])
    first, *others = (by_way(sample, rows, way) for way in WAYS)
    for other in others:
        assert_allclose(other, first, atol=1e-12, rtol=0)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("arity", [2, 4])
def test_ways_agree_where_the_search_has_tasks_and_blocks(arity, criterion):
    X, y, _ = draw_sample(3, n_rows=14, n_features=19, arity=arity, full=True)
    (sample,) = read_samples(X, y, criterion=criterion)
    rows = np.array([0, 7])
    assert_allclose(
        by_way(sample, rows, "block search"), by_way(sample, rows, "row sets"), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("way", WAYS)
def test_threads_change_no_bit(way):
    X, y, weight = draw_sample(5, n_rows=13, n_features=18, arity=2, weights="real", full=True)
    (sample,) = read_samples(X, y, sample_weight=weight)
    rows = np.arange(4)
    one, three = (by_way(sample, rows, way, n_threads) for n_threads in (1, 3))
    assert_array_equal(one, three)


@settings(max_examples=30, deadline=None)
@given(samples(max_features=7), st.sampled_from(CRITERIA))
def test_degree_profile(case, criterion):
    X, y, weight = case
    law = Distribution.from_samples(X, y, weight)
    options = {"criterion": criterion, "sample_weight": weight, "profile": True}
    result = infinite_mdi(X, y, measure="gain", **options)
    expected = population_local_profile(law, X[0], criterion=criterion, measure="gain")
    assert_allclose(result.profile[0], expected, atol=1e-10, rtol=0)
    drop = infinite_mdi(X, y, **options)
    assert_allclose(result.mean_profile(), drop.mean_profile(), atol=1e-10, rtol=0)


@settings(max_examples=60, deadline=None)
@given(questions(), st.sampled_from(RULES), st.sampled_from(CRITERIA))
def test_unseen_rows_follow_the_rules_of_the_drop(question, rule, criterion):
    X, y, x = question
    options = {"unseen": rule, "criterion": criterion, "method": "exact"}
    result = infinite_mdi(X, y, [x], measure="gain", **options)
    expected = by_orders(X, y, x, weight=np.ones(len(y)), criterion=criterion, rule=rule)
    assert_allclose(result.values[0], expected, atol=1e-12)
    assert_array_equal(result.support, infinite_mdi(X, y, [x], **options).support)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_sampled_within_their_own_standard_errors(criterion, weights):
    X, y, weight = draw_sample(4, n_rows=60, n_features=7, weights=weights)
    options = {"criterion": criterion, "sample_weight": weight, "measure": "gain"}
    at = np.vstack([X[:8], [[9, 1, 0, 2, 0, 1, 1]]])
    exact = infinite_mdi(X, y, at, **options)
    sampled = infinite_mdi(X, y, at, method="sampled", n_paths=4000, random_state=0, **options)
    z = (sampled.values - exact.values) / np.maximum(sampled.standard_error, 1e-12)
    assert np.abs(z).max() < 4.5
    assert np.sqrt((z**2).mean()) < 1.3
    three = infinite_mdi(
        X, y, at, method="sampled", n_paths=4000, random_state=0, n_jobs=3, **options
    )
    assert_array_equal(sampled.values, three.values)


def test_auto_samples_when_exact_is_too_dear():
    X, y, _ = draw_sample(8, n_rows=300, n_features=50, arity=2, full=True)
    result = infinite_mdi(X, y, X[:2], measure="gain", tol=0.05, random_state=0)
    assert result.method == "sampled"
    assert 1.96 * result.standard_error.max() <= 0.05


@settings(max_examples=40, deadline=None)
@given(samples(max_features=4, max_rows=12), st.sampled_from(["entropy", "gini"]))
def test_zero_exactly_where_a_feature_is_locally_irrelevant(case, criterion):
    """On counts no tolerance is needed: equal proportions are equal numbers."""
    X, y, _ = case
    result = infinite_mdi(X, y, criterion=criterion, measure="gain")
    assert_array_equal(result.values > 0, local_relevance(X, y, X).differs)


def test_misprint_m4():
    """Where the drop is zero and the gain is not: at x = 0 the law of y is turned round."""
    X = np.repeat([0, 1], [10, 20])[:, np.newaxis]
    y = np.r_[np.repeat([0, 1], [7, 3]), np.repeat([0, 1], [2, 18])]
    drop, gained = (infinite_mdi(X, y, [[0], [1]], measure=m).values for m in ("drop", "gain"))
    expected = [[0.4 * np.log2(7 / 3)], [0.1 * np.log2(1 / 3) + 0.9 * np.log2(9 / 7)]]
    assert_allclose(gained, expected, atol=1e-12)
    assert drop[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert np.dot([1 / 3, 2 / 3], drop) == pytest.approx(np.dot([1 / 3, 2 / 3], gained))


def test_the_result_says_what_it_is():
    X, y = make_led()
    result = infinite_mdi(X, y, measure="gain")
    assert result.measure == "gain"
    assert result.baseline is None
    assert result.residual is None
    assert result[2:4, ["x1", "x2"]].measure == "gain"
    assert result.plain().measure == "gain"
    assert result.mean().values.sum() == pytest.approx(np.log2(10), abs=1e-12)
    with pytest.raises(ValueError, match="needs a result with a baseline"):
        result.additivity_error()
    with pytest.raises(ValueError, match="must be of measure 'drop'"):
        measure_gap(result, X, y=y)


def test_refuses_other_measures():
    with pytest.raises(ValueError, match="measure must be"):
        infinite_mdi([[0], [1]], [0, 1], measure="share")


def test_bins_and_missing_values():
    rng = np.random.default_rng(0)
    size = np.where(rng.random(40) < 0.2, np.nan, rng.normal(size=40))
    table = pd.DataFrame({"size": size, "kind": rng.choice(["a", "b"], 40)})
    y = rng.integers(0, 2, 40)
    options = {"bins": {"size": [-0.5, 0.5]}, "missing": "category"}
    result = infinite_mdi(table, y, measure="gain", **options)
    codes = np.where(np.isnan(size), 3, np.searchsorted([-0.5, 0.5], size, side="right"))
    coded = np.column_stack([codes, table["kind"] == "b"]).astype(int)
    assert_allclose(result.values, infinite_mdi(coded, y, measure="gain").values, atol=1e-12)
    assert result.bins == {"size": (-0.5, 0.5)}


def test_few_rows_and_thousands_of_features():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (10, 1000)), np.arange(10) % 3
    result = infinite_mdi(X, y, measure="gain")
    assert result.method == "exact (row sets)"
    assert_allclose(result.mean().values, infinite_mdi(X, y).mean().values, atol=1e-10)


def test_the_plan_has_a_way_for_every_shape():
    def way(**shape):
        X, y, _ = draw_sample(0, full=True, **shape)
        (sample,) = read_samples(X, y)
        rows = np.arange(sample.shape[0] if shape.get("n_rows") != 400 else 1)
        return cheapest(sample, rows, measure="gain").method

    assert way(n_rows=400, n_features=9) == "block search"
    assert way(n_rows=1000, n_features=12, n_classes=5) == "shared partition"
    assert way(n_rows=10, n_features=300) == "row sets"


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[3, 4, 5]], [1]),
        ([[1, 1]] * 5, [0, 1, 0, 1, 1]),
        ([[0, 1], [1, 0], [1, 1]], [2, 2, 2]),
    ],
    ids=["one row", "equal rows", "constant y"],
)
@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_to_tell(X, y, method, criterion):
    result = infinite_mdi(X, y, method=method, criterion=criterion, measure="gain", random_state=0)
    assert_array_equal(result.values, np.zeros(np.shape(X)))
