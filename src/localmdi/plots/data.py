"""The values of the explained rows, as pictures need them: on a scale, or as a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import find_missing, learn_categories, read_columns
from localmdi.plots.labels import MINUS, elide
from localmdi.results.axes import take_table

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["DataColumn", "cell_text", "read_data"]


@dataclass(frozen=True, eq=False)
class DataColumn:
    """The values of one feature.

    Parameters
    ----------
    raw : ndarray of shape (n_rows,)
        The values themselves.
    position : ndarray of float64, shape (n_rows,)
        The numbers, or the positions of the categories; NaN where a value is missing.
    categories : tuple of str or None
        The categories in the order of their positions; None for numbers.

    Examples
    --------
    >>> DataColumn(np.array([3]), np.array([3.0])).categories is None
    True
    """

    raw: AnyArray
    position: FloatArray
    categories: tuple[str, ...] | None = None


def read_data(
    result: LocalImportance, rows: slice | IntArray, *, columns: IntArray
) -> list[DataColumn] | None:
    """Return some columns of the data kept in a result; None if none match its features.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.ones((2, 1)), 1.0, residual=np.zeros(2), unit="bits",
    ...     feature_names=("sex",), n_trees=1, data=np.array([["m"], ["f"]]))
    >>> column = read_data(result, slice(None), columns=np.array([0]))[0]
    >>> column.position, column.categories
    (array([1., 0.]), ('f', 'm'))
    """
    data = result.data
    if data is None or data.shape[1:] != (len(result.feature_names),):
        return None
    chosen = take_table(data, rows, columns=columns)
    table = read_columns(chosen.toarray() if hasattr(chosen, "toarray") else chosen)
    return [
        _read_column(array, is_categorical=flag)
        for array, flag in zip(table.arrays, table.is_categorical, strict=True)
    ]


def cell_text(value: Any, width: int = 14) -> str:
    """Return a value as a word beside its feature's name.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(54.0), cell_text(float("nan")), cell_text("north")
    ('0.1235', '54', 'missing', 'north')
    """
    if find_missing(np.array([value], dtype=object))[0]:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer) and -(10**8) < int(value) < 10**8:
        return str(int(value)).replace("-", MINUS)
    if isinstance(value, int | float | np.integer | np.floating):
        return f"{float(value):.4g}".replace("-", MINUS)
    return elide(value, width)


def _read_column(array: AnyArray, *, is_categorical: bool) -> DataColumn:
    numbers = None if is_categorical and array.dtype.kind != "O" else _as_numbers(array)
    if numbers is not None:
        return DataColumn(array, numbers)
    categories = learn_categories(array)
    code = categories.encode(array).astype(np.float64)
    code[find_missing(array)] = np.nan
    return DataColumn(array, code, tuple(str(value) for value in categories.values))


def _as_numbers(array: AnyArray) -> FloatArray | None:
    """Return numbers as floats, objects that are numbers too; None for anything else."""
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    missing = find_missing(array)
    known = array[~missing]
    numeric = (isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in known)
    if array.dtype.kind != "O" or not len(known) or not all(numeric):
        return None
    numbers = np.full(len(array), np.nan)
    numbers[~missing] = known.astype(np.float64)
    return numbers
