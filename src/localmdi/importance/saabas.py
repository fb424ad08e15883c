"""Saabas: how the prediction moves along the same path."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import count
from localmdi.exceptions import UnsupportedModelError
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Hashable

    from localmdi._validation import RowRules, RowSource
    from localmdi.forest import Forest
    from localmdi.forest.packing import Packing
    from localmdi.typing import FloatArray


def prediction_paths(
    packing: Packing, rows: RowSource, *, rules: RowRules, n_threads: int
) -> FloatArray:
    """Return the changes of value by split feature, shape (n_rows, n_features, n_values).

    Examples
    --------
    >>> from localmdi._validation import RowRules, read_rows
    >>> from localmdi.forest import build_forest
    >>> from localmdi.forest.packing import Packing
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     value=[[3.0], [1.0], [4.0]])
    >>> prediction_paths(Packing(forest), read_rows([[0.0]], "float64"),
    ...                  rules=RowRules(), n_threads=1)
    array([[[-2.]]])
    """
    forest = packing.forest
    value = forest.statistic("value")
    out = np.empty((rows.shape[0], forest.n_features, value.shape[1]))
    for start, stop, batch in packing.batches(rows, rules):
        packing.kernel.saabas(
            packing.rows(batch), value, forest.tree_scale, out[start:stop], n_threads
        )
    return out


def changes_of_target(
    packing: Packing,
    rows: RowSource,
    *,
    target: Hashable,
    labels: Any,
    rules: RowRules,
    n_threads: int,
) -> LocalImportance:
    """Return the changes of one class or target as a result.

    `labels` are the classes of a classifier whose forest holds scores, or None.
    """
    forest = packing.forest
    place, sign = _find_target(forest, target, labels=labels)
    moves = prediction_paths(packing, rows, rules=rules, n_threads=n_threads)[:, :, place]
    prediction = packing.predict(rows, rules, n_threads=n_threads)[:, place]
    return LocalImportance(
        np.ascontiguousarray(sign * moves),
        unit="prediction",
        feature_names=forest.names_for(rows.names),
        n_trees=forest.n_trees,
        data=rows.data,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
        groups=rows.groups,
        measure="saabas",
        # Boosting that starts from another model does not tell what it predicts.
        prediction=None if np.isnan(prediction).all() else sign * prediction,
    )


def _find_target(forest: Forest, target: Hashable, *, labels: Any) -> tuple[int, float]:
    """Return the place of a class or target among the values, and −1 if its score is turned."""
    n_values = forest.statistic("value").shape[1]
    if forest.classes is not None:
        if len(forest.classes) > 1:
            raise UnsupportedModelError(
                "target must be a class of a model with one target; this one has "
                f"{count(len(forest.classes), 'target')}. Leave target out and take one of the "
                "arrays."
            )
        labels = forest.classes[0]
    known = [] if labels is None else np.asarray(labels).tolist()
    if (len(known), n_values) != (2, 1) and len(known) != n_values:
        known = list(range(n_values))
    if target not in known:
        raise ValueError(
            f"target must be one of {reprlib.repr(known)}; got {target!r}. Choose one of them."
        )
    place = known.index(target)
    # Two classes may share one score, positive for the second.
    return (0, 1.0 if place else -1.0) if n_values == 1 and len(known) == 2 else (place, 1.0)
