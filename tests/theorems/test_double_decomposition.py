"""Eq. 13: I(V;Y) = Σ_m Σ_x P(V = x) Imp∞(X_m, x), over features and instances at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import (
    impurity_decrease,
    mean_impurity,
    mutual_information,
    population_local_mdi,
)
from theorems.laws import CRITERIA, laws


@settings(max_examples=100, deadline=None)
@given(laws(max_features=4))
def test_information_over_features_and_instances(law):
    total = sum(chance * population_local_mdi(law, x).sum() for x, chance in law.instances())
    assert total == pytest.approx(mutual_information(law, range(law.n_features)), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws(), st.sampled_from(CRITERIA))
def test_every_impurity(law, criterion):
    """App. F, with V where the paper prints S (misprint M5): i(Y) − E_V[i(Y|V)]."""
    total = sum(
        chance * population_local_mdi(law, x, criterion=criterion).sum()
        for x, chance in law.instances()
    )
    everything = range(law.n_features)
    decrease = impurity_decrease(law, everything, criterion=criterion)
    assert total == pytest.approx(decrease, abs=1e-12)
    before = mean_impurity(law, criterion=criterion)
    after = mean_impurity(law, everything, criterion=criterion)
    assert total == pytest.approx(before - after, abs=1e-12)
