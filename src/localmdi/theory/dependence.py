"""Does knowing X_m change the law of Y? Compared exactly on counts, up to a tolerance on floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.theory.distribution import Distribution
    from localmdi.typing import AnyArray, BoolArray

__all__ = ["TOLERANCE", "coalitions", "differ", "masses"]

TOLERANCE = 1e-10
"""Largest difference of two conditional probabilities that count as equal, for float tables."""


def masses(law: Distribution) -> AnyArray:
    """Return the law's whole numbers if it has them, otherwise its probabilities.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> masses(Distribution.from_counts([[3, 1], [0, 4]])).tolist()
    [[3, 1], [0, 4]]
    """
    return law.table if law.counts is None else law.counts


def differ(before: AnyArray, after: AnyArray, *, tolerance: float) -> BoolArray:
    """Return where P(y | b, x_m) ≠ P(y | b), by cross products: n(b,m,y)·n(b) and n(b,y)·n(b,m).

    Parameters
    ----------
    before, after : ndarray of shape (…, |Y|)
        Masses of (b, y) and of (b, x_m, y).
    tolerance : float
        Largest difference of equal probabilities; unused for integers.

    Examples
    --------
    >>> differ(np.array([2, 4]), np.array([1, 2]), tolerance=0.0).tolist()
    [False, False]
    """
    n_before, n_after = (part.sum(axis=-1, keepdims=True) for part in (before, after))
    gap = after * n_before - before * n_after
    if gap.dtype.kind in "iO":
        return np.asarray(gap != 0, dtype=bool)
    return np.asarray(np.abs(gap) > tolerance * n_before * n_after)


def coalitions(chosen: BoolArray, *, without: int) -> tuple[tuple[int, ...], ...]:
    """Return the chosen subsets of the features other than `without`, smallest first.

    Parameters
    ----------
    chosen : ndarray of bool of shape (2^(p−1),)
        Bit i of the index is the i-th feature other than `without`.
    without : int

    Examples
    --------
    >>> coalitions(np.array([True, False, False, True]), without=0)
    ((), (1, 2))
    """
    members = []
    for index in np.flatnonzero(chosen).tolist():
        bits = [bit for bit in range(index.bit_length()) if index >> bit & 1]
        members.append(tuple(bit + (bit >= without) for bit in bits))
    return tuple(sorted(members, key=lambda known: (len(known), known)))
