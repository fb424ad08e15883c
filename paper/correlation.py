"""Correlations between two measures, row by row, and the four numbers that summarise them."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CORRELATIONS", "Summary", "pearson", "spearman", "summarise"]


def pearson(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation of each row of `first` with the same row of `second`.

    Examples
    --------
    >>> pearson(np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])).tolist()
    [-1.0]
    """
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(first, second, strict=True)])


def spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of each row of `first` with the same row of `second`.

    Examples
    --------
    >>> spearman(np.array([[1.0, 2.0, 9.0]]), np.array([[1.0, 2.0, 3.0]])).tolist()
    [1.0]
    """
    from scipy.stats import rankdata

    return pearson(rankdata(first, axis=1), rankdata(second, axis=1))


CORRELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "Pearson": pearson,
    "Spearman": spearman,
}


@dataclass(frozen=True)
class Summary:
    """A row of the paper's table: average, standard deviation, and two shares in percent."""

    average: float
    deviation: float
    above_90: float
    above_75: float

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The numbers with as many digits as the paper prints.

        Examples
        --------
        >>> Summary(0.9064, 0.1, 72.4719, 100.0).cells
        ('0.906', '0.100', '72.47', '100.00')
        """
        average, deviation, above_90, above_75 = astuple(self)
        return f"{average:.3f}", f"{deviation:.3f}", f"{above_90:.2f}", f"{above_75:.2f}"


def summarise(correlations: np.ndarray) -> Summary:
    """Return the summary of the correlations of all rows; the deviation divides by n.

    Examples
    --------
    >>> summarise(np.array([1.0, 0.8])).cells
    ('0.900', '0.100', '50.00', '100.00')
    """
    return Summary(
        float(correlations.mean()),
        float(correlations.std()),
        float(100 * (correlations >= 0.9).mean()),
        float(100 * (correlations >= 0.75).mean()),
    )
