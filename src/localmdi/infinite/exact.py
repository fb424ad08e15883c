"""Exact values of the infinite forest at distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.infinite.plan import Plan
    from localmdi.infinite.sample import Sample
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["UNSEEN", "Run", "exact_profile", "exact_rows", "unseen_rows"]

UNSEEN = {"skip": 0, "stop": 1, "tree": 2}


@dataclass(frozen=True)
class Run:
    """How to run: threads, and whom to tell about progress.

    Examples
    --------
    >>> Run().n_threads
    1
    """

    n_threads: int = 1
    advance: Callable[[int], object] = field(default=lambda done: None)


def exact_rows(sample: Sample, rows: IntArray, *, plan: Plan, run: Run) -> FloatArray:
    """Return the local MDI of distinct rows of the sample, (n_rows, n_features).

    Examples
    --------
    >>> from localmdi.infinite.plan import Plan
    >>> from localmdi.infinite.sample import read_sample
    >>> sample = read_sample([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> exact_rows(sample, np.array([2]), plan=Plan("row dual", 1, 1), run=Run())
    array([[0.5, 0.5]])
    """
    if plan.method == "shared partition":
        values = np.empty(sample.shape)
        sample.kernel.shared_partition(values, run.n_threads)
        run.advance(len(rows))
        return values[rows]
    if plan.method == "row dual":
        values = np.empty((len(rows), sample.shape[1]))
        sample.kernel.row_dual(rows, values, run.n_threads)
        run.advance(len(rows))
        return values
    values = np.zeros((len(rows), sample.shape[1]))
    for i, row in enumerate(rows.tolist()):
        features, total, member, _ = sample.kernel.lattice(row, False, False, run.n_threads)
        values[i, features] = _profile(total, member).sum(axis=1)
        run.advance(1)
    return values


def exact_profile(sample: Sample, rows: IntArray, *, run: Run) -> FloatArray:
    """Return the local MDI of distinct rows by the size of the context, (n_rows, p, p).

    Examples
    --------
    >>> from localmdi.infinite.sample import read_sample
    >>> sample = read_sample([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> exact_profile(sample, np.array([2]), run=Run())
    array([[[0. , 0.5],
            [0. , 0.5]]])
    """
    n_features = sample.shape[1]
    profile = np.zeros((len(rows), n_features, n_features))
    for i, row in enumerate(rows.tolist()):
        features, total, member, _ = sample.kernel.lattice(row, True, False, run.n_threads)
        profile[i, features] = _profile(total, member)
        run.advance(1)
    return profile


def _profile(total: FloatArray, member: FloatArray) -> FloatArray:
    """Eq. 11 from the sums of g by size: w(k) [Σ_{S∌m} g(S) − Σ_{T∋m} g(T)], |S| = k, |T| = k + 1.

    g(S) is the impurity of the rows that equal x on S, less that of x itself.
    """
    p = len(total) - 1
    member = member.reshape(p + 1, p)
    weight = np.array([1 / (comb(p, k) * (p - k)) for k in range(p)])
    without = total[:-1, np.newaxis] - member[:-1]
    return np.asarray((without - member[1:]).T * weight)


def unseen_rows(
    sample: Sample, codes: AnyArray, *, unseen: str, budget: float, run: Run
) -> tuple[FloatArray, FloatArray]:
    """Follow rows that are not in the sample through all distinct row sets.

    Returns
    -------
    values : ndarray of shape (n_rows, n_features)
        The local MDI.
    ends : ndarray of shape (n_rows, 3)
        Mean impurity at the end of the path, support, and whether the budget was enough (else the
        row's values are not complete).

    Examples
    --------
    >>> from localmdi.infinite.sample import read_sample
    >>> sample = read_sample([[0, 0], [0, 1], [1, 0]], [0, 1, 1])
    >>> x = np.array([[1, 1]], dtype=np.int32)
    >>> unseen_rows(sample, x, unseen="stop", budget=1e6, run=Run())[1]
    array([[0., 1., 1.]])
    """
    values = np.zeros(codes.shape)
    ends = np.zeros((len(codes), 3))
    sample.kernel.row_sets(codes, UNSEEN[unseen], budget, values, ends, run.n_threads)
    run.advance(int(ends[:, 2].sum()))
    return values, ends
