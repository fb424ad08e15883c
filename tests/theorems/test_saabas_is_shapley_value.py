"""Section 5: Saabas on infinite totally randomized trees is the Shapley value of P(Y=c|x_S)."""

import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose

from localmdi.theory import prediction_game, shapley_value
from theorems.brute_force import mass_of, rows_of, where
from theorems.laws import laws_with_instance


def saabas(law, x, c):
    """Expected change of P(Y = c) along the path of x, by split feature, over all random trees."""
    total = np.zeros(law.n_features)

    def chance_of(node):
        return mass_of([row for row in node if row[1] == c]) / mass_of(node)

    def follow(node, free, probability):
        for m in free:
            child = where(node, m, x[m])
            part = probability / len(free)
            total[m] += part * (chance_of(child) - chance_of(node))
            follow(child, free - {m}, part)

    follow(rows_of(law), frozenset(range(law.n_features)), 1.0)
    return total


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(max_features=4))
def test_for_every_class(case):
    law, x = case
    for c in range(law.n_classes):
        value = shapley_value(prediction_game(law, x, y=c))
        assert_allclose(saabas(law, x, c), value, atol=1e-12, rtol=0)
