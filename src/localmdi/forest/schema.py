"""The fields of a forest: their types, and the kinds of split.

What the fields mean and what must hold for them is specified in ``docs/format/forest.md``.
"""

from __future__ import annotations

from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.typing import ArrayLike

__all__ = [
    "AGGREGATIONS",
    "ARRAYS",
    "FLOATS",
    "OPTIONAL",
    "ROW_DTYPES",
    "STATISTICS",
    "STRUCTURE",
    "ForestFields",
    "SplitKind",
]


class SplitKind(IntEnum):
    """How a node decides where a row goes; x is the row's value of the split feature.

    A missing value (NaN) goes to ``missing_child``, whatever the kind.

    Examples
    --------
    >>> SplitKind(1)
    <SplitKind.LESS_EQUAL: 1>
    """

    LEAF = 0
    """The row has arrived."""
    LESS_EQUAL = 1
    """x ≤ threshold: first child; else second child."""
    LESS = 2
    """x < threshold: first child; else second child."""
    CATEGORY_SET = 3
    """The bit of category x is set: first child; else, or if x is no category: second child."""
    MULTIWAY = 4
    """The child whose category is x; if there is none, the row ends here."""


STRUCTURE: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "tree_offset": np.dtype(np.int64),
        "feature": np.dtype(np.int32),
        "split_kind": np.dtype(np.uint8),
        "threshold": np.dtype(np.float64),
        "child_offset": np.dtype(np.int64),
        "child": np.dtype(np.int64),
        "missing_child": np.dtype(np.int32),
        "category_offset": np.dtype(np.int64),
        "category_bits": np.dtype(np.uint64),
    }
)
"""The vectors that make the trees, with their types."""

STATISTICS = ("weight", "impurity", "value")
"""What a forest may know about its nodes."""

FLOATS = ("tree_weight", *STATISTICS)
"""What a forest knows about its trees and nodes, all float64."""

OPTIONAL: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        **dict.fromkeys((*STATISTICS, "base_value"), np.dtype(np.float64)),
        "column_rule": np.dtype(np.uint8),
    }
)
"""The arrays that a forest may lack, with their types."""

ARRAYS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {**STRUCTURE, "tree_weight": np.dtype(np.float64), **OPTIONAL}
)
"""All arrays, with their types."""

AGGREGATIONS = ("mean", "sum")
ROW_DTYPES = ("float32", "float64")


class ForestFields(TypedDict):
    """What `build_forest` takes; see `Forest` for what the fields mean.

    Examples
    --------
    >>> from dataclasses import fields
    >>> from localmdi.forest import Forest
    >>> ForestFields.__annotations__.keys() == {field.name for field in fields(Forest)}
    True
    """

    n_features: int
    tree_offset: ArrayLike
    feature: ArrayLike
    split_kind: ArrayLike
    threshold: ArrayLike
    child_offset: ArrayLike
    child: ArrayLike
    missing_child: NotRequired[ArrayLike | None]
    category_offset: NotRequired[ArrayLike | None]
    category_bits: NotRequired[ArrayLike | None]
    weight: NotRequired[ArrayLike | None]
    impurity: NotRequired[ArrayLike | None]
    value: NotRequired[ArrayLike | None]
    tree_weight: NotRequired[ArrayLike | None]
    feature_names: NotRequired[Iterable[str] | None]
    criterion: NotRequired[str | None]
    aggregation: NotRequired[str]
    classes: NotRequired[Sequence[ArrayLike] | None]
    categories: NotRequired[Sequence[ArrayLike | None] | None]
    row_dtype: NotRequired[str]
    boosted: NotRequired[bool]
    base_value: NotRequired[ArrayLike | None]
    column_rule: NotRequired[ArrayLike | None]
