"""Four other exact ways to the local MDI of the infinite forest on a sample give Theorem 2.

They see rows and what separates them from x, not the table of the law.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from localmdi.theory import Distribution, local_game, population_local_mdi, population_mdi


def samples(max_rows):
    """A categorical sample (X, y) with repeated rows and contradictions."""
    sizes = st.tuples(st.integers(1, max_rows), st.integers(1, 4), st.integers(0, 2**32 - 1))

    def build(size):
        n_rows, p, seed = size
        rng = np.random.default_rng(seed)
        return rng.integers(0, 3, (n_rows, p)), rng.integers(0, 3, n_rows)

    return sizes.map(build)


def entropy_of(labels):
    share = np.bincount(labels) / len(labels)
    return float(-sum(p * np.log2(p) for p in share if p > 0))


def folded(game):
    """Dense: φ_m = Σ_{T∋m} u(|T|) v(T) − Σ_S w(|S|) v(S), with u(t) = w(t−1) + w(t)."""
    p = game.n_players
    sizes = np.bitwise_count(np.arange(2**p))
    w = np.array([1 / (_choose(p, s) * (p - s)) for s in range(p)] + [0.0])
    u = np.concatenate([[0.0], w[:-1]]) + w
    weighted = u[sizes] * game.table
    constant = np.sum(w[sizes] * game.table)
    members = np.arange(2**p)[:, np.newaxis] >> np.arange(p) & 1
    return weighted @ members - constant


def _choose(n, k):
    return sum(1 for _ in combinations(range(n), k))


def forward(X, y, x):
    """Forward pass over distinct row sets, larger ones first; only separating features count."""
    p = X.shape[1]
    value = np.zeros(p)
    chance = {frozenset(range(len(y))): 1.0}
    while chance:
        rows = max(chance, key=len)
        here = chance.pop(rows)
        index = sorted(rows)
        separating = [j for j in range(p) if np.any(X[index, j] != x[j])]
        for j in separating:
            below = [i for i in index if X[i, j] == x[j]]
            part = here / len(separating)
            value[j] += part * (entropy_of(y[index]) - entropy_of(y[below]))
            chance[frozenset(below)] = chance.get(frozenset(below), 0.0) + part
    return value


def row_dual(X, y, x):
    """Möbius transform over sets of rows that differ from x: any number of features."""
    same = [i for i in range(len(y)) if np.array_equal(X[i], x)]
    other = [i for i in range(len(y)) if i not in same]
    value = np.zeros(X.shape[1])
    for size in range(1, len(other) + 1):
        for chosen in combinations(other, size):
            dividend = sum(
                (-1) ** (size - k) * entropy_of(y[[*same, *inner]])
                for k in range(size + 1)
                for inner in combinations(chosen, k)
            )
            differs = np.any(X[list(chosen)] != x, axis=0)
            value[differs] += dividend / differs.sum()
    return value


def shared_partition(X, y):
    """All rows at once: one pass per set of features, grouping rows by their values on it."""
    n_rows, p = X.shape
    node = {}
    for size in range(p + 1):
        for known in combinations(range(p), size):
            group = np.unique(X[:, known], axis=0, return_inverse=True)[1].ravel()
            groups = {g: entropy_of(y[group == g]) for g in set(group.tolist())}
            node[known] = np.array([groups[g] for g in group.tolist()])
    value = np.zeros((n_rows, p))
    for known, before in node.items():
        for m in set(range(p)) - set(known):
            weight = 1 / (_choose(p, len(known)) * (p - len(known)))
            value[:, m] += weight * (before - node[tuple(sorted((*known, m)))])
    return value


@settings(max_examples=40, deadline=None)
@given(samples(max_rows=12))
def test_dense_fold_and_forward_pass(sample):
    X, y = sample
    law = Distribution.from_samples(X, y)
    for x in X[:3]:
        expected = population_local_mdi(law, x)
        assert_allclose(folded(local_game(law, x)), expected, atol=1e-12, rtol=0)
        assert_allclose(forward(X, y, x), expected, atol=1e-12, rtol=0)


@settings(max_examples=30, deadline=None)
@given(samples(max_rows=6))
def test_row_dual(sample):
    X, y = sample
    expected = population_local_mdi(Distribution.from_samples(X, y), X[0])
    assert_allclose(row_dual(X, y, X[0]), expected, atol=1e-12, rtol=0)


@settings(max_examples=30, deadline=None)
@given(samples(max_rows=12))
def test_shared_partition_and_its_mean(sample):
    X, y = sample
    law = Distribution.from_samples(X, y)
    value = shared_partition(X, y)
    for x, row in zip(X, value, strict=True):
        assert_allclose(row, population_local_mdi(law, x), atol=1e-12, rtol=0)
    assert value.mean(axis=0) == pytest.approx(population_mdi(law), abs=1e-12)
