"""Exact asymptotic importances: Theorem 1 and 2 for K = 1, the exact recursion for K > 1.

"Asymptotic" is the paper's setting: categorical features, exhaustive splits, fully developed
trees, infinitely many of them, grown on the law itself. The edge from a context B = x_B to
B = x_B, X_m = x_m credits X_m with an amount: the decrease of impurity (Definition 1), or the gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import (
    all_contexts,
    by_coalition,
    coalition_sizes,
    contexts_of,
    flatten,
    require_feasible,
)
from localmdi.theory.impurity import divergence, node_impurity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray, Measure


TIE_TOLERANCE = 1e-10
"""Decreases closer than this, relative to the largest impurity, are ties."""


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
    weighted = contexts.sum(axis=-1) * node_impurity(law, contexts, criterion=criterion)
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
        node = node_impurity(law, contexts, criterion=criterion)
        return [flatten(-np.diff(node, axis=m)) for m in range(len(codes))]
    if measure != "gain":
        raise ValueError(f'measure must be "drop" or "gain", but {measure!r} was given.')
    if callable(criterion):
        raise ValueError(
            'measure="gain" needs criterion "entropy", "gini" or "variance", but a function was '
            "given: its divergence would take its derivative."
        )
    terms = []
    for m in range(len(codes)):
        pairs = law.by_output(np.moveaxis(contexts, m, 0))
        moved = [
            divergence(child, parent, criterion=criterion, y_values=of)
            for (parent, child), of in pairs
        ]
        terms.append(flatten(np.asarray(np.mean(moved, axis=0))))
    return terms


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


@dataclass(frozen=True)
class Nodes:
    """Every context with its weight, impurity and decreases, as flat arrays over contexts.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> nodes = every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini")
    >>> nodes.weight.tolist()
    [0.5, 0.5, 1.0]
    """

    arities: tuple[int, ...]
    weight: FloatArray
    impurity: FloatArray
    free: BoolArray
    varying: BoolArray
    decrease: FloatArray

    def child(self, node: AnyArray, m: int, *, code: int) -> IntArray:
        """Return the index of the child for value `code` of feature m, which must be free.

        Examples
        --------
        >>> from localmdi.theory import Distribution
        >>> nodes = every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini")
        >>> root = np.array([2])
        >>> nodes.child(root, 0, code=1)
        array([1])
        """
        stride = int(np.prod([arity + 1 for arity in self.arities[m + 1 :]], dtype=np.int64))
        # "Unknown" is the last index of an axis, so a known value lies before it.
        child: IntArray = node - (self.arities[m] - code) * stride
        return child

    def path(self, codes: tuple[int, ...]) -> IntArray:
        """Return the 2^p contexts of an instance: bit i of the position says that i is known.

        Examples
        --------
        >>> from localmdi.theory import Distribution
        >>> nodes = every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini")
        >>> nodes.path((0,))
        array([2, 0])
        """
        nodes = np.array([len(self.weight) - 1])
        for m, code in enumerate(codes):
            nodes = np.concatenate([nodes, self.child(nodes, m, code=code)])
        return nodes


@dataclass(frozen=True)
class Growth:
    """The infinite forest: how probable each node is, and each split of it.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> nodes = every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini")
    >>> grow(nodes, 1, draw="theory").visits.tolist()
    [1.0, 1.0, 1.0]
    """

    visits: FloatArray
    chosen: FloatArray


def every_node(law: Distribution, criterion: Criterion) -> Nodes:
    """Return the table of all contexts of a law.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini").impurity.tolist()
    [0.375, 0.0, 0.46875]
    """
    p, arities = law.n_features, law.arities
    require_feasible(
        (*(arity + 1 for arity in arities), max(p, law.n_classes)), what="the table of all nodes"
    )
    contexts = all_contexts(law.table)
    weight = contexts.sum(axis=-1).ravel()
    at_node = node_impurity(law, contexts, criterion=criterion).ravel()
    unknown = np.array(arities)
    free = unknown == np.indices(contexts.shape[:-1]).reshape(p, -1).T
    varying = np.zeros_like(free)
    nodes = Nodes(arities, weight, at_node, free, varying, np.zeros(free.shape))
    for m in range(p):
        at = np.flatnonzero(free[:, m] & (weight > 0))
        children = np.stack([nodes.child(at, m, code=code) for code in range(arities[m])])
        varying[at, m] = (weight[children] > 0).sum(axis=0) > 1
        after = (weight[children] * at_node[children]).sum(axis=0) / weight[at]
        nodes.decrease[at, m] = np.where(varying[at, m], at_node[at] - after, 0.0)
    return nodes


def grow(nodes: Nodes, max_features: int, *, draw: str) -> Growth:
    """Return the infinite forest that takes the best of `max_features` drawn features.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> nodes = every_node(Distribution.from_counts([[3, 1], [0, 4]]), "gini")
    >>> grow(nodes, 1, draw="theory").chosen.tolist()
    [[0.0], [0.0], [1.0]]
    """
    p = len(nodes.arities)
    chosen = selection_probabilities(
        _snap_ties(nodes.decrease, TIE_TOLERANCE * float(nodes.impurity.max())),
        max_features,
        free=nodes.free,
        varying=nodes.varying,
        draw=draw,
    )
    visits = np.zeros(len(nodes.weight))
    visits[-1] = 1.0
    depth = p - nodes.free.sum(axis=1)
    for k in range(p):
        at = np.flatnonzero((depth == k) & (visits > 0) & (nodes.weight > 0))
        for m in range(p):
            split = at[chosen[at, m] > 0]
            for code in range(nodes.arities[m]):
                visits[nodes.child(split, m, code=code)] += visits[split] * chosen[split, m]
    return Growth(visits, chosen)


def _snap_ties(decrease: FloatArray, tolerance: float) -> FloatArray:
    """Give decreases that differ by rounding only one common value, node by node."""
    order = np.argsort(-decrease, axis=1)
    ranked = np.take_along_axis(decrease, order, axis=1)
    near = ranked[:, :-1] - ranked[:, 1:] <= tolerance
    for rank in range(1, ranked.shape[1]):
        tied = near[:, rank - 1]
        ranked[tied, rank] = ranked[tied, rank - 1]
    snapped = np.empty_like(decrease)
    np.put_along_axis(snapped, order, ranked, axis=1)
    return snapped


def selection_probabilities(
    decrease: FloatArray, max_features: int, *, free: BoolArray, varying: BoolArray, draw: str
) -> FloatArray:
    """Return the probability that each feature splits each node; ties are broken uniformly.

    With a features of a greater decrease than m, and t of the same (m included), the best of K
    out of q drawn features is in m's group with probability [C(q−a,K) − C(q−a−t,K)] / C(q,K).

    Parameters
    ----------
    decrease : ndarray of shape (n_nodes, p)
        Impurity decreases; equal numbers are ties.
    max_features : int
        K.
    free : ndarray of bool of shape (n_nodes, p)
        Features that the branch above has not tested.
    varying : ndarray of bool of shape (n_nodes, p)
        Features that are not constant in the node.
    draw : {"theory", "sklearn"}
        The theory draws min(K, q) of the q features not yet on the branch, constant ones included.
        scikit-learn draws K of all p; constant ones use up draws, and if all K are constant it
        goes on until it meets one that varies.

    Returns
    -------
    ndarray of shape (n_nodes, p)
        Rows sum to one, or to zero where nothing can be chosen.

    Examples
    --------
    Three features, the last one constant; the best of two:

    >>> decrease = np.array([[0.5, 0.2, 0.0]])
    >>> free, varying = np.array([[True, True, True]]), np.array([[True, True, False]])
    >>> theory = selection_probabilities(decrease, 2, free=free, varying=varying, draw="theory")
    >>> theory.round(3).tolist()
    [[0.667, 0.333, 0.0]]
    """
    if draw not in ("theory", "sklearn"):
        raise ValueError(f'draw must be "theory" or "sklearn", but {draw!r} was given.')
    p = decrease.shape[1]
    choose = np.array([[comb(n, k) for k in range(p + 1)] for n in range(p + 1)], dtype=np.float64)
    candidate = free if draw == "theory" else varying
    pool = candidate.sum(axis=1) if draw == "theory" else np.full(len(decrease), p)
    drawn = np.minimum(max_features, pool)
    chosen = np.zeros_like(decrease)
    for m in range(p):
        rival = decrease - decrease[:, m : m + 1]
        above = (candidate & (rival > 0)).sum(axis=1)
        tied = np.maximum((candidate & (rival == 0)).sum(axis=1), 1)
        # Where m is no candidate the counts are meaningless: keep the lookup in range, drop below.
        below = np.maximum(pool - above - tied, 0)
        group = choose[np.maximum(pool - above, 0), drawn] - choose[below, drawn]
        chosen[:, m] = group / (tied * choose[pool, drawn])
    if draw == "sklearn":
        n_varying = varying.sum(axis=1)
        all_constant = choose[p - n_varying, drawn] / choose[p, drawn]
        chosen += (all_constant / np.maximum(n_varying, 1))[:, np.newaxis]
    return np.where(candidate, chosen, 0.0)
