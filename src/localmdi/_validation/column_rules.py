"""What some libraries do to the values of a column before they compare them."""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localmdi.typing import AnyArray, BoolArray

__all__ = ["ColumnRule", "apply_column_rules", "has_effect"]

# LightGBM's kZeroThreshold, a float32.
_NEARLY_ZERO = float(np.float32(1e-35))


class ColumnRule(IntFlag):
    """What happens to the values of a feature before a forest routes them; rules add up.

    Examples
    --------
    >>> ColumnRule.ZERO_IS_MISSING | ColumnRule.TRUNCATE
    <ColumnRule.ZERO_IS_MISSING|TRUNCATE: 3>
    """

    ZERO_IS_MISSING = 1
    """|x| ≤ 1e-35 counts as missing (LightGBM's ``zero_as_missing``)."""
    TRUNCATE = 2
    """x loses its fraction: 2.7 is the category 2, -0.5 the category 0 (LightGBM)."""
    ABSENT_IS_MISSING = 4
    """What a sparse X does not store is missing, not zero (XGBoost)."""
    FLOOR = 8
    """x is rounded down: 2.7 is the category 2, -0.5 is none (XGBoost)."""


def has_effect(rules: NDArray[np.uint8], *, sparse: bool) -> bool:
    """Whether the rules can change rows that are stored so."""
    return bool(rules.any() if sparse else (rules & ~np.uint8(ColumnRule.ABSENT_IS_MISSING)).any())


def apply_column_rules(batch: Any, rules: NDArray[np.uint8]) -> AnyArray:
    """Return a batch of rows as the rules make it, always dense; the batch itself is not changed.

    Examples
    --------
    >>> apply_column_rules(np.array([[0.0, 2.7]]), np.array([1, 2], dtype=np.uint8))
    array([[nan,  2.]])
    """
    rows: AnyArray
    if hasattr(batch, "indptr"):
        rows = batch.toarray()
        absent = _has(rules, ColumnRule.ABSENT_IS_MISSING)
        if absent.any():
            stored = type(batch)(
                (np.ones(len(batch.data), dtype=np.int8), batch.indices, batch.indptr),
                shape=batch.shape,
            )
            rows[(stored.toarray() == 0) & absent] = np.nan
    else:
        rows = batch.copy()
    for column in np.flatnonzero(_has(rules, ColumnRule.ZERO_IS_MISSING)):
        rows[np.abs(rows[:, column]) <= _NEARLY_ZERO, column] = np.nan
    for rule, rounded in ((ColumnRule.TRUNCATE, np.trunc), (ColumnRule.FLOOR, np.floor)):
        for column in np.flatnonzero(_has(rules, rule)):
            rounded(rows[:, column], out=rows[:, column])
    return rows


def _has(rules: NDArray[np.uint8], rule: ColumnRule) -> BoolArray:
    has: BoolArray = (rules & rule) != 0
    return has
