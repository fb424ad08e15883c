"""Efficiency: values sum to v(V). It holds globally and locally, for K = 1 and every other K."""

from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import (
    global_game,
    is_efficient,
    local_game,
    population_local_mdi,
    population_mdi,
)
from theorems.laws import CRITERIA, laws, laws_with_instance

DRAWS = st.sampled_from(["theory", "sklearn"])


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA))
def test_global_totally_randomized(law, criterion):
    game = global_game(law, criterion)
    assert is_efficient(game, population_mdi(law, criterion=criterion), tolerance=1e-12)


@settings(max_examples=100, deadline=None)
@given(laws_with_instance(max_features=4), st.sampled_from(CRITERIA))
def test_local_totally_randomized(case, criterion):
    law, x = case
    game = local_game(law, x, criterion)
    assert is_efficient(game, population_local_mdi(law, x, criterion=criterion), tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws(max_features=4), DRAWS)
def test_global_every_k(law, draw):
    game = global_game(law)
    for k in range(1, law.n_features + 1):
        assert is_efficient(game, population_mdi(law, k, draw=draw), tolerance=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(max_features=4), DRAWS)
def test_local_every_k(case, draw):
    law, x = case
    game = local_game(law, x)
    for k in range(1, law.n_features + 1):
        assert is_efficient(game, population_local_mdi(law, x, k, draw=draw), tolerance=1e-12)
