"""Data of the paper that need no download: the seven-segment display (led)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from localmdi.typing import IntArray

__all__ = ["make_led", "make_led_sample"]

# Segments X1..X7 of the digits 0..9: top, upper left, upper right, middle, lower left, lower
# right, bottom.
_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)


def make_led(irrelevant: int = 0) -> tuple[IntArray, IntArray]:
    """Return the led problem: which segments of a seven-segment display are lit for each digit.

    Parameters
    ----------
    irrelevant : int
        Number of binary features to append that say nothing about the digit. Every combination
        of their values occurs once with every digit, so they are exactly irrelevant.

    Returns
    -------
    X : ndarray of int of shape (10·2^irrelevant, 7 + irrelevant)
        One row per digit (and combination); the first seven columns are the segments.
    y : ndarray of int of shape (10·2^irrelevant,)
        The digit.

    Examples
    --------
    >>> X, y = make_led()
    >>> X.shape, X[7].tolist(), int(y[7])
    ((10, 7), [1, 0, 1, 0, 0, 1, 0], 7)
    >>> make_led(irrelevant=2)[0].shape
    (40, 9)
    """
    _check_irrelevant(irrelevant)
    extra = np.array(list(product((0, 1), repeat=irrelevant)), dtype=np.int64)
    segments = np.repeat(_segments(), len(extra), axis=0)
    X = np.hstack([segments, np.tile(extra, (10, 1))])
    return X, np.repeat(np.arange(10), len(extra))


def make_led_sample(
    n_samples: int = 200,
    *,
    irrelevant: int = 0,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[IntArray, IntArray]:
    """Draw rows of the led problem: each is a digit drawn uniformly and its segments.

    Parameters
    ----------
    n_samples : int
        Number of rows; 200 in the paper.
    irrelevant : int
        Number of fair coins to append as features.
    noise : float
        Probability that a segment shows the wrong state, independently; 0 in the paper.
    random_state : int, RandomState instance or None
        Seed of the draw, as in scikit-learn.

    Returns
    -------
    X : ndarray of int of shape (n_samples, 7 + irrelevant)
        The segments, then the coins.
    y : ndarray of int of shape (n_samples,)
        The digit.

    Examples
    --------
    >>> X, y = make_led_sample(random_state=0)
    >>> X.shape, y.shape
    ((200, 7), (200,))
    """
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
    if not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise must be a probability from 0 to 1; got {noise}.")
    _check_irrelevant(irrelevant)
    generator = check_random_state(random_state)
    y = generator.randint(10, size=n_samples).astype(np.int64)
    flipped = generator.uniform(size=(n_samples, 7)) < noise
    coins = generator.randint(2, size=(n_samples, irrelevant)).astype(np.int64)
    return np.hstack([_segments()[y] ^ flipped, coins]), y


def _segments() -> IntArray:
    return np.array([list(digit) for digit in _SEGMENTS], dtype=np.int64)


def _check_irrelevant(irrelevant: int) -> None:
    if not 0 <= irrelevant <= 20:
        raise ValueError(
            f"irrelevant must be a number of features from 0 to 20; got {irrelevant}. "
            "make_led lists all 2^irrelevant combinations of their values."
        )
