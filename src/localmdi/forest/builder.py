"""Forests from binary trees as other libraries number them: the way to write an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from localmdi._validation import check_keywords
from localmdi.exceptions import InvalidForestError
from localmdi.forest.forest import Forest, build_forest
from localmdi.forest.rules import ForestFields, SplitKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from localmdi.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray

# A set of categories is stored as one bit per code: a larger code would take megabytes per node.
_MAX_CODE = 1 << 24


class NodeNumbers(TypedDict, total=False):
    """What may be known about the nodes of a tree, one entry per node."""

    value: ArrayLike
    weight: ArrayLike
    impurity: ArrayLike


@dataclass(frozen=True, slots=True)
class _Tree:
    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_left: BoolArray | None
    categories: Mapping[int, Iterable[int]]
    column: int
    numbers: Mapping[str, FloatArray]


class ForestBuilder:
    """Collects binary trees and makes a `Forest` of them.

    Nodes of a tree may stand in any order, as long as the first one is the root; they are
    renumbered. All trees are checked and converted together in `build`, so that thousands take well
    under a second.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    strict : bool
        Whether x < threshold goes left (XGBoost); else x ≤ threshold does.
    n_values : int
        Number of columns of the forest's values: classes or outputs.
    drop_unused : bool
        Whether nodes that no path from the root reaches are left out, as in libraries that prune
        without moving nodes; else they are an error.

    Examples
    --------
    Two stumps. In the second, categories 0 and 3 go left, and values are missing on the right:

    >>> builder = ForestBuilder(2, n_values=1)
    >>> builder.add_tree([1, -1, -1], [2, -1, -1], feature=[0, -1, -1], threshold=[0.5, 0, 0],
    ...                  value=[0.1, -1.0, 1.0])
    >>> builder.add_tree([2, -1, -1], [1, -1, -1], feature=[1, -1, -1], categories={0: [0, 3]},
    ...                  missing_left=[False, False, False], value=[0.0, 0.5, -0.5])
    >>> forest = builder.build(aggregation="sum", boosted=True, base_value=[0.25])
    >>> forest
    Forest: 2 trees, 6 nodes, 2 features
      criterion: None
      node statistics: value
    >>> forest.value[:, 0]
    array([ 0.1, -1. ,  1. ,  0. , -0.5,  0.5])
    """

    def __init__(
        self, n_features: int, *, strict: bool = False, n_values: int = 1, drop_unused: bool = False
    ) -> None:
        self._n_features = n_features
        self._kind = SplitKind.LESS if strict else SplitKind.LESS_EQUAL
        self._n_values = n_values
        self._drop_unused = drop_unused
        self._trees: list[_Tree] = []

    def add_tree(
        self,
        left: ArrayLike,
        right: ArrayLike,
        *,
        feature: ArrayLike,
        threshold: ArrayLike | None = None,
        missing_left: ArrayLike | None = None,
        categories: Mapping[int, Iterable[int]] | None = None,
        column: int = 0,
        **numbers: Unpack[NodeNumbers],
    ) -> None:
        """Add a tree; every array has one entry per node, and node 0 is the root.

        Parameters
        ----------
        left, right : array-like of int
            The children of each node, numbered within the tree; negative at a leaf.
        feature : array-like of int
            The split feature; not read at leaves.
        threshold : array-like of float or None
            The threshold; not read at leaves and at splits of categories.
        missing_left : array-like of bool or None
            Whether a missing value goes left; None: it is an error everywhere in the tree.
        categories : mapping or None
            For each node that splits categories the codes that go left; others go right.
        column : int
            The column of the forest's values that a vector of values belongs to.
        **numbers
            ``value`` (a number per node, or a row of `n_values` numbers), ``weight`` and
            ``impurity``. If one tree has them, all must. Values that are NaN at splits, and all
            at splits of boosted trees with weights, become the mean of the leaves below.

        Examples
        --------
        >>> builder = ForestBuilder(1)
        >>> builder.add_tree([-1], [-1], feature=[-1], value=[3.0])
        >>> builder.build().n_nodes
        1
        """
        check_keywords("add_tree", numbers, known=NodeNumbers.__annotations__)
        index = len(self._trees)
        first = _vector("left", left, tree=index, dtype=np.int64)
        if not len(first):
            raise InvalidForestError(f"tree {index} must have a node; got none.")

        def read(name: str, array: Any, *, dtype: Any) -> AnyArray:
            return _vector(name, array, tree=index, dtype=dtype, n_nodes=len(first))

        cut = np.zeros(len(first)) if threshold is None else threshold
        to_left = missing_left
        self._trees.append(
            _Tree(
                left=first,
                right=read("right", right, dtype=np.int64),
                feature=read("feature", feature, dtype=np.int64),
                threshold=read("threshold", cut, dtype=np.float64),
                missing_left=None
                if to_left is None
                else read("missing_left", to_left, dtype=np.bool_),
                categories={} if categories is None else dict(categories),
                column=column,
                numbers={
                    name: read(name, array, dtype=np.float64)
                    for name, array in numbers.items()
                    if array is not None
                },
            )
        )

    def build(self, **header: Any) -> Forest:
        """Return the forest.

        Parameters
        ----------
        **header
            The fields of `Forest` that are not about nodes: ``feature_names``, ``criterion``,
            ``aggregation``, ``classes``, ``categories``, ``row_dtype``, ``boosted``,
            ``base_value``, ``column_rule``, ``tree_weight``.

        Raises
        ------
        InvalidForestError
            The nodes do not make binary trees; the message names the tree and the node.

        Examples
        --------
        >>> builder = ForestBuilder(1)
        >>> builder.add_tree([1, 2, -1], [2, -1, -1], feature=[0, 0, 0])
        >>> builder.build()
        Traceback (most recent call last):
        localmdi.exceptions.InvalidForestError: tree 0: node 1 must have two children or none...
        """
        check_keywords("build", header, known=ForestFields.__annotations__)
        if not self._trees:
            raise InvalidForestError("a forest must have a tree; got none. Call add_tree first.")
        nodes = _Nodes(self._trees)
        order = nodes.order(drop_unused=self._drop_unused)
        fields = self._fields(nodes, order)
        add_up = header.get("boosted") and header.get("aggregation") == "sum"
        if add_up and {"value", "weight"} <= fields.keys():
            # Only leaves add up to a score; a library may keep something else at splits.
            fields["value"][fields["split_kind"] != SplitKind.LEAF] = np.nan
        return build_forest(**{"n_features": self._n_features, **fields, **header})

    def _fields(self, nodes: _Nodes, order: IntArray) -> dict[str, Any]:
        """Return the fields of the forest that hold the nodes, in this order."""
        is_split = nodes.is_split[order]
        place = np.full(len(nodes.left), -1)
        place[order] = np.arange(len(order))
        children = np.stack([nodes.left[order[is_split]], nodes.right[order[is_split]]], axis=1)
        kind = np.where(is_split, self._kind, SplitKind.LEAF).astype(np.uint8)
        offset, words = nodes.category_words(place, kind)
        first_nodes = np.searchsorted(nodes.tree[order], np.arange(len(self._trees) + 1))
        fields = {
            "tree_offset": first_nodes.astype(np.int64),
            "feature": np.where(is_split, nodes.gather("feature")[order], -1),
            "split_kind": kind,
            "threshold": np.where(is_split, nodes.gather("threshold")[order], 0.0),
            "child_offset": np.concatenate([[0], np.cumsum(2 * is_split)]),
            "child": place[children.ravel()],
            "missing_child": np.where(is_split, nodes.missing_child()[order], -1),
            "category_offset": offset,
            "category_bits": words,
        }
        for name in ("weight", "impurity"):
            numbers = nodes.numbers(name)
            if numbers is not None:
                fields[name] = numbers[order]
        value = nodes.values(self._n_values)
        if value is not None:
            fields["value"] = value[order]
        return fields


class _Nodes:
    """The nodes of all trees, one after the other as they were given."""

    def __init__(self, trees: Sequence[_Tree]) -> None:
        self._trees = trees
        sizes = [len(tree.left) for tree in trees]
        self.start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.tree = np.repeat(np.arange(len(trees)), sizes)
        left, right = self.gather("left"), self.gather("right")
        self.is_split = left >= 0
        self._refuse((left < 0) != (right < 0), "must have two children or none")
        size = np.diff(self.start)[self.tree]
        self._refuse((left >= size) | (right >= size), "must have children in its tree")
        first = self.start[self.tree]
        self.left, self.right = left + first, right + first

    def gather(self, field: str) -> AnyArray:
        """Return a field of all nodes."""
        return np.concatenate([getattr(tree, field) for tree in self._trees])

    def _refuse(self, wrong: BoolArray, must: str) -> None:
        if wrong.any():
            node = int(wrong.argmax())
            tree = int(self.tree[node])
            raise InvalidForestError(
                f"tree {tree}: node {node - int(self.start[tree])} {must}. Correct left and right."
            )

    def order(self, *, drop_unused: bool) -> IntArray:
        """Return the nodes tree by tree, parents before their children."""
        splits = np.flatnonzero(self.is_split)
        children = np.concatenate([self.left[splits], self.right[splits]])
        n_parents = np.bincount(children, minlength=len(self.left))
        self._refuse(n_parents > 1, "must have one parent; two splits lead to it")
        roots = self.start[:-1]
        is_root = np.zeros(len(self.left), dtype=bool)
        is_root[roots] = True
        self._refuse(is_root & (n_parents > 0), "is the root and must be no node's child")
        # With one parent each, no node can be met twice: cycles are never reached.
        level, levels = roots, [roots]
        while len(level):
            level = level[self.is_split[level]]
            level = np.stack([self.left[level], self.right[level]], axis=1).ravel()
            levels.append(level)
        met = np.concatenate(levels)
        if not drop_unused:
            is_met = np.zeros(len(self.left), dtype=bool)
            is_met[met] = True
            self._refuse(~is_met, "must be reached from the root; no path leads to it")
        return met[np.argsort(self.tree[met], kind="stable")]

    def missing_child(self) -> IntArray:
        """Return which child takes a missing value, -1: none."""
        return np.concatenate(
            [
                np.full(len(tree.left), -1)
                if tree.missing_left is None
                else np.where(tree.missing_left, 0, 1)
                for tree in self._trees
            ]
        )

    def category_words(self, place: IntArray, kind: AnyArray) -> tuple[IntArray, AnyArray]:
        """Return the offsets and words of the category sets; their nodes change their kind."""
        found: dict[int, AnyArray] = {}
        for index, tree in enumerate(self._trees):
            for node, codes in tree.categories.items():
                at = int(self.start[index]) + node
                if not 0 <= node < len(tree.left) or not self.is_split[at]:
                    raise InvalidForestError(
                        f"tree {index}: categories must be given for splits; node {node} is none."
                    )
                if place[at] >= 0:
                    found[int(place[at])] = _words(codes, index)
        n_words = np.zeros(int(place.max()) + 1, dtype=np.int64)
        for node, words in found.items():
            n_words[node] = len(words)
            kind[node] = SplitKind.CATEGORY_SET
        offset = np.concatenate([[0], np.cumsum(n_words)])
        parts = [found[node] for node in sorted(found)]
        return offset, np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)

    def numbers(self, name: str) -> FloatArray | None:
        """Return what is known about the nodes by this name; None: nothing, of any tree."""
        has = [name in tree.numbers for tree in self._trees]
        if not any(has):
            return None
        if not all(has):
            raise InvalidForestError(
                f"{name} must be given for all trees or for none; tree {has.index(False)} has none."
            )
        arrays = [tree.numbers[name] for tree in self._trees]
        if len({array.shape[1:] for array in arrays}) > 1:
            raise InvalidForestError(f"{name} must have as many columns in every tree.")
        return np.concatenate(arrays)

    def values(self, n_values: int) -> FloatArray | None:
        """Return the values in their columns."""
        given = self.numbers("value")
        if given is None:
            return None
        column = np.array([tree.column for tree in self._trees])
        if given.ndim > 2 or (given.ndim == 2 and given.shape[1] != n_values):
            raise InvalidForestError(
                f"value must have n_values={n_values} columns; got the shape {given.shape}."
            )
        if column.min() < 0 or column.max() >= n_values:
            raise InvalidForestError(
                f"column must lie in [0, {n_values}); got {column.min()} to {column.max()}."
            )
        if given.ndim == 2:
            return given
        values = np.zeros((len(given), n_values))
        values[np.arange(len(given)), column[self.tree]] = given
        return values


def _vector(
    name: str, array: ArrayLike, *, tree: int, dtype: Any, n_nodes: int | None = None
) -> AnyArray:
    """Return a copy of an array with an entry per node."""
    try:
        given = np.asarray(array)
        kinds = "biu" if dtype is np.int64 else "biuf"
        if given.size and given.dtype.kind not in kinds:
            raise ValueError(f"it has type {given.dtype}")
        vector = given.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidForestError(f"tree {tree}: {name} must hold numbers: {error}.") from error
    wanted = given.shape[:1] if n_nodes is None else (n_nodes,)
    if vector.shape[:1] != wanted or (vector.ndim != 1 and name != "value"):
        raise InvalidForestError(
            f"tree {tree}: {name} must have one entry per node, {n_nodes}; "
            f"got the shape {vector.shape}."
        )
    return vector


def _words(codes: Iterable[int], tree: int) -> AnyArray:
    """Return a set of codes as words of 64 bits."""
    members = np.asarray(list(codes) if not isinstance(codes, np.ndarray) else codes)
    if members.size and (members.dtype.kind not in "iu" or members.ndim != 1):
        raise InvalidForestError(f"tree {tree}: categories must be whole numbers; got {codes!r}.")
    if members.size and not 0 <= members.min() <= members.max() < _MAX_CODE:
        raise InvalidForestError(
            f"tree {tree}: category codes must lie in [0, {_MAX_CODE}); "
            f"got {members.min()} to {members.max()}."
        )
    members = members.astype(np.uint64)
    words = np.zeros(int(members.max()) // 64 + 1 if members.size else 1, dtype=np.uint64)
    np.bitwise_or.at(words, members // np.uint64(64), np.uint64(1) << (members % np.uint64(64)))
    return words
