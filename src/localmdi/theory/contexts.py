"""Contexts B = b: the nodes that exhaustive trees can have, all at once as one array.

The paper sums over every subset B of the features and, below it, over every value b. Giving each
axis of the joint table one more index, *unknown*, holds all of these probabilities together: an
index with some axes unknown is the node whose branch tests the other features.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localmdi.typing import AnyArray

MAX_ENTRIES = 2**25
"""Most numbers a table may hold: 2^25 float64 are 256 MiB."""


def require_feasible(shape: Iterable[int], *, what: str) -> None:
    """Raise unless a table of this shape has at most `MAX_ENTRIES` entries.

    Parameters
    ----------
    shape : iterable of int
        Lengths of the table's axes.
    what : str
        What the table holds, for the message.

    Raises
    ------
    ValueError
        If the table is too large; the message names its shape and size.

    Examples
    --------
    >>> require_feasible([2] * 10, what="the law")
    >>> require_feasible([2] * 40, what="the law")
    Traceback (most recent call last):
    ...
    ValueError: the law would be a table of 2^40 = 1,099,511,627,776 entries; ...
    """
    lengths = tuple(shape)
    entries = math.prod(lengths)
    if entries <= MAX_ENTRIES:
        return
    sizes = sorted(set(lengths))
    factors = " * ".join(
        f"{size}^{lengths.count(size)}" if lengths.count(size) > 1 else str(size) for size in sizes
    )
    raise ValueError(
        f"{what} would be a table of {factors} = {entries:,} entries; the exact theory holds at "
        f"most {MAX_ENTRIES:,}. Use fewer features, merge categories, or sample "
        "(localmdi.infinite_mdi)."
    )


def all_contexts(table: AnyArray) -> AnyArray:
    """Return P(B = b, Y = y) for every B and b: shape (|X_1|+1, …, |X_p|+1, |Y|).

    The last index of a feature's axis means that the feature is unknown (summed out).

    Parameters
    ----------
    table : ndarray of shape (|X_1|, …, |X_p|, |Y|)
        Probabilities or counts.

    Examples
    --------
    >>> all_contexts(np.array([[3, 1], [0, 4]]))
    array([[3, 1], [0, 4], [3, 5]])
    """
    *arities, n_classes = table.shape
    require_feasible(
        (*(arity + 1 for arity in arities), n_classes), what="the law of all contexts B = b"
    )
    for axis in range(len(arities)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    return table


def contexts_of(table: AnyArray, codes: Sequence[int]) -> AnyArray:
    """Return P(B = x_B, Y = y) for every B at one instance x: shape (2, …, 2, |Y|).

    Index 1 on axis j means that X_j = x_j is known, index 0 that X_j is summed out.

    Parameters
    ----------
    table : ndarray of shape (|X_1|, …, |X_p|, |Y|)
        Probabilities or counts.
    codes : sequence of p int
        The instance as indices into the table.

    Examples
    --------
    >>> contexts_of(np.array([[3, 1], [0, 4]]), [1])
    array([[3, 5], [0, 4]])
    """
    require_feasible((*[2] * len(codes), table.shape[-1]), what="the contexts of one instance")
    for axis, code in enumerate(codes):
        table = np.stack([table.sum(axis=axis), table.take(code, axis=axis)], axis=axis)
    return table


def by_coalition(contexts: AnyArray, *, reduce: np.ufunc = np.add) -> AnyArray:
    """Reduce a quantity of every context to one number per set B of known features.

    Parameters
    ----------
    contexts : ndarray of shape (|X_1|+1, …, |X_p|+1)
        A quantity laid out as `all_contexts` without the output's axis.
    reduce : ufunc
        What to do over the values b of B: add, or logical_or.

    Returns
    -------
    ndarray of shape (2, …, 2)
        Index 1 on axis j means that feature j belongs to B.

    Examples
    --------
    >>> by_coalition(np.array([3, 4, 10])).tolist()
    [10, 7]
    """
    for axis in range(contexts.ndim):
        unknown = contexts.take(-1, axis=axis)
        known = reduce.reduce(contexts.take(range(contexts.shape[axis] - 1), axis=axis), axis=axis)
        contexts = np.stack([unknown, known], axis=axis)
    return contexts


def flatten(cube: AnyArray) -> AnyArray:
    """Return a (2, …, 2) array as 2^p entries in which bit i of the index is feature i.

    Examples
    --------
    >>> flatten(np.array([["none", "1"], ["0", "both"]])).tolist()
    ['none', '0', '1', 'both']
    """
    return cube.reshape(-1, order="F")


def coalition_sizes(n_players: int) -> AnyArray:
    """Return |S| for the 2^n coalitions, in the order of `flatten`.

    Examples
    --------
    >>> coalition_sizes(3).tolist()
    [0, 1, 1, 2, 1, 2, 2, 3]
    """
    return np.bitwise_count(np.arange(2**n_players))
