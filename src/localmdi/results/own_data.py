"""The explained rows that a result keeps: which columns are its features, and what they hold.

A data frame's columns are found by name, in any order; an array's are the features if there are as
many of both. Where the features are others than the columns, as behind the steps of a Pipeline, a
result cannot say what a feature's value was, and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from localmdi._text import cell_number, count, quote_names
from localmdi._validation import (
    default_names,
    find_missing,
    is_missing,
    learn_categories,
    read_columns,
)

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray, Names

# From so many rows on, values that all differ are no accident; so many values with so few rows each
# are as good as names of the rows.
_FEW_ROWS = 20
_NEARLY = 0.95
_MANY_VALUES = 50
_ROWS_EACH = 20

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


def is_everything(key: slice | IntArray) -> bool:
    """Tell whether a key is ``:``."""
    return isinstance(key, slice) and key == slice(None)


def take_table(table: Any, rows: slice | IntArray, *, columns: slice | IntArray) -> Any:
    """Return rows and columns of an array, a sparse array or a data frame, of the same type."""
    if getattr(table, "ndim", 2) == 1:
        return table[rows]
    if isinstance(table, np.ndarray) or issparse(table):
        if issparse(table) and table.format not in ("csr", "csc"):
            table = table.tocsr()
        table = table if is_everything(rows) else table[rows]
        return table if is_everything(columns) else table[:, columns]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(table, eager_only=True)
    if not is_everything(rows):
        frame = frame[np.arange(len(frame))[rows].tolist()]
    if not is_everything(columns):
        frame = frame[:, np.arange(frame.shape[1])[columns].tolist()]
    return frame.to_native()


def feature_columns(data: Any, names: Names) -> IntArray | None:
    """Return for each feature the position of its column in the rows; None if one has none.

    Examples
    --------
    >>> import pandas
    >>> feature_columns(pandas.DataFrame({"b": [1], "a": [2]}), ("a", "b"))
    array([1, 0])
    >>> feature_columns(np.ones((1, 2)), ("a", "b"))
    array([0, 1])
    """
    if data is None or len(data.shape) != 2:
        return None
    columns = _column_names(data)
    same_number = data.shape[1] == len(names)
    if columns is None or columns == list(names):
        return np.arange(len(names)) if same_number else None
    place = {name: i for i, name in enumerate(columns)}
    if len(place) < len(columns) or not all(name in place for name in names):
        return None
    return np.array([place[name] for name in names], dtype=np.int64)


def take_own(result: LocalImportance, rows: slice | IntArray, *, columns: slice | IntArray) -> Any:
    """Return what some rows hold in the columns of some features; None if that is not known."""
    place = feature_columns(result.data, result.feature_names)
    return None if place is None else take_table(result.data, rows, columns=place[columns])


def too_many_values(n_values: int, n_rows: int, *, whole_numbers: bool = False) -> str | None:
    """Say what is suspicious about a column with so many different values; None if nothing is.

    Measurements may all differ; whole numbers and text that do are names of the rows.

    Examples
    --------
    >>> too_many_values(1000, 1000)
    'has a different value in every row, like an identifier'
    >>> too_many_values(200, 1000), too_many_values(30, 1000)
    ('has 200 different values, about 5 rows each', None)
    """
    if n_rows < _FEW_ROWS:
        return None
    if n_values == n_rows:
        return "has a different value in every row, like an identifier"
    if n_values >= _NEARLY * n_rows:
        return f"has {n_values:,} different values in {n_rows:,} rows, like an identifier"
    if not whole_numbers and n_values >= _MANY_VALUES and n_rows < _ROWS_EACH * n_values:
        return f"has {n_values:,} different values, about {count(n_rows // n_values, 'row')} each"
    return None


def match_data(result: LocalImportance, X: Any) -> Any:
    """Return the rows' own values, one column per feature in the order of the features."""
    n_rows, n_features = result.shape
    shape = tuple(getattr(X, "shape", ()))
    names = _column_names(X)
    if names is None and shape != result.shape:
        raise ValueError(
            f"an array must have the shape ({n_rows}, {n_features}) of the result, one column per "
            f"feature; got {f'shape {shape}' if shape else type(X).__name__}. "
            "Pass the rows that were explained."
        )
    if shape[:1] != (n_rows,):
        raise ValueError(
            f"the data must have {count(n_rows, 'row')}, those that were explained; got "
            f"{shape[0]:,}. Select the same rows."
        )
    place = feature_columns(X, result.feature_names)
    if place is None:
        absent = [name for name in result.feature_names if name not in set(names or ())]
        raise ValueError(
            "the data must have one column for every feature; got none, or several, named "
            f"{quote_names(absent or result.feature_names)}. Rename the columns, or group the "
            "features that were made of one column with result.group(...) first."
        )
    return take_table(X, slice(None), columns=place)


def group_data(result: LocalImportance, names: Names, *, column: IntArray) -> Any:
    """Return what the rows hold after features were grouped, as `group_columns` says.

    A group of indicators, columns of 0 and 1, has the name of those that are 1; another group
    lists what its members hold. Data that are not the features' own stay what they are: a group
    may have the name of the column that its members were made of.
    """
    data = result.data
    place = feature_columns(data, result.feature_names)
    if place is None or feature_columns(data, names) is not None:
        return data
    if issparse(data):
        # A table of text for very many rows and features would be as large as they are dense.
        return None
    members = [np.flatnonzero(column == group) for group in range(len(names))]
    if isinstance(data, np.ndarray):
        grouped = np.empty((len(data), len(names)), dtype=object)
        for group, chosen in enumerate(members):
            parts = [data[:, place[i]] for i in chosen]
            grouped[:, group] = parts[0] if len(parts) == 1 else _texts(result, chosen, parts=parts)
        return grouped
    return _grouped_frame(result, names, members=members)


def _grouped_frame(result: LocalImportance, names: Names, *, members: list[IntArray]) -> Any:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(result.data, eager_only=True)
    place = feature_columns(result.data, result.feature_names)
    columns = []
    for name, chosen in zip(names, members, strict=True):
        parts = [frame[:, int(place[i])] for i in chosen] if place is not None else []
        if len(parts) == 1:
            columns.append(parts[0].alias(name))
            continue
        cells = [np.array(part.to_list(), dtype=object) for part in parts]
        texts = _texts(result, chosen, parts=cells)
        new = nw.new_series(name, texts, nw.String, backend=frame.implementation)
        columns.append(new)
    native = nw.from_dict({column.name: column for column in columns}).to_native()
    if hasattr(native, "index"):
        native.index = result.data.index
    return native


def _texts(result: LocalImportance, chosen: IntArray, *, parts: list[AnyArray]) -> list[str]:
    """Return in words what the members of a group hold, row by row."""
    names = [result.feature_names[i] for i in chosen]
    if all(value is not None and value in (0, 1) for part in parts for value in part.tolist()):
        start = _common_start(names)
        short = [name[start:] for name in names]
        rows = (
            [name for name, on in zip(short, row, strict=True) if on]
            for row in zip(*parts, strict=True)
        )
        return [", ".join(row) or "none" for row in rows]
    return [
        ", ".join(f"{name} {_cell(value)}" for name, value in zip(names, row, strict=True))
        for row in zip(*parts, strict=True)
    ]


def _common_start(names: list[str]) -> int:
    """Return how many first letters the names share, up to a separator."""
    shortest = min(map(len, names))
    same = 0
    while same < shortest - 1 and len({name[same] for name in names}) == 1:
        same += 1
    ends = [i + 1 for i, letter in enumerate(names[0][:same]) if letter in "_=:. "]
    return ends[-1] if ends else 0


def _cell(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _column_names(data: Any) -> list[str] | None:
    """Return the names of a data frame's columns; None for arrays and columns without names."""
    found = getattr(data, "column_names", None)
    found = getattr(data, "columns", None) if found is None else found
    names = None if found is None else list(found)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


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
            "explained with result.attach_data(X) first."
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
