"""Tests and bounds for the change of the output's law in a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import BoolArray, FloatArray

__all__ = ["adjust", "change_bound", "change_p_values", "large_enough"]

_SMALL = 5.0  # expected counts below this make the G-test reject too often


def change_p_values(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Test for each context whether the output's law depends on X_m = x_m.

    A G-test with Williams' correction; Fisher's exact test where expected counts are small (for
    more than two classes: each class against the others, times the number of classes).

    Parameters
    ----------
    inside, outside : ndarray of shape (n_contexts, n_classes)
        Class counts of the rows with and without x's value.

    Examples
    --------
    >>> change_p_values(np.array([[30.0, 10.0]]), np.array([[10.0, 30.0]])).round(6)
    array([6.e-06])
    """
    from scipy.stats import chi2

    both = inside + outside
    total = both.sum(axis=1, keepdims=True)
    statistic = np.zeros(len(inside))
    correction = np.zeros(len(inside))
    small = np.zeros(len(inside), dtype=bool)
    for part in (inside, outside):
        n = part.sum(axis=1, keepdims=True)
        expected = n * both / total
        ratio = np.divide(part, expected, out=np.ones_like(part), where=part > 0)
        statistic += 2.0 * (part * np.log(ratio)).sum(axis=1)
        correction += (total / n)[:, 0]
        small |= ((expected < _SMALL) & (both > 0)).any(axis=1)
    freedom = np.maximum((both > 0).sum(axis=1) - 1, 1)
    by_class = np.divide(total, both, out=np.zeros_like(both), where=both > 0).sum(axis=1)
    williams = 1.0 + (correction - 1.0) * (by_class - 1.0) / (6.0 * total[:, 0] * freedom)
    p_values = np.asarray(chi2.sf(statistic / williams, freedom), dtype=np.float64)
    for k in np.flatnonzero(small):
        p_values[k] = _fisher(inside[k], outside[k])
    return p_values


def _fisher(inside: FloatArray, outside: FloatArray) -> float:
    from scipy.stats import fisher_exact

    present = np.flatnonzero(inside + outside > 0)
    if len(present) < 2:
        return 1.0
    classes = present[:1] if len(present) == 2 else present
    found = [
        fisher_exact([[part[c], part.sum() - part[c]] for part in (inside, outside)])[1]
        for c in classes
    ]
    return float(min(1.0, min(found) * len(classes)))


def adjust(p_values: FloatArray, control: Literal["holm", "bonferroni"]) -> FloatArray:
    """Return p-values corrected for the number of tests, to be compared with alpha.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.04]), "holm")
    array([0.02, 0.04])
    >>> adjust(np.array([0.01, 0.04]), "bonferroni")
    array([0.02, 0.08])
    """
    n = len(p_values)
    if control == "bonferroni" or n == 0:
        return np.minimum(p_values * n, 1.0)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (n - np.arange(n)))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def change_bound(inside: FloatArray, outside: FloatArray, *, alpha: float) -> FloatArray:
    """Return upper bounds on |P(y | B, x_m) − P(y | B)| for each context and class.

    From Clopper and Pearson's intervals for both sides; with probability 1 − alpha, given the rows
    of X, all bounds hold at once.

    Examples
    --------
    >>> change_bound(np.array([[50.0, 50.0]]), np.array([[50.0, 50.0]]), alpha=0.05).round(2)
    array([[0.13, 0.13]])
    """
    from scipy.stats import beta

    level = alpha / (4.0 * max(inside.size, 1))
    low, high = [], []
    for part in (inside, outside):
        n = part.sum(axis=1, keepdims=True)
        low.append(np.where(part > 0, beta.ppf(level, np.maximum(part, 1), n - part + 1), 0.0))
        rest = np.maximum(n - part, 1)
        high.append(np.where(part < n, beta.ppf(1.0 - level, part + 1, rest), 1.0))
    gap = np.maximum(high[0] - low[1], high[1] - low[0])
    n_inside, n_outside = inside.sum(axis=1), outside.sum(axis=1)
    return np.asarray(gap * (n_outside / (n_inside + n_outside))[:, np.newaxis])


def large_enough(inside: FloatArray, outside: FloatArray, *, smallest: int) -> BoolArray:
    """Tell which contexts have enough rows on both sides."""
    return np.asarray((inside.sum(axis=1) >= smallest) & (outside.sum(axis=1) >= smallest))
