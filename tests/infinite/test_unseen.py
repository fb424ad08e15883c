"""Rows that are not in the sample, against all orders of the features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from infinite.samples import CRITERIA, draw_sample, unseen_by_orders
from localmdi.infinite import infinite_mdi

RULES = ("skip", "stop", "tree")


@st.composite
def questions(draw):
    n_features = draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    X, y, _ = draw_sample(seed, n_rows=draw(st.integers(1, 12)), n_features=n_features)
    x = np.array(draw(st.lists(st.integers(0, 3), min_size=n_features, max_size=n_features)))
    return X, y, x


@settings(max_examples=60, deadline=None)
@given(questions(), st.sampled_from(RULES), st.sampled_from(CRITERIA))
def test_equals_all_orders(question, rule, criterion):
    X, y, x = question
    profile, residual, support = unseen_by_orders(X, y, x, rule=rule, criterion=criterion)
    result = infinite_mdi(X, y, [x], unseen=rule, criterion=criterion, method="exact")
    assert_allclose(result.values[0], profile.sum(axis=1), atol=1e-12)
    assert_allclose(result.residual[0], residual, atol=1e-12)
    assert_allclose(result.support[0], support, atol=1e-12)
    assert result.additivity_error() < 1e-12


@settings(max_examples=60, deadline=None)
@given(questions(), st.sampled_from(RULES), st.sampled_from(CRITERIA))
def test_the_profile_equals_all_orders(question, rule, criterion):
    X, y, x = question
    profile, residual, support = unseen_by_orders(X, y, x, rule=rule, criterion=criterion)
    result = infinite_mdi(X, y, [x], unseen=rule, criterion=criterion, profile=True)
    assert_allclose(result.profile[0], profile, atol=1e-12)
    assert_allclose(result.values[0], profile.sum(axis=1), atol=1e-12)
    assert_allclose(result.residual[0], residual, atol=1e-12)
    assert_allclose(result.support[0], support, atol=1e-12)


@pytest.mark.parametrize("measure", ["drop", "gain"])
def test_a_profile_has_every_row_of_x_also_those_that_weigh_nothing(measure):
    # The first row does not belong to the sample, and its value occurs in no other row.
    X, y, weight = [[0], [1], [1]], [0, 1, 0], [0, 1, 1]
    options = {"sample_weight": weight, "measure": measure}
    result = infinite_mdi(X, y, profile=True, **options)
    plain = infinite_mdi(X, y, **options)
    assert_array_equal(result.profile.sum(axis=2), plain.values)
    assert_array_equal(result.support, plain.support)
    assert_array_equal(result.mean_profile().sum(axis=1), plain.mean().values)


@pytest.mark.parametrize("rule", RULES)
def test_sampled_paths_follow_the_same_rule(rule):
    X, y, _ = draw_sample(11, n_rows=20, n_features=5)
    x = np.array([[9, 1, 0, 2, 0]])
    exact = infinite_mdi(X, y, x, unseen=rule)
    sampled = infinite_mdi(X, y, x, unseen=rule, method="sampled", n_paths=20000, random_state=1)
    assert_allclose(sampled.support, exact.support, atol=0.02)
    assert (np.abs(exact.values - sampled.values) <= 5 * sampled.standard_error + 1e-12).all()
    assert exact.standard_error is None


def test_seen_and_unseen_rows_together():
    X, y, _ = draw_sample(2, n_rows=30, n_features=4)
    at = np.vstack([X[:2], [[7, 7, 7, 7]]])
    result = infinite_mdi(X, y, at)
    assert result.method == "exact (row dual) + exact (row sets)"
    assert result.support.tolist() == [1.0, 1.0, 0.0]
    assert_array_equal(result.values[2], np.zeros(4))
    assert_allclose(result.values[:2], infinite_mdi(X, y).values[:2], atol=1e-12)
