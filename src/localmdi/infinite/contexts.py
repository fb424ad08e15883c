"""Class counts of every context of one row: what a statement about local relevance rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["ContextPairs", "context_pairs", "count_contexts"]


@dataclass(frozen=True, eq=False)
class ContextPairs:
    """Every context B without feature m, and B with it.

    Parameters
    ----------
    known : ndarray of int64
        B as a set of bits; bit j is feature j.
    before, after : ndarray of float64, shape (n_contexts, n_classes)
        Class counts of the rows that equal x on B, and on B and m.

    Examples
    --------
    >>> counts = np.array([[2.0, 2.0], [2.0, 0.0]])
    >>> context_pairs(counts, 0).changed
    array([ True])
    """

    known: IntArray
    before: FloatArray
    after: FloatArray

    @property
    def changed(self) -> BoolArray:
        """Whether the frequencies of the classes differ: exact, because counts are whole."""
        n_before = self.before.sum(axis=1, keepdims=True)
        n_after = self.after.sum(axis=1, keepdims=True)
        return np.asarray((self.after * n_before != self.before * n_after).any(axis=1))


def count_contexts(matches: BoolArray, label: AnyArray, *, n_classes: int) -> FloatArray:
    """Return the class counts of the rows that equal x on each set of features, (2^p, n_classes).

    Parameters
    ----------
    matches : ndarray of bool, shape (n_rows, p)
        On which features each row equals x.
    label : ndarray of int
        The class of each row.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> count_contexts(np.array([[True], [False]]), np.array([0, 1]), n_classes=2)
    array([[1., 1.],
           [1., 0.]])
    """
    p = matches.shape[1]
    mask = matches @ (1 << np.arange(p))
    counts = np.bincount(mask * n_classes + label, minlength=2**p * n_classes).astype(np.float64)
    table: FloatArray = counts.reshape(2**p, n_classes)
    for j in range(p):
        halves = table.reshape(-1, 2, 2**j, n_classes)
        halves[:, 0] += halves[:, 1]
    return table


def context_pairs(counts: FloatArray, m: int) -> ContextPairs:
    """Return the contexts without and with feature m, smaller ones first.

    Examples
    --------
    >>> counts = np.array([[2.0, 2.0], [2.0, 0.0]])
    >>> context_pairs(counts, 0).after
    array([[2., 0.]])
    """
    sets = np.arange(len(counts))
    without = sets[sets >> m & 1 == 0]
    without = without[np.argsort(np.bitwise_count(without), kind="stable")]
    return ContextPairs(without, counts[without], counts[without | 1 << m])
