"""The gain of an edge is the divergence between child and parent; its mean is the decrease."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import (
    Distribution,
    divergence,
    impurity,
    population_local_mdi,
    population_local_profile,
    population_mdi,
    population_profile,
)
from theorems.brute_force import forest_mdi, sklearn_draw, theory_draw
from theorems.laws import CRITERIA, draw_law, laws, laws_with_instance

DRAWS = {"theory": theory_draw, "sklearn": sklearn_draw}


def node_and_children(law, m):
    """Every context with its children by the values of m: masses (…, |Y|) and (|X_m|, …, |Y|)."""
    known = np.moveaxis(law.table, m, 0)
    for axis in range(1, law.n_features):
        unknown = known.sum(axis=axis, keepdims=True)
        known = np.concatenate([known, unknown], axis=axis)
    return known.sum(axis=0), known


@settings(max_examples=80, deadline=None)
@given(laws(), st.sampled_from(CRITERIA))
def test_on_every_node_drop_minus_gain_has_mean_zero(law, criterion):
    for m in range(law.n_features):
        parent, children = node_and_children(law, m)
        options = {"criterion": criterion, "y_values": law.y_values}
        drop = impurity(parent, **options) - impurity(children, **options)
        gain = divergence(children, np.broadcast_to(parent, children.shape), **options)
        weight = children.sum(axis=-1)
        assert (gain >= 0).all()
        assert_allclose((weight * (drop - gain)).sum(axis=0), 0.0, atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA), st.sampled_from([*DRAWS]))
def test_the_mean_over_the_law_is_the_global_importance(law, criterion, draw):
    for k in range(1, law.n_features + 1):
        options = {"draw": draw, "criterion": criterion}
        profile = sum(
            chance * population_local_profile(law, x, max_features=k, measure="gain", **options)
            for x, chance in law.instances()
        )
        assert_allclose(profile, population_profile(law, k, **options), atol=1e-12, rtol=0)
        expected = population_mdi(law, k, **options)
        assert_allclose(profile.sum(axis=1), expected, atol=1e-12, rtol=0)


@settings(max_examples=80, deadline=None)
@given(laws_with_instance(max_features=4), st.sampled_from(CRITERIA), st.sampled_from([*DRAWS]))
def test_it_is_never_negative(case, criterion, draw):
    law, x = case
    for k in range(1, law.n_features + 1):
        options = {"draw": draw, "criterion": criterion, "measure": "gain"}
        assert (population_local_mdi(law, x, k, **options) >= 0).all()


@pytest.mark.parametrize("draw", DRAWS)
@settings(max_examples=30, deadline=None)
@given(case=laws_with_instance(), criterion=st.sampled_from(CRITERIA))
def test_equals_trees_grown_split_by_split(draw, case, criterion):
    law, x = case
    codes = law.encode(x)
    for k in range(1, law.n_features + 1):
        expected = forest_mdi(
            law, k, draw=DRAWS[draw], criterion=criterion, x=codes, measure="gain"
        )
        ours = population_local_mdi(law, x, k, draw=draw, criterion=criterion, measure="gain")
        assert_allclose(ours, expected, atol=1e-12, rtol=0)


@settings(max_examples=60, deadline=None)
@given(laws())
def test_gini_of_binary_labels_is_twice_the_variance(law):
    labels = np.zeros((law.n_classes, 2))
    labels[np.arange(law.n_classes), np.arange(law.n_classes) % 2] = 1
    binary = Distribution(law.table @ labels, y_values=[0, 1])
    for x, _ in list(binary.instances())[:4]:
        gini, variance = (
            population_local_mdi(binary, x, criterion=criterion, measure="gain")
            for criterion in ("gini", "variance")
        )
        assert_allclose(gini, 2 * variance, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "variance"])
@pytest.mark.parametrize("seed", range(20))
def test_a_binary_split_tells_the_gain_from_weights_and_impurities(criterion, seed):
    """D(left ‖ node) = n_right / n_left · decrease, because n_left d_left + n_right d_right = 0."""
    law = draw_law(np.random.default_rng(seed), (2,), 3)
    values = {"y_values": law.y_values}
    weight = law.marginal(0)
    if (weight == 0).any():
        return
    node = impurity(law.marginal("y"), criterion, **values)
    decrease = node - weight @ impurity(law.table, criterion, **values)
    for child in (0, 1):
        gain = divergence(law.table[child], law.marginal("y"), criterion=criterion, **values)
        expected = weight[1 - child] / weight[child] * decrease
        assert gain == pytest.approx(expected, abs=1e-12)
