"""Footnote of Section 3.1: binary trees estimate other quantities than exhaustive splits do.

Binary trees with random cuts, K = 1, exactly: at a node draw a feature that still varies, then one
of its cuts, each with equal probability. A feature of two values has one cut, so that nothing
changes; one of three can be split twice on a branch.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import Distribution, mutual_information, population_mdi
from theorems.brute_force import impurity_of, mass_of, rows_of
from theorems.laws import draw_law


def binary_mdi(law):
    total = np.zeros(law.n_features)

    def grow(node, chance):
        cuts = {}
        for m in range(law.n_features):
            values = sorted({row[0][m] for row in node})
            if len(values) > 1:
                cuts[m] = values[1:]
        for m, thresholds in cuts.items():
            for threshold in thresholds:
                part = chance / (len(cuts) * len(thresholds))
                low = [row for row in node if row[0][m] < threshold]
                high = [row for row in node if row[0][m] >= threshold]
                decrease = mass_of(node) * impurity_of(node)
                for child in (low, high):
                    decrease -= mass_of(child) * impurity_of(child)
                    grow(child, part)
                total[m] += part * decrease

    grow(rows_of(law), 1.0)
    return total


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_binary_features_make_no_difference(p, seed):
    law = draw_law(np.random.default_rng(seed), (2,) * p, 3)
    assert_allclose(binary_mdi(law), population_mdi(law), atol=1e-12, rtol=0)


def test_features_of_more_values_do():
    """X_1 in {0, 1, 2} and its copy X_2 merged to two values: the cuts of X_1 get less credit."""
    counts = np.zeros((3, 2, 3), dtype=int)
    for value in range(3):
        counts[value, value // 2, value] = 1
    law = Distribution.from_counts(counts)
    exhaustive, binary = population_mdi(law), binary_mdi(law)
    assert np.abs(exhaustive - binary).max() > 0.05
    assert binary.sum() == pytest.approx(mutual_information(law, (0, 1)), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_sum_rule_holds_for_both(seed):
    law = draw_law(np.random.default_rng(seed), (3, 2), 3)
    information = mutual_information(law, (0, 1))
    assert binary_mdi(law).sum() == pytest.approx(information, abs=1e-12)
    assert population_mdi(law).sum() == pytest.approx(information, abs=1e-12)
