"""Exact values of the infinite forest at distinct rows: the ways, and which one is cheapest.

What each way computes is explained in ``docs/theory/algorithms.md``, "Exact local MDI of the
infinite forest" and "Gain". The choice goes by counted operations, so it is the same on every
machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from localmdi import _core
from localmdi._text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.infinite.categorical_sample import Sample
    from localmdi.infinite.encoder import Codes
    from localmdi.typing import FloatArray, IntArray, Measure

Method: TypeAlias = Literal["auto", "exact", "sampled"]
Unseen: TypeAlias = Literal["skip", "stop", "tree"]

_UNSEEN: dict[Unseen, int] = {"skip": 0, "stop": 1, "tree": 2}

# Operations are additions of the block search; about four of them take a nanosecond. A visit of
# the shared partition, a set of the row dual and an edge between row sets were measured against
# them.
BUDGET = 1e10
LIMIT = 2e12
_PER_VISIT: dict[Measure, float] = {"drop": 40.0, "gain": 60.0}
_PER_DUAL_SET = 20.0
_PER_EDGE = 400.0
_OPERATIONS_PER_SECOND = 4e9

_MAX_LATTICE_FEATURES = 62
_MAX_DUAL_ROWS = 20
_MAX_ROW_SET_ROWS = 16
_ROWS_LOOKED_AT = 8


@dataclass(frozen=True)
class Run:
    """How to run: threads, and whom to tell about progress."""

    n_threads: int = 1
    advance: Callable[[int], object] = field(default=lambda done: None)


@dataclass(frozen=True)
class Plan:
    """An exact way and what it costs.

    Parameters
    ----------
    method : {"block search", "shared partition", "row dual", "row sets"}
        The way.
    operations : float
        Counted, or estimated from random descents with a fixed seed.
    memory : float
        Bytes beside the result.
    """

    method: str
    operations: float
    memory: float

    @property
    def seconds(self) -> float:
        """Time on one thread of a usual machine."""
        return self.operations / _OPERATIONS_PER_SECOND


def cheapest(
    sample: Sample, rows: IntArray, *, all_features: bool = False, measure: Measure = "drop"
) -> Plan:
    """Return the cheapest exact way for some of the distinct rows of a sample.

    Parameters
    ----------
    sample : Sample
        The sample.
    rows : ndarray of int
        Positions among its distinct rows.
    all_features : bool
        Whether features that never differ take part (for profiles and interactions, which only
        the block search knows).
    measure : {"drop", "gain"}
        The amount of an edge. A gain is no difference of two impurities, which the row dual
        needs; where there are few distinct rows, there are few row sets as well.

    Examples
    --------
    >>> from localmdi.infinite.categorical_sample import read_samples
    >>> bits = np.arange(12)[:, np.newaxis] >> np.arange(4) & 1
    >>> (sample,) = read_samples(np.tile(bits, 500), np.arange(12) % 3)
    >>> cheapest(sample, np.arange(12)).method
    'row dual'
    """
    plans = [_block(sample, rows, all_features=all_features, measure=measure)]
    if not all_features:
        plans.append(_dual(sample, rows) if measure == "drop" else _row_sets(sample, rows))
        # Counting for all rows takes sorting them often: not worth it where one row is cheap.
        n, p = sample.shape
        looking = 8.0 * n * p * (p + 40.0 * np.log2(n + 1.0))
        least = min(plan.operations for plan in plans)
        if least > looking:
            plans.append(_shared(sample, measure=measure, limit=least))
    return min(plans, key=lambda plan: plan.operations)


def refuse(plan: Plan) -> ValueError:
    """Return the error for an exact computation that would not end in reasonable time.

    Examples
    --------
    >>> print(refuse(Plan("block search", 8e13, 1e6)))
    exact values would take about 6 hours and 1 MB (block search, the cheapest way); the limit is
    500 seconds. Use method='sampled', explain fewer rows with at=, or leave out features.
    """
    return ValueError(
        f"exact values would take about {_time(plan.seconds)} and "
        f"{max(plan.memory / 1e6, 1):.3g} MB ({plan.method}, the cheapest way); the limit is "
        f"{LIMIT / _OPERATIONS_PER_SECOND:.0f} seconds. Use method='sampled', explain fewer rows "
        "with at=, or leave out features."
    )


def _block(sample: Sample, rows: IntArray, *, all_features: bool, measure: Measure) -> Plan:
    looked_at = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS_LOOKED_AT)).astype(int)]
    n_features = sample.shape[1]
    per_row = 0.0
    for row in looked_at.tolist():
        free = n_features
        if not all_features:
            free = int((sample.codes != sample.codes[row]).any(axis=0).sum())
        if free > _MAX_LATTICE_FEATURES:
            # Without a look at the data: every subset, and the slots of each.
            per_row += 2.0 ** min(free, 1000) * 6 * (sample.sums.shape[1] + 2)
        else:
            per_row += sample.kernel.lattice_cost(row, all_features, measure == "gain")
    return Plan("block search", per_row / max(len(looked_at), 1) * len(rows), 1e6)


def _shared(sample: Sample, *, measure: Measure, limit: float) -> Plan:
    """Count what it costs, as far as another way's operations."""
    n, p = sample.shape
    visits = sample.kernel.shared_partition_cost(measure == "gain", limit / _PER_VISIT[measure])
    return Plan("shared partition", _PER_VISIT[measure] * visits, 80.0 * n * p)


def _dual(sample: Sample, rows: IntArray) -> Plan:
    n, p = sample.shape
    n_sets = 2.0 ** min(n - 1, 1000)
    operations = len(rows) * (n_sets * _PER_DUAL_SET * n + n * p)
    # Beyond this the transform loses digits, so that it is no exact way any more.
    possible = n - 1 <= _MAX_DUAL_ROWS
    return Plan("row dual", operations if possible else float("inf"), 24.0 * n_sets)


def _row_sets(sample: Sample, rows: IntArray) -> Plan:
    n, p = sample.shape
    # Every set of the other rows may occur, and is left by at most every feature.
    n_sets = 2.0 ** min(n - 1, p, 1000)
    words = np.ceil(n / 64) + sample.sums.shape[1]
    operations = len(rows) * n_sets * p * (words + _PER_EDGE)
    possible = n - 1 <= _MAX_ROW_SET_ROWS
    return Plan("row sets", operations if possible else float("inf"), n_sets * (8 * words + 100))


def _time(seconds: float) -> str:
    for unit, size in (("year", 3.15e7), ("day", 86400.0), ("hour", 3600.0)):
        if seconds >= size:
            return count(round(min(seconds / size, 1e6)), unit)
    return count(round(seconds), "second")


def exact_rows(
    sample: Sample,
    rows: IntArray,
    *,
    plan: Plan,
    run: Run,
    measure: Measure = "drop",
    by_size: bool = False,
) -> FloatArray:
    """Return the local importances of distinct rows of the sample, (n_rows, n_features).

    Or `by_size` of the context, (n_rows, n_features, n_features), which the block search knows.

    Examples
    --------
    >>> from localmdi.infinite.categorical_sample import read_samples
    >>> (sample,) = read_samples([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> plan = Plan("block search", 0.0, 0.0)
    >>> exact_rows(sample, np.array([2]), plan=plan, run=Run(), by_size=True)
    array([[[0. , 0.5],
            [0. , 0.5]]])
    """
    if plan.method == "shared partition":
        values = np.empty(sample.shape)
        sample.kernel.shared_partition(measure == "gain", values, run.n_threads)
        run.advance(len(rows))
        return values[rows]
    if plan.method == "row dual":
        values = np.empty((len(rows), sample.shape[1]))
        sample.kernel.row_dual(rows, values, run.n_threads)
        run.advance(len(rows))
        return values
    if plan.method == "row sets":
        # On rows of the sample all rules for unseen values are the same.
        return unseen_rows(
            sample, sample.codes[rows], unseen="skip", budget=np.inf, run=run, measure=measure
        )[0]
    p = sample.shape[1]
    values = np.zeros((len(rows), p, p) if by_size else (len(rows), p))
    for i, row in enumerate(rows.tolist()):
        features, terms = _search(sample, row, all_features=by_size, measure=measure, run=run)
        values[i, features] = terms if by_size else terms.sum(axis=1)
        run.advance(1)
    return values


def _search(
    sample: Sample, row: int, *, all_features: bool, measure: Measure, run: Run
) -> tuple[IntArray, FloatArray]:
    """Search the lattice of a row: its features, and the terms of Eq. 11 by feature and size k.

    The drop comes from sums of g, the impurity of the rows that equal x on S less that of x itself:
    w(k) [Σ_{S∌m} g(S) − Σ_{T∋m} g(T)], |S| = k, |T| = k + 1. The gain comes from sums over edges.
    """
    if measure == "gain":
        features, edges = sample.kernel.lattice_gain(row, all_features, run.n_threads)
        p = len(features)
        sums = edges.reshape(p, p)
    else:
        features, total, member, _ = sample.kernel.lattice(row, all_features, False, run.n_threads)
        p = len(features)
        member = member.reshape(p + 1, p)
        sums = total[:-1, np.newaxis] - member[:-1] - member[1:]
    weight = np.array([1 / (comb(p, k) * (p - k)) for k in range(p)])
    return features, np.asarray(sums.T * weight)


def path_rules(unseen: Unseen, measure: Measure) -> _core.PathRules:
    """Return how paths are followed and what their edges count for, for the kernels."""
    return _core.PathRules(_UNSEEN[unseen], measure == "gain")


def unseen_rows(
    sample: Sample,
    codes: Codes,
    *,
    unseen: Unseen,
    budget: float,
    run: Run,
    measure: Measure = "drop",
    numbers: FloatArray | None = None,
    by_size: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Follow any rows, also such that are not in the sample, through all distinct row sets.

    `numbers` are the rows' numeric features, for a sample that has some.

    Returns
    -------
    values : ndarray of shape (n_rows, n_features), or (n_rows, n_features, n_features)
        The local importances, or `by_size`: by the number of features asked before.
    ends : ndarray of shape (n_rows, 3)
        Mean impurity at the end of the path, support, and whether the budget was enough (else the
        row's values are not complete).

    Examples
    --------
    >>> from localmdi.infinite.categorical_sample import read_samples
    >>> (sample,) = read_samples([[0, 0], [0, 1], [1, 0]], [0, 1, 1])
    >>> x = np.array([[1, 1]], dtype=np.int32)
    >>> unseen_rows(sample, x, unseen="stop", budget=1e6, run=Run())[1]
    array([[0., 1., 1.]])
    """
    n, p = codes.shape
    values, ends = np.zeros((n, p)), np.zeros((n, 3))
    profile = np.zeros((n, p * p) if by_size else (0, 0))
    rules = path_rules(unseen, measure)
    mixed = None if numbers is None else sample.mixed
    kernel, numbers = (sample.kernel, None) if mixed is None else (mixed, numbers)
    by = profile if by_size else None
    kernel.row_sets(codes, numbers, rules, budget, values, ends, by, run.n_threads)
    run.advance(int(ends[:, 2].sum()))
    return profile.reshape(n, p, p) if by_size else values, ends
