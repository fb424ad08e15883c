"""Interactions as path sums: what totally randomized trees collect on the path of x.

At a node with r features that still separate x from other rows, the pair's synergy enters with
  Shapley interaction index:  ∏_above r/(r−1) · 1/(r−1),
  Shapley–Taylor:             2/r,
  Faith-Shap:                 6 (1/r − ∏_above r/(r+1) · 1/(r+1)),
the products being over the nodes above it on the path.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import interaction_index, local_game
from theorems.brute_force import children_of, impurity_of, rows_of, where
from theorems.laws import laws_with_instance

WEIGHTS = {
    "SII": lambda r, shrunk, grown: shrunk / (r - 1),
    "STII": lambda r, shrunk, grown: 2 / r,
    "FSII": lambda r, shrunk, grown: 6 * (1 / r - grown / (r + 1)),
}


def path_sum(law, x, index):
    p = law.n_features
    total = np.zeros((p, p))

    def follow(node, chance, shrunk, grown):
        varying = [j for j in range(p) if len(children_of(node, j)) > 1]
        r = len(varying)
        below = {j: where(node, j, x[j]) for j in varying}
        for i in varying:
            for j in varying:
                if i != j:
                    both = impurity_of(where(below[i], j, x[j]))
                    synergy = impurity_of(below[i]) + impurity_of(below[j])
                    synergy -= impurity_of(node) + both
                    total[i, j] += chance * WEIGHTS[index](r, shrunk, grown) * synergy
        for j in varying:
            follow(below[j], chance / r, shrunk * r / max(r - 1, 1), grown * r / (r + 1))

    follow(rows_of(law), 1.0, 1.0, 1.0)
    np.fill_diagonal(total, np.nan)
    return total


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(min_features=2, max_features=4), st.sampled_from(sorted(WEIGHTS)))
def test_path_sums_are_the_interaction_indices_of_the_local_game(case, index):
    law, x = case
    expected = interaction_index(local_game(law, x), index)
    assert_allclose(path_sum(law, x, index), expected, atol=1e-12, rtol=0)
