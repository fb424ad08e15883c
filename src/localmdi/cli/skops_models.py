"""Models in skops files: known types only, and every tree in them checked."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters import adapt
from localmdi.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["load_skops"]

# Beyond what skops itself trusts. Making one of these runs no code of the file; but skops fills
# them unchecked, and the numbers of a tree say where to read.
_TRUSTED = frozenset(
    {
        "sklearn.tree._tree.Tree",
        "numpy.dtype",
        "localmdi.forest.forest.Forest",
        "localmdi.results.local.LocalImportance",
        "localmdi.trees.classifier.RandomizedForestClassifier",
        "localmdi.trees.grown.GrownForest",
        "localmdi.trees.regressor.RandomizedForestRegressor",
    }
)
_NOT_DATA = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def load_skops(path: Path) -> Any:
    """Return the model in a skops file, if all its types are known and all its trees are sound.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import skops.io
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.skops"
    ...     skops.io.dump(DecisionTreeClassifier().fit([[0], [1]], [0, 1]), path)
    ...     load_skops(path)
    DecisionTreeClassifier()
    """
    import skops.io

    with _explained(path):
        unknown = set(skops.io.get_untrusted_types(file=path))
    if not unknown <= _TRUSTED:
        raise ValueError(
            f"a model must consist of types that are known to be harmless; {path.name!r} also "
            f"holds {', '.join(sorted(unknown - _TRUSTED)[:3])}. Save the trees alone, with "
            "localmdi.as_forest(model).save(path)."
        )
    with _explained(path):
        model = skops.io.load(path, trusted=sorted(unknown))
    _check_trees(model)
    return model


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # A file that skops did not write can raise anything.
        raise ValueError(
            f"{path.name!r} must be a model that skops can load; got {type(error).__name__}: "
            f"{error}. Save it again, with the library versions that are installed here."
        ) from error


def _check_trees(model: Any) -> None:
    """Read every tree of the model, wherever it is: a bad one would be followed out of bounds."""
    for part in _reachable(model):
        if isinstance(part, Forest):
            # Made anew: that checks all its fields.
            replace(part)
        tree: Any = getattr(part, "tree_", None)
        if type(tree).__module__ != "sklearn.tree._tree":
            continue
        if getattr(part, "n_features_in_", tree.n_features) != tree.n_features:
            raise ValueError(
                f"a tree must have the features of its model; {type(part).__name__} has "
                f"{part.n_features_in_}, its tree {tree.n_features}. Save the model again."
            )
        adapt(part, values=True)


def _reachable(root: Any) -> Iterator[Any]:
    seen = {id(root)}
    waiting = [root]
    while waiting:
        current = waiting.pop()
        yield current
        # NumPy does not tell the garbage collector what an array of objects holds.
        objects = isinstance(current, np.ndarray) and current.dtype.hasobject
        inside = current.ravel().tolist() if objects else gc.get_referents(current)
        for item in inside:
            if id(item) not in seen and not isinstance(item, _NOT_DATA):
                seen.add(id(item))
                waiting.append(item)
