"""Entropies and (conditional) mutual information, in bits (App. G)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.theory.impurity import impurity

if TYPE_CHECKING:
    from localmdi.theory.distribution import Distribution

__all__ = ["entropy", "mutual_information"]


def entropy(law: Distribution, of: Any, given: Any = ()) -> float:
    """Return H(of | given), the (conditional) Shannon entropy of Appendix G.

    Parameters
    ----------
    law : Distribution
    of, given : int, "y", or an iterable of these
        Features by index; the output is "y". Sets are joint variables.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> entropy(law, "y", given=0)
    0.5
    >>> entropy(law, (0, "y"))
    1.5
    """
    known = set(law.axes(given))
    joint = known | set(law.axes(of))
    return _joint_entropy(law, joint) - _joint_entropy(law, known)


def mutual_information(
    law: Distribution, features: Any, given: Any = (), *, about: Any = "y"
) -> float:
    """Return I(about; features | given), by default about the output Y.

    Parameters
    ----------
    law : Distribution
    features, given, about : int, "y", or an iterable of these
        Features by index; the output is "y". Sets are joint variables.

    Examples
    --------
    Two coins and their exclusive or: nothing apart, one bit together.

    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> mutual_information(law, 0), mutual_information(law, 0, given=1)
    (0.0, 1.0)
    >>> mutual_information(law, 0, given="y", about=1)
    1.0
    """
    known = (*_names(law, given), *_names(law, features))
    return entropy(law, about, given) - entropy(law, about, known)


def _names(law: Distribution, of: Any) -> tuple[Any, ...]:
    return tuple("y" if axis == law.n_features else axis for axis in law.axes(of))


def _joint_entropy(law: Distribution, axes: set[int]) -> float:
    dropped = tuple(set(range(law.table.ndim)) - axes)
    return float(impurity(law.table.sum(axis=dropped).ravel()))
