"""Arguments, sizes and numbers of the exact importances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from localmdi.datasets import make_led
from localmdi.theory import (
    Distribution,
    population_local_mdi,
    population_local_profile,
    population_mdi,
    population_profile,
)
from localmdi.theory.population import selection_probabilities


@pytest.fixture(scope="module")
def led():
    return Distribution.from_samples(*make_led())


def test_led_with_k_1(led):
    expected = [0.412693, 0.581541, 0.531156, 0.542129, 0.656582, 0.225816, 0.372011]
    assert population_mdi(led) == pytest.approx(expected, abs=5e-7)
    assert population_mdi(led).sum() == pytest.approx(np.log2(10), abs=1e-12)


def test_masking_favours_x2_and_x5(led):
    """Misprint M3: the paper counts these from 0."""
    change = population_mdi(led, 7) - population_mdi(led)
    assert set(np.flatnonzero(change > 0.1)) == {1, 4}


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_profiles_sum_to_importances(led, draw):
    x = make_led()[0][3]
    for k in (1, 2, 7):
        total = population_profile(led, k, draw=draw).sum(axis=1)
        assert_allclose(total, population_mdi(led, k, draw=draw), atol=1e-12)
        total = population_local_profile(led, x, max_features=k, draw=draw).sum(axis=1)
        assert_allclose(total, population_local_mdi(led, x, k, draw=draw), atol=1e-12)


def test_column_k_of_the_profile_is_what_depth_k_tells(led):
    """With K = p the root is always split on one of the features of greatest decrease."""
    profile = population_profile(led, 7)
    root = [
        np.log2(10) - sum(n / 10 * np.log2(n) for n in np.bincount(column) if n)
        for column in make_led()[0].T
    ]
    assert profile[:, 0].sum() == pytest.approx(max(root), abs=1e-12)


@pytest.mark.parametrize("k", [0, 8, -1])
def test_k_out_of_range(led, k):
    with pytest.raises(ValueError, match=f"from 1 to the number of features, 7, but {k}"):
        population_mdi(led, k)
    with pytest.raises(ValueError, match="max_features must be"):
        population_local_mdi(led, [0] * 7, k)


def test_unknown_draw(led):
    with pytest.raises(ValueError, match='draw must be "theory" or "sklearn"'):
        population_mdi(led, 2, draw="breiman")


def test_sizes_are_enforced():
    law = Distribution.from_counts(np.ones((2,) * 15 + (2,), dtype=int))
    with pytest.raises(ValueError, match=r"all nodes .* 3\^15 \* 15 = 215,233,605"):
        population_mdi(law, 2)
    wide = Distribution.from_counts(np.ones((2,) * 16 + (2,), dtype=int))
    with pytest.raises(ValueError, match=r"all contexts B = b would be a table of 2 \* 3\^16"):
        population_mdi(wide)
    assert population_local_mdi(wide, [0] * 16) == pytest.approx(np.zeros(16), abs=1e-12)


def test_scale_of_the_output_does_not_decide_ties():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, (2, 2, 2, 3))
    small, large = (
        Distribution.from_counts(counts, y_values=scale * np.array([0.0, 1.0, 3.0]))
        for scale in (1e-6, 1e6)
    )
    ratio = population_mdi(large, 2, criterion="variance") / population_mdi(
        small, 2, criterion="variance"
    )
    assert_allclose(ratio, 1e24, rtol=1e-9)


def test_selection_probabilities_sum_to_one():
    rng = np.random.default_rng(4)
    varying = rng.random((200, 6)) < 0.6
    free = varying | (rng.random((200, 6)) < 0.3)
    decrease = np.where(varying, rng.integers(0, 3, (200, 6)) / 4, 0.0)
    for k in range(1, 7):
        for draw, possible in (("theory", free), ("sklearn", varying)):
            chance = selection_probabilities(decrease, k, free=free, varying=varying, draw=draw)
            assert_allclose(chance.sum(axis=1), possible.any(axis=1), atol=1e-12)
            assert (chance >= 0).all()
            assert not chance[~possible].any()


def test_measures(led):
    x = make_led()[0][6]
    with pytest.raises(ValueError, match='measure must be "drop" or "gain"'):
        population_local_mdi(led, x, measure="share")
    with pytest.raises(ValueError, match="a function was given"):
        population_local_mdi(led, x, criterion=lambda law: 1 - law.max(axis=-1), measure="gain")
    gain = population_local_profile(led, x, measure="gain")
    assert_allclose(gain.sum(axis=1), population_local_mdi(led, x, measure="gain"), atol=1e-15)
    assert (gain >= 0).all()
