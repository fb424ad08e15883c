"""Section 4.4: a globally relevant feature has a non-zero importance at some x.

The paper states it for entropy; the condition is a strictly concave impurity.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import Distribution, is_relevant, population_local_mdi, population_mdi
from theorems.laws import laws


@settings(max_examples=100, deadline=None)
@given(laws(whole=True), st.sampled_from(["entropy", "gini"]))
def test_strictly_concave_impurities(law, criterion):
    largest = np.max(
        [np.abs(population_local_mdi(law, x, criterion=criterion)) for x, _ in law.instances()],
        axis=0,
    )
    for m in range(law.n_features):
        if is_relevant(law, m):
            assert largest[m] > 1e-9


def test_the_error_rate_is_not_strictly_concave():
    """1 − max P is linear where the majority stays: even the global importance vanishes."""
    law = Distribution.from_conditional([[0.9, 0.1], [0.6, 0.4]])
    assert is_relevant(law, 0)

    def error_rate(law_of_y):
        return 1 - law_of_y.max(axis=-1)

    assert population_mdi(law, criterion=error_rate)[0] == pytest.approx(0.0, abs=1e-12)


def test_nor_is_the_variance():
    """An output whose law changes but whose mean and variance do not: zero at every x."""
    law = Distribution.from_counts([[1, 0, 1, 0], [0, 1, 0, 1]], y_values=[-1, -1, 1, 1])
    assert is_relevant(law, 0)
    for x, _ in law.instances():
        importance = population_local_mdi(law, x, criterion="variance")
        assert importance[0] == pytest.approx(0.0, abs=1e-12)
