"""Sections 3.2 and 4.3: for K > 1 importances are no function of the game; equal v, other Imp^K."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from localmdi.theory import (
    Distribution,
    global_game,
    local_game,
    population_local_mdi,
    population_mdi,
)
from theorems.brute_force import forest_mdi


def telling_law(first_half, second_half):
    """Three fair bits; Y tells X_1, and at random X_2, X_3, their exclusive or, or nothing more.

    The chances of the three are given for X_1 = 0 and X_1 = 1. As X_2, X_3 and X_2 xor X_3 are
    pairwise independent, I(Y;S) depends only on the mean of the two halves.
    """
    table = np.zeros((2, 2, 2, 2, 7))
    for x1, (a, b, c) in enumerate([first_half, second_half]):
        for x2 in range(2):
            for x3 in range(2):
                told = table[x1, x2, x3, x1]
                told[[x2, 2 + x3, 4 + (x2 ^ x3), 6]] = a, b, c, 1 - a - b - c
    return Distribution(table.reshape(2, 2, 2, 14) / 8)


@pytest.fixture
def twins():
    return (
        telling_law((0.3, 0.1, 0.4), (0.3, 0.1, 0.0)),
        telling_law((0.0, 0.2, 0.4), (0.6, 0.0, 0.0)),
    )


def test_two_laws_have_the_same_information_in_every_coalition(twins):
    first, second = (global_game(law).table for law in twins)
    assert_allclose(first, second, atol=1e-12, rtol=0)
    assert_allclose(first, [0, 1, 0.3, 1.3, 0.1, 1.1, 0.6, 1.6], atol=1e-12)


def test_so_totally_randomized_trees_cannot_tell_them_apart(twins):
    first, second = (population_mdi(law) for law in twins)
    assert_allclose(first, second, atol=1e-12, rtol=0)


def test_but_the_best_of_three_features_can(twins):
    """X_1 splits the root; below, the second feature tested also gets the exclusive or's share."""
    first, second = (population_mdi(law, 3) for law in twins)
    assert_allclose(first, [1.0, 0.3, 0.3], atol=1e-12)
    assert_allclose(second, [1.0, 0.5, 0.1], atol=1e-12)
    assert_allclose(forest_mdi(twins[1], 3), second, atol=1e-12)


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_and_the_best_of_two(twins, draw):
    first, second = (population_mdi(law, 2, draw=draw) for law in twins)
    assert np.abs(first - second).max() > 0.01


@pytest.fixture
def local_twins():
    """Laws that differ at (1, 1) only, where Y is 1 or 0; H(Y) is the same for both."""
    return tuple(
        Distribution.from_counts([[[0, 1], [1, 0]], [[1, 1], corner]])
        for corner in ([0, 1], [1, 0])
    )


def test_local_games_are_equal_at_x(local_twins):
    first, second = (local_game(law, (0, 0)).table for law in local_twins)
    assert_allclose(first, second, atol=1e-12, rtol=0)


def test_local_importances_are_not(local_twins):
    """Which feature splits the root depends on the other branches as well."""
    first, second = (population_local_mdi(law, (0, 0), 2) for law in local_twins)
    assert np.abs(first - second).max() > 0.4
    assert_allclose(first, forest_mdi(local_twins[0], 2, x=(0, 0)), atol=1e-12)
    assert_allclose(second, forest_mdi(local_twins[1], 2, x=(0, 0)), atol=1e-12)
    totally_random = [population_local_mdi(law, (0, 0)) for law in local_twins]
    assert_allclose(*totally_random, atol=1e-12, rtol=0)
