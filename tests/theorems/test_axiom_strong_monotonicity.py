"""Strong monotonicity holds for totally randomized trees and fails for K > 1 (Example 1)."""

from itertools import combinations

import numpy as np
import pytest

from localmdi.theory import (
    global_game,
    is_strongly_monotonic,
    local_game,
    population_local_mdi,
    population_mdi,
)
from theorems.laws import CRITERIA, draw_law, example_1


def pool(n_laws, arities, seed):
    rng = np.random.default_rng(seed)
    return [draw_law(rng, arities, 2) for _ in range(n_laws)]


def premise_holds(first, second, m):
    gains = first.marginal_contributions(m) - second.marginal_contributions(m)
    return bool(np.all(gains >= 0))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("arities", [(2, 3), (2, 2, 2)])
def test_global_totally_randomized(criterion, arities):
    cases = [
        (global_game(law, criterion), population_mdi(law, criterion=criterion))
        for law in pool(30, arities, seed=1)
    ]
    compared = 0
    for first, second in combinations(cases, 2):
        compared += any(premise_holds(first[0], second[0], m) for m in range(len(arities)))
        assert is_strongly_monotonic(first, second, tolerance=1e-12)
    assert compared > 50


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("arities", [(2, 3), (2, 2, 2)])
def test_local_totally_randomized(criterion, arities):
    cases = []
    for law in pool(30, arities, seed=2):
        x = next(x for x, _ in law.instances())
        value = population_local_mdi(law, x, criterion=criterion)
        cases.append((local_game(law, x, criterion), value))
    compared = 0
    for first, second in combinations(cases, 2):
        compared += any(premise_holds(first[0], second[0], m) for m in range(len(arities)))
        assert is_strongly_monotonic(first, second, tolerance=1e-12)
    assert compared > 50


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_example_1_fails_for_both_features_with_k_2(draw):
    games = [global_game(example_1(output)) for output in (1, 2)]
    values = [population_mdi(example_1(output), 2, draw=draw) for output in (1, 2)]
    verdict = is_strongly_monotonic((games[0], values[0]), (games[1], values[1]))
    assert verdict.witness["player"] == 0
    assert verdict.witness["greater_in"] == "first"
    assert premise_holds(games[0], games[1], 0)
    assert values[0][0] < values[1][0]
    assert premise_holds(games[1], games[0], 1)
    assert values[1][1] < values[0][1]


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
@pytest.mark.parametrize("k", [2, 3])
def test_search_finds_global_failures(draw, k):
    arities = (2, 2) if k == 2 else (2, 2, 2)
    laws = pool(40, arities, seed=3)
    cases = [(global_game(law), population_mdi(law, k, draw=draw)) for law in laws]
    verdicts = [is_strongly_monotonic(*pair) for pair in combinations(cases, 2)]
    assert sum(not verdict for verdict in verdicts) >= 3
    worst = max(np.ptp(verdict.witness["values"]) for verdict in verdicts if not verdict)
    assert worst > 1e-3


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_search_finds_local_failures(draw):
    cases = []
    for law in pool(40, (2, 2), seed=4):
        x = next(x for x, _ in law.instances())
        cases.append((local_game(law, x), population_local_mdi(law, x, 2, draw=draw)))
    verdicts = [is_strongly_monotonic(*pair) for pair in combinations(cases, 2)]
    assert sum(not verdict for verdict in verdicts) >= 3
    worst = max(np.ptp(verdict.witness["values"]) for verdict in verdicts if not verdict)
    assert worst > 1e-3


@pytest.mark.parametrize("x", [(0, 0), (1, 0)])
def test_example_1_fails_locally_too(x):
    laws = [example_1(output) for output in (1, 2)]
    games = [local_game(law, x) for law in laws]
    values = [population_local_mdi(law, x, 2) for law in laws]
    verdict = is_strongly_monotonic((games[0], values[0]), (games[1], values[1]))
    assert verdict.witness["player"] == 0
    assert premise_holds(games[0], games[1], 0)
    assert values[0][0] < values[1][0] - 0.02
