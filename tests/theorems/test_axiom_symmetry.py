"""Symmetry holds for totally randomized trees and fails for K > 1, globally and locally."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import (
    are_symmetric,
    global_game,
    is_symmetric,
    local_game,
    population_local_mdi,
    population_mdi,
)
from theorems.brute_force import forest_mdi
from theorems.laws import CRITERIA, function_law, laws_with_symmetric


@settings(max_examples=60, deadline=None)
@given(laws_with_symmetric(max_features=4), st.sampled_from(CRITERIA))
def test_global_totally_randomized(law, criterion):
    game = global_game(law, criterion)
    value = population_mdi(law, criterion=criterion)
    assert are_symmetric(game, (0, 1), tolerance=1e-12)
    assert value[0] == pytest.approx(value[1], abs=1e-12)
    assert is_symmetric(game, value, tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws_with_symmetric(max_features=4), st.sampled_from(CRITERIA))
def test_local_totally_randomized(law, criterion):
    for x, _ in law.instances():
        if x[0] == x[1]:
            game = local_game(law, x, criterion)
            value = population_local_mdi(law, x, criterion=criterion)
            assert are_symmetric(game, (0, 1), tolerance=1e-12)
            assert value[0] == pytest.approx(value[1], abs=1e-12)


def test_local_symmetry_without_symmetry_of_the_law():
    """Features that are symmetric at x only: found among functions of two bits."""
    seen = 0
    for values in product(range(3), repeat=4):
        law = function_law([*values], (2, 2))
        for x, _ in law.instances():
            game = local_game(law, x)
            seen += bool(are_symmetric(game, (0, 1))) and not are_symmetric(
                global_game(law), (0, 1)
            )
            assert is_symmetric(game, population_local_mdi(law, x))
    assert seen > 10


def search_global(k, *, draw):
    """First of many functions on 3·2·2 equiprobable inputs on which Imp^K breaks symmetry."""
    rng = np.random.default_rng(0)
    for _ in range(3000):
        law = function_law(rng.integers(0, 5, size=12).tolist(), (3, 2, 2))
        value = population_mdi(law, k, draw=draw)
        verdict = is_symmetric(global_game(law), value)
        if not verdict:
            return law, verdict
    return None


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_search_finds_a_global_failure(k, draw):
    law, verdict = search_global(k, draw=draw)
    i, j = verdict.witness["players"]
    assert are_symmetric(global_game(law), (i, j), tolerance=1e-12)
    value = population_mdi(law, k, draw=draw)
    assert abs(value[i] - value[j]) > 1e-3
    assert is_symmetric(global_game(law), population_mdi(law))


def test_the_global_failure_is_one_of_trees():
    """The failing law of the search, its importances grown split by split."""
    law, verdict = search_global(2, draw="theory")
    i, j = verdict.witness["players"]
    trees = forest_mdi(law, 2)
    assert (trees[i], trees[j]) == pytest.approx(verdict.witness["values"], abs=1e-12)


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_search_finds_local_failures(draw):
    failures = []
    for values in product(range(3), repeat=4):
        law = function_law([*values], (2, 2))
        for x, _ in law.instances():
            value = population_local_mdi(law, x, 2, draw=draw)
            verdict = is_symmetric(local_game(law, x), value)
            if not verdict:
                failures.append((law, x, verdict))
    assert failures
    law, x, verdict = failures[0]
    first, second = verdict.witness["values"]
    assert abs(first - second) > 1e-3
    assert forest_mdi(law, 2, x=x) == pytest.approx([first, second], abs=1e-12)
