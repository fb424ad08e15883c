"""The rows' own values column by column: numbers, or positions of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from localmdi._text import cell_number, count
from localmdi._validation import default_names, find_missing, learn_categories, read_columns
from localmdi.results.own_data import feature_columns, take_own, take_table

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["DataColumn", "cell_text", "read_data", "read_table"]

# Of more columns than this, those of the features with the largest values are looked at.
_MOST_COLUMNS = 100


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
    result: LocalImportance, rows: slice | IntArray, *, columns: slice | IntArray
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
    return None if chosen is None else _read(chosen)[1]


def read_table(result: LocalImportance, X: Any = None) -> tuple[list[str], list[DataColumn]]:
    """Return names and columns of what is known about the rows: of X, or else of the data kept.

    Of more than a hundred columns that are features, those with the largest values.
    """
    data = result.data if X is None else X
    if data is None:
        raise ValueError(
            "this needs the rows' own values, and the result has none. Pass the rows that were "
            "explained with result.with_data(X) first."
        )
    if not hasattr(data, "shape"):
        data = np.asarray(data)
    if data.shape[0] != len(result) or len(data.shape) != 2:
        raise ValueError(
            f"the rows' own values must be a table of {count(len(result), 'row')}, those that "
            f"were explained; got shape {tuple(data.shape)}. Select the same rows."
        )
    place = feature_columns(data, result.feature_names)
    if place is None:
        return _read(data)
    strength = np.asarray(abs(result.values).sum(axis=0)).ravel()
    most = np.sort(np.argsort(-strength, kind="stable")[:_MOST_COLUMNS])
    chosen = take_table(data, slice(None), columns=place[most])
    return [result.feature_names[i] for i in most], _read(chosen)[1]


def cell_text(column: DataColumn, row: int) -> str:
    """Return what a row holds in a column, in words."""
    value = column.raw[row]
    if np.isnan(column.position[row]):
        return "missing"
    if column.categories is not None:
        return column.categories[int(column.position[row])]
    return cell_number(float(value))


def _read(table: Any) -> tuple[list[str], list[DataColumn]]:
    columns = read_columns(table.toarray() if issparse(table) else table)
    kinds = zip(columns.arrays, columns.is_categorical, strict=True)
    return (
        list(columns.names or default_names(columns.shape[1])),
        [_read_column(array, is_categorical=flag) for array, flag in kinds],
    )


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
