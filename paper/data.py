"""The six datasets of the paper, and the table of their characteristics."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from sklearn import datasets

import localmdi as lm

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAMES", "Dataset", "load"]

# In the order of the paper's table of datasets.
NAMES = ("led", "led_sampled", "digits", "iris", "wine", "breast_cancer")
_TITLES = {
    "led": "Led",
    "led_sampled": "Led (sampled)",
    "digits": "Digits",
    "iris": "Iris",
    "wine": "Wine",
    "breast_cancer": "Breast cancer",
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset: a name, float32 rows `X` and integer labels `y` from 0 to C - 1.

    `seed` is the seed of the draw and matters for "led_sampled" only.
    """

    name: str
    seed: int
    X: np.ndarray
    y: np.ndarray

    @property
    def title(self) -> str:
        """The dataset's name as the paper prints it."""
        return _TITLES[self.name]

    @property
    def digest(self) -> str:
        """A fingerprint of the rows and labels."""
        content = hashlib.sha256(np.ascontiguousarray(self.X).tobytes())
        content.update(np.ascontiguousarray(self.y, dtype=np.int64).tobytes())
        return content.hexdigest()[:16]

    @property
    def feature_types(self) -> str:
        """The kinds of values of the columns, in the words of the paper's table."""
        if set(np.unique(self.X)) == {0.0, 1.0}:
            return "Binary"
        whole = (np.round(self.X) == self.X).all(axis=0)
        return ", ".join(["Integer"] * bool(whole.any()) + ["Real"] * bool(not whole.all()))


@cache
def load(name: str, seed: int = 0) -> Dataset:
    """Return a dataset of the paper by name, one of `NAMES`.

    Examples
    --------
    >>> load("wine").X.shape, load("led_sampled", seed=3).feature_types
    ((178, 13), 'Binary')
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, but {name!r} was given.")
    X, y = _readers(seed)[name]()
    X = np.array(X, dtype=np.float32)
    y = np.array(y, dtype=np.int64)
    X.setflags(write=False)
    y.setflags(write=False)
    return Dataset(name, seed if name == "led_sampled" else 0, X, y)


def _readers(seed: int) -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    return {
        "led": lm.datasets.make_led,
        "led_sampled": lambda: lm.datasets.make_led_sample(200, random_state=seed),
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    }
