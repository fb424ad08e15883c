"""Misprint M16: "all probabilities are strictly positive" (App. G) leaves out led and copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import localmdi as lm
from localmdi.theory import (
    Distribution,
    entropy,
    is_relevant,
    is_strongly_relevant,
    mutual_information,
    population_mdi,
)


@st.composite
def positive_laws(draw):
    """All cells of P(V) and of P(Y | V) are positive; Y listens to some of the features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = draw(st.lists(st.integers(2, 3), min_size=1, max_size=3))
    listens = draw(st.lists(st.booleans(), min_size=len(arities), max_size=len(arities)))
    inputs = rng.integers(1, 20, size=arities)
    kept = [n if hears else 1 for n, hears in zip(arities, listens, strict=True)]
    # A table of counts whose conditional laws of Y do not depend on the other features.
    output = rng.integers(1, 20, size=(*kept, 3))
    output[..., 2] = 60 - output[..., :2].sum(axis=-1)
    return Distribution.from_counts(inputs[..., np.newaxis] * output)


def strongly_relevant(law):
    return tuple(m for m in range(law.n_features) if is_strongly_relevant(law, m))


@settings(max_examples=100, deadline=None)
@given(positive_laws())
def test_under_it_the_strongly_relevant_features_tell_everything(law):
    told = mutual_information(law, strongly_relevant(law))
    assert told == pytest.approx(mutual_information(law, range(law.n_features)), abs=1e-10)


def test_without_it_they_may_tell_nothing():
    copies = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    assert strongly_relevant(copies) == ()
    assert is_relevant(copies, 0)
    assert is_relevant(copies, 1)
    assert mutual_information(copies, (0, 1)) == pytest.approx(1.0)


def test_led_does_not_satisfy_it_and_its_numbers_hold():
    led = Distribution.from_samples(*lm.datasets.make_led())
    assert (led.table > 0).sum() == 10
    assert led.table.size == 1280
    assert population_mdi(led).sum() == pytest.approx(entropy(led, "y"), abs=1e-12)
