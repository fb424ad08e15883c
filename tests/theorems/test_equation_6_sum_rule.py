"""Eq. 6: the importances of all features sum to I(Y;V); for every impurity and every K."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import mutual_information, population_mdi
from theorems.brute_force import conditional_impurity
from theorems.laws import CRITERIA, laws


@settings(max_examples=150, deadline=None)
@given(laws(max_features=4))
def test_global_importances_sum_to_the_information_of_all_features(law):
    information = mutual_information(law, range(law.n_features))
    assert population_mdi(law).sum() == pytest.approx(information, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(laws(), st.sampled_from(CRITERIA), st.sampled_from(["theory", "sklearn"]))
def test_for_every_impurity_and_every_k(law, criterion, draw):
    impurity = {"criterion": criterion, "y_values": law.y_values}
    everything = range(law.n_features)
    decrease = conditional_impurity(law, (), **impurity) - conditional_impurity(
        law, everything, **impurity
    )
    for k in range(1, law.n_features + 1):
        total = population_mdi(law, k, draw=draw, criterion=criterion).sum()
        assert total == pytest.approx(decrease, abs=1e-12)
