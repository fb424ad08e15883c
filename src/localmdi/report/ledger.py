"""The additivity ledger: what adds up to what, computed on all rows and not only claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localmdi.report.text import clean

if TYPE_CHECKING:
    from localmdi.results import GlobalImportance, LocalImportance

__all__ = ["Entry", "check_ledger"]

# Sums of thousands of terms in float64 differ by less than this, relative to their size.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Entry:
    """One checked statement: it holds or not, and `text` gives the number.

    Examples
    --------
    >>> Entry(True, "Every row adds up.").holds
    True
    """

    holds: bool
    text: str


def check_ledger(
    result: LocalImportance, global_importance: GlobalImportance | None
) -> tuple[Entry, ...]:
    """Check that rows add up to root minus leaf, and their mean to the global importance.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> rows, mean = check_ledger(result, result.mean())
    >>> rows.holds, mean.holds
    (True, True)
    >>> print(rows.text)
    Each row's values add up to root minus leaf. Largest difference over all 2 rows: 0 bits.
    """
    entries = [_rows_entry(result)]
    if global_importance is not None:
        entries.append(_mean_entry(result, global_importance))
    return tuple(entries)


def _rows_entry(result: LocalImportance) -> Entry:
    gap = result.additivity_error()
    size = max(float(np.abs(result.baseline).max()), float(np.abs(result.residual).max()))
    measured = f"Largest difference over all {len(result):,} rows: {gap:.2g} {clean(result.unit)}."
    if gap <= _ROUNDING * size:
        return Entry(True, f"Each row's values add up to root minus leaf. {measured}")
    if np.isnan(gap):
        return Entry(False, "The sums of rows cannot be checked: some values are not numbers.")
    return Entry(
        False,
        f"The values of a row do not add up to root minus leaf. {measured} That is so when "
        "features were left out of the result.",
    )


def _mean_entry(result: LocalImportance, global_importance: GlobalImportance) -> Entry:
    expected = global_importance.values
    gap = float(np.abs(result.mean().values - expected).max(initial=0.0))
    measured = f"Largest difference over all {len(expected):,} features: {gap:.2g}"
    measured = f"{measured} {clean(result.unit)}."
    if gap <= _ROUNDING * float(np.abs(expected).max(initial=0.0)):
        return Entry(True, f"The mean over all rows is the forest's global importance. {measured}")
    return Entry(
        False,
        f"The mean over these rows is not the forest's global importance. {measured} The two are "
        "equal for the rows, and weights, on which every tree was grown; other rows differ, and "
        "so do bootstrap samples, in which a row counts as often as it was drawn. The shares of "
        "decompose_global add up in that case too.",
    )
