"""Null player: who never contributes gets nothing, globally and locally, for every K."""

from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import (
    global_game,
    is_null_player,
    is_relevant,
    local_game,
    population_local_mdi,
    population_mdi,
    respects_null_players,
)
from theorems.laws import CRITERIA, laws, laws_with_irrelevant, laws_with_locally_irrelevant

DRAWS = st.sampled_from(["theory", "sklearn"])


@settings(max_examples=60, deadline=None)
@given(laws_with_irrelevant(), st.sampled_from(CRITERIA))
def test_global_totally_randomized(law, criterion):
    game = global_game(law, criterion)
    value = population_mdi(law, criterion=criterion)
    assert is_null_player(game, law.n_features - 1, tolerance=1e-12)
    assert respects_null_players(game, value, tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws_with_locally_irrelevant(), st.sampled_from(CRITERIA))
def test_local_totally_randomized(law, criterion):
    x = next(x for x, _ in law.instances() if x[0] == 0)
    game = local_game(law, x, criterion)
    value = population_local_mdi(law, x, criterion=criterion)
    assert is_null_player(game, 0, tolerance=1e-12)
    assert respects_null_players(game, value, tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws_with_irrelevant(), DRAWS)
def test_global_every_k(law, draw):
    game = global_game(law)
    for k in range(1, law.n_features + 1):
        assert respects_null_players(game, population_mdi(law, k, draw=draw), tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws_with_locally_irrelevant(), DRAWS)
def test_local_every_k(law, draw):
    x = next(x for x, _ in law.instances() if x[0] == 0)
    game = local_game(law, x)
    for k in range(1, law.n_features + 1):
        value = population_local_mdi(law, x, k, draw=draw)
        assert respects_null_players(game, value, tolerance=1e-12)


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4, whole=True))
def test_null_players_of_the_global_game_are_the_irrelevant_features(law):
    """Section 3.1: I(Y;X_m|S) = 0 for all S is the definition of irrelevance."""
    game = global_game(law)
    for m in range(law.n_features):
        assert bool(is_null_player(game, m)) != is_relevant(law, m)
