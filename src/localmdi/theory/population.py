"""Exact asymptotic importances: Theorem 1 and 2 for K = 1, the exact recursion for K > 1.

"Asymptotic" is the paper's setting: categorical features, exhaustive splits, fully developed
trees, infinitely many of them, grown on the law itself. The edge from a context B = x_B to
B = x_B, X_m = x_m credits X_m with an amount: the decrease of impurity (Definition 1), or the gain.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import (
    all_contexts,
    by_coalition,
    coalition_sizes,
    contexts_of,
    flatten,
)
from localmdi.theory.growth import every_node, grow
from localmdi.theory.impurity import divergence, impurity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import AnyArray, FloatArray, Measure

__all__ = [
    "population_local_mdi",
    "population_local_profile",
    "population_mdi",
    "population_profile",
]


def population_mdi(
    law: Distribution,
    max_features: int = 1,
    *,
    draw: str = "theory",
    criterion: Criterion = "entropy",
) -> FloatArray:
    """Return the global MDI importances Imp∞^K of all features.

    Parameters
    ----------
    law : Distribution
        Feasible while ∏(|X_j| + 1)·max(p, |Y|) ≤ 2^25, for instance 13 binary features.
    max_features : int
        K, from 1 (totally randomized trees, Eq. 5) to p.
    draw : {"theory", "sklearn"}
        What K counts. In the theory, features not yet on the branch. In scikit-learn, all p
        features, so that constant ones use up draws. The two agree for K = 1 and K = p only.
    criterion : {"entropy", "gini", "variance"} or callable
        The impurity. Decreases that differ by less than 1e-10 of the largest impurity are ties,
        broken uniformly.

    Returns
    -------
    ndarray of shape (p,)
        In the unit of the impurity; the sum is I(Y;V), or its analogue (Eq. 6).

    Examples
    --------
    Example 1 of the paper, output Y_1: with K = 2 the tree tests X_1, then X_2.

    >>> from localmdi.theory import Distribution
    >>> q = np.array([[0.1, 0.5], [0.9, 0.4]])
    >>> law = Distribution.from_conditional(np.stack([1 - q, q], axis=-1))
    >>> population_mdi(law, max_features=2).round(3).tolist()
    [0.091, 0.18]
    """
    profile = population_profile(law, max_features, draw=draw, criterion=criterion)
    return np.asarray(profile.sum(axis=1))


def population_local_mdi(
    law: Distribution,
    x: Sequence[Any],
    max_features: int = 1,
    *,
    draw: str = "theory",
    criterion: Criterion = "entropy",
    measure: Measure = "drop",
) -> FloatArray:
    """Return the local MDI importances Imp∞^K(X_m, x) of all features at one instance.

    Parameters
    ----------
    law, max_features, draw, criterion
        As for `population_mdi`. For K = 1 only 2^p·|Y| ≤ 2^25 is needed beside the law's table.
    x : sequence of p categories
        An instance with P(V = x) > 0.
    measure : {"drop", "gain"}
        What a split credits its feature with at x: the decrease of impurity, i(Y|B=x_B) minus
        i(Y|B=x_B,X_m=x_m) ("drop", Definition 1), or the `divergence` between the two laws of Y
        ("gain"). Both have the same mean over the law, the global importance. The gain needs one
        of the named criteria.

    Returns
    -------
    ndarray of shape (p,)
        In the unit of the impurity. For "drop" the sum is H(Y) − H(Y|V=x) and values can be
        negative. For "gain" they cannot, they have no fixed sum, and for K = 1, with entropy and
        Gini, they are zero exactly where the feature is locally irrelevant (Definition 2).

    Examples
    --------
    Example 2 of the paper:

    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> population_local_mdi(law, [0]).round(6).tolist()
    [-0.188722]

    The output becomes less certain, but its law does change:

    >>> population_local_mdi(law, [0], measure="gain").round(6).tolist()
    [0.207519]
    """
    profile = population_local_profile(
        law, x, max_features=max_features, draw=draw, criterion=criterion, measure=measure
    )
    return np.asarray(profile.sum(axis=1))


def population_profile(
    law: Distribution,
    max_features: int = 1,
    *,
    draw: str = "theory",
    criterion: Criterion = "entropy",
) -> FloatArray:
    """Return the terms of the global importances by degree: [m, k] sums the nodes with |B| = k.

    Parameters
    ----------
    law, max_features, draw, criterion
        As for `population_mdi`.

    Returns
    -------
    ndarray of shape (p, p)
        Rows sum to `population_mdi`; column k is what the splits at depth k tell.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> population_profile(xor).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    _check_max_features(max_features, law.n_features)
    if max_features == 1 and draw == "theory":
        return _theorem_1(law, criterion)
    nodes = every_node(law, criterion)
    forest = grow(nodes, max_features, draw=draw)
    p = law.n_features
    depth = p - nodes.free.sum(axis=1)
    term = (forest.visits * nodes.weight)[:, np.newaxis] * forest.chosen * nodes.decrease
    return np.array([np.bincount(depth, term[:, m], minlength=p + 1)[:p] for m in range(p)])


def population_local_profile(
    law: Distribution,
    x: Sequence[Any],
    *,
    max_features: int = 1,
    draw: str = "theory",
    criterion: Criterion = "entropy",
    measure: Measure = "drop",
) -> FloatArray:
    """Return the terms of the local importances by degree: [m, k] sums the nodes with |B| = k.

    Parameters
    ----------
    law, x, max_features, draw, criterion, measure
        As for `population_local_mdi`.

    Returns
    -------
    ndarray of shape (p, p)
        Rows sum to `population_local_mdi`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> population_local_profile(xor, [0, 1]).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    p = law.n_features
    _check_max_features(max_features, p)
    codes = law.encode(x)
    terms = _credits(law, codes, criterion=criterion, measure=measure)
    if max_features == 1 and draw == "theory":
        # Eq. 11: every context of k features comes before m with probability 1 / (C(p,k)(p−k)).
        return _by_degree(terms)
    nodes = every_node(law, criterion)
    forest = grow(nodes, max_features, draw=draw)
    path = nodes.path(codes)
    depth = coalition_sizes(p)
    profile = np.zeros((p, p))
    for m, term in enumerate(terms):
        unknown = nodes.free[path, m]
        chance = forest.visits[path[unknown]] * forest.chosen[path[unknown], m]
        profile[m] = np.bincount(depth[unknown], chance * term, minlength=p)
    return profile


def _theorem_1(law: Distribution, criterion: Criterion) -> FloatArray:
    """Eq. 5 by degree: Σ_{|B|=k} I(Y;X_m|B) / (C(p,k)(p−k))."""
    contexts = all_contexts(law.table)
    weighted = contexts.sum(axis=-1) * impurity(contexts, criterion, y_values=law.y_values)
    terms = []
    for m in range(law.n_features):
        unknown = weighted.take(-1, axis=m)
        known = weighted.take(range(law.arities[m]), axis=m).sum(axis=m)
        terms.append(flatten(by_coalition(unknown - known)))
    return _by_degree(terms)


def _credits(
    law: Distribution, codes: tuple[int, ...], *, criterion: Criterion, measure: Measure
) -> list[AnyArray]:
    """Return what each feature is credited with in each context of the others, as 2^(p−1) terms."""
    contexts = contexts_of(law.table, codes)
    if measure == "drop":
        node = impurity(contexts, criterion, y_values=law.y_values)
        return [flatten(-np.diff(node, axis=m)) for m in range(len(codes))]
    if measure != "gain":
        raise ValueError(f'measure must be "drop" or "gain", but {measure!r} was given.')
    if callable(criterion):
        raise ValueError(
            'measure="gain" needs criterion "entropy", "gini" or "variance", but a function was '
            "given: its divergence would take its derivative."
        )
    pairs = [np.moveaxis(contexts, m, 0) for m in range(len(codes))]
    return [
        flatten(divergence(child, parent, criterion=criterion, y_values=law.y_values))
        for parent, child in pairs
    ]


def _by_degree(terms: list[AnyArray]) -> FloatArray:
    p = len(terms)
    sizes = coalition_sizes(p - 1)
    sums = np.array([np.bincount(sizes, term, minlength=p) for term in terms])
    return np.asarray(sums / np.array([comb(p, k) * (p - k) for k in range(p)]))


def _check_max_features(max_features: int, p: int) -> None:
    if not 1 <= max_features <= p:
        raise ValueError(
            f"max_features must be from 1 to the number of features, {p}, but {max_features} was "
            "given."
        )
