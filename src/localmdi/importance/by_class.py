"""Local MDI by class: entropy and Gini impurity are sums over classes, and so is their drop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError
from localmdi.forest.credit import find_laws, impurity_drop
from localmdi.forest.packing import Packing
from localmdi.importance.saabas import prediction_paths
from localmdi.results import ClassImportance

if TYPE_CHECKING:
    from localmdi._validation import RowRules, RowSource
    from localmdi.forest import Forest
    from localmdi.typing import FloatArray

_ROUNDING = 1e-9


def explain_classes(
    forest: Forest, rows: RowSource, *, rules: RowRules, n_threads: int
) -> ClassImportance:
    """Return the parts of the rows' importances by class; by target if there are several."""
    parts, labels = _impurity_parts(forest)
    # The kernel that follows the nodes' values follows these as well: what is lost on the way.
    packing = Packing(
        replace(forest, value=parts, classes=None, base_value=None, aggregation="mean")
    )
    values = -prediction_paths(packing, rows, rules=rules, n_threads=n_threads)
    left = packing.predict(rows, rules, n_threads=n_threads)
    share = forest.tree_weight / forest.tree_weight.sum()
    return ClassImportance(
        values + 0.0,
        share @ parts[forest.tree_offset[:-1]],
        residual=left,
        classes=labels,
        unit=str(forest.unit),
        feature_names=forest.names_for(rows.names),
        n_trees=forest.n_trees,
        data=rows.data,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
    )


def _impurity_parts(forest: Forest) -> tuple[FloatArray, tuple[object, ...]]:
    """Return each class's part of the nodes' impurities, and the labels."""
    if forest.classes is None or forest.unit not in ("bits", "gini"):
        raise UnsupportedModelError(
            "values by class need trees that predict classes by entropy or Gini impurity; got "
            f"criterion {forest.criterion!r}. Use local_mdi, or measure the classes with "
            "as_forest(model).with_statistics(X, y, criterion='entropy')."
        )
    laws = find_laws(forest, impurity_drop(forest))
    if laws is None:
        raise MissingStatisticsError(
            "values by class need the distribution of the classes at every node, which this forest "
            "does not have. Use as_forest(model).with_statistics(X, y) first."
        )
    p = laws.law
    parts = -p * np.log2(np.where(p > 0, p, 1.0)) if forest.unit == "bits" else p * (1.0 - p)
    if len(forest.classes) > 1:
        ends = np.cumsum([len(labels) for labels in forest.classes])
        by_target = [part.sum(axis=1) for part in np.split(parts, ends[:-1], axis=1)]
        n = len(by_target)
        return np.stack(by_target, axis=1) / n, tuple(f"target {i}" for i in range(n))
    impurity = forest.statistic("impurity")
    if not np.allclose(parts.sum(axis=1), impurity, rtol=_ROUNDING, atol=_ROUNDING):
        raise MissingStatisticsError(
            "the impurities must be those of the nodes' classes to be split by class; they are "
            "not. Use as_forest(model).with_statistics(X, y) first."
        )
    return parts + 0.0, tuple(forest.classes[0].tolist())
