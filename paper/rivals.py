"""The measures of other packages: TreeSHAP from shap and SAGE from sage-importance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from paper.forests import Recipe

__all__ = ["SageValues", "TreeShapRows", "interpreter_values", "of_class", "predicted_class"]


def predicted_class(forest: Any, X: np.ndarray) -> np.ndarray:
    """Return the position of the class with the largest mean probability for every row."""
    return np.argmax(forest.predict_proba(X), axis=1)


def of_class(values: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Pick one class per row from values of shape (n_rows, n_features, n_classes)."""
    return values[np.arange(len(values)), :, label]


def interpreter_values() -> Callable[[Any, np.ndarray], np.ndarray] | None:
    """Return treeinterpreter's Saabas values as a function of forest and rows.

    None if it cannot be imported: its last release needs distutils, gone since Python 3.12.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from treeinterpreter import treeinterpreter
    except ImportError:
        return None
    return lambda forest, X: treeinterpreter.predict(forest, X)[2]


@dataclass(frozen=True)
class TreeShapRows:
    """TreeSHAP of the predicted class of a forest's training rows.

    `perturbation` is "tree_path_dependent" or "interventional"; the background of the latter is
    the training rows.
    """

    recipe: Recipe
    perturbation: str

    @property
    def label(self) -> str:
        """A few words for the progress bar and the folder of the cache."""
        name = {"tree_path_dependent": "treeshap", "interventional": "treeshap interventional"}
        return f"{name[self.perturbation]} {self.recipe.name} K={self.recipe.max_features}"

    def key(self) -> dict[str, Any]:
        """Return everything that decides the values."""
        return {
            "measure": "TreeSHAP of the predicted class",
            "perturbation": self.perturbation,
            "forest": self.recipe.key(),
            "shap": version("shap"),
        }

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Grow the forest and build shap's explainer."""
        import shap

        X = self.recipe.data.X
        forest = self.recipe.grow()
        label = predicted_class(forest, X)
        background = None
        if self.perturbation == "interventional":
            # Given plain rows, shap keeps a random hundred of them.
            background = shap.maskers.Independent(X, max_samples=len(X))
        explainer = shap.TreeExplainer(forest, background, feature_perturbation=self.perturbation)

        def rows(start: int, stop: int) -> np.ndarray:
            return of_class(explainer.shap_values(X[start:stop]), label[start:stop])

        return rows


@dataclass(frozen=True)
class SageValues:
    """SAGE of a forest on its training rows, which are the background too.

    The result is one row, (1, 2, n_features): the values and their standard deviations.
    """

    recipe: Recipe
    loss: str
    n_permutations: int
    threshold: float

    @property
    def label(self) -> str:
        """A few words for the progress bar and the folder of the cache."""
        return f"sage {self.loss} {self.recipe.name} K={self.recipe.max_features}"

    def key(self) -> dict[str, Any]:
        """Return everything that decides the values."""
        return {
            "measure": "SAGE, MarginalImputer, PermutationEstimator, seed 0",
            "loss": self.loss,
            "permutations": self.n_permutations,
            "threshold": self.threshold,
            "forest": self.recipe.key(),
            "sage-importance": version("sage-importance"),
        }

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Grow the forest and build the estimator."""
        import sage

        data = self.recipe.data
        # The mean squared loss compares probabilities with the label as a unit vector.
        target = np.eye(data.y.max() + 1)[data.y] if self.loss == "mse" else data.y
        imputer = sage.MarginalImputer(_model(self.recipe.grow(), data.X), data.X)
        estimator = sage.PermutationEstimator(imputer, self.loss, random_state=0)

        def rows(start: int, stop: int) -> np.ndarray:
            explanation = estimator(
                data.X,
                target,
                thresh=self.threshold,
                n_permutations=self.n_permutations,
                bar=False,
            )
            return np.array([[explanation.values, explanation.std]])

        return rows


def _model(forest: Any, X: np.ndarray) -> Any:
    """Return what SAGE may call for probabilities.

    SAGE asks for the same few rows millions of times when features are binary: the forest then
    predicts each of the 2^p possible rows once, and the answers are looked up.
    """
    if X.shape[1] > 12 or not np.isin(X, (0, 1)).all():
        return forest
    bits = np.arange(X.shape[1])
    every_row = (np.arange(2 ** len(bits))[:, np.newaxis] >> bits) & 1
    probability = forest.predict_proba(every_row)
    return lambda rows: probability[(rows @ 2.0**bits).astype(np.intp)]
