"""Which feature splits a node when the best of K drawn features is taken (Section 3.2)."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import BoolArray, FloatArray

__all__ = ["selection_probabilities"]


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
