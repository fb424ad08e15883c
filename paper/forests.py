"""The paper's forests: 1000 Extra-Trees, entropy, K features drawn at each node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from paper.data import Dataset, load

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesClassifier

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """How to grow one forest again, in any process: the dataset's name and the parameters.

    Examples
    --------
    >>> Recipe("led", max_features=1, n_trees=10).grow().predict_proba(load("led").X).shape
    (10, 10)
    """

    name: str
    max_features: int
    n_trees: int
    seed: int = 0

    @property
    def data(self) -> Dataset:
        """The rows the forest learns."""
        return load(self.name, self.seed)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of scikit-learn's ExtraTreesClassifier."""
        return {
            "n_estimators": self.n_trees,
            "max_features": self.max_features,
            "criterion": "entropy",
            "random_state": 0,
        }

    def grow(self) -> ExtraTreesClassifier:
        """Return the fitted forest."""
        return _grow(self)

    def key(self) -> dict[str, Any]:
        """Return everything that decides what the fitted forest is, for the cache."""
        return {
            "data": self.data.digest,
            "model": "ExtraTreesClassifier",
            "parameters": self.parameters,
            "scikit-learn": version("scikit-learn"),
        }


@lru_cache(maxsize=8)
def _grow(recipe: Recipe) -> ExtraTreesClassifier:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(**recipe.parameters).fit(recipe.data.X, recipe.data.y)
