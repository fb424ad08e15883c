"""What a forest is made of and what must hold for it: fields, kinds of split, shape, numbers.

What the fields mean is specified in ``docs/format/forest.md``. Whether the nodes make trees is
found out by the core; here its answer gets words.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, NotRequired, TypedDict

import numpy as np

from localmdi._core import NodeTable
from localmdi._criteria import UNIT_OF
from localmdi._text import count
from localmdi._validation import ColumnRule
from localmdi.exceptions import InvalidForestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.typing import AnyArray, ArrayLike


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


_FLOAT64 = np.dtype(np.float64)
# Split features are stored as int32.
_MAX_FEATURES = 2**31 - 1


def fail(must: str, given: str, *, do: str) -> NoReturn:
    """Raise the error that says what must hold, what was given, and what to do."""
    raise InvalidForestError(f"{must}; got {given}. {do}")


def describe(value: Any) -> str:
    """Return what a value is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return reprlib.repr(value)


def convert(field: str, value: Any, *, dtype: np.dtype[Any]) -> AnyArray:
    """Return an array of this type in C order; `value` itself if it is one already.

    Integers change their width if every one fits; nothing is rounded.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        fail(f"{field} must be an array", describe(value), do="Pass a NumPy array.")
    # An empty list has no type of its own.
    if array.dtype != dtype and array.size:
        kinds = "iu" if dtype.kind in "iu" else "iuf"
        if array.dtype.kind not in kinds:
            fail(f"{field} must hold {dtype}", describe(array), do="Convert it with astype.")
        if dtype.kind in "iu":
            _check_range(field, array, info=np.iinfo(dtype))
    out = np.require(array.astype(dtype, copy=False), requirements=["C_CONTIGUOUS", "ALIGNED"])
    if out is not value and out.base is None:
        out.flags.writeable = False  # nobody else has it: no copy is needed to freeze it
    return out


def _check_range(field: str, array: AnyArray, *, info: np.iinfo[Any]) -> None:
    low, high = int(array.min()), int(array.max())
    if low < info.min or high > info.max:
        fail(
            f"{field} must fit {info.dtype}, {info.min} to {info.max}",
            f"values from {low} to {high}",
            do="Correct the values.",
        )


def freeze(
    field: str, value: Any, *, dtype: np.dtype[Any], shape: tuple[int | None, ...]
) -> AnyArray:
    """Return a read-only array of this type and shape; None is any length.

    An array that can be written to is copied: later writes of its owner must not reach the kernels,
    which trust what was checked.
    """
    if not isinstance(value, np.ndarray) or value.dtype != dtype or not value.dtype.isnative:
        fail(f"{field} must be an array of {dtype}", describe(value), do="Convert it with astype.")
    if value.ndim != len(shape) or any(
        length not in (None, given) for length, given in zip(shape, value.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        fail(f"{field} must have the shape ({wanted})", describe(value), do="Correct its length.")
    frozen = np.require(value, requirements=["C_CONTIGUOUS", "ALIGNED"]).view(np.ndarray)
    if frozen.flags.writeable:
        frozen = frozen.copy()
        frozen.flags.writeable = False
    return frozen


def as_feature_count(value: Any) -> int:
    """Return the number of features, at least 1."""
    try:
        n_features = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        n_features = None
    if n_features is None or not 1 <= n_features <= _MAX_FEATURES:
        must = f"n_features must be an integer from 1 to {_MAX_FEATURES}"
        fail(must, describe(value), do="Pass the number of columns of X.")
    return n_features


def check_header(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header fields as they are kept, or raise an error that names the field."""
    n_features = as_feature_count(fields["n_features"])
    header: dict[str, Any] = {
        "n_features": n_features,
        "feature_names": _names(fields["feature_names"], n_features),
        "classes": _classes(fields["classes"]),
        "categories": _categories(fields["categories"], n_features),
    }
    known = {
        "criterion": (*UNIT_OF, None),
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


def _names(value: Any, n_features: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if names is None or not all(isinstance(name, str) for name in names):
        must = "feature_names must be None or a sequence of strings"
        fail(must, describe(value), do="Pass tuple(map(str, names)).")
    if len(names) != n_features:
        must = f"feature_names must have one name per feature, {n_features}"
        fail(must, f"{len(names)}", do="Pass the names of the columns of X.")
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
        given = count(len(value), "entry") if isinstance(value, tuple | list) else describe(value)
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


def check_statistics(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a forest knows about its nodes and trees; its trees must have been checked."""
    tree_offset = fields["tree_offset"]
    n_nodes = int(tree_offset[-1])
    checked: dict[str, Any] = {}
    for field in ("weight", "impurity"):
        array = fields[field]
        if array is not None:
            array = freeze(field, array, dtype=_FLOAT64, shape=(n_nodes,))
            least = 0.0 if field == "weight" else -np.inf
            _check_numbers(field, array, tree_offset=tree_offset, least=least)
        checked[field] = array
    checked["value"] = _value(fields["value"], classes=fields["classes"], tree_offset=tree_offset)
    checked["tree_weight"] = _tree_weight(fields["tree_weight"], len(tree_offset) - 1)
    checked["base_value"] = _base_value(fields["base_value"], checked["value"])
    checked["column_rule"] = _column_rule(fields["column_rule"], fields["n_features"])
    return checked


def tree_of(tree_offset: AnyArray, node: int) -> int:
    """Return the tree that holds a node; only the trees up to it need to be sound."""
    return int((tree_offset[1:] > node).argmax())


def _value(
    value: Any, *, classes: tuple[AnyArray, ...] | None, tree_offset: AnyArray
) -> AnyArray | None:
    if value is None:
        return None
    width = None if classes is None else sum(map(len, classes))
    array = freeze("value", value, dtype=_FLOAT64, shape=(int(tree_offset[-1]), width))
    if not array.shape[1]:
        fail("value must have a column", describe(array), do="Pass None, or the nodes' values.")
    _check_numbers("value", array, tree_offset=tree_offset, least=-np.inf)
    return array


def _tree_weight(value: Any, n_trees: int) -> AnyArray:
    array = freeze("tree_weight", value, dtype=_FLOAT64, shape=(n_trees,))
    with np.errstate(all="ignore"):
        total = array.sum()
    if not (array.min() >= 0 and 0 < total < np.inf):
        fail(
            "tree_weight must be finite and not negative, with a positive sum",
            describe(array.tolist()),
            do="Pass one weight per tree, ones for a plain forest.",
        )
    return array


def _base_value(base: Any, value: AnyArray | None) -> AnyArray | None:
    if base is None:
        return None
    array = freeze(
        "base_value", base, dtype=_FLOAT64, shape=(None if value is None else value.shape[1],)
    )
    if not len(array) or np.isinf(array).any():
        fail(
            "base_value must hold one number per column of value, finite or NaN",
            describe(array.tolist()),
            do="Pass None if the trees alone make the prediction.",
        )
    return array


def _column_rule(rule: Any, n_features: int) -> AnyArray | None:
    if rule is None:
        return None
    array = freeze("column_rule", rule, dtype=np.dtype(np.uint8), shape=(n_features,))
    known = int(sum(ColumnRule))
    if array.max() > known:
        fail(
            f"column_rule must add up members of ColumnRule, at most {known}",
            f"{array.max()} for feature {int(array.argmax())}",
            do="Use the members of it, or 0.",
        )
    return array


def _check_numbers(field: str, array: AnyArray, *, tree_offset: AnyArray, least: float) -> None:
    """Every number is finite and at least `least`."""
    # A finite sum has finite terms, and needs no array of N bools.
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()) and (least == -np.inf or array.min() >= least):
            return
        good = np.isfinite(array) & (array >= least)
    if good.all():
        return
    place = np.unravel_index(int(good.argmin()), array.shape)
    node = int(place[0])
    fail(
        f"{field} must be finite" + (" and not negative" if least == 0 else ""),
        f"{array[place]} at node {node} of tree {tree_of(tree_offset, node)}",
        do=f"Pass None for {field} if it is not known, and compute it with with_statistics.",
    )


@dataclass(frozen=True)
class _Rule:
    """The field that breaks a rule, the rule, and what to do."""

    field: str
    must: str
    do: str


_CATEGORIES = "Give the node its words in category_bits through category_offset."
_RULES = {
    "tree_offset": _Rule(
        "tree_offset",
        "must rise from 0 to the number of nodes, and every tree must have a node",
        "Pass where each tree begins, and at the end the number of nodes.",
    ),
    "child_offset": _Rule(
        "child_offset",
        "must rise from 0 to the length of child",
        "Pass where the children of each node begin, and at the end the length of child.",
    ),
    "category_offset": _Rule(
        "category_offset",
        "must rise from 0 to the length of category_bits",
        "Pass where the words of each node begin, and at the end the length of category_bits.",
    ),
    "split_kind": _Rule("split_kind", "must be a SplitKind, 0 to 4", "Use the members of it."),
    "missing_child": _Rule(
        "missing_child",
        "must number a child of the node, from 0, or be -1",
        "Use -1 where a missing value is an error, and at leaves.",
    ),
    "feature": _Rule(
        "feature",
        "must lie in [0, n_features) at a split",
        "Number the features from 0, or correct n_features.",
    ),
    "leaf_feature": _Rule("feature", "must be -1 at a leaf", "Use -1, or another split_kind."),
    "leaf_children": _Rule(
        "child", "must have nothing for a leaf", "Remove the children, or correct split_kind."
    ),
    "two_children": _Rule(
        "child",
        "must have two children for a split of this kind",
        "Add or remove children, or use SplitKind.MULTIWAY.",
    ),
    "multiway_children": _Rule(
        "child", "must have a child for a split", "Add children, or use SplitKind.LEAF."
    ),
    "no_categories": _Rule(
        "category_bits",
        "must have nothing for a leaf or an ordered split",
        "Remove the words, or correct split_kind.",
    ),
    "category_set": _Rule("category_bits", "must have a word for a CATEGORY_SET", _CATEGORIES),
    "multiway_codes": _Rule(
        "category_bits", "must have one category per child of a MULTIWAY split", _CATEGORIES
    ),
    "category_code": _Rule(
        "category_bits",
        "must be below 2**53 at a MULTIWAY split, to be exact in a row",
        "Number the categories from 0.",
    ),
    "category_order": _Rule(
        "category_bits",
        "must ascend strictly at a MULTIWAY split",
        "Sort the children of the node by their categories.",
    ),
    "threshold": _Rule(
        "threshold", "must not be NaN at an ordered split", "Pass the threshold of the split."
    ),
    "child": _Rule(
        "child",
        "must lie after its parent and in the same tree",
        "Number nodes over the whole forest, parents before their children.",
    ),
    "two_parents": _Rule(
        "child", "must have one parent", "Give each node to one parent; trees share no nodes."
    ),
    "orphan": _Rule(
        "child",
        "must name every node but the roots",
        "Remove the node, or make it a child of another.",
    ),
}


def check_structure(fields: Mapping[str, Any]) -> tuple[dict[str, AnyArray], NodeTable]:
    """Return the nine vectors of a forest, frozen, and the kernels' view of them.

    They make trees, or an error is raised.
    """
    n_nodes = np.size(fields["feature"])
    lengths = {
        "tree_offset": None,
        "child": None,
        "category_bits": None,
        "child_offset": n_nodes + 1,
        "category_offset": n_nodes + 1,
    }
    columns = {
        field: freeze(field, fields[field], dtype=dtype, shape=(lengths.get(field, n_nodes),))
        for field, dtype in STRUCTURE.items()
    }
    table = NodeTable(n_features=fields["n_features"], **columns)
    problem = table.problem()
    if problem is not None:
        code, place = problem
        rule = _RULES[code]
        fail(f"{rule.field} {rule.must}", _found(columns, code, place=place), do=rule.do)
    return columns, table


def _found(columns: Mapping[str, AnyArray], code: str, *, place: int) -> str:
    """Say what breaks the rule, and where."""
    field = _RULES[code].field
    if code.endswith("offset"):
        ends = columns[field][place : place + 2].tolist()
        last = len(columns["child" if code == "child_offset" else "category_bits"])
        if code == "tree_offset":
            return f"{ends} for tree {place} in a forest of {len(columns['feature'])} nodes"
        return f"{ends} at node {place} for {count(last, 'entry')}"
    where = f"at node {place} of tree {tree_of(columns['tree_offset'], place)}"
    if code == "orphan":
        return f"none that leads to it {where}"
    offset = {"child": "child_offset", "category_bits": "category_offset"}.get(field)
    if offset is None:
        return f"{columns[field][place]} {where}"
    first, end = columns[offset][place : place + 2].tolist()
    some = columns[field][first : min(first + 5, end)].tolist()
    more = f" and {end - first - 5} more" if end - first > 5 else ""
    return f"{some}{more} {where}"
