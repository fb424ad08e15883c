"""How good an explanation is when the true features are known."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

__all__ = ["auroc", "false_share", "found_share", "top_share", "within_auroc"]


def auroc(score: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return for each row the probability that a true feature has a larger score than another one.

    Ties count half; rows where all features are true, or none, have NaN.

    Examples
    --------
    >>> auroc(np.array([[0.9, 0.1, 0.5]]), np.array([[True, False, False]])).tolist()
    [1.0]
    """
    rank = rankdata(score, axis=1)
    n_true = truth.sum(axis=1)
    wins = (rank * truth).sum(axis=1) - n_true * (n_true + 1) / 2
    with np.errstate(invalid="ignore"):
        return wins / (n_true * (truth.shape[1] - n_true))


def within_auroc(score: np.ndarray, truth: np.ndarray) -> float:
    """Return, feature by feature, how well its scores tell the rows that it decides about.

    For one feature: the probability that a row that it decides about has a larger score than a row
    that it does not. The mean over the features that decide about some of the rows; NaN if none do.
    Scores that are the same for every row have 0.5.

    Examples
    --------
    >>> within_auroc(np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([[True, False], [False, False]]))
    1.0
    """
    mixed = truth.any(axis=0) & ~truth.all(axis=0)
    return float(auroc(score[:, mixed].T, truth[:, mixed].T).mean()) if mixed.any() else np.nan


def top_share(score: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the share of true features among the k largest scores, k of the row's being true.

    Features tied for the last places share them.

    Examples
    --------
    >>> top_share(np.array([[0.9, 0.1, 0.1]]), np.array([[True, True, False]])).tolist()
    [0.75]
    """
    k = truth.sum(axis=1)
    ordered = np.sort(score, axis=1)[:, ::-1]
    last = np.take_along_axis(ordered, k[:, np.newaxis] - 1, axis=1)
    above, tied = score > last, score == last
    left = k - above.sum(axis=1)
    place = above + tied * (left / tied.sum(axis=1))[:, np.newaxis]
    return (place * truth).sum(axis=1) / k


def false_share(named: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the share of features named for each row that are not true; 0 where none is named.

    Examples
    --------
    >>> false_share(np.array([[True, True, False]]), np.array([[True, False, False]])).tolist()
    [0.5]
    """
    return (named & ~truth).sum(axis=1) / np.maximum(named.sum(axis=1), 1)


def found_share(named: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the share of each row's true features that are named.

    Examples
    --------
    >>> found_share(np.array([[True, False, False]]), np.array([[True, True, False]])).tolist()
    [0.5]
    """
    return (named & truth).sum(axis=1) / truth.sum(axis=1)
