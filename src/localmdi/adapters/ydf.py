"""Yggdrasil Decision Forests (ydf): trees as its Python interface shows them."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import find_criterion
from localmdi.adapters.fields import run_apart
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import Forest, ForestBuilder, load_forest

if TYPE_CHECKING:
    from localmdi.typing import AnyArray


# Run by a Python of its own: the directory, and where its forest goes.
_DIRECTORY_TO_FOREST = """
import sys, ydf
from localmdi.adapters.ydf import adapt_ydf
adapt_ydf(ydf.load_model(sys.argv[1])).save(sys.argv[2])
"""


def read_ydf_directory(path: str | os.PathLike[str]) -> Forest:
    """Read a directory of ``model.save``; ydf must be installed, and runs nothing of the model.

    ydf reads it in a process of its own: a damaged file can make it crash.
    """
    if find_spec("ydf") is None:
        raise UnsupportedModelError(
            "a directory of ydf is read by ydf, which is not installed. Install localmdi[ydf]."
        )
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "model.lmdi")
        run_apart(_DIRECTORY_TO_FOREST, os.fspath(path), output=output, library="ydf")
        return load_forest(output)


def adapt_ydf(model: Any) -> Forest:
    """Return a random forest or gradient boosted trees of ydf as a forest."""
    if not hasattr(model, "initial_predictions") and not hasattr(model, "winner_takes_all"):
        raise UnsupportedModelError(
            f"{type(model).__name__} must be a random forest or gradient boosted trees. Other "
            "models of ydf have no target whose uncertainty could be measured."
        )
    columns = _Columns(model)
    boosted = hasattr(model, "initial_predictions")
    start = np.asarray(model.initial_predictions(), dtype=np.float64) if boosted else None
    trees = [_read_tree(tree.root, columns) for tree in model.iter_trees()]
    classes = model.label_classes() if model.task().name == "CLASSIFICATION" else None
    statistics = _statistics(trees, votes=not boosted and model.winner_takes_all())
    n_scores = 1 if start is None else len(start)
    n_values = n_scores if boosted else statistics[0]["value"].shape[1]
    builder = ForestBuilder(len(columns.names), strict=True, n_values=n_values)
    for index, (tree, numbers) in enumerate(zip(trees, statistics, strict=True)):
        value = numbers.pop("value")
        vector = value[:, 0] if boosted else value
        builder.add_tree(**tree.columns(), column=index % n_scores, value=vector, **numbers)
    return builder.build(
        feature_names=columns.names,
        criterion="entropy" if hasattr(trees[0].values[0], "probability") else "squared_error",
        aggregation="sum" if boosted else "mean",
        boosted=boosted,
        row_dtype="float32",
        classes=(np.asarray(classes),) if classes is not None and n_values > 1 else None,
        categories=columns.categories,
        base_value=start,
    )


class _Columns:
    """The columns of X, and where they stand in ydf's description of its data."""

    def __init__(self, model: Any) -> None:
        features = model.input_features()
        self.names = [feature.name for feature in features]
        self._place = {feature.column_idx: i for i, feature in enumerate(features)}
        self._spec = model.data_spec().columns
        labels = [self._labels(feature) for feature in features]
        self.categories = labels if any(part is not None for part in labels) else None

    def _labels(self, feature: Any) -> AnyArray | None:
        """Return the categories of a column: the first is any other one, the last is missing."""
        if feature.semantic.name != "CATEGORICAL":
            return None
        spec = self._spec[feature.column_idx].categorical
        n = int(spec.number_of_unique_values)
        labels = np.full(n + 1, None, dtype=object)
        if spec.is_already_integerized:
            labels[:n] = list(range(n))
        for name, item in spec.items.items():
            labels[item.index] = name.decode() if isinstance(name, bytes) else name
        return labels

    def place(self, attribute: int) -> int:
        """Return the column of X."""
        return self._place[attribute]

    def n_codes(self, attribute: int) -> int:
        """Return the number of categories, without the missing one."""
        return int(self._spec[attribute].categorical.number_of_unique_values)

    def boundary(self, attribute: int, index: int) -> float:
        """Return the number that an index of a discretized column begins at."""
        return float(self._spec[attribute].discretized_numerical.boundaries[index - 1])


@dataclass(frozen=True)
class _Tree:
    """A tree, node by node: the children of a split, what it asks, what ydf stores."""

    children: list[tuple[int, int]]
    questions: list[_Question]
    values: list[Any]

    def columns(self) -> dict[str, Any]:
        """Return the tree as `ForestBuilder.add_tree` takes it."""
        children = np.array(self.children, dtype=np.int64)
        return {
            "left": children[:, 0],
            "right": children[:, 1],
            "feature": [question.feature for question in self.questions],
            "threshold": [question.threshold for question in self.questions],
            "missing_left": [question.missing_first for question in self.questions],
            "categories": {
                i: question.codes
                for i, question in enumerate(self.questions)
                if question.codes is not None
            },
        }


@dataclass(frozen=True)
class _Question:
    """What a node asks; `positive_first`: a yes leads to the first child."""

    feature: int = -1
    threshold: float = 0.0
    missing_first: bool = False
    positive_first: bool = False
    codes: list[int] | None = None


def _read_tree(root: Any, columns: _Columns) -> _Tree:
    nodes = [root]
    children: list[tuple[int, int]] = []
    questions: list[_Question] = []
    for node in nodes:
        condition = getattr(node, "condition", None)
        if condition is None:
            children.append((-1, -1))
            questions.append(_Question())
            continue
        question = _question(condition, columns)
        pair = (node.pos_child, node.neg_child)
        children.append((len(nodes), len(nodes) + 1))
        nodes.extend(pair if question.positive_first else pair[::-1])
        questions.append(question)
    return _Tree(children, questions, [node.value for node in nodes])


def _question(condition: Any, columns: _Columns) -> _Question:
    kind, missing = type(condition).__name__, bool(condition.missing)
    if kind == "CategoricalIsInCondition":
        return _membership(condition, columns)
    if kind == "IsMissingInCondition":
        return _is_missing(columns, condition.attribute)
    if kind == "NumericalHigherThanCondition":
        threshold = float(condition.threshold)
    elif kind == "IsTrueCondition":
        threshold = 0.5
    elif kind == "DiscretizedNumericalHigherThanCondition":
        threshold = columns.boundary(condition.attribute, int(condition.threshold_idx))
    else:
        raise UnsupportedModelError(
            f"the model asks questions of the kind {kind}, which are not about one column of "
            "numbers or categories. Train it with split_axis='AXIS_ALIGNED', and without sets of "
            "categories or sequences of vectors."
        )
    return _Question(columns.place(condition.attribute), threshold, missing_first=not missing)


def _is_missing(columns: _Columns, attribute: int) -> _Question:
    """Return the question whether there is a value; a yes leads to the first child."""
    place = columns.place(attribute)
    if columns.categories is not None and columns.categories[place] is not None:
        return _Question(place, positive_first=True, codes=[columns.n_codes(attribute)])
    # No number is below -inf, not even itself.
    return _Question(place, -np.inf, missing_first=True, positive_first=True)


def _membership(condition: Any, columns: _Columns) -> _Question:
    """Return the question for a set of categories.

    Categories that the model does not know count as the first one; they go to the second child,
    because no set has them.
    """
    n = columns.n_codes(condition.attribute)
    # A missing value is the category after the last.
    positive = {*map(int, condition.mask), *([n] if condition.missing else [])}
    positive_first = 0 not in positive
    codes = sorted(positive if positive_first else {*range(n + 1)} - positive)
    return _Question(columns.place(condition.attribute), positive_first=positive_first, codes=codes)


def _statistics(trees: list[_Tree], *, votes: bool) -> list[dict[str, Any]]:
    """Return values, weights and impurities of the nodes.

    Boosted trees store the variance of the gradients, as scikit-learn's do.
    """
    numbers = []
    for tree in trees:
        weight = np.array([value.num_examples for value in tree.values], dtype=np.float64)
        is_leaf = np.array([left < 0 for left, _ in tree.children])
        if all(hasattr(value, "probability") for value in tree.values):
            share = np.array([value.probability for value in tree.values], dtype=np.float64)
            impurity = find_criterion("entropy").impurity(share)
            value = np.eye(share.shape[1])[share.argmax(axis=1)] if votes else share
        else:
            value = np.array([[value.value] for value in tree.values], dtype=np.float64)
            spread = [value.standard_deviation or 0.0 for value in tree.values]
            impurity = np.square(np.array(spread, dtype=np.float64))
        value = np.where(is_leaf[:, None], value, np.nan)
        numbers.append({"weight": weight, "impurity": impurity, "value": value})
    return numbers
