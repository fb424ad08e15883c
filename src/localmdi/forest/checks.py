"""All that must hold for the fields of a forest, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.forest.arrays import describe, fail, freeze
from localmdi.forest.header import check_header
from localmdi.forest.structure import check_structure, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray

__all__ = ["check_forest"]

_FLOAT64 = np.dtype(np.float64)


def check_forest(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields of a forest as they are kept, or raise `InvalidForestError`.

    Arrays must have their final types; they come back as read-only views.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                     threshold=[0.0], child_offset=[0, 0], child=[])
    >>> checked = check_forest(vars(leaf))
    >>> checked["feature_names"], checked["feature"].flags.writeable
    (('x0',), False)
    """
    header = check_header(fields)
    checked: dict[str, Any] = header | check_structure({**fields, **header})
    tree_offset = checked["tree_offset"]
    n_nodes = len(checked["feature"])
    for field in ("weight", "impurity"):
        array = fields[field]
        if array is not None:
            array = freeze(field, array, dtype=_FLOAT64, shape=(n_nodes,))
            least = 0.0 if field == "weight" else -np.inf
            _check_numbers(field, array, tree_offset=tree_offset, least=least)
        checked[field] = array
    checked["value"] = _value(fields["value"], classes=header["classes"], tree_offset=tree_offset)
    checked["tree_weight"] = _tree_weight(fields["tree_weight"], len(tree_offset) - 1)
    return checked


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
