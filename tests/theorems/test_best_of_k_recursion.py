"""The exact recursion for K > 1 against trees grown split by split, in both meanings of K."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.datasets import make_led
from localmdi.theory import Distribution, population_local_mdi, population_mdi
from theorems.brute_force import forest_mdi, sklearn_draw, theory_draw
from theorems.laws import draw_law, function_law, laws_with_instance

DRAWS = {"theory": theory_draw, "sklearn": sklearn_draw}


@pytest.mark.parametrize("name", DRAWS)
@settings(max_examples=40, deadline=None)
@given(case=laws_with_instance())
def test_random_laws(name, case):
    law, x = case
    for k in range(2, law.n_features + 1):
        everywhere = forest_mdi(law, k, draw=DRAWS[name])
        assert_allclose(population_mdi(law, k, draw=name), everywhere, atol=1e-12, rtol=0)
        here = forest_mdi(law, k, draw=DRAWS[name], x=x)
        ours = population_local_mdi(law, x, k, draw=name)
        assert_allclose(ours, here, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", DRAWS)
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_functions_of_bits_are_full_of_ties(name, values):
    law = function_law(values, (2, 2, 2))
    for k in (2, 3):
        expected = forest_mdi(law, k, draw=DRAWS[name])
        assert_allclose(population_mdi(law, k, draw=name), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", DRAWS)
def test_four_features_with_empty_cells(name):
    table = draw_law(np.random.default_rng(11), (2, 2, 2, 2), 2).table.copy()
    table.reshape(16, 2)[::3] = 0
    law = Distribution(table / table.sum())
    for k in (2, 3):
        expected = forest_mdi(law, k, draw=DRAWS[name])
        assert_allclose(population_mdi(law, k, draw=name), expected, atol=1e-12, rtol=0)


def test_the_two_meanings_agree_for_k_1_and_k_p_only():
    """Misprint M13, on led."""
    law = Distribution.from_samples(*make_led())
    gap = [
        np.abs(population_mdi(law, k) - population_mdi(law, k, draw="sklearn")).max()
        for k in range(1, 8)
    ]
    assert gap[0] < 1e-12
    assert min(gap[1:6]) > 5e-3
    assert gap[6] < 1e-12
