"""How well local MDI agrees with Saabas and TreeSHAP on each dataset, K = 1."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm
from paper import measures
from paper.correlation import CORRELATIONS, summarise
from paper.forests import Recipe
from paper.rivals import TreeShapRows, of_class, predicted_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["PAIRS", "LedDraw", "led_draws", "row_correlations"]

# The rows of the paper's table for one dataset: a rival of local MDI and a kind of correlation.
PAIRS = tuple((rival, kind) for rival in ("Saabas", "TreeSHAP") for kind in CORRELATIONS)


def row_correlations(
    dataset: Dataset, *, settings: Settings, store: Store
) -> dict[tuple[str, str], np.ndarray]:
    """Return the correlation of every row's signed values, one array for each of `PAIRS`.

    Arrays against TreeSHAP cover the rows that TreeSHAP explains under `settings`.
    """
    values = {
        "Saabas": measures.saabas(dataset, 1, settings=settings),
        "TreeSHAP": measures.treeshap(dataset, 1, settings=settings, store=store),
    }
    return _correlate(measures.local_mdi(dataset, 1, settings=settings), values)


def led_draws(settings: Settings, store: Store) -> dict[tuple[str, str], np.ndarray]:
    """Return the four summary numbers for every draw of the led sample, (n_draws, 4) per pair.

    The paper did not seed its draw of 200 rows, so its numbers are one draw of many.
    """
    works = [LedDraw(seed, settings.n_trees) for seed in range(settings.n_draws)]
    numbers = np.array(store.each(works, label="draws of the led sample"))
    return {pair: numbers[:, i] for i, pair in enumerate(PAIRS)}


@dataclass(frozen=True)
class LedDraw:
    """The summary numbers of one draw of the led sample, (1, 4 pairs, 4 numbers)."""

    seed: int
    n_trees: int

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"led draw {self.seed}"

    @property
    def recipe(self) -> Recipe:
        """The forest of this draw."""
        return Recipe("led_sampled", 1, self.n_trees, self.seed)

    def key(self) -> dict[str, Any]:
        """Return everything that decides the numbers."""
        return {
            "measure": "summary of the correlations of local MDI with Saabas and TreeSHAP",
            "forest": self.recipe.key(),
            "shap": version("shap"),
            "localmdi": version("localmdi"),
        }

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Return the computation; nothing is shared between draws."""
        return lambda start, stop: self._summaries()[np.newaxis]

    def _summaries(self) -> np.ndarray:
        forest, X = self.recipe.grow(), self.recipe.data.X
        values = {
            "Saabas": of_class(lm.saabas(forest, X), predicted_class(forest, X)),
            "TreeSHAP": TreeShapRows(self.recipe, "tree_path_dependent").prepare()(0, len(X)),
        }
        found = _correlate(lm.local_mdi(forest, X).values, values)
        return np.array([astuple(summarise(found[pair])) for pair in PAIRS])


def _correlate(
    local: np.ndarray, rivals: dict[str, np.ndarray]
) -> dict[tuple[str, str], np.ndarray]:
    return {
        (rival, kind): CORRELATIONS[kind](local[: len(rivals[rival])], rivals[rival])
        for rival, kind in PAIRS
    }
