"""XGBoost's models: the JSON and UBJSON that its boosters write, live or in a file."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.fields import (
    Fields,
    category_labels,
    feature_count,
    read_file,
    read_json,
    score_count,
)
from localmdi.adapters.ubjson import decode_ubjson
from localmdi.adapters.xgboost_gains import TreeSums, row_weights, score_parts, with_potentials
from localmdi.exceptions import FileFormatError, UnsupportedModelError
from localmdi.forest import ColumnRule, Forest, ForestBuilder

if TYPE_CHECKING:
    import os

    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray

_LIBRARY = "XGBoost"
# base_score is stored as a prediction; these objectives start from its logit, or its logarithm.
_LOGIT = ("binary:logistic", "reg:logistic", "binary:logitraw")
_LOG = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def adapt_xgboost(model: Any) -> Forest:
    """Return a Booster or a fitted XGBModel as a forest; the trees are those of its predict."""
    is_estimator = hasattr(model, "get_booster")
    # Raises a NotFittedError if there is no booster yet.
    booster = model.get_booster() if is_estimator else model
    if is_estimator and not _is_nan(model.missing):
        raise UnsupportedModelError(
            f"{type(model).__name__} was made with missing={model.missing!r}; only NaN is missing "
            "for a forest. Replace that value by NaN, fit again with missing=np.nan."
        )
    content = Fields(decode_ubjson(bytes(booster.save_raw("ubj"))), library=_LIBRARY)
    rounds = None
    if is_estimator and booster.attr("best_iteration") is not None:
        rounds = int(booster.attr("best_iteration")) + 1
    return parse_xgboost(
        content,
        rounds=rounds,
        classes=getattr(model, "classes_", None),
        reg_lambda=_stored_lambda(booster),
    )


def read_xgboost_json(path: str | os.PathLike[str], *, rounds: int | None = None) -> Forest:
    """Read a JSON file of ``Booster.save_model``; XGBoost itself is not needed.

    Parameters
    ----------
    path : str or path-like
        The file.
    rounds : int or None
        How many rounds to keep; None: all, as ``Booster.predict`` does. An XGBModel that stopped
        early predicts with ``best_iteration + 1`` of them.

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
    return parse_xgboost(read_json(read_file(path), library=_LIBRARY), rounds=rounds)


def read_xgboost_ubj(path: str | os.PathLike[str], *, rounds: int | None = None) -> Forest:
    """Read a UBJSON file of ``Booster.save_model``; see `read_xgboost_json`."""
    content = decode_ubjson(read_file(path))
    return parse_xgboost(Fields(content, library=_LIBRARY), rounds=rounds)


def parse_xgboost(
    content: Fields,
    *,
    rounds: int | None = None,
    classes: Any = None,
    reg_lambda: float | None = None,
) -> Forest:
    """Return the forest of a model that was parsed.

    Parameters
    ----------
    content : Fields
        The whole document.
    rounds : int or None
        How many rounds to keep; None: all.
    classes : array-like or None
        The classes, if there is a score for each.
    reg_lambda : float or None
        The regularisation of the leaves, which the file does not tell; None: find it.
    """
    learner = content.child("learner")
    parameters = learner.child("learner_model_param")
    n_features = feature_count(parameters.integer("num_feature"), library=_LIBRARY)
    sizes = [parameters.integer(key) for key in ("num_class", "num_target") if key in parameters]
    model, tree_weight = _booster(learner.child("gradient_booster"))
    categories = _categories(model, n_features)
    trees = [_read_tree(tree) for tree in model.children("trees")]
    n_values = score_count(max(1, *sizes, 1), n_trees=len(trees), library=_LIBRARY)
    objective = learner.child("objective").text("name") if "objective" in learner else ""
    base_value = _base_value(parameters, objective, n_values=n_values)
    trees = trees[: _first_trees(model, rounds, n_trees=len(trees))]
    builder = ForestBuilder(n_features, strict=True, n_values=n_values, drop_unused=True)
    column = _per_tree(model.integers("tree_info"), trees)
    scale = _per_tree(np.ones(len(trees)) if tree_weight is None else tree_weight, trees)
    numbers = _numbers(
        [tree.sums for tree in trees],
        reg_lambda=reg_lambda,
        first_hessian=_first_hessian(base_value, objective),
    )
    n_codes = [0 if labels is None else len(labels) for labels in categories or ()]
    for index, tree in enumerate(trees):
        columns = tree.columns(scale=float(scale[index]), n_codes=n_codes)
        builder.add_tree(**columns, column=int(column[index]), **numbers[index])
    names = learner.texts("feature_names") if "feature_names" in learner else []
    several = classes is not None and len(classes) == n_values > 1
    forest = builder.build(
        feature_names=names or None,
        aggregation="sum",
        boosted=True,
        row_dtype="float32",
        classes=(np.asarray(classes),) if several else None,
        categories=categories,
        base_value=base_value,
        column_rule=_column_rule(trees, n_features),
    )
    return with_potentials(forest)


def _per_tree(array: AnyArray, trees: list[_Tree]) -> AnyArray:
    if len(array) < len(trees):
        raise FileFormatError(
            "this is not an XGBoost model that can be read: tree_info and weight_drop must have "
            "one entry per tree. Save the model again with XGBoost."
        )
    return array


def _numbers(
    trees: list[TreeSums], *, reg_lambda: float | None, first_hessian: float
) -> list[dict[str, Any]]:
    """Return the weights of the trees' nodes, and what makes their impurities if it is known."""
    weights = row_weights(trees, first_hessian=first_hessian)
    found = score_parts(trees, reg_lambda=reg_lambda) if trees else None
    if found is None:
        return [{"weight": weight} for weight in weights]
    pairs = zip(weights, found, strict=True)
    return [{"weight": weight, "impurity": impurity} for weight, impurity in pairs]


def _column_rule(trees: list[_Tree], n_features: int) -> AnyArray:
    rule = np.full(n_features, ColumnRule.ABSENT_IS_MISSING, dtype=np.uint8)
    for tree in trees:
        for feature in tree.category_features(n_features):
            rule[feature] |= ColumnRule.FLOOR
    return rule


@dataclass(frozen=True)
class _Tree:
    left: IntArray
    right: IntArray
    feature: IntArray
    condition: FloatArray
    default_left: BoolArray
    sets: dict[int, IntArray]
    sums: TreeSums

    def category_features(self, n_features: int) -> set[int]:
        """Return the features that are split by category."""
        found = {int(self.feature[node]) for node in self.sets}
        return {feature for feature in found if 0 <= feature < n_features}

    def columns(self, *, scale: float, n_codes: list[int]) -> dict[str, Any]:
        """Return the tree as `ForestBuilder.add_tree` takes it."""
        left, right = self.left.copy(), self.right.copy()
        missing_left = self.default_left.copy()
        sets = {}
        for node, listed in self.sets.items():
            feature = int(self.feature[node])
            known = n_codes[feature] if 0 <= feature < len(n_codes) else 0
            if known and not missing_left[node]:
                # A value that is no category goes where missing ones go: to the second child.
                sets[node] = np.setdiff1d(np.arange(known), listed)
            else:
                # Listed categories go right.
                left[node], right[node] = self.right[node], self.left[node]
                missing_left[node] = not missing_left[node]
                sets[node] = listed
        return {
            "left": left,
            "right": right,
            "feature": self.feature,
            "threshold": self.condition,
            "missing_left": missing_left,
            "categories": sets,
            "value": np.where(self.left < 0, scale * self.condition, np.nan),
        }


def _read_tree(tree: Fields) -> _Tree:
    if tree.child("tree_param").integer("size_leaf_vector") > 1 or "leaf_weights" in tree:
        raise UnsupportedModelError(
            "the leaves of the model hold a vector for all targets "
            "(multi_strategy='multi_output_tree'), which cannot be read yet. Train it with "
            "multi_strategy='one_output_per_tree'."
        )
    left = tree.integers("left_children")
    n = len(left)
    right = tree.integers("right_children", n)
    is_leaf = left < 0
    # A leaf keeps its value where a split keeps its threshold; pruned nodes are leaves of nothing.
    return _Tree(
        left,
        right,
        np.where(is_leaf, -1, tree.integers("split_indices", n)),
        _singles(tree, "split_conditions", n=n),
        tree.integers("default_left", n) != 0,
        _sets(tree, is_leaf),
        TreeSums(
            left,
            right,
            _singles(tree, "sum_hessian", n=n),
            _singles(tree, "base_weights", n=n),
            _singles(tree, "loss_changes", n=n),
        ),
    )


def _singles(tree: Fields, key: str, *, n: int | None = None) -> FloatArray:
    """Return numbers that are float32, whatever digits a JSON file writes them with."""
    with np.errstate(over="ignore"):
        return tree.floats(key, n).astype(np.float32).astype(np.float64)


def _sets(tree: Fields, is_leaf: BoolArray) -> dict[int, IntArray]:
    """Return for each node that splits categories the codes it lists."""
    if "categories_nodes" not in tree:
        return {}
    nodes = tree.integers("categories_nodes")
    starts = tree.integers("categories_segments", len(nodes))
    sizes = tree.integers("categories_sizes", len(nodes))
    codes = tree.integers("categories")
    if len(nodes) and not (
        0 <= nodes.min() <= nodes.max() < len(is_leaf)
        and starts.min() >= 0
        and sizes.min() >= 0
        and (starts + sizes).max() <= len(codes)
    ):
        tree.fail("categories", "must fit the nodes that split them")
    return {
        int(node): codes[start : start + size]
        for node, start, size in zip(nodes, starts.tolist(), sizes.tolist(), strict=True)
        if not is_leaf[node]
    }


def _booster(booster: Fields) -> tuple[Fields, FloatArray | None]:
    """Return the trees, and what each counts for."""
    name = booster.text("name")
    if name not in ("gbtree", "dart"):
        raise UnsupportedModelError(
            f"the model is a {name[:40]!r}, which has no trees. Train a gbtree or a dart."
        )
    model = (booster.child("gbtree") if name == "dart" else booster).child("model")
    # DART's weights: beside the trees up to XGBoost 3.3, which no longer says "dart"; among them
    # from 3.4 on.
    for place in (booster, model):
        if "weight_drop" in place:
            return model, _singles(place, "weight_drop")
    return model, None


def _first_trees(model: Fields, rounds: int | None, *, n_trees: int) -> int:
    """Return how many trees the first rounds have."""
    if rounds is None:
        return n_trees
    if "iteration_indptr" in model:
        ends = model.integers("iteration_indptr")
    else:
        # Files of older versions: every round has as many trees.
        parallel = model.child("gbtree_model_param").integer("num_parallel_tree", least=1)
        per_round = parallel * (int(model.integers("tree_info").max(initial=0)) + 1)
        ends = np.arange(0, n_trees + 1, per_round)
    if not 1 <= rounds < len(ends) or not 0 < ends[rounds] <= n_trees:
        raise ValueError(f"rounds must lie in [1, {len(ends) - 1}]; got {rounds}.")
    return int(ends[rounds])


def _base_value(parameters: Fields, objective: str, *, n_values: int) -> FloatArray:
    text = parameters.text("base_score")
    try:
        found = np.atleast_1d(np.array(json.loads(text), dtype=np.float64))
        scores = np.broadcast_to(found, (n_values,))
        start = np.array([_link(objective, score) for score in scores.tolist()])
    except (TypeError, ValueError, RecursionError):
        start = np.array([np.nan])
    if not np.isfinite(start).all():
        parameters.fail("base_score", f"must hold {n_values} usable numbers; got {text[:60]!r}")
    return start


def _link(objective: str, score: float) -> float:
    if objective in _LOGIT:
        return -math.log(1.0 / score - 1.0) if 0 < score < 1 else math.nan
    if objective in _LOG:
        return math.log(score) if score > 0 else math.nan
    return score


def _first_hessian(start: FloatArray, objective: str) -> float:
    """Return the hessian of a row in the first round, where it is the same for all; else 1.

    It turns the sum of hessians at the first root into the weight of the rows.
    """
    if objective in _LOGIT:
        share = 1.0 / (1.0 + math.exp(-min(max(float(start[0]), -700.0), 700.0)))
        return share * (1.0 - share)
    if objective in ("multi:softmax", "multi:softprob"):
        odds = np.exp(start - start.max())
        share = float(odds[0] / odds.sum())
        return 2.0 * share * (1.0 - share)
    return 1.0


def _categories(model: Fields, n_features: int) -> list[AnyArray | None] | None:
    """Return the categories that XGBoost 3.1 and newer keep of data frames."""
    if "cats" not in model or not len(model.child("cats").items("enc")):
        return None
    labels: list[AnyArray | None] = []
    for part in model.child("cats").children("enc"):
        values = part.integers("values")
        if "offsets" not in part:
            labels.append(values if len(values) else None)
            continue
        ends = part.integers("offsets").tolist()
        if any(not 0 <= a <= b <= len(values) for a, b in itertools.pairwise(ends)):
            part.fail("offsets", "must rise and stay within the values")
        letters = (values % 256).astype(np.uint8).tobytes()
        try:
            names = [letters[a:b].decode() for a, b in itertools.pairwise(ends)]
        except UnicodeDecodeError as error:
            raise UnsupportedModelError(
                "XGBoost cuts names of categories that are not ASCII, so that they cannot be told "
                "from its model. Use ASCII names, or train on codes."
            ) from error
        labels.append(category_labels(names) if names else None)
    if len(labels) != n_features:
        model.fail("cats", f"must have an entry per feature, {n_features}; got {len(labels)}")
    return labels if any(part is not None for part in labels) else None


def _stored_lambda(booster: Any) -> float | None:
    """Return the regularisation that a live booster was trained with; None: it does not say."""
    try:
        learner = json.loads(booster.save_config())["learner"]
        trained = learner["gradient_booster"]
        trained = trained.get("gbtree", trained)["tree_train_param"]
        return float(trained["lambda"])
    except (KeyError, TypeError, ValueError):
        return None


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
