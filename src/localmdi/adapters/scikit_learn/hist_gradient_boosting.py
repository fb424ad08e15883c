"""scikit-learn's HistGradientBoosting: its trees stand in private attributes, read here only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.scikit_learn.kinds import refuse
from localmdi.forest import Forest, ForestBuilder

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, IntArray

_NODE_FIELDS = {
    "value",
    "count",
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "left",
    "right",
    "gain",
    "is_leaf",
    "is_categorical",
    "bitset_idx",
}


def adapt_hist_gradient_boosting(model: Any) -> Forest:
    """Return a fitted HistGradientBoosting model as a forest."""
    trees = read_hist_trees(model)
    n_scores = len(trees.start)
    builder = ForestBuilder(int(model.n_features_in_), n_values=n_scores)
    for index, (nodes, bits) in enumerate(trees.trees):
        builder.add_tree(**_columns(trees, nodes, bits=bits), column=index % n_scores)
    names = getattr(model, "feature_names_in_", None)
    classes = getattr(model, "classes_", None)
    return builder.build(
        feature_names=None if names is None else tuple(map(str, names)),
        aggregation="sum",
        boosted=True,
        classes=(np.asarray(classes),) if classes is not None and n_scores > 1 else None,
        categories=trees.categories,
        base_value=trees.start,
    )


@dataclass(frozen=True)
class HistTrees:
    """What the private attributes of a model hold.

    Parameters
    ----------
    trees : list of (structured array, ndarray)
        The nodes of each tree and its sets of categories, round by round.
    start : ndarray
        The scores that boosting starts from.
    column : ndarray of int
        The column of X for each feature of the trees: categorical ones come first there.
    categories : list of (ndarray or None), or None
        The categories of each column of X.
    """

    trees: list[tuple[AnyArray, AnyArray]]
    start: FloatArray
    column: IntArray
    categories: list[AnyArray | None] | None


def read_hist_trees(model: Any) -> HistTrees:
    """Return the trees of a fitted model; there is no public way to them."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    try:
        trees = [
            (predictor.nodes, np.asarray(predictor.raw_left_cat_bitsets, dtype=np.uint32))
            for round_ in model._predictors
            for predictor in round_
        ]
        start = np.ravel(np.asarray(model._baseline_prediction, dtype=np.float64))
        known = None
        if model.is_categorical_ is not None:
            known = model._preprocessor.named_transformers_["encoder"].categories_
        if not all(set(nodes.dtype.names) >= _NODE_FIELDS for nodes, _ in trees):
            raise AttributeError("other nodes")
    except (AttributeError, KeyError, TypeError) as error:
        import sklearn

        refuse(
            model,
            f"of scikit-learn {sklearn.__version__} keeps its trees in another way than localmdi "
            f"knows ({error}); there is no public way to them. Upgrade localmdi.",
        )
    n_features = int(model.n_features_in_)
    if known is None:
        return HistTrees(trees, start, np.arange(n_features), None)
    flags = np.asarray(model.is_categorical_, dtype=bool)
    column = np.concatenate([np.flatnonzero(flags), np.flatnonzero(~flags)])
    labels: list[AnyArray | None] = [None] * n_features
    for place, values in zip(np.flatnonzero(flags), known, strict=True):
        labels[place] = _without_missing(np.asarray(values))
    return HistTrees(trees, start, column, labels)


def _without_missing(values: AnyArray) -> AnyArray:
    """Return the categories without the missing one, which the encoder keeps at the end."""
    from localmdi._validation import find_missing

    return values[~find_missing(values)]


def _columns(trees: HistTrees, nodes: AnyArray, *, bits: AnyArray) -> dict[str, Any]:
    """Return a tree as `ForestBuilder.add_tree` takes it."""
    is_leaf = nodes["is_leaf"] != 0
    left = np.where(is_leaf, -1, nodes["left"].astype(np.int64))
    right = np.where(is_leaf, -1, nodes["right"].astype(np.int64))
    missing_left = nodes["missing_go_to_left"] != 0
    feature = trees.column[np.where(is_leaf, 0, nodes["feature_idx"])]
    sets = {}
    for node in np.flatnonzero((nodes["is_categorical"] != 0) & ~is_leaf).tolist():
        words = bits[int(nodes["bitset_idx"][node])].astype("<u4")
        goes_left = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        if missing_left[node] and trees.categories is not None:
            # Unknown categories count as missing: they must not be in the set of the first child.
            labels = trees.categories[int(feature[node])]
            n_codes = 0 if labels is None else len(labels)
            sets[node] = np.setdiff1d(np.arange(n_codes), goes_left)
            left[node], right[node] = right[node], left[node]
            missing_left[node] = False
        else:
            sets[node] = goes_left
    return {
        "left": left,
        "right": right,
        "feature": feature,
        "threshold": np.where(is_leaf, 0.0, nodes["num_threshold"]),
        "missing_left": missing_left,
        "categories": sets,
        "value": np.where(is_leaf, nodes["value"], np.nan),
        "weight": nodes["count"].astype(np.float64),
    }
