"""LightGBM's models: the text form that its boosters write, live or in a file."""

from __future__ import annotations

import json
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.fields import category_labels, feature_count, read_file, score_count
from localmdi.exceptions import FileFormatError, UnsupportedModelError
from localmdi.forest import ColumnRule, Forest, ForestBuilder

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from localmdi.typing import AnyArray, FloatArray, IntArray

# The bits of decision_type.
_IS_CATEGORY, _DEFAULT_LEFT = 1, 2
_NO_MISSING, _ZERO_MISSING, _NAN_MISSING = 0, 1, 2
# Numbers up to this size are 0 before they are compared: LightGBM's kZeroThreshold, a float32.
_NEARLY_ZERO = float(np.float32(1e-35))


def adapt_lightgbm(model: Any) -> Forest:
    """Return a Booster or a fitted LGBMModel as a forest; the trees are those of its predict."""
    # Raises LightGBM's own error, which is a NotFittedError, if there is no booster yet.
    booster = model.booster_ if hasattr(model, "fit") else model
    return parse_lightgbm(booster.model_to_string(num_iteration=None)).forest(
        classes=getattr(model, "classes_", None)
    )


def read_lightgbm_text(path: str | os.PathLike[str]) -> Forest:
    """Read a file of ``Booster.save_model``; LightGBM itself is not needed.

    Parameters
    ----------
    path : str or path-like
        The file.

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
    try:
        text = read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(f"it is no UTF-8 text: {error}") from error
    return parse_lightgbm(text).forest()


def parse_lightgbm(text: str) -> LightGBMText:
    """Return the parts of LightGBM's text form."""
    body, _, rest = text.partition("\nend of trees")
    head, *blocks = body.split("\nTree=")
    header = _entries(head)
    if not head.startswith("tree") or "max_feature_idx" not in header:
        raise _damaged("it does not begin with 'tree' and a header")
    parameters: dict[str, str] = {}
    for line in rest.partition("\nparameters:")[2].partition("\nend of parameters")[0].split("\n"):
        name, found, value = line.strip().removeprefix("[").removesuffix("]").partition(": ")
        if found:
            parameters[name] = value.strip()
    labels = rest.rpartition("\npandas_categorical:")[2].strip() if rest else ""
    return LightGBMText(header, [_entries(block) for block in blocks], parameters, labels)


@dataclass(frozen=True)
class LightGBMText:
    """The text form, taken apart.

    Parameters
    ----------
    header : dict
        The lines before the trees.
    trees : list of dict
        The lines of each tree.
    parameters : dict
        What the model was trained with; empty in old files.
    pandas_categorical : str
        The categories of pandas columns as JSON, or nothing.
    """

    header: Mapping[str, str]
    trees: list[dict[str, str]]
    parameters: Mapping[str, str]
    pandas_categorical: str

    def forest(self, *, classes: Any = None) -> Forest:
        """Return the forest; a classifier with several scores may name its classes."""
        n_features = feature_count(_integer(self.header, "max_feature_idx") + 1, library="LightGBM")
        claimed = _integer(self.header, "num_tree_per_iteration", default=1)
        n_scores = score_count(claimed, n_trees=len(self.trees), library="LightGBM")
        is_mean = "average_output" in self.header
        # A mean over all trees holds each score's trees once among n_scores.
        scale = float(n_scores) if is_mean else 1.0
        builder = ForestBuilder(n_features, n_values=max(n_scores, 1))
        rule = np.zeros(n_features, dtype=np.uint8)
        kinds: dict[int, set[int]] = {}
        for index, entries in enumerate(self.trees):
            tree = _Tree(entries, index)
            tree.check_features(n_features, kinds)
            tree.add_to(builder, column=index % max(n_scores, 1), scale=scale)
        for feature, found in kinds.items():
            rule[feature] = _rule(feature, found)
        several = classes is not None and len(classes) == n_scores > 1
        return builder.build(
            feature_names=self._names(n_features),
            aggregation="mean" if is_mean else "sum",
            boosted=not is_mean,
            classes=(np.asarray(classes),) if several else None,
            categories=self._categories(n_features),
            column_rule=rule if rule.any() else None,
        )

    def _names(self, n_features: int) -> list[str] | None:
        names = self.header.get("feature_names", "").split(" ")
        if len(names) != n_features:
            raise _damaged(f"it must name its {n_features} features; it names {len(names)}")
        is_default = names == [f"Column_{i}" for i in range(n_features)]
        return None if is_default else names

    def _categories(self, n_features: int) -> list[AnyArray | None] | None:
        """Return the categories of the columns that pandas held as such."""
        if self.pandas_categorical in ("", "null", "[]"):
            return None
        try:
            parts = json.loads(self.pandas_categorical)
        except (ValueError, RecursionError) as error:
            raise _damaged(f"pandas_categorical is no JSON: {error}") from error
        if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
            raise _damaged(f"pandas_categorical must hold lists; got {reprlib.repr(parts)}")
        columns = self._categorical_columns(n_features)
        if len(columns) != len(parts):
            raise UnsupportedModelError(
                f"the model has {len(parts)} pandas columns of categories and {len(columns)} "
                "features that it splits by category, so that it cannot be told which are which "
                "(ordered categoricals are such columns). Train on codes instead of categories."
            )
        labels: list[AnyArray | None] = [None] * n_features
        for column, part in zip(columns, parts, strict=True):
            labels[column] = category_labels(part)
        return labels

    def _categorical_columns(self, n_features: int) -> list[int]:
        named = self.parameters.get("categorical_feature", "")
        if named and all(part.isascii() and part.isdigit() for part in named.split(",")):
            columns = sorted(int(part) for part in named.split(","))
            return [column for column in columns if column < n_features]
        infos = self.header.get("feature_infos", "").split(" ")
        return [i for i, info in enumerate(infos[:n_features]) if info[:1] not in ("[", "n", "")]


class _Tree:
    """One tree: its splits, then its leaves."""

    def __init__(self, entries: Mapping[str, str], index: int) -> None:
        self._entries = entries
        if _integer(entries, "is_linear", default=0):
            raise UnsupportedModelError(
                "the leaves of the model are linear functions (linear_tree=True), so that its "
                "trees alone do not make its prediction. Train it with linear_tree=False."
            )
        n_leaves = _integer(entries, "num_leaves")
        if n_leaves < 1:
            raise _damaged(f"tree {index} must have a leaf; it has {n_leaves}")
        self.n_splits = n_leaves - 1
        n = self.n_splits
        self.feature = self._integers("split_feature", n)
        self.decision = self._integers("decision_type", n)
        self.threshold = self._floats("threshold", n)
        self.is_category = (self.decision & _IS_CATEGORY) != 0
        self.missing_type = (self.decision >> 2) & 3

    def _integers(self, key: str, n: int) -> IntArray:
        return _numbers(self._entries, key, n=n, dtype=np.int64)

    def _floats(self, key: str, n: int) -> FloatArray:
        return _numbers(self._entries, key, n=n, dtype=np.float64)

    def check_features(self, n_features: int, kinds: dict[int, set[int]]) -> None:
        """Note how each feature is split: by category (-1), or by its kind of missing values."""
        if self.n_splits and not 0 <= self.feature.min() <= self.feature.max() < n_features:
            raise _damaged(f"features must lie in [0, {n_features}); got {self.feature.tolist()}")
        kind = np.where(self.is_category, -1, self.missing_type)
        for feature, found in set(zip(self.feature.tolist(), kind.tolist(), strict=True)):
            kinds.setdefault(feature, set()).add(found)

    def add_to(self, builder: ForestBuilder, *, column: int, scale: float) -> None:
        """Add the tree to a forest."""
        n, n_leaves = self.n_splits, self.n_splits + 1
        children = [
            np.concatenate([self._child(key), np.full(n_leaves, -1)])
            for key in ("left_child", "right_child")
        ]
        # Where missing values are not known, NaN is compared as 0.
        left = np.where(
            self.missing_type == _NO_MISSING,
            self.threshold >= 0,
            (self.decision & _DEFAULT_LEFT) != 0,
        )
        leaf_value = self._floats("leaf_value", n_leaves)
        builder.add_tree(
            *children,
            feature=np.concatenate([self.feature, np.full(n_leaves, -1)]),
            threshold=np.concatenate([_around_zero(self.threshold), np.zeros(n_leaves)]),
            missing_left=np.concatenate([left & ~self.is_category, np.zeros(n_leaves, dtype=bool)]),
            categories=self._sets(),
            column=column,
            value=np.concatenate([np.full(n, np.nan), scale * leaf_value]),
            weight=self._counts(),
        )

    def _child(self, key: str) -> IntArray:
        child = self._integers(key, self.n_splits)
        if child.size and not -self.n_splits - 1 <= child.min() <= child.max() < self.n_splits:
            raise _damaged(f"{key} must number splits and leaves; got {reprlib.repr(child)}")
        # Leaf i is written as -i - 1.
        return np.where(child < 0, self.n_splits - 1 - child, child)

    def _counts(self) -> FloatArray:
        if not self.n_splits:
            # A tree without a split does not say how many rows it saw.
            count = self._entries.get("leaf_count", "").split()
            return np.array([float(count[0]) if len(count) == 1 else 0.0])
        splits = self._floats("internal_count", self.n_splits)
        return np.concatenate([splits, self._floats("leaf_count", self.n_splits + 1)])

    def _sets(self) -> dict[int, IntArray]:
        nodes = np.flatnonzero(self.is_category)
        if not len(nodes):
            return {}
        n_sets = _integer(self._entries, "num_cat")
        bounds = self._integers("cat_boundaries", n_sets + 1)
        words = _numbers(self._entries, "cat_threshold", n=None, dtype=np.int64)
        which = self.threshold[nodes]
        if not (
            bounds[0] == 0
            and (np.diff(bounds) >= 0).all()
            and bounds[-1] == len(words)
            and np.isin(which, np.arange(n_sets)).all()
            and (not len(words) or 0 <= words.min() <= words.max() < 2**32)
        ):
            raise _damaged("the sets of categories of a tree must fit its splits")
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        return {
            int(node): np.flatnonzero(bits[32 * bounds[i] : 32 * bounds[i + 1]])
            for node, i in zip(nodes, which.astype(np.int64), strict=True)
        }


def _around_zero(threshold: FloatArray) -> FloatArray:
    """Return thresholds that part all numbers near 0 as they part 0 itself."""
    near = np.abs(threshold) <= _NEARLY_ZERO
    below = np.nextafter(-_NEARLY_ZERO, -np.inf)
    return np.where(near, np.where(threshold >= 0, _NEARLY_ZERO, below), threshold)


def _rule(feature: int, kinds: set[int]) -> int:
    """Return what happens to the values of a feature that is split in these ways."""
    if -1 in kinds:
        if len(kinds) > 1:
            raise UnsupportedModelError(
                f"feature {feature} is split by category and by order in one model. Train a model "
                "at once, without init_model."
            )
        return ColumnRule.TRUNCATE
    if _ZERO_MISSING in kinds:
        if _NAN_MISSING in kinds:
            raise UnsupportedModelError(
                f"zeros of feature {feature} are missing in some trees and numbers in others. "
                "Train a model at once, without init_model."
            )
        return ColumnRule.ZERO_IS_MISSING
    return 0


def _entries(block: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    for line in block.split("\n"):
        key, _, value = line.partition("=")
        entries[key] = value
    return entries


def _integer(entries: Mapping[str, str], key: str, *, default: int | None = None) -> int:
    text = entries.get(key, "" if default is None else str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise _damaged(f"{key} must be a whole number; got {reprlib.repr(text)}")
    return int(text)


def _numbers(entries: Mapping[str, str], key: str, *, n: int | None, dtype: Any) -> AnyArray:
    parts = entries.get(key, "").split()
    try:
        array = np.array(parts, dtype=dtype) if parts else np.zeros(0, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise _damaged(f"{key} must hold numbers: {error}") from error
    if n is not None and len(array) != n:
        raise _damaged(f"{key} must hold {n} numbers; got {len(array)}")
    return array


def _damaged(problem: str) -> FileFormatError:
    return FileFormatError(
        f"this is not a LightGBM model that can be read: {problem}. "
        "Save it again with Booster.save_model."
    )
