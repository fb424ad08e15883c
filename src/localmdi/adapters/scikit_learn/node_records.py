"""The nodes of scikit-learn's trees: read into the table of a forest, or packed as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._core import NodeWriter, RecordLayout, TreeRecords
from localmdi.exceptions import InvalidForestError, UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi._core import Packed32
    from localmdi.adapters.scikit_learn.members import TreeMember
    from localmdi.typing import AnyArray, FloatArray, IntArray

# The fields of a record that packing reads: our name, scikit-learn's, and the type.
_FIELDS = (
    ("left", "left_child", np.dtype(np.int64)),
    ("right", "right_child", np.dtype(np.int64)),
    ("feature", "feature", np.dtype(np.int64)),
    ("threshold", "threshold", np.dtype(np.float64)),
    ("weight", "weighted_n_node_samples", np.dtype(np.float64)),
    ("impurity", "impurity", np.dtype(np.float64)),
    ("missing_goes_left", "missing_go_to_left", np.dtype(np.uint8)),
)


class NodeRecords:
    """The trees of a model as a `NodeSource`.

    Parameters
    ----------
    trees : sequence of TreeMember
        The trees; their arrays are read, never kept or written to.
    missing : bool
        Whether the model accepts missing values.
    """

    def __init__(self, trees: Sequence[TreeMember], *, missing: bool) -> None:
        self._trees = trees
        self.routes_missing = missing

    def columns(self) -> dict[str, Any]:
        """Return the fields of a forest that hold these trees, without their values."""
        return node_columns(self._trees, missing=self.routes_missing)

    def root_impurity(self) -> FloatArray:
        """Return the impurity of each tree's root."""
        return np.array([member.tree.impurity[0] for member in self._trees])

    def pack_drops(
        self, tree_weight: FloatArray, *, n_features: int, n_threads: int
    ) -> Packed32 | None:
        """Return the trees packed from their records; None if they keep none, or broken ones."""
        blocks, columns = [], []
        kind = None
        for member in self._trees:
            nodes = _records(member.tree)
            kind = kind or (None if nodes is None else nodes.dtype)
            if nodes is None or nodes.dtype != kind:
                return None
            blocks.append(nodes.view(np.uint8))
            columns.append(member.columns)
        layout = None if kind is None else _layout(kind)
        if layout is None:
            return None
        records = TreeRecords(
            records=blocks,
            layout=layout,
            columns=columns,
            n_features=n_features,
            tree_weight=tree_weight,
            missing=self.routes_missing,
        )
        return records.pack(n_threads)


def _records(tree: Any) -> AnyArray | None:
    """Return the block of memory in which a tree keeps its nodes, as its pickle gets it."""
    state = tree.__getstate__()
    nodes = state.get("nodes") if isinstance(state, dict) else None
    if not isinstance(nodes, np.ndarray) or nodes.shape != (tree.node_count,):
        return None
    return nodes if nodes.flags.c_contiguous else None


def _layout(record: np.dtype[Any]) -> RecordLayout | None:
    """Return where the fields lie in a record, if it has them with their types."""
    fields = record.fields
    offset = {}
    for name, theirs, dtype in _FIELDS:
        if fields is None or theirs not in fields or fields[theirs][0] != dtype:
            return None
        offset[name] = fields[theirs][1]
    return RecordLayout(size=record.itemsize, **offset)


def node_columns(trees: Sequence[TreeMember], *, missing: bool) -> dict[str, Any]:
    """Return the fields of a forest that hold these trees, without their values.

    The trees' own arrays are live views of the model: they are read, never kept.
    """
    tree_offset = node_offsets(trees)
    n_nodes = int(tree_offset[-1])
    columns: dict[str, AnyArray] = {
        "feature": np.empty(n_nodes, dtype=np.int32),
        "split_kind": np.empty(n_nodes, dtype=np.uint8),
        "threshold": np.empty(n_nodes),
        "child_offset": np.empty(n_nodes + 1, dtype=np.int64),
        "child": np.empty(n_nodes - len(trees), dtype=np.int64),
        "missing_child": np.empty(n_nodes, dtype=np.int32),
        "weight": np.empty(n_nodes),
        "impurity": np.empty(n_nodes),
    }
    writer = NodeWriter(**columns)
    for index, member in enumerate(trees):
        try:
            _append(writer, member, missing=missing)
        except ValueError as error:
            raise InvalidForestError(
                f"tree {index} of the model must be a binary tree, but at {error}. "
                "The model is damaged: fit it again."
            ) from error
    if writer.n_nodes != n_nodes:
        raise InvalidForestError(
            f"the trees of the model must have {n_nodes} nodes, as their node counts say; found "
            f"{writer.n_nodes}. The model is damaged: fit it again."
        )
    columns["tree_offset"] = tree_offset
    for column in columns.values():
        column.flags.writeable = False  # so that the forest keeps it without a copy
    return columns


def node_offsets(trees: Sequence[TreeMember]) -> IntArray:
    """Return where the nodes of each tree begin, and at the end their number."""
    sizes = [member.tree.node_count for member in trees]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _append(writer: NodeWriter, member: TreeMember, *, missing: bool) -> None:
    tree = member.tree
    try:
        writer.append(
            left=tree.children_left,
            right=tree.children_right,
            feature=tree.feature,
            threshold=tree.threshold,
            weight=tree.weighted_n_node_samples,
            impurity=tree.impurity,
            missing_goes_left=tree.missing_go_to_left if missing else None,
            column=member.columns,
        )
    except (TypeError, AttributeError) as error:
        raise UnsupportedModelError(
            f"the trees of a model must have the arrays of scikit-learn 1.6 or newer; this "
            f"{type(tree).__name__} has others. Upgrade localmdi, or fit with a supported "
            "scikit-learn."
        ) from error
