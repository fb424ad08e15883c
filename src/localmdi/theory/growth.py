"""The infinite forest grown node by node: the exact recursion for the best of K features.

A node of an exhaustive tree is a context B = b. Going down one depth at a time, the probability
that a tree has the node is passed on to the children of every feature that may split it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localmdi.theory.contexts import all_contexts
from localmdi.theory.impurity import impurity
from localmdi.theory.selection import selection_probabilities
from localmdi.theory.size import require_feasible

if TYPE_CHECKING:
    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Growth", "Nodes", "every_node", "grow"]

TIE_TOLERANCE = 1e-10
"""Decreases closer than this, relative to the largest impurity, are ties."""


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
    node_impurity = impurity(contexts, criterion, y_values=law.y_values).ravel()
    unknown = np.array(arities)
    free = unknown == np.indices(contexts.shape[:-1]).reshape(p, -1).T
    varying = np.zeros_like(free)
    nodes = Nodes(arities, weight, node_impurity, free, varying, np.zeros(free.shape))
    for m in range(p):
        at = np.flatnonzero(free[:, m] & (weight > 0))
        children = np.stack([nodes.child(at, m, code=code) for code in range(arities[m])])
        varying[at, m] = (weight[children] > 0).sum(axis=0) > 1
        after = (weight[children] * node_impurity[children]).sum(axis=0) / weight[at]
        nodes.decrease[at, m] = np.where(varying[at, m], node_impurity[at] - after, 0.0)
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
