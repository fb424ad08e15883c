"""Impurities of the output, i(·) of Section 2, and their means given features; information.

Entropy is in bits. Beside the three names of the paper (and scikit-learn's for them) a criterion
may be a function that takes probabilities (…, |Y|) and returns impurities (…). Entropies of any
variables and mutual information are those of Appendix G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from localmdi.typing import AnyArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.theory.distribution import Distribution
    from localmdi.typing import ArrayLike, FloatArray

Criterion: TypeAlias = str | Callable[[AnyArray], AnyArray]


def impurity(
    probabilities: ArrayLike,
    criterion: Criterion = "entropy",
    *,
    y_values: ArrayLike | None = None,
) -> FloatArray:
    """Return the impurity i(·) of one or many laws of the output.

    Parameters
    ----------
    probabilities : array-like of shape (…, |Y|)
        Laws of Y; any non-negative masses, normalised here. A law without mass has impurity 0.
    criterion : {"entropy", "gini", "variance"} or callable
        Also scikit-learn's "log_loss" (entropy) and "squared_error" (variance).
    y_values : array-like of shape (|Y|,), optional
        Numeric values of Y, for the variance.

    Returns
    -------
    ndarray of shape (…)

    Examples
    --------
    >>> impurity([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [1.0, 0.0]
    >>> float(impurity([0.5, 0.5], "gini"))
    0.5
    >>> float(impurity([0.5, 0.5], "variance", y_values=[0, 10]))
    25.0
    """
    law = _normalise(probabilities)
    if callable(criterion):
        return np.where(law.sum(axis=-1) > 0, criterion(law), 0.0)
    if criterion in ("entropy", "log_loss"):
        bits = np.log2(law, out=np.zeros_like(law), where=law > 0)
        return np.asarray(0.0 - np.sum(law * bits, axis=-1))
    if criterion == "gini":
        # Σ p (1 − p), not 1 − Σ p²: exactly zero at a pure law, and where there is no mass.
        return np.asarray(np.sum(law * (1.0 - law), axis=-1))
    if criterion in ("variance", "squared_error"):
        values = _numeric(y_values)
        mean = np.sum(law * values, axis=-1, keepdims=True)
        return np.asarray(np.sum(law * (values - mean) ** 2, axis=-1))
    raise ValueError(
        'criterion must be "entropy", "gini", "variance" (or "log_loss", "squared_error") or a '
        f"function, but {criterion!r} was given."
    )


def divergence(
    child: ArrayLike,
    parent: ArrayLike,
    *,
    criterion: Criterion = "entropy",
    y_values: ArrayLike | None = None,
) -> FloatArray:
    """Return the Bregman divergence D(child ‖ parent) of the criterion between laws of the output.

    How far the law of a child lies from that of its parent: for entropy KL(child ‖ parent) in
    bits, for Gini the squared distance, for the variance the squared difference of the means. It
    is never negative, and its mean over the children of a split is the decrease of impurity.

    Parameters
    ----------
    child, parent : array-like of shape (…, |Y|)
        Laws of Y; any non-negative masses, normalised here. A class that only the child has makes
        the divergence of the entropy infinite; below a node of a tree there is none.
    criterion : {"entropy", "gini", "variance"}
        Also scikit-learn's "log_loss" (entropy) and "squared_error" (variance). A function has no
        divergence here: it would take the function's derivative.
    y_values : array-like of shape (|Y|,), optional
        Numeric values of Y, for the variance.

    Returns
    -------
    ndarray of shape (…)

    Examples
    --------
    >>> float(divergence([1.0, 0.0], [0.5, 0.5])), float(divergence([0.5, 0.5], [0.5, 0.5]))
    (1.0, 0.0)
    >>> float(divergence([1.0, 0.0], [0.5, 0.5], criterion="gini"))
    0.5
    >>> float(divergence([1.0, 0.0], [0.5, 0.5], criterion="variance", y_values=[0, 10]))
    25.0
    """
    after, before = _normalise(child), _normalise(parent)
    if criterion in ("entropy", "log_loss"):
        ratio = np.where(after > 0, np.inf, 1.0)
        np.divide(after, before, out=ratio, where=(after > 0) & (before > 0))
        return np.asarray(np.maximum(np.sum(after * np.log2(ratio), axis=-1), 0.0))
    if criterion == "gini":
        return np.asarray(np.sum((after - before) ** 2, axis=-1))
    if criterion in ("variance", "squared_error"):
        return np.asarray(np.sum((after - before) * _numeric(y_values), axis=-1) ** 2)
    raise ValueError(
        'criterion must be "entropy", "gini" or "variance" (or "log_loss", "squared_error") for a '
        f"divergence, but {criterion!r} was given."
    )


def _normalise(masses: ArrayLike) -> FloatArray:
    """Return laws of total mass 1; a law without mass stays without."""
    array = np.asarray(masses, dtype=np.float64)
    total = array.sum(axis=-1, keepdims=True)
    laws: FloatArray = np.divide(array, total, out=np.zeros_like(array), where=total > 0)
    return laws


def _numeric(y_values: ArrayLike | None) -> FloatArray:
    if y_values is None:
        raise ValueError(
            "the variance needs numbers for the values of Y: pass y_values to the Distribution."
        )
    return np.asarray(y_values, dtype=np.float64)


def node_impurity(law: Distribution, masses: AnyArray, *, criterion: Criterion) -> FloatArray:
    """Return the impurity of masses of Y, (…, |Y|); of several outputs the mean.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_samples([[0], [1]], [[0, 0], [1, 0]])
    >>> float(node_impurity(law, law.counts.sum(axis=0), criterion="entropy"))
    0.5
    """
    found = [impurity(part, criterion, y_values=of) for part, of in law.by_output(masses)]
    return np.asarray(np.mean(found, axis=0))


def mean_impurity(law: Distribution, given: Any = (), *, criterion: Criterion = "entropy") -> float:
    """Return E_B[i(Y | B)], for entropy the conditional entropy H(Y|B).

    Parameters
    ----------
    law : Distribution
    given : int or iterable of int
        The features B.
    criterion : str or callable
        As for `impurity`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> mean_impurity(law, 0), mean_impurity(law, 0, criterion="gini")
    (0.5, 0.25)
    """
    features = set(law.axes(given)) - {law.n_features}
    joint = law.marginal((*features, "y"))
    return float(np.sum(joint.sum(axis=-1) * node_impurity(law, joint, criterion=criterion)))


def impurity_at(
    law: Distribution, context: Mapping[int, Any], *, criterion: Criterion = "entropy"
) -> float:
    """Return i(Y | B = b) in one context, for entropy H(Y|B=b) of Theorem 2.

    Parameters
    ----------
    law : Distribution
    context : mapping from feature index to category
        The known values b; {} is the root.
    criterion : str or callable
        As for `impurity`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> impurity_at(law, {0: 0}), impurity_at(law, {0: 1})
    (1.0, 0.0)
    """
    return float(node_impurity(law, law.conditional("y", context), criterion=criterion))


def impurity_decrease(
    law: Distribution, features: Any, *, given: Any = (), criterion: Criterion = "entropy"
) -> float:
    """Return E_B[i(Y|B)] − E_{B,S}[i(Y|B,S)], for entropy I(Y;S|B).

    Parameters
    ----------
    law : Distribution
    features, given : int or iterable of int
        The features S that become known, and those B that are known already.
    criterion : str or callable
        As for `impurity`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]], y_values=[0, 4])
    >>> impurity_decrease(law, 0, criterion="variance")
    1.0
    """
    before = set(law.axes(given))
    after = before | set(law.axes(features))
    return mean_impurity(law, before, criterion=criterion) - mean_impurity(
        law, after - {law.n_features}, criterion=criterion
    )


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
