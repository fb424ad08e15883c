"""A number to set beside a printed one: known exactly, or with the interval it may lie in."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from paper.correlation import summarise
from paper.piece import EXACT, INTERVAL, NOT_REPRODUCED, Verdict

__all__ = ["Estimate", "from_all_rows", "from_draws", "from_some_rows", "worst"]

_LEVEL = 0.99


@dataclass(frozen=True)
class Estimate:
    """A value, and the interval it may lie in if it is not known exactly."""

    value: float
    low: float | None = None
    high: float | None = None

    def text(self, printed: str) -> str:
        """Return the value, and its interval, with as many digits as are printed.

        Examples
        --------
        >>> Estimate(0.97649, 0.961, 0.988).text("0.970")
        '0.976 [0.961, 0.988]'
        """
        digits = _digits(printed)
        if self.low is None or self.high is None:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"

    def verdict(self, printed: str) -> Verdict:
        """Return how the printed number compares; an interval is widened by the last digit's half.

        Examples
        --------
        >>> Estimate(0.9064).verdict("0.906"), Estimate(0.5, 0.4, 0.6).verdict("0.7")
        ('exact', 'not reproduced')
        """
        digits = _digits(printed)
        if self.low is None or self.high is None:
            return EXACT if f"{self.value:.{digits}f}" == printed else NOT_REPRODUCED
        half = 0.5 * 10.0**-digits
        within = self.low - half <= float(printed) <= self.high + half
        return INTERVAL if within else NOT_REPRODUCED


def from_all_rows(correlations: np.ndarray) -> list[Estimate]:
    """Return the four summary numbers when every row was compared: they are what they are."""
    return [Estimate(value) for value in astuple(summarise(correlations))]


def from_draws(numbers: np.ndarray) -> list[Estimate]:
    """Return the mean over draws, (n_draws, 4), and where one more draw may lie.

    The interval is Student's 99 % prediction interval for one more draw, cut at the largest value
    the number can have.
    """
    from scipy.stats import t

    n = len(numbers)
    reach = t.ppf((1 + _LEVEL) / 2, n - 1) * np.sqrt(1 + 1 / n) * numbers.std(axis=0, ddof=1)
    mean = numbers.mean(axis=0)
    return [
        Estimate(float(m), max(0.0, float(m - r)), min(most, float(m + r)))
        for m, r, most in zip(mean, reach, (1.0, 1.0, 100.0, 100.0), strict=True)
    ]


def from_some_rows(correlations: np.ndarray) -> list[Estimate]:
    """Return the summary numbers of a part of the rows with 99 % intervals for all rows.

    Student's interval for the average, Bonett's (2006) for the deviation, Clopper and Pearson's
    for the shares.
    """
    from scipy.stats import binomtest, t

    n = len(correlations)
    average, deviation, *shares = astuple(summarise(correlations))
    reach = float(t.ppf((1 + _LEVEL) / 2, n - 1)) * deviation / np.sqrt(n - 1)
    estimates = [
        Estimate(average, average - reach, min(1.0, average + reach)),
        Estimate(deviation, *_deviation_interval(correlations)),
    ]
    for share in shares:
        interval = binomtest(round(share * n / 100), n).proportion_ci(_LEVEL)
        estimates.append(Estimate(share, 100 * interval.low, 100 * interval.high))
    return estimates


def _deviation_interval(sample: np.ndarray) -> tuple[float, float]:
    """Return Bonett's interval: it takes the sample's kurtosis, so that tails may be heavy."""
    from scipy.stats import norm, trim_mean

    n, z = len(sample), float(norm.ppf((1 + _LEVEL) / 2))
    variance = sample.var(ddof=1)
    if n <= z or variance == 0:
        return float(np.sqrt(variance)), float(np.sqrt(variance))
    centre = trim_mean(sample, 1 / (2 * np.sqrt(max(n - 4, 1))))
    kurtosis = n * ((sample - centre) ** 4).sum() / ((n - 1) * variance) ** 2
    error = n / (n - z) * np.sqrt(max(kurtosis - (n - 3) / n, 0) / (n - 1))
    middle = np.log(n / (n - z) * variance)
    return float(np.exp((middle - z * error) / 2)), float(np.exp((middle + z * error) / 2))


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the weakest of several verdicts.

    Examples
    --------
    >>> worst(["exact", "within its interval"])
    'within its interval'
    """
    return max(verdicts, key=(EXACT, INTERVAL, NOT_REPRODUCED).index)


def _digits(printed: str) -> int:
    return len(printed.partition(".")[2])
