"""Theorem 2 (Eq. 11) and Section 4.3: Imp∞(X_m, x) is the Shapley value of v_loc(S; x)."""

from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import (
    degree_profile,
    local_game,
    population_local_mdi,
    population_local_profile,
    shapley_value,
)
from theorems.brute_force import forest_mdi, impurity_at, shapley_by_orders
from theorems.laws import CRITERIA, laws_with_instance


@settings(max_examples=150, deadline=None)
@given(laws_with_instance(max_features=4), st.sampled_from(CRITERIA))
def test_equation_11_is_the_shapley_value_of_the_local_game(case, criterion):
    law, x = case
    importance = population_local_mdi(law, x, criterion=criterion)
    expected = shapley_value(local_game(law, x, criterion))
    assert_allclose(importance, expected, atol=1e-12, rtol=0)


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(), st.sampled_from(CRITERIA))
def test_it_is_what_totally_randomized_trees_collect_on_the_path_of_x(case, criterion):
    law, x = case
    trees = forest_mdi(law, criterion=criterion, x=x)
    assert_allclose(population_local_mdi(law, x, criterion=criterion), trees, atol=1e-12, rtol=0)


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(), st.sampled_from(CRITERIA))
def test_it_is_the_mean_decrease_over_all_orders(case, criterion):
    law, x = case
    impurity = {"criterion": criterion, "y_values": law.y_values}

    def worth(known):
        return impurity_at(law, x, (), **impurity) - impurity_at(law, x, known, **impurity)

    expected = shapley_by_orders(worth, law.n_features)
    importance = population_local_mdi(law, x, criterion=criterion)
    assert_allclose(importance, expected, atol=1e-12, rtol=0)


@settings(max_examples=100, deadline=None)
@given(laws_with_instance(max_features=4), st.sampled_from(CRITERIA))
def test_the_recursion_for_any_k_gives_equation_11_at_k_1(case, criterion):
    law, x = case
    recursion = population_local_mdi(law, x, draw="sklearn", criterion=criterion)
    assert_allclose(
        recursion, population_local_mdi(law, x, criterion=criterion), atol=1e-12, rtol=0
    )


@settings(max_examples=100, deadline=None)
@given(laws_with_instance(max_features=4), st.sampled_from(CRITERIA))
def test_the_two_sides_agree_degree_by_degree(case, criterion):
    law, x = case
    profile = population_local_profile(law, x, criterion=criterion)
    assert_allclose(profile, degree_profile(local_game(law, x, criterion)), atol=1e-12, rtol=0)
