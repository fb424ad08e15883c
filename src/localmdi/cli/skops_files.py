"""What is checked of a skops archive before any object is built from it.

scikit-learn's trees copy the arrays of a file as they are, and follow them. A file whose arrays do
not fit each other would crash them before anything else could look, so the arrays are compared
here, in the archive. Whatever else a file may do to the libraries ends at the barrier
(`localmdi.io.child_process`).
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from localmdi.io.child_process import memory_allowance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localmdi.typing import AnyArray


_SCHEMA = "schema.json"
_MOST_FEATURES = 2**31 - 1
_NODE_FIELDS = {"left_child", "right_child", "feature", "threshold", "impurity"}


def check_archive(path: Path) -> None:
    """Refuse an archive that promises too much, or whose trees do not fit together."""
    with ZipFile(path) as archive:
        members = archive.infolist()
        if len({member.filename for member in members}) != len(members):
            raise ValueError("its members must have different names")
        promised = sum(member.file_size for member in members)
        if promised > memory_allowance(path):
            raise ValueError(f"its members take {promised / 2**30:.1f} GiB, too much for its size")
        parts = _Parts(archive)
        for tree in parts.trees:
            _check_tree(tree, parts)


class _Parts:
    """The objects of an archive, by the numbers under which others refer to them."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._first: dict[Any, dict[str, Any]] = {}
        self._ambiguous: set[Any] = set()
        self.trees: list[dict[str, Any]] = []
        for part in _walk(json.loads(archive.read(_SCHEMA))):
            number = part.get("__id__")
            # skops builds an object once, from the first that has its number.
            if self._first.setdefault(number, part) != part:
                self._ambiguous.add(number)
            is_tree = part.get("__class__") == "Tree" and "tree" in str(part.get("__module__"))
            if part.get("__loader__") == "TreeNode" or is_tree:
                self.trees.append(part)

    def check(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return the part of a tree, if no other object has its number."""
        if part["__id__"] in self._ambiguous:
            raise ValueError("two different objects have the same number")
        return part

    def integer(self, part: dict[str, Any]) -> int:
        value = json.loads(self.check(part)["content"])
        if part["__loader__"] != "JsonNode" or type(value) is not int:
            raise ValueError("the sizes of a tree must be integers")
        return value

    def array(self, part: dict[str, Any]) -> AnyArray:
        import numpy as np

        if self.check(part)["__loader__"] != "NdArrayNode" or part["type"] != "numpy":
            raise ValueError("the nodes of a tree must be arrays")
        content = io.BytesIO(self._archive.read(part["file"]))
        array: AnyArray = np.load(content, allow_pickle=False)
        return array


def _walk(root: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of the schema; not recursively, because a file may nest them deeply."""
    waiting = [root]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if "__loader__" in current:
                yield current
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)


def _check_tree(tree: dict[str, Any], parts: _Parts) -> None:
    if parts.check(tree)["__loader__"] != "TreeNode":
        raise ValueError("a tree must be stored as skops stores one")
    given = parts.check(tree["__reduce__"]["args"])["content"]
    n_features, n_outputs = parts.integer(given[0]), parts.integer(given[2])
    n_classes = parts.array(given[1])
    state = parts.check(tree["content"])["content"]
    n_nodes, depth = parts.integer(state["node_count"]), parts.integer(state["max_depth"])
    nodes, values = parts.array(state["nodes"]), parts.array(state["values"])
    if len(given) != 3 or not 1 <= n_features <= _MOST_FEATURES or not 0 <= depth < n_nodes:
        raise ValueError("a tree must have features, and more nodes than levels")
    if nodes.shape != (n_nodes,) or not set(nodes.dtype.names or ()) >= _NODE_FIELDS:
        raise ValueError(f"a tree of {n_nodes} nodes must hold as many")
    _check_values(values, n_classes, shape=(n_nodes, n_outputs))
    _check_children(nodes, n_features)


def _check_values(values: AnyArray, n_classes: AnyArray, *, shape: tuple[int, int]) -> None:
    n_nodes, n_outputs = shape
    sound = n_classes.dtype.kind == "i" and n_classes.shape == (n_outputs,) and n_outputs > 0
    if not sound or n_classes.min() < 1:
        raise ValueError("every output of a tree must have at least one class or number")
    if values.dtype != float or values.shape != (n_nodes, n_outputs, int(n_classes.max())):
        raise ValueError("every node of a tree must have a value per output and class")


def _check_children(nodes: AnyArray, n_features: int) -> None:
    """Children follow their parents; so no path is endless, and none leaves the tree."""
    import numpy as np

    left, right, feature = (nodes[field] for field in ("left_child", "right_child", "feature"))
    place = np.arange(len(nodes))
    leaf = left == -1
    inside = (left > place) & (left < len(nodes)) & (right > place) & (right < len(nodes))
    inside &= (feature >= 0) & (feature < n_features)
    if not np.where(leaf, right == -1, inside).all():
        raise ValueError("a child or a feature of a tree is out of range")
