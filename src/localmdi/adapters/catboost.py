"""CatBoost's models: the JSON that it exports, from a live model or a file."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi.adapters.fields import (
    Fields,
    category_labels,
    feature_count,
    read_file,
    read_json,
    run_apart,
)
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import Forest, ForestBuilder

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, IntArray

_LIBRARY = "CatBoost"
# Run by a Python of its own: the file, and where its JSON goes.
_CBM_TO_JSON = """
import sys
from catboost import CatBoost
from localmdi.adapters.catboost import export_json
export_json(CatBoost().load_model(sys.argv[1], format="cbm"), sys.argv[2])
"""
# CatBoost's own limit.
_MAX_DEPTH = 16
_MAX_NODES = 1 << 20


def adapt_catboost(model: Any) -> Forest:
    """Return a fitted CatBoost model as a forest."""
    if not model.is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(model).__name__} is not fitted yet. Call fit first.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        export_json(model, str(path))
        content = read_json(path.read_bytes(), library=_LIBRARY)
    return parse_catboost(content)


def export_json(model: Any, path: str) -> None:
    """Write a model as JSON, which CatBoost itself refuses to do for text and embeddings."""
    if model.get_text_feature_indices():
        raise _no_numbers("text features")
    if model.get_embedding_feature_indices():
        raise _no_numbers("embedding features")
    model.save_model(path, format="json")


def _no_numbers(features: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the model has {features}, which CatBoost turns into numbers of its own, so that X alone "
        "does not say where a row goes. Compute such numbers outside of the model."
    )


def read_catboost_json(path: str | os.PathLike[str]) -> Forest:
    """Read a file of ``save_model(path, format="json")``; CatBoost itself is not needed.

    Parameters
    ----------
    path : str or path-like
        The file. A model that splits categories must have been saved with ``pool=``, which tells
        their names.

    Returns
    -------
    Forest

    Raises
    ------
    FileFormatError, InvalidForestError
        The file is damaged or something else.
    UnsupportedModelError
        Its trees cannot be routed; the message says why.
    """
    return parse_catboost(read_json(read_file(path), library=_LIBRARY))


def read_catboost_cbm(path: str | os.PathLike[str]) -> Forest:
    """Read a file in CatBoost's own binary form; CatBoost must be installed.

    CatBoost reads it in a process of its own: a damaged file can make it crash or never end.
    """
    if find_spec("catboost") is None:
        raise UnsupportedModelError(
            "a .cbm file is read by CatBoost, which is not installed. Install localmdi[catboost], "
            "or save the model with format='json'."
        )
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "model.json"
        run_apart(_CBM_TO_JSON, os.fspath(path), output=str(output), library=_LIBRARY)
        content = read_json(output.read_bytes(), library=_LIBRARY)
    return parse_catboost(content)


def parse_catboost(content: Fields) -> Forest:
    """Return the forest of a model that was parsed."""
    features = _Features(content.child("features_info"))
    scale, bias = _scale_and_bias(content)
    n_values = len(bias)
    builder = ForestBuilder(features.n_features, n_values=n_values)
    if "oblivious_trees" in content:
        for tree in content.children("oblivious_trees"):
            builder.add_tree(**_oblivious(tree, features, n_values=n_values, scale=scale))
    else:
        for tree in content.children("trees"):
            builder.add_tree(**_nested(tree, features, n_values=n_values, scale=scale))
    return builder.build(
        feature_names=features.names,
        aggregation="sum",
        boosted=True,
        row_dtype="float32",
        classes=_classes(content, n_values),
        categories=features.categories,
        base_value=bias,
    )


class _Question(NamedTuple):
    """A split: where the answer is no, a row goes left."""

    feature: int
    threshold: float = 0.0
    missing_left: bool = True
    category: int | None = None


class _Features:
    """The columns of X, from CatBoost's lists of features by type."""

    def __init__(self, info: Fields) -> None:
        self._floats: dict[int, tuple[int, bool]] = {}
        self._categories: dict[int, int] = {}
        names: dict[int, str] = {}
        for key in ("text_features", "embedding_features"):
            if key in info and info.items(key):
                raise _no_numbers(key.replace("_", " "))
        for key in ("float_features", "categorical_features"):
            for feature in info.children(key) if key in info else ():
                flat = feature.integer("flat_feature_index")
                if "feature_id" in feature:
                    names[flat] = feature.text("feature_id")
                if key == "float_features":
                    goes_left = feature.text("nan_value_treatment") != "AsTrue"
                    self._floats[feature.integer("feature_index")] = flat, goes_left
                else:
                    self._categories[feature.integer("feature_index")] = flat
        flats = [flat for flat, _ in self._floats.values()] + [*self._categories.values()]
        self.n_features = feature_count(max(flats, default=-1) + 1, library=_LIBRARY)
        self.names = self._names(names)
        self._hashes: dict[int, int] = {}
        self._labels: list[str] = []
        if "cat_features_hash" in info:
            for code, entry in enumerate(info.children("cat_features_hash")):
                self._hashes[_hash(entry, "hash")] = code
                self._labels.append(entry.text("value"))

    def _names(self, names: dict[int, str]) -> list[str] | None:
        complete = len(names) == self.n_features and all(names.values())
        numbered = all(name == str(flat) for flat, name in names.items())
        return [names[i] for i in range(self.n_features)] if complete and not numbered else None

    @property
    def categories(self) -> list[AnyArray | None] | None:
        """All categorical columns share one list of codes, that of the file."""
        if not self._labels or not self._categories:
            return None
        labels: list[AnyArray | None] = [None] * self.n_features
        for flat in self._categories.values():
            labels[flat] = category_labels(self._labels)
        return labels

    def question(self, split: Fields) -> _Question:
        """Return what a split asks."""
        kind = split.text("split_type")
        if kind == "FloatFeature":
            index = split.integer("float_feature_index")
            if index not in self._floats:
                split.fail("float_feature_index", f"must be a feature of the file; got {index}")
            flat, missing_left = self._floats[index]
            with np.errstate(over="ignore"):
                border = float(np.float32(split.number("border")))
            return _Question(flat, border, missing_left)
        if kind != "OneHotFeature":
            raise UnsupportedModelError(
                "the model splits statistics of categories (CTR), which CatBoost computes from its "
                "training rows, so that X alone does not say where a row goes. Train it with "
                "one_hot_max_size at least as large as the number of categories, or encode them "
                "as numbers."
            )
        index = split.integer("cat_feature_index")
        if index not in self._categories:
            split.fail("cat_feature_index", f"must be a feature of the file; got {index}")
        code = self._hashes.get(_hash(split, "value"))
        if code is None:
            raise UnsupportedModelError(
                "the model splits categories and does not tell their names. Save it with "
                "model.save_model(path, format='json', pool=train_pool), and read that file with "
                "localmdi.adapters.load_model_file(path)."
            )
        return _Question(self._categories[index], category=code)


def _hash(entry: Fields, key: str) -> int:
    found = entry.get(key)
    if not isinstance(found, int):
        entry.fail(key, "must be a whole number")
    return int(found) % 2**32


def _oblivious(tree: Fields, features: _Features, *, n_values: int, scale: float) -> dict[str, Any]:
    """Return a tree that asks the same question on every level; the first is the root's.

    The answers are the bits of a leaf's number, the first one the lowest.
    """
    # CatBoost writes null for a tree that is one leaf.
    is_leaf = tree.get("splits") is None
    questions = [] if is_leaf else [features.question(split) for split in tree.children("splits")]
    depth = len(questions)
    if depth > _MAX_DEPTH:
        tree.fail("splits", f"must be at most {_MAX_DEPTH}; got {depth}")
    n_splits = 2**depth - 1
    node = np.arange(n_splits)
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    leaf = np.zeros(1, dtype=np.int64)
    for bit in range(depth):
        leaf = np.stack([leaf, leaf + 2**bit], axis=1).ravel()
    value = tree.floats("leaf_values", n_values * 2**depth).reshape(-1, n_values)[leaf]
    by_node = [questions[i] for i in level.tolist()]
    columns = _columns(by_node, no=2 * node + 1, yes=2 * node + 2)
    columns["value"] = _scaled(scale, value, n_splits=n_splits)
    if "leaf_weights" in tree:
        columns["weight"] = _heap_sums(tree.floats("leaf_weights", 2**depth)[leaf])
    return columns


def _heap_sums(leaves: FloatArray) -> FloatArray:
    """Return the sums of all nodes of a complete tree, level by level, from those of its leaves."""
    levels = [leaves]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0].reshape(-1, 2).sum(axis=1))
    return np.concatenate(levels)


def _nested(tree: Fields, features: _Features, *, n_values: int, scale: float) -> dict[str, Any]:
    """Return a tree whose nodes hold their children, the splits first."""
    splits, leaves = [tree] if "split" in tree else [], [] if "split" in tree else [tree]
    children: list[tuple[bool, int]] = []
    for split in splits:
        if len(splits) > _MAX_NODES:
            tree.fail("", f"must have at most {_MAX_NODES} splits")
        for side in ("left", "right"):
            child = split.child(side)
            kind = splits if "split" in child else leaves
            children.append((kind is splits, len(kind)))
            kind.append(child)
    n_splits = len(splits)
    place = np.array([i if inner else n_splits + i for inner, i in children], dtype=np.int64)
    value = np.array([_leaf_value(leaf, n_values) for leaf in leaves])
    questions = [features.question(split.child("split")) for split in splits]
    columns = _columns(questions, no=place[::2], yes=place[1::2])
    columns["value"] = _scaled(scale, value, n_splits=n_splits)
    if all("weight" in leaf for leaf in leaves):
        weight = np.array([leaf.number("weight") for leaf in leaves])
        sums = np.concatenate([np.zeros(n_splits), weight])
        for i in reversed(range(n_splits)):
            sums[i] = sums[place[2 * i]] + sums[place[2 * i + 1]]
        columns["weight"] = sums
    return columns


def _scaled(scale: float, value: FloatArray, *, n_splits: int) -> FloatArray:
    """Return the values of splits, not known, and leaves."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([np.full((n_splits, value.shape[1]), np.nan), scale * value])


def _leaf_value(leaf: Fields, n_values: int) -> FloatArray:
    if isinstance(leaf.get("value"), list):
        return leaf.floats("value", n_values)
    if n_values > 1:
        leaf.fail("value", f"must hold {n_values} numbers")
    return np.array([leaf.number("value")])


def _columns(questions: list[_Question], *, no: IntArray, yes: IntArray) -> dict[str, Any]:
    """Return splits, and after them leaves, as `ForestBuilder.add_tree` takes them.

    Rows go left where the answer is no; where it is a category, the set goes left, so that the
    children change places.
    """
    is_set = np.array([question.category is not None for question in questions], dtype=bool)
    end = np.full(len(questions) + 1, -1)
    no_more = np.zeros(len(end))
    return {
        "left": np.concatenate([np.where(is_set, yes, no), end]),
        "right": np.concatenate([np.where(is_set, no, yes), end]),
        "feature": np.concatenate([[q.feature for q in questions], end]).astype(np.int64),
        "threshold": np.concatenate([[q.threshold for q in questions], no_more]),
        "missing_left": np.concatenate(
            [[q.missing_left and q.category is None for q in questions], no_more]
        ).astype(bool),
        "categories": {
            i: [question.category]
            for i, question in enumerate(questions)
            if question.category is not None
        },
    }


def _scale_and_bias(content: Fields) -> tuple[float, FloatArray]:
    parts = content.items("scale_and_bias")
    try:
        scale, bias = parts
        start = np.atleast_1d(np.asarray(bias, dtype=np.float64))
        if not isinstance(scale, int | float) or start.ndim != 1 or not len(start):
            raise ValueError("other types")
    except (TypeError, ValueError):
        content.fail("scale_and_bias", "must hold a number and a list of numbers")
    return float(scale), start


def _classes(content: Fields, n_values: int) -> tuple[AnyArray, ...] | None:
    """Return the class labels, if there is a score for each."""
    if n_values < 2 or "model_info" not in content:
        return None
    info = content.child("model_info")
    if "class_params" not in info or "class_names" not in info.child("class_params"):
        return None
    names = info.child("class_params").items("class_names")
    return (category_labels(names),) if len(names) == n_values else None
