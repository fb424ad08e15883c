"""The grown trees: kept in compact form, made a `Forest` when somebody asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import RowRules
from localmdi.forest import Forest, build_forest
from localmdi.forest.packing import Packing

if TYPE_CHECKING:
    from localmdi import _core
    from localmdi._validation import RowSource
    from localmdi.typing import FloatArray, IntArray

__all__ = ["GrownForest", "join_forests"]

# Ends of this many (row, tree) pairs are held at a time.
_PAIRS = 1 << 22


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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> model = RandomizedForestClassifier(10, random_state=0).fit(*load_iris(return_X_y=True))
    >>> model._grown.forest.n_trees
    10
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
        forest = self.forest
        value = forest.statistic("value")
        out = np.zeros((rows.shape[0], value.shape[1]))
        for start, stop, first, ends in self._ends(rows, n_threads):
            del first
            part = out[start:stop]
            for tree in ends.T:
                part += value[tree]
        return out / forest.n_trees

    def ends(self, rows: RowSource, *, n_threads: int) -> IntArray:
        """Return the node, numbered within its tree, where each row ends in each tree."""
        forest = self.forest
        out = np.empty((rows.shape[0], forest.n_trees), dtype=np.int64)
        for start, stop, first, ends in self._ends(rows, n_threads):
            last = first + ends.shape[1]
            out[start:stop, first:last] = ends - forest.tree_offset[first:last]
        return out

    def _ends(self, rows: RowSource, n_threads: int) -> Any:
        n_trees = self.forest.n_trees
        for start, stop, batch in self.packing.batches(rows, RowRules(finite=True)):
            step = max(1, _PAIRS // max(1, stop - start))
            for first in range(0, n_trees, step):
                last = min(first + step, n_trees)
                ends = self.packing.ends(batch, first, last=last, n_threads=n_threads)
                yield start, stop, first, ends


def _restore(forest: Forest) -> GrownForest:
    grown = GrownForest.__new__(GrownForest)
    grown.__dict__["forest"] = forest
    return grown


def join_forests(before: Forest, after: Forest) -> Forest:
    """Return one forest with the trees of both; they must have one header.

    Examples
    --------
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     weight=[4, 1, 3], impurity=[0.375, 0, 0], value=[[0.75], [0], [1]])
    >>> join_forests(stump, stump).child.tolist()
    [1, 2, 4, 5]
    """
    shift = {
        "tree_offset": before.n_nodes,
        "child_offset": len(before.child),
        "child": before.n_nodes,
        "category_offset": len(before.category_bits),
    }
    fields = {field: getattr(after, field) for field in Forest.__dataclass_fields__}
    for field in (*before.table, "tree_weight", "weight", "impurity", "value"):
        if field == "n_features":
            continue
        first, second = getattr(before, field), getattr(after, field)
        if field.endswith("offset"):
            first = first[:-1]
        joined = np.concatenate([first, second + shift[field] if field in shift else second])
        joined.flags.writeable = False
        fields[field] = joined
    return build_forest(**fields)
