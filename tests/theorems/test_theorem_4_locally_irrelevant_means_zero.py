"""Theorem 4: locally irrelevant at x ⇒ Imp∞(X_m, x) = 0, for K = 1 and for every other K."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import is_locally_relevant, population_local_mdi
from theorems.laws import CRITERIA, laws_with_locally_irrelevant, misprint_m4


@settings(max_examples=80, deadline=None)
@given(laws_with_locally_irrelevant(), st.sampled_from(CRITERIA))
def test_a_locally_irrelevant_feature_gets_nothing(law, criterion):
    for x, _ in law.instances():
        if x[0] == 0:
            assert not is_locally_relevant(law, 0, x)
            importance = population_local_mdi(law, x, criterion=criterion)
            assert importance[0] == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(laws_with_locally_irrelevant(), st.sampled_from(["theory", "sklearn"]))
def test_nor_does_it_for_any_k(law, draw):
    x = next(x for x, _ in law.instances() if x[0] == 0)
    for k in range(1, law.n_features + 1):
        importance = population_local_mdi(law, x, k, draw=draw)
        assert importance[0] == pytest.approx(0.0, abs=1e-12)


def test_the_converse_fails():
    """A locally relevant feature whose importance is zero."""
    law = misprint_m4()
    assert is_locally_relevant(law, 0, [0])
    assert population_local_mdi(law, [0])[0] == pytest.approx(0.0, abs=1e-12)
    assert population_local_mdi(law, [1])[0] > 0.1
