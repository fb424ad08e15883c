"""The account of boosted trees, whose values add up to a raw score: log-odds, or a number.

The way starts at the prior: the log-odds of the classes among the rows, or their mean. From there
to where the trees start, the model's own intercept takes its part of the loss, as a feature does
afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.exceptions import UnsupportedModelError
from localmdi.honest.account import fixed_fields
from localmdi.honest.losses import Answers, chances, divide_scores, predicted, score_figures
from localmdi.importance.saabas import prediction_paths
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.forest import Forest
    from localmdi.honest.unseen import Unseen
    from localmdi.typing import AnyArray, FloatArray

_PATHS = 1 << 22
_INTERCEPT = "(intercept)"


def account_scores(
    unseen: Unseen, *, model: Any, classes: Sequence[AnyArray] | None
) -> LocalImportance:
    """Divide the loss of rows that no tree has seen."""
    forest, n_rows = unseen.forest, len(unseen)
    starts = [0, 1] if classes is None else [0, len(classes[0])]
    answers = _answers(unseen, classes, starts=starts)
    prior = _prior(answers, weight=unseen.weight, n_scores=forest.statistic("value").shape[1])
    root = _start(forest)
    values = np.empty((n_rows, forest.n_features + 1))
    end = np.empty((n_rows, len(prior)))
    before, after = np.empty(n_rows), np.empty(n_rows)
    step = max(1, _PATHS // (forest.n_features * len(prior)))
    for first in range(0, n_rows, step):
        part = slice(first, min(first + step, n_rows))
        rows = unseen.rows.part(part.start, part.stop)
        phi = prediction_paths(unseen.packing, rows, rules=unseen.rules, n_threads=unseen.n_threads)
        end[part] = root + phi.sum(axis=1)
        own = answers._replace(chance=answers.chance[part])
        found = divide_scores(own, np.tile(prior, (len(phi), 1)), end=end[part])
        values[part, :-1] = np.einsum("rpk,rk->rp", phi, found.weight)
        values[part, -1] = found.weight @ (root - prior)
        before[part], after[part] = found.before, found.after
    _check_link(model, unseen, end=end, of_classes=classes is not None)
    fields = fixed_fields(forest, unseen.rows)
    weight = unseen.weight
    return LocalImportance(
        values,
        before,
        residual=after,
        row_weight=None if (weight == weight[0]).all() else weight,
        unit="variance" if classes is None else "bits",
        measure="loss",
        honest=True,
        prediction=predicted(
            end if classes is None else chances(end), classes, known=np.ones(n_rows, dtype=bool)
        ),
        scores=score_figures(answers, prior, end=end),
        **fields | {"feature_names": (*fields["feature_names"], _INTERCEPT)},
    )


def _answers(
    unseen: Unseen, classes: Sequence[AnyArray] | None, *, starts: Sequence[int]
) -> Answers:
    column, value = unseen.responses
    if classes is None:
        return Answers(value, starts, of_classes=False)
    chance = np.zeros((len(column), starts[-1]))
    np.put_along_axis(chance, column.astype(np.int64), 1.0, axis=1)
    return Answers(chance, starts, of_classes=True)


def _prior(answers: Answers, *, weight: FloatArray, n_scores: int) -> FloatArray:
    """Return the scores that say how frequent the classes are, or the mean."""
    mean: FloatArray = weight @ answers.chance / weight.sum()
    if not answers.of_classes:
        return mean
    if not (mean > 0).all():
        raise ValueError(
            "every class of the model must occur among the rows that are held out; some do not. "
            "Hold out rows of all classes."
        )
    score = np.log(mean)
    return score[1:] - score[:1] if n_scores == 1 else score


def _start(forest: Forest) -> FloatArray:
    """Return where the trees start: the model's base value and the mean of every tree."""
    start: FloatArray = forest.statistic("value")[forest.tree_offset[:-1]].sum(axis=0)
    if forest.base_value is not None:
        start = start + forest.base_value
    if not np.isfinite(start).all():
        raise UnsupportedModelError(
            "the account needs boosting that starts from the same score for all rows; this model "
            "starts from another model (init=...). Fit it without."
        )
    return start


def _check_link(model: Any, unseen: Unseen, *, end: FloatArray, of_classes: bool) -> None:
    """Refuse models that make something else of their score than chances of classes or the number.

    The model itself says what it makes of some rows.
    """
    some = min(50, len(end))
    rows = unseen.rows.part(0, some).data
    predict = getattr(model, "predict_proba" if of_classes else "predict", None)
    if predict is not None:
        said = np.asarray(predict(rows), dtype=np.float64).reshape(some, -1)
        own = chances(end[:some]) if of_classes else end[:some]
        if said.shape == own.shape and np.allclose(said, own, rtol=1e-3, atol=1e-5):
            return
    raise UnsupportedModelError(
        "the account of boosted trees needs a model that makes chances of its score by the "
        "logistic function or softmax, or predicts the score itself; "
        f"{type(model).__name__} does not, or does not say. Use measure='gain', or a classifier or "
        "regressor with the library's usual loss."
    )
