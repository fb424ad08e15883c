"""The part of a result that a picture shows: its rows and features, chosen and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi._text import count
from localmdi.plots.captions import row_title
from localmdi.results import GlobalImportance, LocalImportance
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from localmdi.results.fields import Matrix
    from localmdi.typing import FloatArray, IntArray

__all__ = [
    "check_local",
    "check_rows",
    "largest_features",
    "mean_absolute",
    "row_position",
    "row_values",
    "spread_rows",
]

_BLOCK = 1 << 22


def check_local(result: object, display: str) -> None:
    """Raise unless this is a local result with rows and features."""
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance; got {type(result).__name__}. "
            "Pass what local_mdi, decompose_global or infinite_mdi returned."
        )
    check_rows(*result.shape)


def check_rows(n_rows: int, n_features: int) -> None:
    """Raise if there is nothing to show."""
    if not n_rows or not n_features:
        raise ValueError(
            "a picture needs at least one row and one feature; got "
            f"{count(n_rows, 'row')} and {count(n_features, 'feature')}. "
            "Select some before drawing."
        )


def row_position(row: object, n_rows: int) -> int:
    """Return the position of one row, counted from the end if it is negative."""
    if not isinstance(row, int | np.integer) or isinstance(row, bool):
        raise TypeError(
            f"row must be the position of a row, an integer; got {row!r}. "
            "To draw several rows, call once for each."
        )
    if not -n_rows <= row < n_rows:
        raise IndexError(
            f"row must lie in [{-n_rows}, {n_rows}); got {row}. Compare with len(result)."
        )
    return int(row) % n_rows


def row_values(
    result: object, row: int | None, *, display: str
) -> tuple[FloatArray, str, int | None]:
    """Return the values of one row or of the mean over rows, their title, and the position."""
    if isinstance(result, GlobalImportance):
        check_rows(1, len(result))
        if row is not None:
            raise ValueError(
                f"row must be None for a GlobalImportance, which has no rows; got {row!r}. "
                "Pass the LocalImportance to see one of its rows."
            )
        return result.values, "mean over rows", None
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance or a GlobalImportance; got "
            f"{type(result).__name__}. Pass what local_mdi or global_mdi returned; for an array "
            f"call {display}(values, unit=…).plot()."
        )
    check_rows(*result.shape)
    if row is None:
        return result.mean().values, "mean over rows", None
    position = row_position(row, len(result))
    values = np.asarray(dense(result.values[[position]])[0])
    return values, row_title(result, position), position


def largest_features(strength: FloatArray, max_features: int) -> IntArray:
    """Return the columns of the strongest features, strongest first; of equal ones the first.

    Examples
    --------
    >>> largest_features(np.array([0.1, 0.5, 0.1]), 2)
    array([1, 0])
    """
    k = _check_size("max_features", max_features)
    return np.argsort(-np.abs(strength), kind="stable")[:k].astype(np.int64)


def mean_absolute(values: Matrix) -> FloatArray:
    """Return the mean absolute value of each column, without a copy of the whole matrix."""
    n_rows, n_features = values.shape
    total = np.zeros(n_features)
    step = max(1, _BLOCK // n_features)
    for start in range(0, n_rows, step):
        total += abs(values[start : start + step]).sum(axis=0)
    return np.asarray(total / n_rows)


def spread_rows(n_rows: int, max_rows: int) -> IntArray:
    """Return all rows, or `max_rows` of them at even distances: the same ones every time.

    Examples
    --------
    >>> spread_rows(10, 3)
    array([0, 4, 9])
    """
    k = _check_size("max_rows", max_rows)
    if n_rows <= k:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, k).astype(np.int64)


def _check_size(field: str, value: object) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"{field} must be a positive integer; got {value!r}. Pass how many to show."
        )
    return int(value)
