"""Not in the paper: for K > 1 importances jump at ties, as an arbitrarily small change decides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from localmdi.theory import Distribution, population_mdi
from theorems.brute_force import forest_mdi


def almost_copies(epsilon):
    """X_1 and X_2 both read Y with errors, X_1 with ε fewer of them."""
    law = np.zeros((2, 2, 2))
    for y in range(2):
        for x1 in range(2):
            for x2 in range(2):
                first = 0.8 + epsilon if x1 == y else 0.2 - epsilon
                second = 0.8 if x2 == y else 0.2
                law[x1, x2, y] = 0.5 * first * second
    return Distribution(law)


def test_a_tie_is_shared_and_a_small_change_takes_it_all():
    tied = population_mdi(almost_copies(0.0), 2)
    assert tied[0] == pytest.approx(tied[1], abs=1e-12)
    better, worse = (population_mdi(almost_copies(e), 2) for e in (1e-6, -1e-6))
    assert better[0] - better[1] > 0.05
    assert worse[1] - worse[0] > 0.05
    assert_allclose(tied, (better + worse) / 2, atol=1e-5)


def test_totally_randomized_trees_are_continuous():
    assert_allclose(
        population_mdi(almost_copies(1e-6)), population_mdi(almost_copies(0.0)), atol=1e-5
    )


def test_ties_are_shared_as_trees_share_them():
    """Equal up to rounding: three independent readings of Y with the same error rate."""
    reading = np.array([[0.7, 0.3], [0.3, 0.7]])
    law = Distribution(np.einsum("iy,jy,ky->ijky", reading, reading, reading) / 2)
    for k in (1, 2, 3):
        importance = population_mdi(law, k)
        assert_allclose(importance, np.full(3, importance.mean()), atol=1e-12)
        assert_allclose(importance, forest_mdi(law, k), atol=1e-12)
