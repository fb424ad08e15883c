"""The grown trees: kept in compact form, made a `Forest` when somebody asks for it."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import RowRules
from localmdi.forest import Forest, build_forest
from localmdi.forest.packing import Packing
from localmdi.forest.schema import FLOATS, STRUCTURE

if TYPE_CHECKING:
    from localmdi import _core
    from localmdi._validation import RowSource
    from localmdi.typing import FloatArray, IntArray

__all__ = ["GrownForest", "join_forests"]

_RULES = RowRules(finite=True)


class GrownForest:
    """Trees that predict.

    Parameters
    ----------
    trees : _core.GrownTrees
        What the kernel has grown.
    header : dict
        The fields of `Forest` that are not its nodes.
    center : ndarray of shape (n_values,)
        Added to the nodes' values: responses are centred while trees grow.
    before : Forest or None
        Trees that were grown earlier.
    """

    def __init__(
        self, trees: _core.GrownTrees, header: dict[str, Any], *, center: FloatArray, before: Any
    ) -> None:
        self._source: tuple[Any, ...] = (trees, header, center, before)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.forest,)

    @cached_property
    def forest(self) -> Forest:
        """The trees as a table of nodes."""
        trees, header, center, before = self._source
        arrays = trees.arrays()
        arrays["value"] = arrays["value"].reshape(-1, len(center))
        if center.any():
            arrays["value"] += center
        for array in arrays.values():
            array.flags.writeable = False
        forest = build_forest(**arrays, **header)
        self._source = ()
        return forest if before is None else join_forests(before, forest)

    @cached_property
    def packing(self) -> Packing:
        """The trees ready for the kernels."""
        return Packing(self.forest)

    def values(self, rows: RowSource, *, n_threads: int) -> FloatArray:
        """Return the mean over trees of the values where each row ends."""
        return self.packing.predict(rows, _RULES, n_threads=n_threads)

    def ends(self, rows: RowSource, *, n_threads: int) -> IntArray:
        """Return the node, numbered within its tree, where each row ends in each tree."""
        forest = self.forest
        out = np.empty((rows.shape[0], forest.n_trees), dtype=np.int64)
        for block in self.packing.leaf_blocks(rows, _RULES, n_threads=n_threads):
            out[block.rows, block.trees] = block.leaf - forest.tree_offset[block.trees]
        return out


def _restore(forest: Forest) -> GrownForest:
    grown = GrownForest.__new__(GrownForest)
    grown.__dict__["forest"] = forest
    return grown


def join_forests(before: Forest, after: Forest) -> Forest:
    """Return one forest with the trees of both; they must have one header."""
    shift = {
        "tree_offset": before.n_nodes,
        "child_offset": len(before.child),
        "child": before.n_nodes,
        "category_offset": len(before.category_bits),
    }
    joined = {field.name: getattr(after, field.name) for field in fields(Forest)}
    for field in (*STRUCTURE, *FLOATS):
        first, second = getattr(before, field), getattr(after, field)
        if field.endswith("offset"):
            first = first[:-1]
        both = np.concatenate([first, second + shift[field] if field in shift else second])
        both.flags.writeable = False
        joined[field] = both
    return Forest(**joined)
