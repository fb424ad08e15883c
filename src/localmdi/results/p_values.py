"""Tests of "this feature tells nothing": p-values, and false-discovery control over features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import BoolArray, ErrorOf, FloatArray


# Label errors are estimated from this many random signs of the held-out residuals
# (`localmdi.honest.gain`); a value over its error then follows Student's t.
LABEL_DEGREES = 32


def one_sided_p(
    values: FloatArray, standard_error: FloatArray | None, *, error_kind: ErrorOf, honest: bool
) -> FloatArray:
    """Return the probability of a value as large, if the feature told nothing.

    A value without an error, because no split on the feature met the row, has the p-value 1.
    """
    from scipy import special

    if standard_error is None or not honest or error_kind in ("trees", "refits"):
        raise ValueError(
            "p-values need honest values with an error of labels or of the sample: 0 is what noise "
            "gives only to honest values, and trees vary less than labels do. Use "
            "honest_mdi(..., standard_error='labels') or honest_global_mdi(...)."
        )
    known = standard_error > 0
    score = np.divide(values, standard_error, out=np.zeros(values.shape), where=known)
    if error_kind == "sample":
        p: FloatArray = special.ndtr(-score)
    else:
        p = special.stdtr(LABEL_DEGREES, -score)
    return np.where(known, p, np.where(np.isnan(values), np.nan, 1.0))


def discoveries(p: FloatArray, alpha: float) -> BoolArray:
    """Return which tests along the last axis to reject, with false-discovery rate at most alpha.

    Benjamini and Hochberg's procedure: the largest k for which the k-th smallest p-value is at most
    alpha · k / m, and all up to it.

    Examples
    --------
    >>> discoveries(np.array([0.04, 0.6, 0.01, 0.03]), 0.05)
    array([False, False,  True, False])
    >>> discoveries(np.array([0.03, 0.04, 0.01, 0.03]), 0.05)
    array([ True,  True,  True,  True])
    """
    _check_alpha(alpha)
    known = np.nan_to_num(p, nan=1.0)
    m = known.shape[-1]
    ordered = np.sort(known, axis=-1)
    passed = ordered <= alpha * np.arange(1, m + 1) / m
    last = np.where(passed.any(axis=-1), m - 1 - passed[..., ::-1].argmax(axis=-1), -1)
    limit = np.take_along_axis(ordered, np.maximum(last, 0)[..., None], axis=-1)
    return np.asarray((known <= limit) & (last >= 0)[..., None])


def rejections(p: FloatArray, alpha: float) -> BoolArray:
    """Return which tests to reject, with a chance of at most alpha for any false one (Holm).

    The smallest p-value must be at most alpha / m, the next alpha / (m − 1), and so on until one
    fails.

    Examples
    --------
    >>> rejections(np.array([0.04, 0.6, 0.01, 0.012]), 0.05)
    array([False, False,  True,  True])
    """
    _check_alpha(alpha)
    known = np.nan_to_num(p, nan=1.0)
    order = np.argsort(known, kind="stable")
    passed = known[order] <= alpha / np.arange(len(known), 0, -1)
    rejected = np.zeros(len(known), dtype=bool)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected


def _check_alpha(alpha: float) -> None:
    if not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}. Use 0.05 if in doubt.")
