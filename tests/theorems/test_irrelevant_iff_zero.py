"""Section 2: X_m is irrelevant iff Imp∞(X_m) = 0."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.datasets import make_led
from localmdi.theory import Distribution, is_relevant, population_mdi
from theorems.laws import laws, laws_with_irrelevant


@settings(max_examples=200, deadline=None)
@given(laws(max_features=4, whole=True), st.sampled_from(["entropy", "gini"]))
def test_on_random_counts(law, criterion):
    """Counts are small, so a relevant feature is far from zero: both sides are decided exactly."""
    importance = population_mdi(law, criterion=criterion)
    for m in range(law.n_features):
        assert is_relevant(law, m) == (importance[m] > 1e-9)


@settings(max_examples=60, deadline=None)
@given(laws_with_irrelevant(max_features=4))
def test_on_planted_irrelevant_features(law):
    last = law.n_features - 1
    assert not is_relevant(law, last)
    assert population_mdi(law)[last] == pytest.approx(0.0, abs=1e-12)


def test_variance_sees_only_the_mean():
    """The variance is blind to a change of law that keeps the mean: no equivalence there."""
    law = Distribution.from_counts([[1, 0, 1], [0, 2, 0]], y_values=[-1, 0, 1])
    assert is_relevant(law, 0)
    assert population_mdi(law, criterion="variance")[0] == pytest.approx(0.0, abs=1e-12)
    assert population_mdi(law)[0] > 0.5


def test_led_with_irrelevant_features():
    law = Distribution.from_samples(*make_led(irrelevant=2))
    assert [is_relevant(law, m) for m in range(9)] == [True] * 7 + [False] * 2
    led = Distribution.from_samples(*make_led())
    assert population_mdi(law) == pytest.approx([*population_mdi(led), 0.0, 0.0], abs=1e-12)
