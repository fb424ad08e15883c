"""Eq. 12: the global importance is the mean of the local ones over the law, for every K."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import (
    global_game,
    local_game,
    population_local_mdi,
    population_local_profile,
    population_mdi,
    population_profile,
)
from theorems.laws import CRITERIA, laws


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA))
def test_totally_randomized_trees(law, criterion):
    mean = sum(
        chance * population_local_mdi(law, x, criterion=criterion) for x, chance in law.instances()
    )
    assert_allclose(mean, population_mdi(law, criterion=criterion), atol=1e-12, rtol=0)


@settings(max_examples=50, deadline=None)
@given(laws(), st.sampled_from(CRITERIA), st.sampled_from(["theory", "sklearn"]))
def test_every_k_and_every_degree(law, criterion, draw):
    options = {"draw": draw, "criterion": criterion}
    for k in range(1, law.n_features + 1):
        mean = sum(
            chance * population_local_profile(law, x, max_features=k, **options)
            for x, chance in law.instances()
        )
        assert_allclose(mean, population_profile(law, k, **options), atol=1e-12, rtol=0)


@settings(max_examples=60, deadline=None)
@given(laws(max_features=4), st.sampled_from(CRITERIA))
def test_the_games_themselves_decompose(law, criterion):
    mean = np.zeros(2**law.n_features)
    for x, chance in law.instances():
        mean += chance * local_game(law, x, criterion).table
    assert_allclose(mean, global_game(law, criterion).table, atol=1e-12, rtol=0)
