"""Sums over groups of features, such as the columns of one one-hot encoded feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from localmdi.results.checks import Matrix
    from localmdi.typing import IntArray, Names

__all__ = ["group_columns", "sum_groups"]


def group_columns(names: Names, mapping: Any) -> tuple[tuple[str, ...], IntArray]:
    """Return the names after grouping, and for each feature the column it goes to.

    A group stands where its first feature stood; a feature in no group keeps its name.

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
    for name, count in Counter(grouped).items():
        if count > 1 and name in position:
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
                    f"every feature of the mapping must exist and stand in one group; got {name!r}"
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
