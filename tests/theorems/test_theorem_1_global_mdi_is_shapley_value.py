"""Theorem 1 (Eq. 8): Imp∞(X_m) is the Shapley value of v(S) = I(Y;S)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import (
    degree_profile,
    global_game,
    mutual_information,
    population_mdi,
    population_profile,
    shapley_value,
)
from localmdi.theory.population import every_node, grow
from theorems.brute_force import conditional_impurity, forest_mdi, shapley_by_orders
from theorems.laws import CRITERIA, laws


@settings(max_examples=150, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA))
def test_equation_5_is_the_shapley_value_of_the_global_game(law, criterion):
    game = global_game(law, criterion)
    importance = population_mdi(law, criterion=criterion)
    assert_allclose(importance, shapley_value(game), atol=1e-12, rtol=0)


@settings(max_examples=40, deadline=None)
@given(laws(), st.sampled_from(CRITERIA))
def test_it_is_what_totally_randomized_trees_collect(law, criterion):
    trees = forest_mdi(law, criterion=criterion)
    assert_allclose(population_mdi(law, criterion=criterion), trees, atol=1e-12, rtol=0)


@settings(max_examples=40, deadline=None)
@given(laws(), st.sampled_from(CRITERIA))
def test_it_is_the_mean_marginal_contribution_over_all_orders(law, criterion):
    impurity = {"criterion": criterion, "y_values": law.y_values}
    value = {(): 0.0}

    def worth(known):
        key = tuple(sorted(known))
        if key not in value:
            before = conditional_impurity(law, (), **impurity)
            value[key] = before - conditional_impurity(law, key, **impurity)
        return value[key]

    expected = shapley_by_orders(worth, law.n_features)
    assert_allclose(population_mdi(law, criterion=criterion), expected, atol=1e-12, rtol=0)


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4), st.sampled_from(["theory", "sklearn"]))
def test_the_recursion_for_any_k_gives_equation_5_at_k_1(law, draw):
    nodes = every_node(law, "entropy")
    forest = grow(nodes, 1, draw=draw)
    importance = (forest.visits * nodes.weight) @ (forest.chosen * nodes.decrease)
    assert_allclose(importance, population_mdi(law), atol=1e-12, rtol=0)


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA))
def test_the_two_sides_agree_degree_by_degree(law, criterion):
    profile = population_profile(law, criterion=criterion)
    assert_allclose(profile, degree_profile(global_game(law, criterion)), atol=1e-12, rtol=0)


@settings(max_examples=60, deadline=None)
@given(laws(max_features=4))
def test_marginal_contributions_are_conditional_mutual_informations(law):
    """Eq. 7: MC_m(S) = I(Y;X_m|S)."""
    game = global_game(law)
    for m in range(law.n_features):
        others = [j for j in range(law.n_features) if j != m]
        for index, gain in enumerate(game.marginal_contributions(m)):
            known = [j for bit, j in enumerate(others) if index >> bit & 1]
            assert gain == pytest.approx(mutual_information(law, m, known), abs=1e-12)
