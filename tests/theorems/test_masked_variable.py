"""Section 3.2: for K > 1 a relevant variable can have Imp^K = 0, masked by a better one."""

import numpy as np
import pytest

from localmdi.theory import (
    Distribution,
    is_relevant,
    is_weakly_relevant,
    population_local_mdi,
    population_mdi,
)


@pytest.fixture
def law():
    """Y = X_1, and X_2 is X_1 read with one error in ten."""
    counts = np.zeros((2, 2, 2), dtype=int)
    counts[0, 0, 0] = counts[1, 1, 1] = 9
    counts[0, 1, 0] = counts[1, 0, 1] = 1
    return Distribution.from_counts(counts)


@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_the_noisy_copy_is_masked(law, draw):
    assert is_relevant(law, 1)
    assert is_weakly_relevant(law, 1)
    assert population_mdi(law, 2, draw=draw) == pytest.approx([1.0, 0.0], abs=1e-12)
    for x, _ in law.instances():
        assert population_local_mdi(law, x, 2, draw=draw)[1] == pytest.approx(0.0, abs=1e-12)


def test_totally_randomized_trees_see_it(law):
    assert population_mdi(law)[1] > 0.2
