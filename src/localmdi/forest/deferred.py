"""Forests whose nodes are still in the model, and are read when somebody asks for them.

To explain rows, the kernels need the packed form only, and that is made straight from the model.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from localmdi.forest.forest import Forest, build_forest
from localmdi.forest.invariants import check_header, check_statistics, freeze
from localmdi.forest.schema import STRUCTURE

if TYPE_CHECKING:
    from localmdi._core import TreeRecords
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["NodeSource", "defer_forest"]


class NodeSource(Protocol):
    """Trees in the form in which a model has them: binary, comparing float32, with impurities."""

    routes_missing: bool
    """Whether every split has a way for missing values; else none has."""

    def columns(self) -> dict[str, Any]:
        """Return the fields of the nodes: the vectors of the trees, weights and impurities."""

    def records(self, tree_weight: FloatArray, *, n_features: int) -> TreeRecords | None:
        """Return the trees for kernels that read them in place; None if they cannot be read so."""

    def root_impurity(self) -> FloatArray:
        """Return the impurity of each tree's root."""


class _NodeField:
    """Reads the nodes; as soon as they are there, the instance's own attribute is found first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, forest: _DeferredForest, owner: type) -> AnyArray:
        forest._read_nodes()
        array: AnyArray = vars(forest)[self._name]
        return array


class _DeferredForest(Forest):
    """A forest without its nodes; becomes a plain `Forest` when one of their fields is read."""

    def _read_nodes(self) -> None:
        source = self.source
        if source is None:
            return
        names = {field.name for field in fields(self)}
        known = {name: value for name, value in vars(self).items() if name in names}
        vars(self).update(vars(build_forest(**{**known, **source.columns()})))
        object.__setattr__(self, "__class__", Forest)
        object.__setattr__(self, "source", None)


_DEFERRED = {*STRUCTURE, "weight", "impurity"} - {"tree_offset"}
for _name in _DEFERRED:
    setattr(_DeferredForest, _name, _NodeField(_name))


def defer_forest(source: NodeSource, *, tree_offset: AnyArray, **header: Any) -> Forest:
    """Return a forest that reads its nodes when they are asked for, and is checked then.

    Parameters
    ----------
    source : NodeSource
        The trees.
    tree_offset : ndarray of int64, shape (n_trees + 1,)
        First node of each tree, and at the end the number of nodes.
    **header
        The other fields of `Forest`, all but those of the nodes; checked now.
    """
    given = {
        field.name: header.get(field.name, None if field.default is MISSING else field.default)
        for field in fields(Forest)
        if field.name not in _DEFERRED
    }
    offset = freeze("tree_offset", tree_offset, dtype=np.dtype(np.int64), shape=(None,))
    absent = dict.fromkeys(("weight", "impurity"))
    checked = check_header(given)
    statistics = check_statistics({**given, **checked, **absent, "tree_offset": offset})
    forest = _DeferredForest.__new__(_DeferredForest)
    known = {name: value for name, value in statistics.items() if name not in absent}
    vars(forest).update({**given, **checked, **known, "tree_offset": offset, "source": source})
    return forest
