"""Which rows and features a page shows when there are more than it should hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import FloatArray, IntArray

__all__ = ["largest_features", "spread_rows"]

_SEED = 0


def spread_rows(n_rows: int, max_rows: int, *, keep: IntArray) -> IntArray:
    """Return at most `max_rows` row positions in order: those to keep, and others spread evenly.

    The rows that need not be kept are cut into blocks of equal length, and one row is drawn from
    each, always with the same seed: the same result gives the same page.

    Examples
    --------
    >>> rows = spread_rows(1000, 5, keep=np.array([7]))
    >>> len(rows), 7 in rows
    (5, True)
    >>> spread_rows(3, 5, keep=np.array([1]))
    array([0, 1, 2])
    """
    if n_rows <= max_rows:
        return np.arange(n_rows)
    kept = np.unique(keep[:max_rows])
    n_blocks = max_rows - len(kept)
    if n_blocks == 0:
        return kept
    others = np.setdiff1d(np.arange(n_rows), kept, assume_unique=True)
    edges = np.arange(n_blocks + 1) * len(others) // n_blocks
    draw = np.random.default_rng(_SEED).random(n_blocks)
    chosen = edges[:-1] + (draw * np.diff(edges)).astype(np.int64)
    return np.sort(np.concatenate([kept, others[chosen]]))


def largest_features(values: FloatArray, max_features: int) -> IntArray:
    """Return the positions of the largest values by size, largest first, equal ones by position.

    Examples
    --------
    >>> largest_features(np.array([0.5, -2.0, np.nan, 1.0]), 3)
    array([1, 3, 0])
    """
    size = np.nan_to_num(np.abs(values), nan=-1.0)
    return np.argsort(-size, kind="stable")[:max_features]
