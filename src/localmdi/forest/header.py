"""What must hold for the header of a forest: names, criterion, classes, categories and the like."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.forest.arrays import describe, fail
from localmdi.forest.schema import AGGREGATIONS, ROW_DTYPES, UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray

__all__ = ["as_feature_count", "check_header"]

# Split features are stored as int32.
_MAX_FEATURES = 2**31 - 1


def as_feature_count(value: Any) -> int:
    """Return the number of features, at least 1.

    Examples
    --------
    >>> as_feature_count(np.int64(3))
    3
    """
    try:
        count = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        count = None
    if count is None or not 1 <= count <= _MAX_FEATURES:
        must = f"n_features must be an integer from 1 to {_MAX_FEATURES}"
        fail(must, describe(value), do="Pass the number of columns of X.")
    return count


def check_header(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header fields as they are kept, or raise an error that names the field.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> build_forest(n_features=2, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...              threshold=[0.0], child_offset=[0, 0], child=[], feature_names=["a", "a"])
    Traceback (most recent call last):
    localmdi.exceptions.InvalidForestError: feature_names must differ; got 'a' twice...
    """
    n_features = as_feature_count(fields["n_features"])
    header = {
        "n_features": n_features,
        "feature_names": _names(fields["feature_names"], n_features),
        "classes": _classes(fields["classes"]),
        "categories": _categories(fields["categories"], n_features),
    }
    known = {
        "criterion": (*UNITS, None),
        "aggregation": AGGREGATIONS,
        "row_dtype": ROW_DTYPES,
        "boosted": (False, True),
    }
    for field, values in known.items():
        given = fields[field]
        if not isinstance(given, str | bool | None) or given not in values:
            names = ", ".join(map(repr, values))
            fail(f"{field} must be one of {names}", describe(given), do="Use one of these.")
        header[field] = given
    return header


def _names(value: Any, n_features: int) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if names is None or not all(isinstance(name, str) for name in names):
        must = "feature_names must be a sequence of texts"
        fail(must, describe(value), do="Pass tuple(map(str, names)).")
    if len(names) != n_features:
        must = f"feature_names must be as many as n_features, {n_features}"
        fail(must, f"{len(names)}", do="Pass one name per column of X.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            fail("feature_names must differ", f"{describe(name)} twice", do="Rename one of them.")
        seen.add(name)
    return tuple(map(str, names))


def _classes(value: Any) -> tuple[AnyArray, ...] | None:
    if value is None:
        return None
    do = "Pass one array of class labels per output, for one output (classes,)."
    if not isinstance(value, tuple | list) or not value:
        fail("classes must be None or a tuple of arrays", describe(value), do=do)
    classes = tuple(_labels("classes", labels, do=do) for labels in value)
    for labels in classes:
        if not len(labels):
            fail("every output must have a class", "no class labels", do=do)
    return classes


def _categories(value: Any, n_features: int) -> tuple[AnyArray | None, ...] | None:
    if value is None:
        return None
    do = "Pass one entry per feature: None, or the category of each code in order."
    if not isinstance(value, tuple | list) or len(value) != n_features:
        must = f"categories must be None or have one entry per feature, {n_features}"
        given = f"{len(value)} entries" if isinstance(value, tuple | list) else describe(value)
        fail(must, given, do=do)
    return tuple(None if part is None else _labels("categories", part, do=do) for part in value)


def _labels(field: str, value: Any, *, do: str) -> AnyArray:
    try:
        array = np.asarray(value)
        distinct = len(set(array.tolist())) if array.ndim == 1 else 0
    except (TypeError, ValueError):
        fail(f"{field} must hold vectors of labels", describe(value), do=do)
    if array.ndim != 1:
        fail(f"{field} must hold vectors of labels", describe(array), do=do)
    if distinct != len(array):
        fail(
            f"the labels in {field} must differ", describe(array.tolist()), do="Remove repetitions."
        )
    view = array.view()
    view.flags.writeable = False
    return view
