"""Which way each feature pushed the prediction: Saabas' moves towards what is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.exceptions import UnsupportedModelError
from localmdi.importance.saabas import prediction_paths

if TYPE_CHECKING:
    from localmdi._validation import RowRules, RowSource
    from localmdi.forest import Forest
    from localmdi.forest.packing import Packing
    from localmdi.typing import AnyArray, FloatArray

# Rows, features and classes that are followed at a time.
_BLOCK = 1 << 22


def follow_prediction(
    packing: Packing,
    rows: RowSource,
    *,
    rules: RowRules,
    n_threads: int,
    two_classes: AnyArray | None = None,
) -> tuple[FloatArray, AnyArray]:
    """Return how each feature moved what is predicted, and the predictions.

    For classes the move of the predicted class's share, of boosted trees that of its score; for
    numbers that of the prediction. `two_classes` are those of a model with one score for both,
    positive for the second.
    """
    forest = packing.forest
    value = forest.statistic("value")
    _check_tells(forest, value.shape[1])
    n_rows = rows.shape[0]
    moves = np.empty((n_rows, forest.n_features))
    score = np.empty((n_rows, value.shape[1]))
    step = max(1, _BLOCK // max(1, forest.n_features * value.shape[1]))
    for start in range(0, n_rows, step):
        part = slice(start, min(start + step, n_rows))
        some = rows.part(part.start, part.stop)
        score[part] = packing.predict(some, rules, n_threads=n_threads)
        every = prediction_paths(packing, some, rules=rules, n_threads=n_threads)
        best = score[part].argmax(axis=1)
        moves[part] = np.take_along_axis(every, best[:, None, None], axis=2)[:, :, 0]
    if forest.classes is not None:
        return moves, forest.classes[0][score.argmax(axis=1)]
    if two_classes is None or not forest.boosted:
        return moves, score[:, 0]
    second = score[:, 0] > 0
    return np.where(second[:, None], moves, -moves), two_classes[second.astype(np.int64)]


def _check_tells(forest: Forest, n_values: int) -> None:
    """Refuse a forest whose values do not tell which way a prediction was pushed."""
    advice = "Leave direction out, and use saabas(model, X) to see the moves themselves."
    n_targets = n_values if forest.classes is None else len(forest.classes)
    if n_targets > 1:
        raise UnsupportedModelError(
            "direction needs a model of one target, or one that names its classes; got "
            f"{n_targets} scores or targets. {advice}"
        )
    if forest.boosted and forest.aggregation == "mean":
        raise UnsupportedModelError(
            "direction needs trees whose values add up to the prediction; these are votes, or what "
            f"rows tell about a target. {advice}"
        )
    if forest.base_value is not None and np.isnan(forest.base_value).any():
        raise UnsupportedModelError(
            "direction needs to know what is predicted, and boosting that starts from another "
            f"model (init=...) does not tell. {advice}"
        )
