"""Which exact way is cheapest, by counted operations: the same choice on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.infinite.sample import Sample
    from localmdi.typing import IntArray

__all__ = ["BUDGET", "LIMIT", "Plan", "cheapest", "refuse"]

# Operations are additions of the block search; about four of them take a nanosecond. A visit of
# the shared partition and a set of the row dual were measured against them.
BUDGET = 1e10
LIMIT = 2e12
_PER_VISIT = 40.0
_PER_DUAL_SET = 20.0
_OPERATIONS_PER_SECOND = 4e9

_MAX_LATTICE_FEATURES = 62
_MAX_DUAL_ROWS = 20
_ROWS_LOOKED_AT = 8


@dataclass(frozen=True)
class Plan:
    """An exact way and what it costs.

    Parameters
    ----------
    method : {"block search", "shared partition", "row dual"}
        The way.
    operations : float
        Counted, or estimated from random descents with a fixed seed.
    memory : float
        Bytes beside the result.

    Examples
    --------
    >>> Plan("row dual", 4e9, 1e6).seconds
    1.0
    """

    method: str
    operations: float
    memory: float

    @property
    def seconds(self) -> float:
        """Time on one thread of a usual machine."""
        return self.operations / _OPERATIONS_PER_SECOND


def cheapest(sample: Sample, rows: IntArray, *, all_features: bool = False) -> Plan:
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

    Examples
    --------
    >>> from localmdi.infinite.sample import read_sample
    >>> bits = np.arange(12)[:, np.newaxis] >> np.arange(4) & 1
    >>> sample = read_sample(np.tile(bits, 500), np.arange(12) % 3)
    >>> cheapest(sample, np.arange(12)).method
    'row dual'
    """
    plans = [_block(sample, rows, all_features=all_features)]
    if not all_features:
        plans.append(_dual(sample, rows))
        # Counting for all rows takes sorting them often: not worth it where one row is cheap.
        n, p = sample.shape
        looking = 8.0 * n * p * (p + 40.0 * np.log2(n + 1.0))
        if min(plan.operations for plan in plans) > looking:
            plans.append(_shared(sample))
    return min(plans, key=lambda plan: plan.operations)


def refuse(plan: Plan) -> ValueError:
    """Return the error for an exact computation that would not end in reasonable time.

    Examples
    --------
    >>> print(refuse(Plan("block search", 8e13, 1e6)))
    the exact values must be computable within 500 seconds; the cheapest way, block search, would
    take about 6 hours and 1 MB. Use method='sampled', explain fewer rows with at=, or leave out
    features.
    """
    return ValueError(
        f"the exact values must be computable within {LIMIT / _OPERATIONS_PER_SECOND:.0f} seconds; "
        f"the cheapest way, {plan.method}, would take about {_time(plan.seconds)} and "
        f"{max(plan.memory / 1e6, 1):.3g} MB. Use method='sampled', explain fewer rows with at=, "
        "or leave out features."
    )


def _block(sample: Sample, rows: IntArray, *, all_features: bool) -> Plan:
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
            per_row += sample.kernel.lattice_cost(row, all_features)
    return Plan("block search", per_row / max(len(looked_at), 1) * len(rows), 1e6)


def _shared(sample: Sample) -> Plan:
    n, p = sample.shape
    return Plan(
        "shared partition", _PER_VISIT * sample.kernel.shared_partition_cost(), 80.0 * n * p
    )


def _dual(sample: Sample, rows: IntArray) -> Plan:
    n, p = sample.shape
    n_sets = 2.0 ** min(n - 1, 1000)
    operations = len(rows) * (n_sets * _PER_DUAL_SET * n + n * p)
    # Beyond this the transform loses digits, so that it is no exact way any more.
    possible = n - 1 <= _MAX_DUAL_ROWS
    return Plan("row dual", operations if possible else float("inf"), 24.0 * n_sets)


def _time(seconds: float) -> str:
    for unit, size in (("years", 3.15e7), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= size:
            return f"{min(seconds / size, 1e6):,.0f} {unit}"
    return f"{seconds:.0f} seconds"
