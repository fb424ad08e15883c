"""Section 3.2: does K > 1 find the features that matter from fewer rows? It depends on the design.

The same three coins matter, among 2 or 37 that do not. With few features every tree of K = 1 asks
all of them while many rows are left; with many, the best of several drawn ones is worth having.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm
from paper.piece import AS_READ, NOT_REPRODUCED, Claim, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Samples", "in_order", "run"]

N_ROWS, N_RELEVANT = 200, 3
# An order is one bit of a sample: it takes many. The sizes are the same in both modes.
N_DRAWS, N_TREES = 1000, 200
DESIGNS = {5: (2, 5), 40: (6, 40)}
"""Number of features, and the K compared with K = 1: near the root of it, and all."""


@dataclass(frozen=True)
class Samples:
    """Global MDI of one forest for each of many samples, (draws, features)."""

    n_features: int
    max_features: int
    n_trees: int

    @property
    def label(self) -> str:
        """A few words for the progress bar and the folder of the cache."""
        return f"K = {self.max_features} of {self.n_features}"

    def key(self) -> dict[str, Any]:
        """Return everything that decides the values."""
        return {
            "measure": "global MDI of samples of three coins among noise",
            "rows": N_ROWS,
            **asdict(self),
            "localmdi": version("localmdi"),
        }

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Return the computation; nothing is shared between draws."""
        return lambda start, stop: np.array([self._draw(seed) for seed in range(start, stop)])

    def _draw(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng([self.n_features, seed])
        X = rng.integers(2, size=(N_ROWS, self.n_features))
        a, b, c = X[:, :N_RELEVANT].T
        log_odds = 1.6 * a + 0.8 * b + 1.6 * a * b - 1.1 * c - 1.2
        y = rng.random(N_ROWS) < 1 / (1 + np.exp(-log_odds))
        forest = lm.RandomizedForestClassifier(
            self.n_trees,
            max_features=self.max_features,
            categorical_features=range(self.n_features),
            n_jobs=1,
            random_state=seed,
        )
        return lm.global_mdi(forest.fit(X, y)).values


def in_order(values: np.ndarray) -> np.ndarray:
    """Return for each sample whether all features that matter come before all noise.

    Examples
    --------
    >>> in_order(np.array([[3, 2, 4, 1, 0], [3, 1, 4, 2, 0]])).tolist()
    [True, False]
    """
    order: np.ndarray = values[:, :N_RELEVANT].min(axis=1) > values[:, N_RELEVANT:].max(axis=1)
    return order


def run(settings: Settings, store: Store) -> Piece:
    """Compare how often K > 1 and K = 1 put the features that matter first, on the same samples."""
    found = {
        (p, k): in_order(store.rows(Samples(p, k, N_TREES), N_DRAWS, block=50))
        for p, others in DESIGNS.items()
        for k in (1, *others)
    }
    gaps = {
        (p, k): found[p, k].astype(float) - found[p, 1]
        for p, others in DESIGNS.items()
        for k in others
    }
    rows = [
        (p, k, f"{found[p, 1].mean():.3f}", f"{found[p, k].mean():.3f}", _difference(gap))
        for (p, k), gap in gaps.items()
    ]
    return Piece(
        name="efficiency",
        title="Does K > 1 need fewer rows?",
        tables=(
            Table(
                "efficiency",
                f"Three binary features matter, the others are coins: share of {N_DRAWS:,} samples "
                f"of {N_ROWS} rows in which global MDI puts the three before all others, with the "
                f"standard error of the difference. Forests of {N_TREES} totally randomized trees "
                "(K = 1) or trees of the best of K features.",
                ("features", "K", "in order, K = 1", "in order, K", "difference"),
                tuple(rows),
            ),
        ),
        claims=(_claim(gaps),),
    )


def _claim(gaps: dict[tuple[int, int], np.ndarray]) -> Claim:
    better = [design for design, gap in gaps.items() if gap.mean() > 2 * _error(gap)]
    worse = [design for design, gap in gaps.items() if gap.mean() < -2 * _error(gap)]
    return Claim(
        "Section 3.2",
        "In finite setting, using K > 1 may result in more statistically efficient estimates.",
        "may",
        f"more often in order than K = 1 with {_listed(better)}; less often with {_listed(worse)}",
        AS_READ if better else NOT_REPRODUCED,
        reading="in some design, by two standard errors: all features that matter come before all "
        "noise in more of the samples",
        because="in none of these designs",
    )


def _listed(designs: list[tuple[int, int]]) -> str:
    return ", ".join(f"K = {k} of {p} features" for p, k in designs) or "none"


def _difference(gap: np.ndarray) -> str:
    return f"{gap.mean():+.3f} ± {_error(gap):.3f}"


def _error(gap: np.ndarray) -> float:
    return float(gap.std(ddof=1) / np.sqrt(len(gap)))
