"""Which rows and features of a result are shown, and what must hold for a result to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from localmdi.results.fields import Matrix
    from localmdi.typing import FloatArray, IntArray

__all__ = [
    "check_local",
    "check_rows",
    "check_size",
    "largest_features",
    "mean_absolute",
    "row_position",
    "spread_rows",
]

_BLOCK = 1 << 22


def check_local(result: Any, display: str) -> LocalImportance:
    """Return a local result that has rows and features.

    Examples
    --------
    >>> check_local([0.5], "BeeswarmDisplay")
    Traceback (most recent call last):
    TypeError: BeeswarmDisplay shows a LocalImportance; got list...
    """
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance; got {type(result).__name__}. "
            "Pass what local_mdi, decompose_global or infinite_mdi returned."
        )
    check_rows(*result.shape)
    return result


def check_rows(n_rows: int, n_features: int) -> None:
    """Refuse what has nothing to show.

    Examples
    --------
    >>> check_rows(0, 5)
    Traceback (most recent call last):
    ValueError: a picture needs at least one row and one feature; got 0 rows and 5 features...
    """
    if not n_rows or not n_features:
        raise ValueError(
            f"a picture needs at least one row and one feature; got {n_rows} rows and "
            f"{n_features} features. Select some before drawing."
        )


def check_size(field: str, value: Any) -> int:
    """Return a positive whole number.

    Examples
    --------
    >>> check_size("max_features", 0)
    Traceback (most recent call last):
    ValueError: max_features must be a positive whole number; got 0...
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise ValueError(
            f"{field} must be a positive whole number; got {value!r}. Pass how many to show."
        )
    return int(value)


def row_position(row: Any, n_rows: int) -> int:
    """Return the position of one row, counted from the end if it is negative.

    Examples
    --------
    >>> row_position(-1, 3)
    2
    """
    whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
    if not whole:
        raise TypeError(
            f"row must be the position of a row, a whole number; got {row!r}. "
            "To draw several rows, call once for each."
        )
    if not -n_rows <= row < n_rows:
        raise IndexError(
            f"row must lie in [{-n_rows}, {n_rows}); got {row}. Compare with len(result)."
        )
    return int(row) % n_rows


def largest_features(strength: FloatArray, max_features: Any) -> IntArray:
    """Return the columns of the strongest features, strongest first; of equal ones the first.

    Examples
    --------
    >>> largest_features(np.array([0.1, 0.5, 0.1]), 2)
    array([1, 0])
    """
    k = check_size("max_features", max_features)
    return np.argsort(-np.abs(strength), kind="stable")[:k].astype(np.int64)


def mean_absolute(values: Matrix) -> FloatArray:
    """Return the mean absolute value of each column, without a copy of the whole matrix.

    Examples
    --------
    >>> mean_absolute(np.array([[1.0, -2.0], [3.0, 4.0]]))
    array([2., 3.])
    """
    n_rows, n_features = values.shape
    total = np.zeros(n_features)
    step = max(1, _BLOCK // n_features)
    for start in range(0, n_rows, step):
        total += abs(values[start : start + step]).sum(axis=0)
    return np.asarray(total / n_rows)


def spread_rows(n_rows: int, max_rows: Any) -> IntArray:
    """Return all rows, or so many of them at even distances: the same ones every time.

    Examples
    --------
    >>> spread_rows(10, 3)
    array([0, 4, 9])
    """
    k = check_size("max_rows", max_rows)
    if n_rows <= k:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, k).astype(np.int64)
