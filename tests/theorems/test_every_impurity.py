"""App. F: games and importances with Gini and variance in the place of entropy."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from localmdi.theory import (
    Distribution,
    global_game,
    impurity_at,
    impurity_decrease,
    is_monotonic,
    local_game,
    population_mdi,
)
from theorems.brute_force import forest_mdi, sklearn_draw, theory_draw
from theorems.laws import CRITERIA, draw_law, laws, laws_with_instance


@settings(max_examples=60, deadline=None)
@given(laws())
def test_variance_games_are_the_formulas_of_the_appendix(law):
    """v(S) = Var(Y) − E_S{Var(Y|S)}, by moments."""
    output = law.marginal("y")
    # Centred, so that the moments do not cancel.
    values = law.y_values - output @ law.y_values
    variance = output @ values**2 - (output @ values) ** 2
    game = global_game(law, "variance")
    for index in range(2**law.n_features):
        known = [j for j in range(law.n_features) if index >> j & 1]
        joint = law.marginal((*known, "y")).reshape(-1, law.n_classes)
        weight = joint.sum(axis=1)
        seen = weight > 0
        second = (joint @ values**2)[seen]
        first = (joint @ values)[seen]
        explained = variance - np.sum(second - first**2 / weight[seen])
        assert game(known) == pytest.approx(explained, abs=1e-12)
        assert impurity_decrease(law, known, criterion="variance") == pytest.approx(
            explained, abs=1e-12
        )


@settings(max_examples=60, deadline=None)
@given(laws_with_instance())
def test_local_games_are_differences_of_impurities(case):
    law, x = case
    for criterion in CRITERIA:
        game = local_game(law, x, criterion)
        before = impurity_at(law, {}, criterion=criterion)
        for index in range(2**law.n_features):
            known = {j: x[j] for j in range(law.n_features) if index >> j & 1}
            after = impurity_at(law, known, criterion=criterion)
            assert game(known) == pytest.approx(before - after, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws(max_features=4))
def test_every_global_game_is_monotonic(law):
    for criterion in CRITERIA:
        assert is_monotonic(global_game(law, criterion), tolerance=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("name", "draw"), [("theory", theory_draw), ("sklearn", sklearn_draw)])
def test_the_best_of_k_uses_the_same_impurity(criterion, name, draw):
    law = draw_law(np.random.default_rng(5), (2, 3, 2), 3)
    for k in (1, 2, 3):
        expected = forest_mdi(law, k, draw=draw, criterion=criterion)
        ours = population_mdi(law, k, draw=name, criterion=criterion)
        assert_allclose(ours, expected, atol=1e-12, rtol=0)


@settings(max_examples=40, deadline=None)
@given(laws())
def test_gini_of_binary_labels_is_twice_the_variance(law):
    labels = np.zeros((law.n_classes, 2))
    labels[np.arange(law.n_classes), np.arange(law.n_classes) % 2] = 1
    binary = Distribution(law.table @ labels, y_values=[0, 1])
    for k in range(1, law.n_features + 1):
        gini = population_mdi(binary, k, criterion="gini")
        variance = population_mdi(binary, k, criterion="variance")
        assert_allclose(gini, 2 * variance, atol=1e-12)
