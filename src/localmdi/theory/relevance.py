"""Relevance of features to the output: global (Kohavi and John, Section 2), local (Definition 2).

On laws that come from counts the comparisons are between whole numbers and exact. On tables of
floats two conditional probabilities are equal when they differ by at most `tolerance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import all_contexts, by_coalition, contexts_of, flatten
from localmdi.theory.impurity import node_impurity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import AnyArray, BoolArray

TOLERANCE = 1e-10
"""Largest difference of two conditional probabilities that count as equal, for float tables."""


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


@dataclass(frozen=True)
class Witness:
    """A context in which knowing X_m = x_m changes the output.

    `context` maps the known features to their values. `before` and `after` are P(Y | B = x_B) and
    P(Y | B = x_B, X_m = x_m), or the two impurities when a criterion was given.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_counts([[3, 1], [0, 4]])
    >>> local_witnesses(law, 0, x=[1])[0].after
    (0.0, 1.0)
    """

    context: dict[int, Any]
    before: tuple[float, ...]
    after: tuple[float, ...]


def local_witnesses(
    law: Distribution,
    m: int,
    *,
    x: Sequence[Any],
    criterion: Criterion | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Witness, ...]:
    """Return every context B = x_B that shows X_m to be locally relevant at x, smallest first.

    Parameters
    ----------
    law : Distribution
    m : int
        The feature.
    x : sequence of p categories
        An instance with P(V = x) > 0.
    criterion : str or callable, optional
        None compares probabilities (Def. 2). An impurity compares i(Y | B = x_B, X_m = x_m) with
        i(Y | B = x_B) instead, the version of App. F, which is weaker (misprint M4).
    tolerance : float
        Largest difference of equal numbers; unused (exact) for probabilities from counts.

    Examples
    --------
    The output is a coin as long as only one of two coins is known:

    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> local_witnesses(xor, 0, x=[0, 1])
    (Witness(context={1: 1}, before=(0.5, 0.5), after=(0.0, 1.0)),)
    """
    (m,) = law.axes(m)
    before, after = np.moveaxis(contexts_of(masses(law), law.encode(x)), m, 0)
    if criterion is None:
        changed = differ(before, after, tolerance=tolerance)
        sides = [part / part.sum(axis=-1, keepdims=True) for part in (before, after)]
    else:
        sides = [
            node_impurity(law, part, criterion=criterion)[..., np.newaxis]
            for part in (before, after)
        ]
        changed = np.abs(sides[0] - sides[1]) > tolerance
    result = []
    for known in coalitions(flatten(np.asarray(changed.any(axis=-1))), without=m):
        at = tuple(int(j in known) for j in range(law.n_features) if j != m)
        values = [tuple(float(number) for number in side[at]) for side in sides]
        result.append(Witness({j: x[j] for j in known}, *values))
    return tuple(result)


def is_locally_relevant(
    law: Distribution,
    m: int,
    x: Sequence[Any],
    *,
    criterion: Criterion | None = None,
    tolerance: float = TOLERANCE,
) -> bool:
    """Return whether X_m is locally relevant at x (Definition 2).

    Parameters
    ----------
    law, m, x, criterion, tolerance
        As for `local_witnesses`, which also gives the contexts.

    Examples
    --------
    Here the impurity does not change at x = 0 although the probabilities do (misprint M4):

    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.7, 0.3], [0.1, 0.9]], [1 / 3, 2 / 3])
    >>> is_locally_relevant(law, 0, [0]), is_locally_relevant(law, 0, [0], criterion="entropy")
    (True, False)
    """
    return bool(local_witnesses(law, m, x=x, criterion=criterion, tolerance=tolerance))


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
