"""From arrays of any fitting type to a forest: fills in what may be left out, and converts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.forest.arrays import convert
from localmdi.forest.forest import Forest
from localmdi.forest.header import as_feature_count
from localmdi.forest.schema import FLOATS, STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from localmdi.forest.schema import ForestFields

__all__ = ["build_forest"]


def build_forest(**given: Unpack[ForestFields]) -> Forest:
    """Make a forest from its fields, or raise an error that says which rule they break.

    Read-only arrays that have their type already are kept without a copy.

    Parameters
    ----------
    **given
        The fields of `Forest`, by keyword. May be left out: ``missing_child`` (-1 everywhere: a
        missing value is an error), ``category_offset`` and ``category_bits`` (no node splits
        categories), ``tree_weight`` (ones), ``feature_names`` ("x0", "x1", …), ``weight``,
        ``impurity`` and ``value`` (not known), and what has a default in `Forest`.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidForestError
        The fields do not form a forest; the message names the field, the tree and the node.

    Examples
    --------
    A stump that sends rows with x1 ≤ 0.5 to node 1 and others to node 2:

    >>> from localmdi.forest import SplitKind
    >>> stump = build_forest(n_features=2, tree_offset=[0, 3], feature=[1, -1, -1],
    ...                      split_kind=[SplitKind.LESS_EQUAL, SplitKind.LEAF, SplitKind.LEAF],
    ...                      threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> stump.feature_names
    ('x0', 'x1')
    """
    fields: dict[str, Any] = {**given}
    n_features = fields["n_features"] = as_feature_count(fields.get("n_features"))
    for field, dtype in {**STRUCTURE, **dict.fromkeys(FLOATS, np.dtype(np.float64))}.items():
        if fields.get(field) is not None:
            fields[field] = convert(field, fields[field], dtype=dtype)
    n_nodes = np.size(fields.get("feature", ()))
    n_trees = max(np.size(fields.get("tree_offset", ())) - 1, 0)
    defaults: dict[str, Callable[[], Any]] = {
        "missing_child": lambda: np.full(n_nodes, -1, dtype=np.int32),
        "category_offset": lambda: np.zeros(n_nodes + 1, dtype=np.int64),
        "category_bits": lambda: np.zeros(0, dtype=np.uint64),
        "tree_weight": lambda: np.ones(n_trees),
        "feature_names": lambda: tuple(f"x{i}" for i in range(n_features)),
    }
    for field, default in defaults.items():
        if fields.get(field) is None:
            fields[field] = default()
            if isinstance(fields[field], np.ndarray):
                fields[field].flags.writeable = False  # so that the forest keeps it without a copy
    return Forest(**fields)
