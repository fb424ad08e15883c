"""Misprint M4: the impurity version of local irrelevance does NOT match Definition 2."""

import pytest
from hypothesis import given, settings

from localmdi.theory import entropy, impurity_at, is_locally_relevant, local_witnesses
from theorems.laws import CRITERIA, laws_with_instance, misprint_m4


def test_the_entropy_stays_although_the_probabilities_change():
    law = misprint_m4()
    assert impurity_at(law, {0: 0}) == pytest.approx(entropy(law, "y"), abs=1e-12)
    assert law.conditional("y", {0: 0}) == pytest.approx([0.7, 0.3])
    assert law.marginal("y") == pytest.approx([0.3, 0.7])


def test_so_the_two_definitions_differ():
    law = misprint_m4()
    assert is_locally_relevant(law, 0, [0])
    assert not is_locally_relevant(law, 0, [0], criterion="entropy")
    (witness,) = local_witnesses(law, 0, x=[0])
    assert witness.context == {}
    assert witness.before == pytest.approx((0.3, 0.7))
    assert witness.after == pytest.approx((0.7, 0.3))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_for_gini_too(criterion):
    assert not is_locally_relevant(misprint_m4(), 0, [0], criterion=criterion)


@settings(max_examples=100, deadline=None)
@given(laws_with_instance())
def test_one_direction_is_true(case):
    """Equal probabilities have equal impurities: Definition 2 is the stronger irrelevance."""
    law, x = case
    for m in range(law.n_features):
        if not is_locally_relevant(law, m, x, tolerance=1e-13):
            for criterion in CRITERIA:
                assert not is_locally_relevant(law, m, x, criterion=criterion)
