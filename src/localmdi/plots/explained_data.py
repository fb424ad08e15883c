"""What is known about the rows besides their importances: their own values, and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localmdi._validation import find_missing, learn_categories, read_columns
from localmdi.results.own_data import take_own

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray

__all__ = ["DataColumn", "Groups", "read_data", "read_groups"]


@dataclass(frozen=True, eq=False)
class DataColumn:
    """The rows' own values of one feature.

    Parameters
    ----------
    raw : ndarray of shape (n_rows,)
        The values themselves.
    position : ndarray of float64, shape (n_rows,)
        The numbers, or the positions of the categories; NaN where a value is missing.
    categories : tuple of str or None
        The categories in the order of their positions; None for numbers.
    """

    raw: AnyArray
    position: FloatArray
    categories: tuple[str, ...] | None = None


def read_data(
    result: LocalImportance, rows: slice | IntArray, *, columns: IntArray
) -> list[DataColumn] | None:
    """Return some columns of the data kept in a result; None if they are not its features.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.ones((2, 1)), 1.0, residual=np.zeros(2), unit="bits",
    ...     feature_names=("sex",), n_trees=1, data=np.array([["m"], ["f"]]))
    >>> column = read_data(result, slice(None), columns=np.array([0]))[0]
    >>> column.position, column.categories
    (array([1., 0.]), ('f', 'm'))
    """
    chosen = take_own(result, rows, columns=columns)
    if chosen is None:
        return None
    table = read_columns(chosen.toarray() if hasattr(chosen, "toarray") else chosen)
    return [
        _read_column(array, is_categorical=flag)
        for array, flag in zip(table.arrays, table.is_categorical, strict=True)
    ]


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


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every row.

    Parameters
    ----------
    names : tuple of str
        The distinct labels, sorted if they can be; "missing" last if some row has none.
    code : ndarray of int64, shape (n_rows,)
        The position of each row's label in names.
    """

    names: tuple[str, ...]
    code: IntArray

    def take(self, rows: IntArray) -> Groups:
        """Return the groups of some rows; all names stay, so that colours do."""
        return Groups(self.names, self.code[rows])


def read_groups(labels: ArrayLike, n_rows: int) -> Groups:
    """Read labels of any array-like type.

    Examples
    --------
    >>> groups = read_groups(["well", "ill", "well"], 3)
    >>> groups.names, groups.code
    (('ill', 'well'), array([1, 0, 1]))
    """
    items = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    array = np.asarray(items)
    if array.dtype.kind in "US" and not isinstance(items, np.ndarray):
        array = np.array(items, dtype=object)  # a mixed list keeps its numbers
    if array.shape != (n_rows,):
        raise ValueError(
            f"by must have one label per row, shape ({n_rows},); got shape {array.shape}. "
            "Pass the labels of exactly these rows."
        )
    categories = learn_categories(array)
    names = [str(value) for value in categories.values]
    code = categories.encode(array)
    missing = find_missing(array)
    if missing.any():
        code[missing] = len(names)
        names.append("missing")
    return Groups(tuple(names), code)
