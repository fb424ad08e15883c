"""Shapley value, Möbius transform and interaction indices of arbitrary games."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import Game, degree_profile, interaction_index, moebius, shapley_value


@st.composite
def games(draw, max_players=5):
    p = draw(st.integers(2, max_players))
    table = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=2**p)
    table[0] = 0
    return Game(table)


def members(index, p):
    return [j for j in range(p) if index >> j & 1]


@settings(max_examples=40, deadline=None)
@given(games())
def test_moebius_transform_is_inverted_by_sums_over_subsets(game):
    dividend = moebius(game)
    for target in range(2**game.n_players):
        inside = [s for s in range(2**game.n_players) if s & target == s]
        assert dividend[inside].sum() == pytest.approx(game.table[target], abs=1e-10)


@settings(max_examples=40, deadline=None)
@given(games())
def test_indices_by_dividends(game):
    """Each index shares a dividend a(T) over the pairs in T in its own way."""
    p = game.n_players
    dividend = moebius(game)
    value = np.zeros(p)
    empty = np.where(np.eye(p, dtype=bool), np.nan, 0.0)
    expected = {name: empty.copy() for name in ("SII", "STII", "Banzhaf")}
    for index in range(1, 2**p):
        team = members(index, p)
        value[team] += dividend[index] / len(team)
        for i, j in combinations(team, 2):
            share = {
                "SII": 1 / (len(team) - 1),
                "STII": 2 / (len(team) * (len(team) - 1)),
                "Banzhaf": 0.5 ** (len(team) - 2),
            }
            for name, part in share.items():
                expected[name][i, j] += part * dividend[index]
                expected[name][j, i] += part * dividend[index]
    assert_allclose(shapley_value(game), value, atol=1e-10)
    assert_allclose(degree_profile(game).sum(axis=1), value, atol=1e-10)
    for name, matrix in expected.items():
        assert_allclose(interaction_index(game, name), matrix, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(games())
def test_faith_shap_is_the_best_quadratic_game(game):
    """Shapley-kernel least squares over singles and pairs, exact on the empty and the full set."""
    p = game.n_players
    terms = [*([i] for i in range(p)), *([i, j] for i, j in combinations(range(p), 2))]
    subsets = [set(members(s, p)) for s in range(2**p)]
    design = np.array([[set(term) <= subset for term in terms] for subset in subsets], dtype=float)
    size = np.array([len(subset) for subset in subsets])
    inner = (size > 0) & (size < p)
    weight = np.array(
        [1 / (_choose(p, s) * s * (p - s)) if 0 < s < p else 0 for s in size], dtype=float
    )
    normal = (design * weight[:, None]).T @ design
    system = np.block([[normal, design[-1:].T], [design[-1:], np.zeros((1, 1))]])
    right = np.append((design[inner] * weight[inner, None]).T @ game.table[inner], game.table[-1])
    fitted = np.linalg.lstsq(system, right, rcond=None)[0][: len(terms)]
    pairs = np.array([interaction_index(game, "FSII")[i, j] for i, j in combinations(range(p), 2)])
    if p > 2:
        assert_allclose(fitted[p:], pairs, atol=1e-9)
    else:
        assert pairs[0] == pytest.approx(moebius(game)[3], abs=1e-10)


def _choose(n, k):
    return sum(1 for _ in combinations(range(n), k))


@settings(max_examples=40, deadline=None)
@given(games())
def test_shapley_taylor_is_efficient(game):
    singles = sum(game([i]) for i in range(game.n_players))
    pairs = np.nansum(interaction_index(game, "STII")) / 2
    assert singles + pairs == pytest.approx(game.table[-1], abs=1e-10)


def test_shape_and_errors():
    assert np.isnan(interaction_index(Game([0, 1]))).all()
    matrix = interaction_index(Game([0, 1, 2, 5, 1, 3, 4, 9]))
    assert np.isnan(matrix.diagonal()).all()
    assert_allclose(matrix, matrix.T)
    with pytest.raises(ValueError, match="index must be one of"):
        interaction_index(Game([0, 1, 2, 5]), "XII")
