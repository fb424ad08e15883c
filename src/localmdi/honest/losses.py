"""Losses of a prediction, and how they change along the way from the prior to the prediction.

With f0 the prior, fx the prediction and d = fx − f0, a loss L is divided by the weights w of

    L(f0) − L(fx) = Σ_k w_k d_k,

its mean slope along the straight line from f0 to fx (Aumann and Shapley's shares): a feature that
moved column k by φ_mk is credited Σ_k w_k φ_mk. ``slope`` is ∂w_k/∂d_k, for errors over trees. See
"The account" in ``docs/theory/algorithms.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, BoolArray, FloatArray

# So many trees' worth of the prior is mixed into the prediction before its logarithm is taken: a
# class that none of B trees expects is as surprising as one vote of 2B + 1.
_PRIOR_TREES = 0.5
_NEAR = 1e-9
# Gauss-Legendre points on [0, 1] for the mean slope of the softmax; exact to 4e-9.
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_POINTS, _WEIGHTS = (_POINTS + 1.0) / 2.0, _WEIGHTS / 2.0


class Answers(NamedTuple):
    """What the rows answered.

    Parameters
    ----------
    chance : ndarray of shape (n_rows, n_columns)
        By column of the nodes' values: 1 for the class of the row, or its expectation; of numbers
        the number.
    starts : sequence of int
        Where the columns of each target start, and the end. Numbers: one column each.
    of_classes : bool
        Whether the columns are classes.
    noise : float
        What is to be added to the squared error of an expected number.
    """

    chance: FloatArray
    starts: Sequence[int]
    of_classes: bool
    noise: float = 0.0


@dataclass(frozen=True)
class Division:
    """The loss of every row before and after, and the weights that divide the difference."""

    column: AnyArray
    weight: FloatArray
    slope: FloatArray
    before: FloatArray
    after: FloatArray


def divide(
    loss: str, answers: Answers, *, start: FloatArray, end: FloatArray, n_trees: FloatArray
) -> Division:
    """Divide a loss of averaged trees.

    Parameters
    ----------
    loss : {"log", "brier", "squared_error"}
        In bits, summed over classes, or squared; the mean over targets.
    answers : Answers
        What is true, or expected.
    start, end : ndarray of shape (n_rows, n_columns)
        f0 and fx.
    n_trees : ndarray of shape (n_rows,)
        How many trees predict each row.

    Examples
    --------
    >>> answers = Answers(np.array([[1.0], [3.0]]), [0, 1], of_classes=False)
    >>> start, end = np.array([[2.0], [2.0]]), np.array([[1.5], [2.0]])
    >>> found = divide("squared_error", answers, start=start, end=end, n_trees=np.full(2, 9.0))
    >>> found.before, found.after, found.weight[0] * (end - start)[0]
    (array([1., 1.]), array([0.25, 1.  ]), array([0.75]))
    """
    if loss == "log":
        return _log(answers, start, end=end, n_trees=n_trees)
    return _quadratic(answers, start, end=end)


def _quadratic(answers: Answers, start: FloatArray, *, end: FloatArray) -> Division:
    chance, starts = answers.chance, answers.starts
    n_targets = len(starts) - 1
    move = end - start
    weight = (2.0 * (chance - start) - move) / n_targets
    scale = np.ones(chance.shape[1])
    columns = np.arange(chance.shape[1])
    if answers.of_classes:
        # Of two classes one column tells all: what one gains, the other loses.
        first = [a for a, b in pairwise(starts) if b - a == 2]
        second = np.array(first, dtype=np.int64) + 1
        weight[:, second] -= weight[:, second - 1]
        scale[second] = 2.0
        columns = np.setdiff1d(columns, first)
    n = len(chance)
    return Division(
        np.tile(columns.astype(np.int32), (n, 1)),
        np.ascontiguousarray(weight[:, columns]),
        np.tile(-scale[columns] / n_targets, (n, 1)),
        _squared(answers, start) / n_targets,
        _squared(answers, end) / n_targets,
    )


def _squared(answers: Answers, said: FloatArray) -> FloatArray:
    """Return the (expected) squared distance of what is said from what is true, over columns."""
    if not answers.of_classes:
        squares: FloatArray = ((answers.chance - said) ** 2).sum(axis=1)
        return squares + answers.noise
    # The chances of a target's classes sum to 1, and so do their squares where one is certain.
    whole = len(answers.starts) - 1
    rest = (said * (said - 2.0 * answers.chance)).sum(axis=1)
    distance: FloatArray = np.maximum(whole + rest, 0.0)
    return distance


def _log(answers: Answers, start: FloatArray, *, end: FloatArray, n_trees: FloatArray) -> Division:
    chance, starts = answers.chance, answers.starts
    n_targets = len(starts) - 1
    columns = np.tile(np.arange(chance.shape[1]), (len(chance), 1))
    if np.isin(chance, (0.0, 1.0)).all():
        # Only the class that is true surprises.
        parts = [chance[:, a:b].argmax(axis=1) + a for a, b in pairwise(starts)]
        columns = np.stack(parts, axis=1)
    true, f0, fx = (np.take_along_axis(part, columns, axis=1) for part in (chance, start, end))
    # Without a tree all that follows is NaN.
    share = (1.0 / (1.0 + _PRIOR_TREES / np.maximum(n_trees, 1.0)))[:, None]
    weight, slope = _slopes_of_log2(f0, fx - f0, share=share)
    # A class that no tree knows, and that is not expected either, surprises nobody.
    weight, slope = (np.where(true == 0.0, 0.0, part * true) for part in (weight, slope))
    return Division(
        columns.astype(np.int32),
        weight / n_targets,
        slope / n_targets,
        _bits(true, f0) / n_targets,
        _bits(true, f0 + share * (fx - f0)) / n_targets,
    )


def _slopes_of_log2(
    f0: FloatArray, move: FloatArray, *, share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean slope w of log2 from f0 to f0 + s·d, per d, and ∂w/∂d.

    NaN for a class that no tree knows, f0 = 0, which is infinitely surprising.
    """
    g = f0 + share * move
    near = np.abs(share * move) < _NEAR
    bit = np.log(2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_end = share / (g * bit)
        weight = np.where(near, at_end, (np.log2(g) - np.log2(f0)) / move)
        slope = np.where(near, -((share / f0) ** 2) / (2.0 * bit), (at_end - weight) / move)
    return np.where(f0 > 0, weight, np.nan), np.where(f0 > 0, slope, np.nan)


def _bits(true: FloatArray, said: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(true > 0, -true * np.log2(said), 0.0)
    bits: FloatArray = surprise.sum(axis=1)
    return bits


def divide_scores(answers: Answers, start: FloatArray, *, end: FloatArray) -> Division:
    """Divide the loss of boosted trees, whose values are raw scores: log-odds, or numbers.

    Classes are judged by the log loss in bits, numbers by the squared error.

    Examples
    --------
    >>> answers = Answers(np.array([[0.0, 1.0]]), [0, 2], of_classes=True)
    >>> found = divide_scores(answers, np.array([[0.0]]), end=np.array([[2.0]]))
    >>> bool(np.isclose(found.weight[0, 0] * 2.0, found.before[0] - found.after[0]))
    True
    """
    if not answers.of_classes:
        return _quadratic(answers, start, end=end)
    n, n_scores = start.shape
    true, start, end = answers.chance, _both_classes(start), _both_classes(end)
    move = end - start
    weight = np.zeros(true.shape)
    for point, share in zip(_POINTS, _WEIGHTS, strict=True):
        weight += share * (true - softmax(start + point * move, axis=1))
    weight /= np.log(2.0)
    before, after = (
        -(true * log_softmax(score, axis=1)).sum(axis=1) / np.log(2.0) for score in (start, end)
    )
    if n_scores == 1:
        weight = _exact(weight[:, 1:], move[:, 1:], gain=before - after)
    column = np.tile(np.arange(n_scores, dtype=np.int32), (n, 1))
    weight = np.ascontiguousarray(weight)
    return Division(column, weight, np.zeros(weight.shape), before, after)


def _exact(weight: FloatArray, move: FloatArray, *, gain: FloatArray) -> FloatArray:
    """Return the slope of one score; where it hardly moved, what the points gave."""
    far = np.abs(move) > 1e-3
    exact: FloatArray = np.where(far, gain[:, None] / np.where(far, move, 1.0), weight)
    return exact


def _both_classes(score: FloatArray) -> FloatArray:
    """Return a score for each class; a single one is the log-odds of the second of two."""
    return np.hstack([np.zeros_like(score), score]) if score.shape[1] == 1 else score


def chances(score: FloatArray) -> FloatArray:
    """Return the chances of the classes.

    Examples
    --------
    >>> chances(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    shares: FloatArray = softmax(_both_classes(score), axis=1)
    return shares


def score_figures(answers: Answers, prior: FloatArray, *, end: FloatArray) -> dict[str, FloatArray]:
    """Return the figures of `row_figures` for boosted trees.

    Examples
    --------
    >>> found = score_figures(Answers(np.array([[2.0]]), [0, 1], of_classes=False),
    ...                       np.array([0.0]), end=np.array([[1.5]]))
    >>> found["squared_error"]
    array([0.25])
    """
    if answers.of_classes:
        prior, end = chances(prior[None])[0], chances(end)
    many = np.full(len(end), np.inf)
    return row_figures(answers, prior, start=end, end=end, n_trees=many)


def row_figures(
    answers: Answers,
    prior: FloatArray,
    *,
    start: FloatArray,
    end: FloatArray,
    n_trees: FloatArray,
) -> dict[str, FloatArray]:
    """Return the figures of every row whose means say how well rows are predicted.

    Each is followed by that of saying the same for all rows: the most frequent class, the
    frequencies of the classes, or the mean, which are `prior`. Of several targets the mean; of one
    also "forecast", the share of the predicted class or the predicted number, and "outcome",
    whether that was right or the true number.

    Examples
    --------
    >>> answers = Answers(np.array([[0.0, 1.0]]), [0, 2], of_classes=True)
    >>> half = np.array([0.5, 0.5])
    >>> found = row_figures(answers, half, start=half[None], end=np.array([[0.2, 0.8]]),
    ...                     n_trees=np.array([np.inf]))
    >>> for name, value in found.items():
    ...     print(name, value.round(2))
    accuracy [1.]
    most_frequent [0.]
    brier [0.08]
    brier_frequencies [0.5]
    log_loss [0.32]
    log_loss_frequencies [1.]
    forecast [0.8]
    outcome [1.]
    """
    same = np.tile(prior, (len(end), 1))
    squares = _quadratic(answers, same, end=end)
    if not answers.of_classes:
        figures = {"squared_error": squares.after, "squared_error_of_mean": squares.before}
        if end.shape[1] > 1:
            return figures
        return figures | {"forecast": end[:, 0], "outcome": answers.chance[:, 0]}
    n_targets = len(answers.starts) - 1
    right, most = (
        np.mean(
            [
                said[:, a:b].argmax(axis=1) == answers.chance[:, a:b].argmax(axis=1)
                for a, b in pairwise(answers.starts)
            ],
            axis=0,
        )
        for said in (end, same)
    )
    figures = {
        "accuracy": right,
        "most_frequent": most,
        "brier": squares.after,
        "brier_frequencies": squares.before,
        "log_loss": _log(answers, start, end=end, n_trees=n_trees).after,
        "log_loss_frequencies": _bits(answers.chance, same) / n_targets,
    }
    if n_targets > 1:
        return figures
    return figures | {"forecast": end.max(axis=1), "outcome": right}


def predicted(
    end: FloatArray, classes: Sequence[AnyArray] | None, *, known: BoolArray
) -> AnyArray | None:
    """Return the predicted classes, or the numbers, of one target; None of several.

    Rows that no tree predicts have None, or NaN.

    Examples
    --------
    >>> predicted(np.array([[0.2, 0.8]]), [np.array(["no", "yes"])], known=np.array([True]))
    array(['yes'], dtype='<U3')
    """
    if classes is None:
        return end[:, 0] if end.shape[1] == 1 else None
    if len(classes) > 1:
        return None
    found: AnyArray = classes[0][np.nan_to_num(end).argmax(axis=1)]
    if not known.all():
        found = found.astype(object)
        found[~known] = None
    return found
