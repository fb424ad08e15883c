"""The two axes of a result: choose rows and features, join rows, add up groups of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from localmdi._text import quote_names
from localmdi.results.fields import FIELDS, lost
from localmdi.results.own_data import is_everything, take_own, take_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.results.fields import Matrix
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray, Names

Choice: TypeAlias = ArrayLike | slice
"""Rows by an int, a slice, a mask or ints; features also by one or more names."""

Result = TypeVar("Result")


def split_key(
    key: Choice | tuple[Choice, Choice], n_rows: int, *, names: Names
) -> tuple[slice | IntArray, slice | IntArray]:
    """Return the rows and the columns that ``result[key]`` means."""
    rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
    return row_positions(rows, n_rows), feature_positions(columns, names)


def row_positions(key: Choice, n_rows: int) -> slice | IntArray:
    """Return the rows chosen by an int, a slice, a mask or a list of ints."""
    if isinstance(key, slice):
        key.indices(n_rows)
        return key
    chosen = np.asarray([key] if isinstance(key, int | np.integer) else key)
    if chosen.dtype == object:
        chosen = np.array(chosen.tolist())
    wrong_type = chosen.size > 0 and chosen.dtype.kind not in "biu"
    if isinstance(key, tuple) or chosen.ndim != 1 or wrong_type:
        raise TypeError(
            "rows and positions are chosen by an int, a slice, a mask or a list of ints; got "
            f"{key!r}. For features by name write result[:, names]."
        )
    if chosen.dtype == np.bool_:
        if len(chosen) != n_rows:
            raise IndexError(
                f"a mask must have length {n_rows}; got {len(chosen)}. "
                "Build the mask from the same rows or features."
            )
        return np.flatnonzero(chosen)
    positions = chosen.astype(np.int64)
    if positions.size and not (-n_rows <= positions.min() and positions.max() < n_rows):
        raise IndexError(
            f"positions must lie in [{-n_rows}, {n_rows}); got {positions.min()} to "
            f"{positions.max()}. Compare with the shape of the result."
        )
    return np.where(positions < 0, positions + n_rows, positions)


def feature_positions(key: Choice, names: Names) -> slice | IntArray:
    """Return the columns chosen by a name, a list of names, or as rows are.

    Examples
    --------
    >>> feature_positions(["dose", "age"], ("age", "dose"))
    array([1, 0])
    """
    wanted: Any = [key] if isinstance(key, str) else key
    if not np.iterable(wanted) or not all(isinstance(name, str) for name in wanted):
        return row_positions(key, len(names))
    places: dict[str, list[int]] = {}
    for i, known in enumerate(names):
        places.setdefault(known, []).append(i)
    for name in wanted:
        if name not in places:
            raise KeyError(
                f"{name!r} is not among the features {quote_names(names)}. Choose one of these."
            )
        if len(places[name]) > 1:
            raise KeyError(f"feature {name!r} occurs more than once. Choose columns by position.")
    return np.array([places[name][0] for name in wanted], dtype=np.int64)


def select_fields(
    result: Any, rows: slice | IntArray, *, columns: slice | IntArray = slice(None)
) -> dict[str, Any]:
    """Return the fields of a result that change when rows and features are chosen."""
    every_row, every_column = is_everything(rows), is_everything(columns)
    chosen: dict[str, Any] = {}
    for name, value in vars(result).items():
        field = FIELDS.get(name)
        if field is None or value is None or isinstance(value, float):
            continue
        if field.join is lost and not every_row:
            chosen[name] = None
        elif field.axes == "f" and not every_column:
            is_tuple = isinstance(value, tuple)
            places = np.arange(len(value))[columns]
            chosen[name] = tuple(value[i] for i in places) if is_tuple else value[columns]
        elif name == "data" and not every_column:
            chosen[name] = take_own(result, rows, columns=columns)
        elif isinstance(value, dict) and field.axes == "r":
            chosen[name] = {key: part[rows] for key, part in value.items()}
        elif field.axes[:1] == "r":
            chosen[name] = take_table(
                value, rows, columns=columns if field.axes == "rf" else slice(None)
            )
    return chosen


def list_parts(parts: Iterable[Result], kind: type[Result]) -> list[Result]:
    """Return the parts of a result as a list, if they are of one kind."""
    parts = list(parts)
    if not parts or not all(isinstance(part, kind) for part in parts):
        given = sorted({type(part).__name__ for part in parts}) or "none"
        raise TypeError(
            f"parts must be one or more {kind.__name__}; got {given}. Pass a list of them."
        )
    return parts


def join_fields(parts: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that change when the rows of results are joined."""
    return {
        name: field.join(name, [getattr(part, name) for part in parts])
        for name, field in FIELDS.items()
        if field.join is not None and name in vars(parts[0])
    }


def known_groups(result: LocalImportance, name: str) -> dict[str, list[str]]:
    """Return the groups that ``group("auto")`` means, of the features that are there."""
    if name != "auto":
        raise TypeError(
            f"mapping must be a dict of group name → list of feature names, or 'auto'; got "
            f"{name!r}. Pass e.g. {{'color': ['color_red', 'color_blue']}}."
        )
    if result.groups is None:
        raise ValueError(
            "the result must know which features were made of one column, and does not: the model "
            "is not a Pipeline whose steps say so. Pass a dict of group name → list of feature "
            "names."
        )
    here = set(result.feature_names)
    found = {
        group: [member for member in members if member in here]
        for group, members in result.groups.items()
    }
    return {group: members for group, members in found.items() if members}


def group_columns(names: Names, mapping: Any) -> tuple[tuple[str, ...], IntArray]:
    """Return the names after grouping, and for each feature the column it goes to.

    A group takes the place of its first feature; a feature in no group keeps its name.

    Examples
    --------
    >>> group_columns(["a", "b_x", "c", "b_y"], {"b": ["b_x", "b_y"]})
    (('a', 'b', 'c'), array([0, 1, 2, 1]))
    """
    group_of = _group_of_feature(names, mapping)
    grouped: list[str] = []
    position: dict[str, int] = {}
    column = np.empty(len(names), dtype=np.int64)
    for i, name in enumerate(names):
        group = group_of.get(name)
        column[i] = len(grouped) if group is None else position.setdefault(group, len(grouped))
        if column[i] == len(grouped):
            grouped.append(name if group is None else group)
    for name, times in Counter(grouped).items():
        if times > 1 and name in position:
            raise ValueError(
                f"a group must not have the name of a feature outside it; got {name!r}. "
                "Rename the group or add the feature to it."
            )
    return tuple(grouped), column


def _group_of_feature(names: Names, mapping: Any) -> dict[str, str]:
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"mapping must be a dict of group name → list of feature names; got {mapping!r}. "
            "Pass e.g. {'color': ['color_red', 'color_blue']}."
        )
    known = set(names)
    group_of: dict[str, str] = {}
    for group, members in mapping.items():
        listed = isinstance(members, Iterable) and not isinstance(members, str)
        features = list(members) if listed else []
        if not isinstance(group, str) or not features:
            raise ValueError(
                f"a group must be a name with a list of at least one feature; got "
                f"{group!r}: {members!r}. Pass e.g. {{'color': ['color_red', 'color_blue']}}."
            )
        for name in features:
            if name not in known or name in group_of:
                reason = "twice" if name in group_of else "an unknown feature"
                raise ValueError(
                    f"every feature of the mapping must exist and be in one group; got {name!r}"
                    f" in {group!r}: {reason}. Compare with feature_names."
                )
            group_of[name] = group
    return group_of


def sum_fields(result: Any, column: IntArray, *, n_groups: int) -> dict[str, Any]:
    """Return the fields of a result that change when features are grouped, but their names.

    Errors are added too: how those of two features depend on each other is not known, and a
    standard deviation of a sum is at most the sum of the standard deviations.
    """
    return {
        name: sum_groups(value, column, n_groups=n_groups)
        for name, value in vars(result).items()
        if name in FIELDS and FIELDS[name].axes in ("f", "rf") and name != "feature_names"
        if value is not None
    }


def sum_groups(values: Matrix, column: IntArray, *, n_groups: int) -> Matrix:
    """Add the columns that go to the same group; a CSR array stays one.

    Examples
    --------
    >>> sum_groups(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0]), n_groups=2)
    array([[5., 2.]])
    """
    ones = np.ones(len(column))
    membership = csr_array((ones, (np.arange(len(column)), column)), shape=(len(column), n_groups))
    sums = values @ membership
    if isinstance(sums, np.ndarray):
        return np.ascontiguousarray(sums)
    sums.sum_duplicates()
    return sums


def sum_known_groups(
    result: LocalImportance, values: FloatArray
) -> tuple[tuple[str, ...], FloatArray, dict[str, list[str]]] | None:
    """Return columns of the table, the sums of their features' values, and these features.

    None where every feature is a column of its own, or where that is not known.
    """
    groups = {} if result.groups is None else known_groups(result, "auto")
    if all(len(members) < 2 for members in groups.values()):
        return None
    names, column = group_columns(result.feature_names, groups)
    sums = sum_groups(np.asarray(values), column, n_groups=len(names))
    return names, np.asarray(sums), groups


class RowsByLabel:
    """``result.loc[labels]`` and ``result.loc[labels, features]``; see `LocalImportance.loc`."""

    def __init__(self, result: LocalImportance) -> None:
        self._result = result

    def __getitem__(self, key: Any) -> LocalImportance:
        labels = self._result.row_labels
        by_levels = getattr(labels, "nlevels", 1) > 1
        # Of an index with several levels a tuple is one label, as in pandas.
        is_pair = isinstance(key, tuple) and len(key) == 2 and not by_levels
        rows, columns = key if is_pair else (key, slice(None))
        if hasattr(labels, "get_indexer_for"):
            return self._result[_rows_in_index(labels, rows), columns]
        known = np.arange(len(self._result)) if labels is None else np.asarray(labels)
        return self._result[_rows_in_array(known, rows), columns]


def _rows_in_index(labels: Any, key: Any) -> IntArray:
    import pandas

    found = pandas.Series(np.arange(len(labels)), index=labels).loc[key]
    return np.atleast_1d(np.asarray(found, dtype=np.int64))


def _rows_in_array(labels: AnyArray, key: Any) -> IntArray:
    """Return the positions of labels, in the order asked for; a slice has both of its ends."""
    if isinstance(key, slice):
        if key.step is not None:
            raise ValueError("a slice of labels has no step. Choose rows by position instead.")
        first = 0 if key.start is None else _rows_called(labels, key.start)[0]
        last = len(labels) - 1 if key.stop is None else _rows_called(labels, key.stop)[-1]
        return np.arange(first, last + 1)
    array = None if isinstance(key, str) else np.asarray(key)
    if array is not None and array.ndim == 1:
        if array.dtype == np.bool_:
            return np.arange(len(labels))[row_positions(array, len(labels))]
        parts = [_rows_called(labels, label) for label in list(key)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return _rows_called(labels, key)


def _rows_called(labels: AnyArray, label: Any) -> IntArray:
    found = np.flatnonzero(np.asarray(labels == label))
    if not len(found):
        raise KeyError(
            f"no row is labelled {label!r}; the labels are {quote_names(labels, most=3)}. "
            "Choose rows by position with result[...]."
        )
    return found
