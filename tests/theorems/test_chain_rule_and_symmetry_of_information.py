"""App. G: identities of entropy and (conditional) mutual information, for sets of variables."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import entropy, mutual_information
from theorems.laws import laws


@st.composite
def laws_with_sets(draw):
    """A law and four disjoint sets W, X, Y, Z of its variables, the output among them."""
    law = draw(laws(min_features=3, max_features=4))
    variables = [*range(law.n_features), "y"]
    owner = [draw(st.integers(0, 3)) for _ in variables]
    return law, [[v for v, o in zip(variables, owner, strict=True) if o == s] for s in range(4)]


@settings(max_examples=150, deadline=None)
@given(laws_with_sets())
def test_chain_rule(case):
    """I(X,Z;Y|W) = I(X;Y|W) + I(Z;Y|W,X)."""
    law, (w, x, y, z) = case
    joint = mutual_information(law, x + z, w, about=y)
    first = mutual_information(law, x, w, about=y)
    assert joint == pytest.approx(first + mutual_information(law, z, w + x, about=y), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(laws_with_sets())
def test_symmetry(case):
    """I(X;Y|Z) = I(Y;X|Z)."""
    law, (_, x, y, z) = case
    forward = mutual_information(law, x, z, about=y)
    assert forward == pytest.approx(mutual_information(law, y, z, about=x), abs=1e-12)
    assert forward >= -1e-12


@settings(max_examples=100, deadline=None)
@given(laws_with_sets())
def test_definitions_by_sums(case):
    """H(X|Y) = −Σ P(x,y) log P(x|y), I(X;Y) = Σ P(x,y) log P(x,y)/(P(x)P(y)), cell by cell."""
    law, (_, x, y, _) = case
    conditional = information = 0.0
    axes_x, axes_y = law.axes(x), law.axes(y)
    cells = {}
    for at, mass in np.ndenumerate(law.table):
        key = (tuple(at[a] for a in axes_x), tuple(at[a] for a in axes_y))
        cells[key] = cells.get(key, 0.0) + float(mass)
    for (kx, ky), mass in cells.items():
        if mass > 0:
            p_x = sum(m for (a, _), m in cells.items() if a == kx)
            p_y = sum(m for (_, b), m in cells.items() if b == ky)
            conditional -= mass * log2(mass / p_y)
            information += mass * log2(mass / (p_x * p_y))
    assert entropy(law, x, y) == pytest.approx(conditional, abs=1e-12)
    assert mutual_information(law, x, about=y) == pytest.approx(information, abs=1e-12)
    assert information == pytest.approx(entropy(law, x) - entropy(law, x, y), abs=1e-12)
    assert information == pytest.approx(entropy(law, y) - entropy(law, y, x), abs=1e-12)
