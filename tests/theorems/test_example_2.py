"""Example 2 of the paper: a local importance can be negative."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localmdi.theory import Distribution, entropy, impurity_at, population_local_mdi
from theorems.laws import example_2


def test_printed_numbers():
    law = example_2()
    assert law.marginal("y").tolist() == [0.75, 0.25]
    assert round(entropy(law, "y"), 2) == 0.81
    assert impurity_at(law, {0: 0}) == 1.0
    assert impurity_at(law, {0: 1}) == 0.0
    importance = population_local_mdi(law, [0])[0]
    assert round(importance, 2) == -0.19
    assert importance == pytest.approx(-0.188722, abs=5e-7)


@given(st.floats(0.51, 0.99))
def test_any_such_problem(chance):
    """P(Y=0) > P(Y=1) and P(Y=0|X_1=0) = P(Y=1|X_1=0) suffice."""
    law = Distribution.from_conditional([[0.5, 0.5], [chance, 1 - chance]])
    importance = population_local_mdi(law, [0])[0]
    assert importance == pytest.approx(entropy(law, "y") - 1.0, abs=1e-12)
    assert importance < 0
