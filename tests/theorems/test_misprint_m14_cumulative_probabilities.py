"""Misprint M14: "P(X = x) to P(X ≤ x)" does not extend the proof of Theorem 3, in no direction."""

from itertools import product

import numpy as np
import pytest

from localmdi.theory import Distribution, is_locally_relevant, is_relevant, relevant_contexts


def tells_the_middle(share):
    """X = 1 likes the middle of three values of B, and P(Y = 1 | B) = (0, 1/2, 1).

    `share` is the part of P(B | X) that is taken from the other value of X.
    """
    outer, middle = np.array([0.5, 0, 0.5]), np.array([0, 1, 0])
    given_x = [(1 - share) * outer + share * middle, (1 - share) * middle + share * outer]
    chance = np.array([0, 0.5, 1])
    output = np.stack([1 - chance, chance], axis=1)
    return Distribution(0.5 * np.array(given_x)[..., np.newaxis] * output)


def hidden_below_the_top():
    """X and Y are independent coins, but not given B = 1; B = 0 fixes both."""
    return Distribution.from_counts([[[0, 0], [1, 1]], [[0, 1], [1, 0]]])


def cumulative(law, thresholds):
    """P(Y | X_j ≤ t_j for all j in thresholds), from the table; None where nothing lies below."""
    table = law.table
    for axis, threshold in thresholds.items():
        table = table.take(range(threshold + 1), axis=axis)
    total = table.sum(axis=tuple(range(law.n_features)))
    return total / total.sum() if total.sum() > 0 else None


def changes(law, m):
    """The points (x_m, b) at which the printed extension of Definition 2 finds m relevant."""
    (other,) = {0, 1} - {m}
    found = []
    for point in product(*map(range, law.arities)):
        for known in ({}, {other: point[other]}):
            after = cumulative(law, {**known, m: point[m]})
            if after is not None and not np.allclose(after, cumulative(law, known), atol=1e-12):
                found.append((point, tuple(known)))
    return found


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_an_irrelevant_feature_changes_cumulative_probabilities(share):
    law = tells_the_middle(share)
    assert not is_relevant(law, 0)
    assert not any(is_locally_relevant(law, 0, x) for x, _ in law.instances())
    assert changes(law, 0) == [((0, 1), (1,))]


def test_by_how_much():
    law = tells_the_middle(0.0)
    assert cumulative(law, {1: 1}) == pytest.approx([2 / 3, 1 / 3])
    assert cumulative(law, {0: 0, 1: 1}) == pytest.approx([1, 0])


def test_also_where_every_x_has_a_positive_probability():
    law = tells_the_middle(0.1)
    assert dict(law.instances())[0, 1] == pytest.approx(0.05)
    assert cumulative(law, {0: 0, 1: 1}) == pytest.approx([10 / 11, 1 / 11])
    assert cumulative(law, {1: 1}) == pytest.approx([2 / 3, 1 / 3])


def test_a_relevant_feature_need_not_change_them():
    law = hidden_below_the_top()
    assert relevant_contexts(law, 0) == ((1,),)
    assert changes(law, 0) == []


def test_the_same_with_continuous_features():
    """Noise below one spreads each value over an interval, and leaves both sides as they are."""
    law, rng = tells_the_middle(0.1), np.random.default_rng(0)
    n = 40_000
    x, b, y = np.unravel_index(rng.choice(law.table.size, n, p=law.table.ravel()), law.table.shape)
    x, b = x + rng.random(n), b + rng.random(n)
    known = b <= 2
    error = 4 * 0.5 / np.sqrt((known & (x <= 1)).sum())
    assert y[known].mean() == pytest.approx(1 / 3, abs=error)
    assert y[known & (x <= 1)].mean() == pytest.approx(1 / 11, abs=error)
