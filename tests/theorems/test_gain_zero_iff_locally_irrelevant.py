"""The converse that Theorem 4 lacks: the gain at x is zero iff X_m is locally irrelevant at x.

For K = 1 every context of the other features is met with a positive probability, and a divergence
is zero between equal laws only.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import Distribution, is_locally_relevant, population_local_mdi
from theorems.laws import laws, laws_with_irrelevant, laws_with_locally_irrelevant, misprint_m4

# Laws from small counts change a probability by at least 1/N² if they change it at all, so that a
# gain is either far above this or rounding.
ZERO = 1e-12


@st.composite
def laws_of_counts(draw):
    """Counts with an irrelevant feature, one that is locally irrelevant at 0, or neither."""
    law = draw(laws(whole=True, max_features=2))
    kind = draw(st.sampled_from(["any", "irrelevant", "locally irrelevant"]))
    counts = law.counts
    if kind == "irrelevant":
        coin = np.array(draw(st.sampled_from([[1], [1, 1], [2, 1, 3]])))
        counts = counts[..., np.newaxis, :] * coin[:, np.newaxis]
    if kind == "locally irrelevant":
        share = draw(st.integers(1, 3))
        counts = np.concatenate([share * counts.sum(axis=0, keepdims=True), counts])
    return Distribution.from_counts(counts, y_values=law.y_values)


@settings(max_examples=150, deadline=None)
@given(laws_of_counts(), st.sampled_from(["entropy", "gini"]))
def test_zero_iff_locally_irrelevant(law, criterion):
    for x, _ in law.instances():
        gain = population_local_mdi(law, x, criterion=criterion, measure="gain")
        relevant = [is_locally_relevant(law, m, x) for m in range(law.n_features)]
        assert (gain > ZERO).tolist() == relevant


@settings(max_examples=60, deadline=None)
@given(laws_with_locally_irrelevant(), st.sampled_from(["theory", "sklearn"]))
def test_locally_irrelevant_means_zero_for_every_k_and_criterion(law, draw):
    x = next(x for x, _ in law.instances() if x[0] == 0)
    for k in range(1, law.n_features + 1):
        for criterion in ("entropy", "gini", "variance"):
            options = {"draw": draw, "criterion": criterion, "measure": "gain"}
            assert population_local_mdi(law, x, k, **options)[0] < ZERO


@settings(max_examples=40, deadline=None)
@given(laws_with_irrelevant())
def test_an_irrelevant_feature_has_none_anywhere(law):
    for x, _ in law.instances():
        assert population_local_mdi(law, x, measure="gain")[-1] < ZERO


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_where_the_drop_is_zero_and_the_gain_is_not(criterion):
    """Misprint M4: the law of Y is turned round by X = 0, so its impurity stays."""
    law = misprint_m4()
    assert is_locally_relevant(law, 0, [0])
    drop, gain = (
        population_local_mdi(law, [0], criterion=criterion, measure=measure)[0]
        for measure in ("drop", "gain")
    )
    assert drop == pytest.approx(0.0, abs=1e-12)
    expected = {"entropy": 0.4 * np.log2(7 / 3), "gini": 2 * 0.4**2}[criterion]
    assert gain == pytest.approx(expected, abs=1e-12)


def test_for_the_variance_only_the_mean_counts():
    """A feature may change the law of Y and leave its mean: locally relevant, without gain."""
    law = Distribution.from_counts([[1, 0, 1], [0, 2, 0]], y_values=[-1, 0, 1])
    assert is_locally_relevant(law, 0, [0])
    assert population_local_mdi(law, [0], criterion="variance", measure="gain")[0] == 0.0
    assert population_local_mdi(law, [0], criterion="gini", measure="gain")[0] > 0.1


def test_for_k_2_a_masked_feature_has_no_gain():
    """The converse needs K = 1: the best of two features hides a noisy copy."""
    law = Distribution.from_counts([[[9, 0], [1, 0]], [[0, 1], [0, 9]]])
    assert is_locally_relevant(law, 1, [0, 0])
    assert population_local_mdi(law, [0, 0], measure="gain")[1] > 0.1
    assert_allclose(population_local_mdi(law, [0, 0], 2, measure="gain"), [1.0, 0.0], atol=1e-12)


def test_a_row_has_no_fixed_sum():
    """What the gain gives up: efficiency holds for its mean over the law only."""
    law = misprint_m4()
    gain = [population_local_mdi(law, [x], measure="gain").sum() for x in (0, 1)]
    drop = [population_local_mdi(law, [x]).sum() for x in (0, 1)]
    assert np.abs(np.subtract(gain, drop)).min() > 0.1
    assert np.dot([1 / 3, 2 / 3], gain) == pytest.approx(np.dot([1 / 3, 2 / 3], drop), abs=1e-12)
