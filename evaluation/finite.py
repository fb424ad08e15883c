"""Finite samples and forests: how N, T and K move MDI from the value of the infinite forest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean
from evaluation.work import Work

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = [
    "CELLS",
    "KS",
    "N_RELEVANT",
    "Draw",
    "Draws",
    "P",
    "draws",
    "law",
    "line",
    "ratio",
    "targets",
]

P, N_RELEVANT = 5, 3
KS = (1, 2, 5)
CELLS = np.array(list(product((0, 1), repeat=P)))


@cache
def law() -> lm.theory.Distribution:
    """Return the law: five coins; three matter, two of them together, two are noise."""
    x = CELLS.T
    log_odds = 1.6 * x[0] + 0.8 * x[1] + 1.6 * x[0] * x[1] - 1.1 * x[2] - 1.2
    chance = 1 / (1 + np.exp(-log_odds))
    output = np.stack([1 - chance, chance], axis=1).reshape((2,) * P + (2,))
    return lm.theory.Distribution.from_conditional(output)


@cache
def targets() -> np.ndarray:
    """Return the importances of the infinite forest on infinitely many rows.

    An array (K, 1 + cells, features): the global ones, then the local ones of every cell.
    """
    theory = lm.theory
    return np.array(
        [
            [
                theory.population_mdi(law(), k),
                *(theory.population_local_mdi(law(), x, k) for x in CELLS),
            ]
            for k in KS
        ]
    )


def line(n: np.ndarray) -> np.ndarray:
    """Return the bias that theory expects of every feature's global MDI, K = 1.

    The plug-in information of a set of s coins about a coin is too large by (2^s − 1) / (2 N ln 2)
    bits on average, up to terms of order 1/N² (Miller and Madow). The importance is the Shapley
    value of that information, which gives each of the p features the same part of the whole.

    Examples
    --------
    >>> line(np.array([1000])).round(4).tolist()
    [0.0045]
    """
    return (2**P - 1) / (2 * np.asarray(n) * np.log(2)) / P


@dataclass(frozen=True)
class Draw(Work):
    """One sample of the law: (K, T, 1 + cells, features); the last T is infinity.

    Local values of infinitely many trees are there for K = 1 only, others are NaN.
    """

    n_rows: int
    seed: int
    tree_counts: tuple[int, ...]

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"finite {self.n_rows} {self.seed}"

    def compute(self) -> np.ndarray:
        """Grow forests of every size and compute the infinite one."""
        rng = np.random.default_rng([self.n_rows, self.seed])
        cell = rng.integers(len(CELLS), size=self.n_rows)
        chance = law().table.reshape(len(CELLS), 2)[:, 1] * len(CELLS)
        X, y = CELLS[cell], (rng.random(self.n_rows) < chance[cell]).astype(np.int64)
        return np.array([self._of(X, y, k=k) for k in KS])

    def _of(self, X: np.ndarray, y: np.ndarray, *, k: int) -> np.ndarray:
        values = []
        for n_trees in self.tree_counts:
            forest = lm.RandomizedForestClassifier(
                n_trees,
                max_features=k,
                categorical_features=list(range(P)),
                n_jobs=1,
                random_state=self.seed,
            ).fit(X, y)
            local = lm.local_mdi(forest, CELLS, n_jobs=1).values
            values.append(np.vstack([lm.global_mdi(forest).values, local]))
        sample = lm.theory.Distribution.from_samples(X, y)
        local = np.full((len(CELLS), P), np.nan)
        if k == 1:
            local = lm.infinite_mdi(X, y, at=CELLS, n_jobs=1).values
        values.append(np.vstack([lm.theory.population_mdi(sample, k), local]))
        return np.array(values)


@dataclass(frozen=True, eq=False)
class Draws:
    """All samples, (N, draws, K, T, 1 + cells, features), and their errors."""

    sizes: tuple[int, ...]
    tree_counts: tuple[int, ...]
    values: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """The values minus the population's."""
        return self.values - targets()[np.newaxis, np.newaxis, :, np.newaxis]

    def squared(self, k: int, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return relative squared errors, global and local, of every draw: (N, draws) each.

        Relative to the sum of squares of the infinite forest's own values for this K, because
        values for different K are different things.
        """
        error, target = self.errors[:, :, k, t] ** 2, targets()[k] ** 2
        whole = error[:, :, 0].sum(axis=2) / target[0].sum()
        return whole, error[:, :, 1:].sum(axis=(2, 3)) / target[1:].sum()

    def separated(self, k: int, t: int) -> np.ndarray:
        """Return for every draw whether all features that matter come before all noise."""
        values = self.values[:, :, k, t, 0]
        return values[..., :N_RELEVANT].min(axis=2) > values[..., N_RELEVANT:].max(axis=2)


def draws(settings: Settings, store: Store) -> Draws:
    """Return the samples of every size."""
    works = [
        Draw(n, seed, settings.tree_counts)
        for n in settings.sample_sizes
        for seed in range(settings.n_draws)
    ]
    found = np.array(store.each(works, label="finite samples"))
    shape = (len(settings.sample_sizes), settings.n_draws, *found.shape[1:])
    return Draws(settings.sample_sizes, settings.tree_counts, found.reshape(shape))


def ratio(first: np.ndarray, second: np.ndarray) -> Mean:
    """Return the ratio of the means of two paired columns, with its error by the delta method.

    Examples
    --------
    >>> print(ratio(np.array([2.0, 4.0]), np.array([1.0, 2.0])))
    2.000 ± 0.000
    """
    value = first.mean() / second.mean()
    error = (first - value * second).std(ddof=1) / np.sqrt(len(first)) / second.mean()
    return Mean(float(value), float(error))
