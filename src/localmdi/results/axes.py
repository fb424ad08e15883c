"""The two axes of a result: choose rows and features, join rows, add up groups of features."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse, vstack

from localmdi._text import quote_names
from localmdi.results.own_data import is_everything, take_own, take_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.results.fields import Matrix
    from localmdi.results.local import LocalImportance
    from localmdi.typing import FloatArray, IntArray, Names

__all__ = [
    "Choice",
    "check_same",
    "feature_positions",
    "group_columns",
    "join_fields",
    "known_groups",
    "row_positions",
    "select_fields",
    "split_key",
    "sum_errors",
    "sum_groups",
    "sum_known_groups",
]

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
    result: LocalImportance, rows: slice | IntArray, *, columns: slice | IntArray
) -> dict[str, Any]:
    """Return the fields of a local result that change when rows and features are chosen."""
    names = result.feature_names
    chosen: dict[str, Any] = {"values": take_table(result.values, rows, columns=columns)}
    chosen["feature_names"] = tuple(names[i] for i in np.arange(len(names))[columns])
    if result.standard_error is not None:
        chosen["standard_error"] = take_table(result.standard_error, rows, columns=columns)
    if result.mean_standard_error is not None:
        kept = is_everything(rows)
        chosen["mean_standard_error"] = result.mean_standard_error[columns] if kept else None
    if result.data is not None:
        whole = is_everything(columns)
        chosen["data"] = (
            take_table(result.data, rows, columns=columns)
            if whole
            else take_own(result, rows, columns=columns)
        )
    if result.scores is not None:
        chosen["scores"] = {name: score[rows] for name, score in result.scores.items()}
    if result.direction is not None:
        chosen["direction"] = take_table(result.direction, rows, columns=columns)
    for field in ("baseline", "residual", "row_weight", "row_labels", "prediction"):
        value = getattr(result, field)
        if value is not None and not isinstance(value, float):
            chosen[field] = value[rows]
    return chosen


def check_same(
    parts: Iterable[Result], kind: type[Result], *, attributes: Sequence[str]
) -> list[Result]:
    """Return the parts as a list, if they are of one kind and agree in some attributes."""
    parts = list(parts)
    if not parts or not all(isinstance(part, kind) for part in parts):
        given = sorted({type(part).__name__ for part in parts}) or "none"
        raise TypeError(
            f"parts must be one or more {kind.__name__}; got {given}. Pass a list of them."
        )
    for attribute in attributes:
        first = getattr(parts[0], attribute)
        for part in parts:
            other = getattr(part, attribute)
            if other != first:
                raise ValueError(
                    f"all parts must have the same {attribute}; got {reprlib.repr(first)} and "
                    f"{reprlib.repr(other)}. Join results of one model only."
                )
    return parts


def join_fields(parts: Sequence[LocalImportance]) -> dict[str, Any]:
    """Return the fields that change when the rows of local results are joined."""
    _check_alike("values", [issparse(part.values) for part in parts], no="dense", yes="sparse")
    methods = {part.method for part in parts}
    return {
        "values": _join_tables([part.values for part in parts]),
        "baseline": _join_baselines([part.baseline for part in parts]),
        "residual": _join_arrays("residual", [part.residual for part in parts]),
        "data": _join_tables([part.data for part in parts]),
        "row_weight": _join_arrays("row_weight", [part.row_weight for part in parts]),
        "standard_error": _join_tables([part.standard_error for part in parts]),
        "mean_standard_error": None,
        "direction": _join_tables([part.direction for part in parts]),
        "prediction": _join_tables([part.prediction for part in parts]),
        "scores": _join_scores([part.scores for part in parts]),
        "row_labels": _join_labels([part.row_labels for part in parts]),
        "method": methods.pop() if len(methods) == 1 else None,
    }


def _join_tables(parts: Sequence[Any]) -> Any:
    """Stack arrays, sparse arrays or data frames; None if one is missing or of another type."""
    first = parts[0]
    if first is None or any(type(part) is not type(first) for part in parts):
        return None
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if issparse(first):
        return vstack(parts, format=first.format)
    import narwhals.stable.v2 as nw

    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def _join_scores(parts: Sequence[Any]) -> dict[str, FloatArray] | None:
    """Join the figures of rows; None where parts have other ones."""
    first = parts[0]
    if first is None or any(part is None or part.keys() != first.keys() for part in parts):
        return None
    return {name: np.concatenate([part[name] for part in parts]) for name in first}


def _join_labels(parts: Sequence[Any]) -> Any:
    """Join row labels (arrays or pandas indexes); None if one is missing."""
    if any(part is None for part in parts):
        return None
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    import pandas

    first, *rest = (pandas.Index(part) for part in parts)
    return first.append(rest)


def _check_alike(field: str, flags: list[bool], *, no: str, yes: str) -> None:
    if len(set(flags)) > 1:
        raise ValueError(
            f"{field} must be {no} in all parts or {yes} in all parts; got both. "
            "Make the parts with the same options."
        )


def _join_arrays(field: str, arrays: list[FloatArray | None]) -> FloatArray | None:
    _check_alike(field, [array is None for array in arrays], no="an array", yes="None")
    given = [array for array in arrays if array is not None]
    return np.concatenate(given) if given else None


def _join_baselines(baselines: list[float | FloatArray | None]) -> float | FloatArray | None:
    numbers = [baseline for baseline in baselines if isinstance(baseline, float)]
    if not numbers:
        arrays = [baseline for baseline in baselines if not isinstance(baseline, float)]
        return _join_arrays("baseline", arrays)
    if len(numbers) < len(baselines):
        raise ValueError(
            "baseline must be a float in all parts, an array in all or None in all; got a "
            "mixture. Make the parts with the same options."
        )
    if any(number != numbers[0] for number in numbers):
        raise ValueError(
            f"float baselines must be equal; got {min(numbers)} and {max(numbers)}. "
            "Join results of one model only, or give every row its own baseline as an array."
        )
    return numbers[0]


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
        if group is None or group not in position:
            if group is not None:
                position[group] = len(grouped)
            column[i] = len(grouped)
            grouped.append(name if group is None else group)
        else:
            column[i] = position[group]
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
    sums = sum_groups(np.asarray(values)[None], column, n_groups=len(names))
    return names, np.asarray(sums[0]), groups


def sum_errors(errors: FloatArray | None, column: IntArray, *, n_groups: int) -> FloatArray | None:
    """Add the errors of the features that go to the same group: the most that their sum's can be.

    How the errors of two features depend on each other is not known; a standard deviation of a sum
    is at most the sum of the standard deviations.
    """
    return (
        None
        if errors is None
        else np.asarray(sum_groups(errors[None], column, n_groups=n_groups)[0])
    )
