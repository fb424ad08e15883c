"""The node table of trees in scikit-learn's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._core import NodeWriter
from localmdi.exceptions import InvalidForestError, UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.adapters.scikit_learn.members import Members, TreeMember
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["node_columns", "node_values"]


def node_columns(trees: Sequence[TreeMember], *, missing: bool) -> dict[str, Any]:
    """Return the fields of a forest that hold these trees, without their values.

    The trees' own arrays are live views of the model: they are read, never kept.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi.adapters.scikit_learn.members import TreeMember
    >>> stump = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> columns = node_columns([TreeMember(stump.tree_)], missing=False)
    >>> columns["child"], columns["missing_child"]
    (array([1, 2]), array([-1, -1, -1], dtype=int32))
    """
    tree_offset = _offsets(trees)
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
            f"the trees of the model must have the {n_nodes} nodes they count, but have "
            f"{writer.n_nodes}. The model is damaged: fit it again."
        )
    columns["tree_offset"] = tree_offset
    for column in columns.values():
        column.flags.writeable = False  # so that the forest keeps it without a copy
    return columns


def node_values(members: Members) -> FloatArray:
    """Return the values of all nodes, in the columns of the model they belong to.

    If the prediction is a sum over trees, each tree's values are scaled to their part in it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi.adapters.scikit_learn.collect import collect
    >>> node_values(collect(DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])))
    array([[0.5, 0.5],
           [1. , 0. ],
           [0. , 1. ]])
    """
    offsets = _offsets(members.trees).tolist()
    values = np.zeros((offsets[-1], members.n_values))
    for member, first, end in zip(members.trees, offsets[:-1], offsets[1:], strict=True):
        own = _own_values(member.tree)
        scaled = own * member.scale if members.summed else own
        if member.targets is None:
            values[first:end] = scaled
        else:
            is_kept = member.targets >= 0
            values[first:end, member.targets[is_kept]] = scaled[:, is_kept]
    values.flags.writeable = False
    return values


def _offsets(trees: Sequence[TreeMember]) -> IntArray:
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
            f"the trees of a model must have the arrays of scikit-learn 1.6 or newer, but a "
            f"{type(tree).__name__} has others. Upgrade localmdi, or fit with a scikit-learn "
            "that it knows."
        ) from error


def _own_values(tree: Any) -> FloatArray:
    """Return a tree's values with outputs side by side, without the padding of short outputs."""
    value: FloatArray = tree.value
    n_classes = tree.n_classes.tolist()
    if len(n_classes) == 1:
        return value[:, 0, : n_classes[0]]
    return np.concatenate([value[:, k, :n] for k, n in enumerate(n_classes)], axis=1)
