"""The measures the paper compares, on the forests it compares them on.

Local measures return one signed value per row and feature; Saabas and TreeSHAP decompose the
probability of the predicted class, the one with the largest mean probability over the trees.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from paper.forests import Recipe
from paper.rivals import SageValues, TreeShapRows, of_class, predicted_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["global_mdi", "local_mdi", "recipe", "saabas", "sage", "treeshap"]


def recipe(dataset: Dataset, max_features: int, *, settings: Settings) -> Recipe:
    """Return the recipe of the dataset's forest with K = `max_features`."""
    return Recipe(dataset.name, max_features, settings.trees(dataset.name), dataset.seed)


def local_mdi(dataset: Dataset, max_features: int, *, settings: Settings) -> np.ndarray:
    """Return the local MDI of every row, (n_rows, n_features), in bits."""
    return _local_mdi(recipe(dataset, max_features, settings=settings))


def global_mdi(dataset: Dataset, max_features: int, *, settings: Settings) -> np.ndarray:
    """Return the global MDI, (n_features,), in bits."""
    return lm.global_mdi(recipe(dataset, max_features, settings=settings).grow()).values


def saabas(dataset: Dataset, max_features: int, *, settings: Settings) -> np.ndarray:
    """Return Saabas' values of the predicted class for every row, (n_rows, n_features)."""
    return _saabas(recipe(dataset, max_features, settings=settings))


def treeshap(
    dataset: Dataset,
    max_features: int,
    *,
    settings: Settings,
    store: Store,
    perturbation: str = "tree_path_dependent",
) -> np.ndarray:
    """Return TreeSHAP of the predicted class, (n, n_features) for the first n rows.

    n is ``settings.rows(dataset.name, len(dataset.X))``: all rows in full mode. `perturbation` is
    "tree_path_dependent" (the table and the local figures) or "interventional" (the appendix'
    global figure; the background is the training rows).
    """
    forest = recipe(dataset, max_features, settings=settings)
    work = TreeShapRows(forest, perturbation)
    return store.rows(work, settings.rows(dataset.name, len(dataset.X)))


def sage(
    dataset: Dataset,
    max_features: Sequence[int],
    *,
    settings: Settings,
    store: Store,
    loss: str = "cross entropy",
) -> np.ndarray:
    """Return SAGE's values and their standard deviations, (n_K, 2, n_features), for several K.

    `loss` is "cross entropy" or "mse".
    """
    works = [
        SageValues(
            recipe(dataset, K, settings=settings),
            loss=loss,
            n_permutations=settings.sage_permutations,
            threshold=settings.sage_threshold,
        )
        for K in max_features
    ]
    return np.array(store.each(works, label=f"sage {loss} {dataset.name}"))


# Several pieces ask for the same values one after the other.
@lru_cache(maxsize=16)
def _local_mdi(recipe: Recipe) -> np.ndarray:
    values = lm.local_mdi(recipe.grow(), recipe.data.X).values.copy()
    values.setflags(write=False)
    return values


@lru_cache(maxsize=16)
def _saabas(recipe: Recipe) -> np.ndarray:
    forest, X = recipe.grow(), recipe.data.X
    values = of_class(lm.saabas(forest, X), predicted_class(forest, X))
    values.setflags(write=False)
    return values
