"""Which way each feature pushed the prediction: Saabas' moves towards what is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.exceptions import UnsupportedModelError
from localmdi.importance.saabas import prediction_paths

if TYPE_CHECKING:
    from localmdi._validation import RowRules, RowSource
    from localmdi.forest.packing import Packing
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["follow_prediction"]

# Rows, features and classes that are followed at a time.
_BLOCK = 1 << 22


def follow_prediction(
    packing: Packing, rows: RowSource, *, rules: RowRules, n_threads: int
) -> tuple[FloatArray, AnyArray]:
    """Return how each feature moved what is predicted, and the predictions.

    For classes the move of the predicted class's share, for numbers that of the prediction.
    """
    forest = packing.forest
    value = forest.statistic("value")
    n_targets = value.shape[1] if forest.classes is None else len(forest.classes)
    if forest.boosted or forest.aggregation != "mean" or n_targets > 1:
        what = "several targets" if n_targets > 1 else "boosted or summed trees"
        raise UnsupportedModelError(
            f"direction needs a forest that averages its trees' predictions of one target; got "
            f"{what}. Leave direction out, and use saabas(model, X) to see the moves themselves."
        )
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
    if forest.classes is None:
        return moves, score[:, 0]
    return moves, forest.classes[0][score.argmax(axis=1)]
