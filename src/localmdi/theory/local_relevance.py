"""Local relevance of a feature at one instance (Def. 2), with the contexts that show it.

The version of App. F, which compares impurities instead of probabilities, is an option.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import contexts_of, flatten
from localmdi.theory.dependence import TOLERANCE, coalitions, differ, masses
from localmdi.theory.impurity import impurity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion

__all__ = ["Witness", "is_locally_relevant", "local_witnesses"]


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
            impurity(part, criterion, y_values=law.y_values)[..., np.newaxis]
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
