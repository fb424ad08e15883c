"""Relevance of features to the output, irrelevant, weak and strong (Kohavi and John, Section 2).

On laws that come from counts the comparisons are between whole numbers and exact. On tables of
floats two conditional probabilities are equal when they differ by at most `tolerance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.theory.contexts import all_contexts, by_coalition, flatten
from localmdi.theory.dependence import TOLERANCE, coalitions, differ, masses

if TYPE_CHECKING:
    from localmdi.theory.distribution import Distribution

__all__ = [
    "is_relevant",
    "is_strongly_relevant",
    "is_weakly_relevant",
    "relevant_contexts",
]


def relevant_contexts(
    law: Distribution, m: int, *, tolerance: float = TOLERANCE
) -> tuple[tuple[int, ...], ...]:
    """Return every B ⊆ V^−m in which X_m and Y are dependent given B, smallest first.

    Parameters
    ----------
    law : Distribution
        Feasible while ∏(|X_j| + 1)·|Y| ≤ 2^25.
    m : int
        The feature.
    tolerance : float
        Largest difference of equal probabilities; unused (exact) on laws from counts.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> relevant_contexts(xor, 0)
    ((1,),)
    """
    (m,) = law.axes(m)
    contexts = all_contexts(masses(law))
    before = contexts.take(-1, axis=m)
    changed = np.zeros(before.shape[:-1], dtype=bool)
    for code in range(law.arities[m]):
        changed |= differ(before, contexts.take(code, axis=m), tolerance=tolerance).any(axis=-1)
    dependent = flatten(by_coalition(changed, reduce=np.logical_or))
    return coalitions(dependent, without=m)


def is_relevant(law: Distribution, m: int, *, tolerance: float = TOLERANCE) -> bool:
    """Return whether X_m depends on Y given some B ⊆ V^−m.

    Parameters
    ----------
    law, m, tolerance
        As for `relevant_contexts`, which also gives the sets B.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> is_relevant(xor, 0)
    True
    """
    return bool(relevant_contexts(law, m, tolerance=tolerance))


def is_strongly_relevant(law: Distribution, m: int, *, tolerance: float = TOLERANCE) -> bool:
    """Return whether X_m depends on Y given all other features.

    Parameters
    ----------
    law, m, tolerance
        As for `relevant_contexts`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> copies = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    >>> is_relevant(copies, 0), is_strongly_relevant(copies, 0)
    (True, False)
    """
    (m,) = law.axes(m)
    table = np.moveaxis(masses(law), m, 0)
    return bool(differ(table.sum(axis=0), table, tolerance=tolerance).any())


def is_weakly_relevant(law: Distribution, m: int, *, tolerance: float = TOLERANCE) -> bool:
    """Return whether X_m is relevant, but not strongly.

    Parameters
    ----------
    law, m, tolerance
        As for `relevant_contexts`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> copies = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    >>> is_weakly_relevant(copies, 0)
    True
    """
    strongly = is_strongly_relevant(law, m, tolerance=tolerance)
    return not strongly and is_relevant(law, m, tolerance=tolerance)
