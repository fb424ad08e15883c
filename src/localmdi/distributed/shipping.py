"""The explainer as it travels: no field that a worker does not read, and no number too wide.

A forest's table has 57 bytes per node before its values, most of them zeros; the form that the
kernels walk has about 32. What is sent has fewer than that, and is packed where it arrives.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._explainer import Explainer
from localmdi.adapters import AdaptedModel
from localmdi.forest import Forest

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, IntArray

_OFFSETS = ("tree_offset", "child_offset", "category_offset")
_INTEGERS = ("feature", "split_kind", "missing_child")


class ShippedExplainer(Explainer):
    """An explainer whose pickle is smaller than its packed form."""

    @property
    def baseline(self) -> float | None:
        """The impurity at the roots, which all rows have in common."""
        return self._packing.baseline

    def __reduce__(self) -> tuple[Any, ...]:
        own = {each.name: getattr(self._adapted, each.name) for each in fields(AdaptedModel)}
        del own["forest"], own["in_bag_steps"]
        return _receive, (ship_forest(self.forest), own)


def shipped_explainer(adapted: AdaptedModel, names: tuple[str, ...] | None) -> ShippedExplainer:
    """Return the explainer of a model for rows whose columns have these names, or none."""
    # Which column is which feature was settled when the columns were chosen.
    forest = replace(adapted.forest, weight=None, value=None)
    return ShippedExplainer(replace(adapted, forest=forest, input_names=names, n_targets=None))


def ship_forest(forest: Forest) -> dict[str, Any]:
    """Return the fields of a forest, integers in the smallest type, offsets as differences.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> ship_forest(stump)["child_offset"], restore_forest(ship_forest(stump)) == stump
    (array([2, 0, 0], dtype=uint8), True)
    """
    shipped = {field.name: getattr(forest, field.name) for field in fields(forest)}
    for field in _OFFSETS:
        shipped[field] = _smallest(np.diff(shipped[field]))
    for field in _INTEGERS:
        shipped[field] = _smallest(shipped[field])
    shipped["child"] = _smallest(forest.child - _parents(shipped["child_offset"]))
    return shipped


def restore_forest(shipped: dict[str, Any]) -> Forest:
    """Return the forest that `ship_forest` was given."""
    given = dict(shipped)
    given["child"] = shipped["child"] + _parents(shipped["child_offset"])
    for field in _OFFSETS:
        given[field] = np.concatenate([[0], np.cumsum(shipped[field], dtype=np.int64)])
    given["feature"] = shipped["feature"].astype(np.int32)
    given["missing_child"] = shipped["missing_child"].astype(np.int32)
    for field in (*_OFFSETS, "child", "feature", "missing_child"):
        given[field].flags.writeable = False  # so that the forest keeps it without a copy
    return Forest(**given)


def _receive(shipped: dict[str, Any], own: dict[str, Any]) -> ShippedExplainer:
    return ShippedExplainer(AdaptedModel(forest=restore_forest(shipped), **own))


def _parents(n_children: AnyArray) -> IntArray:
    """Return for each edge, in the order of `Forest.child`, the node that it leaves."""
    return np.repeat(np.arange(len(n_children)), n_children)


def _smallest(array: AnyArray) -> AnyArray:
    lowest, highest = int(array.min(initial=0)), int(array.max(initial=0))
    needed = np.result_type(np.min_scalar_type(lowest), np.min_scalar_type(highest))
    return array.astype(needed)
