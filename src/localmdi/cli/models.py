"""Fitted models in files: saved forests, skops files, other libraries' and, if allowed, pickles.

To add a format, recognise its first bytes or its ending in `_load`. A file that can run code must
need permission, and every tree that a file holds must be checked before a row follows it.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from localmdi._text import count, quote_names
from localmdi.exceptions import InvalidForestError, LocalMDIError
from localmdi.io.child_process import reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localmdi.forest import Forest
    from localmdi.typing import AnyArray


_FOREST = b"\x89LMDI"
_ZIP = b"PK\x03\x04"
_PICKLES = (".pkl", ".pickle", ".joblib")
# Beyond what skops itself trusts. Making one of these runs no code of the file; but skops fills
# them unchecked, and the numbers of a tree say where to read.
_TRUSTED = frozenset(
    {
        "sklearn.tree._tree.Tree",
        "numpy.dtype",
        "localmdi.forest.forest.Forest",
        "localmdi.results.local.LocalImportance",
        "localmdi.trees.classifier.RandomizedForestClassifier",
        "localmdi.trees.growth.GrownForest",
        "localmdi.trees.regressor.RandomizedForestRegressor",
    }
)
_SURROGATE = 0xD800
# Weights are sums of float64 in another order.
_LOST_WEIGHT = 1e-6
_NOT_DATA = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def load_model(path: Path, *, allow_pickle: bool) -> Any:
    """Return the model or the `Forest` in a file.

    Parameters
    ----------
    path : Path
        A file of skops, of `Forest.save`, of LightGBM, XGBoost, CatBoost or ydf or, if allowed, of
        pickle or joblib.
    allow_pickle : bool
        Whether a file may be loaded that runs code.
    """
    from localmdi.forest import Forest

    if not path.is_dir() and not path.is_file():
        raise ValueError(f"a model must be a regular file; {path.name!r} is not. Save it as one.")
    # A pickle runs code of its author, whom the user trusts: there is nothing to keep from it.
    trusted = allow_pickle and path.suffix.lower() in _PICKLES
    with nullcontext() if trusted else reading(path):
        model = _load(path, allow_pickle=allow_pickle)
    forest = getattr(model, "forest_", None)
    # Our own estimators are their forest, which predicts as they do.
    return forest if isinstance(forest, Forest) else model


def _load(path: Path, *, allow_pickle: bool) -> Any:
    first = b""
    if not path.is_dir():
        with open(path, "rb") as file:
            first = file.read(8)
    if first.startswith(_FOREST):
        from localmdi.forest import load_forest

        return load_forest(path)
    if first.startswith(_ZIP):
        return _load_skops(path)
    if path.suffix.lower() not in _PICKLES:
        return _load_library_file(path)
    if not allow_pickle:
        raise ValueError(
            f"{path.name!r} is a pickle, and loading a pickle can run any code. Use --allow-pickle "
            "if you trust its author, or save the model with skops.io.dump(model, path)."
        )
    return _load_pickle(path)


def _load_library_file(path: Path) -> Any:
    """Return the forest in a file, or directory, of a library of boosted trees."""
    from localmdi.adapters import is_model_file, load_model_file

    if not is_model_file(path):
        raise ValueError(
            f"{path.name!r} is neither a .skops file, a saved Forest nor a model that LightGBM, "
            "XGBoost, CatBoost or ydf saved. Save the model with its own save_model, with "
            "skops.io.dump(model, path) or with localmdi.as_forest(model).save(path)."
        )
    return load_model_file(path)


def _load_pickle(path: Path) -> Any:
    import joblib

    # Unpickling can call, and so raise, anything.
    with _loadable(path, "joblib"):
        return joblib.load(path)


def _load_skops(path: Path) -> Any:
    """Return the model in a skops file, if all its types are known and all its trees are sound."""
    import skops.io

    from localmdi._api import as_forest
    from localmdi.cli.skops_files import check_archive

    with _loadable(path, "skops"):
        check_archive(path)
        unknown = set(skops.io.get_untrusted_types(file=path))
    if not unknown <= _TRUSTED:
        raise ValueError(
            f"{path.name!r} must hold only types that are known to be safe; it also holds "
            f"{quote_names(sorted(unknown - _TRUSTED), most=3)}. Save the trees alone, with "
            "localmdi.as_forest(model).save(path)."
        )
    with _loadable(path, "skops"):
        model = skops.io.load(path, trusted=sorted(unknown))
        _check_trees(model)
        # Attributes may be missing or of other types; here that is the file's fault.
        as_forest(model, values=False)
    return model


@contextmanager
def _loadable(path: Path, library: str) -> Iterator[None]:
    try:
        yield
    except (LocalMDIError, MemoryError):
        raise
    except Exception as error:
        # A file that the library did not write can raise anything.
        raise ValueError(
            f"{path.name!r} is not a model that {library} can load "
            f"({type(error).__name__}: {error}). Save it again, or install the library versions "
            "that it was saved with."
        ) from error


def _check_trees(model: Any) -> None:
    """Check every tree of the model, wherever it is: a bad one would be followed out of bounds."""
    import numpy as np

    from localmdi.adapters import adapt
    from localmdi.forest import Forest

    for part in _reachable(model):
        if isinstance(part, np.ndarray) and part.dtype.kind == "U":
            _check_characters(part)
        if isinstance(part, Forest):
            # Made anew, which checks all its fields.
            replace(part)
        tree: Any = getattr(part, "tree_", None)
        if type(tree).__module__ != "sklearn.tree._tree":
            continue
        if getattr(part, "n_features_in_", tree.n_features) != tree.n_features:
            raise ValueError(
                f"a tree must have as many features as its model; {type(part).__name__} has "
                f"{part.n_features_in_}, its tree {tree.n_features}. Save the model again."
            )
        _check_weights(adapt(part, values=True).forest)


def _check_characters(strings: AnyArray) -> None:
    """Refuse numbers that are no characters: NumPy makes strings of them that break Python."""
    import numpy as np

    native = np.ascontiguousarray(strings.ravel(), strings.dtype.newbyteorder("="))
    code = native.view(np.uint32)
    if code.size and (code.max() > sys.maxunicode or ((code >> 11) == _SURROGATE >> 11).any()):
        raise ValueError("a string must be valid Unicode")


def _check_weights(forest: Forest) -> None:
    """Refuse a tree whose children do not have the rows of their parent."""
    import numpy as np

    if forest.weight is None:
        return
    of_children = np.zeros(forest.n_nodes)
    parent = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    np.add.at(of_children, parent, forest.weight[forest.child])
    split = np.diff(forest.child_offset) > 0
    lost = np.abs(of_children - forest.weight)[split]
    bad = lost > _LOST_WEIGHT * forest.weight[split]
    if bad.any():
        raise InvalidForestError(
            "the weights of a node's children must add up to the node's; they do not at "
            f"{count(int(bad.sum()), 'node')} of a tree in the file. Save the model again."
        )


def _reachable(root: Any) -> Iterator[Any]:
    import numpy as np

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
