"""Random joint laws for the theorems: any arities, zeros in the table, numeric outputs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from localmdi.theory import Distribution

CRITERIA = ("entropy", "gini", "variance")


def draw_law(rng, arities, n_classes, *, whole=False):
    """A law with a random share of empty cells; `whole` makes it from small counts."""
    shape = (*arities, n_classes)
    table = rng.integers(1, 6, size=shape) if whole else rng.exponential(size=shape)
    table = table * (rng.random(shape) >= rng.choice([0.0, 0.3, 0.7]))
    table[tuple(rng.integers(0, shape))] += 1
    y_values = rng.normal(scale=3.0, size=n_classes)
    if whole:
        return Distribution.from_counts(table, y_values=y_values)
    return Distribution(table / table.sum(), y_values=y_values)


@st.composite
def laws(draw, max_features=3, min_features=1, whole=None):
    """Hypothesis strategy: p features of 1 to 3 values, an output of 1 to 3 values."""
    arities = draw(st.lists(st.integers(1, 3), min_size=min_features, max_size=max_features))
    n_classes = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = draw(st.booleans()) if whole is None else whole
    return draw_law(rng, arities, n_classes, whole=counts)


@st.composite
def laws_with_instance(draw, max_features=3, min_features=1):
    """A law and one x with P(V = x) > 0."""
    law = draw(laws(max_features=max_features, min_features=min_features))
    instances = [x for x, _ in law.instances()]
    return law, draw(st.sampled_from(instances))


@st.composite
def laws_with_irrelevant(draw, max_features=3):
    """A law whose last feature is independent of everything else."""
    law = draw(laws(max_features=max_features - 1))
    coin = np.array(draw(st.sampled_from([[1.0], [0.5, 0.5], [0.2, 0.3, 0.5]])))
    table = law.table[..., np.newaxis, :] * coin[:, np.newaxis]
    return Distribution(table, y_values=law.y_values)


@st.composite
def laws_with_locally_irrelevant(draw, max_features=3):
    """A law whose first feature is locally irrelevant wherever its value is 0, and only there.

    The slice X_1 = 0 is proportional to the law of the others, so that knowing X_1 = 0 changes
    nothing, whatever else is known; the other slices are arbitrary.
    """
    law = draw(laws(max_features=max_features))
    share = draw(st.sampled_from([0.1, 0.25, 0.5]))
    others = law.table.sum(axis=0, keepdims=True)
    table = np.concatenate([share * others, (1 - share) * law.table])
    return Distribution(table, y_values=law.y_values)


@st.composite
def laws_with_symmetric(draw, max_features=3):
    """A law that does not change when its first two features are exchanged."""
    law = draw(laws(min_features=2, max_features=max_features))
    arity = max(law.arities[:2])
    pad = [(0, arity - n) for n in law.arities[:2]] + [(0, 0)] * (law.table.ndim - 2)
    table = np.pad(law.table, pad)
    return Distribution((table + table.swapaxes(0, 1)) / 2, y_values=law.y_values)


def example_1(output):
    """The two problems of Example 1: inputs equiprobable, P(Y = 1 | x) for x = 00, 01, 10, 11."""
    chance = np.array({1: [0.1, 0.5, 0.9, 0.4], 2: [0.1, 0.8, 0.7, 0.3]}[output]).reshape(2, 2)
    return Distribution.from_conditional(np.stack([1 - chance, chance], axis=-1))


def example_2():
    """The problem of Example 2, where a local importance is negative."""
    return Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])


def misprint_m4():
    """H(Y) = H(Y | X = 0), but P(Y | X = 0) ≠ P(Y)."""
    return Distribution.from_conditional([[0.7, 0.3], [0.1, 0.9]], [1 / 3, 2 / 3])


def function_law(values, arities):
    """Equiprobable inputs and an output that is a function of them, listed in C order."""
    n_classes = max(values) + 1
    counts = np.eye(n_classes, dtype=int)[np.reshape(values, arities)]
    return Distribution.from_counts(counts)
