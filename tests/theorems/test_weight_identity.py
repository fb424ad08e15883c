"""Proof of Theorem 1: k!(p−k−1)!/p! = 1/(C(p,k)(p−k)), a probability over the sets B of V^−m."""

from fractions import Fraction
from math import comb, factorial

import pytest


@pytest.mark.parametrize("p", range(1, 13))
def test_shapley_weights_are_those_of_equation_5(p):
    shapley = [Fraction(factorial(k) * factorial(p - k - 1), factorial(p)) for k in range(p)]
    trees = [Fraction(1, comb(p, k) * (p - k)) for k in range(p)]
    assert shapley == trees
    assert sum(comb(p - 1, k) * trees[k] for k in range(p)) == 1
