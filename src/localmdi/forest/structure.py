"""Whether the vectors of a forest make trees: asks the core, and words its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._core import NodeTable
from localmdi._text import count
from localmdi.forest.invariants import fail, freeze, tree_of
from localmdi.forest.schema import STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray

__all__ = ["check_structure"]


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
