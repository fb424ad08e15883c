"""The units of work: a problem, a seed, a forest, and the measures asked about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.measures import Question, timed
from evaluation.problems import draw
from evaluation.scores import auroc, top_share, within_auroc

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.problems import Drawn
    from evaluation.responses import RealProblem
    from evaluation.settings import Settings

__all__ = ["NUMBERS", "Growing", "RowScores", "Sizes", "Work", "ask", "installed"]

# What is kept of every measure: three scores, and CPU seconds for a row.
NUMBERS = ("AUROC", "top k", "within", "seconds")


@dataclass(frozen=True)
class Sizes:
    """The sizes that a unit of work depends on."""

    n_trees: int
    n_train: int
    n_rows: int
    n_background: int
    slow_trees: int

    @classmethod
    def of(cls, settings: Settings) -> Sizes:
        """Return the sizes of a run."""
        return cls(
            settings.n_trees,
            settings.n_train,
            settings.n_rows,
            settings.n_background,
            settings.slow_trees,
        )


@dataclass(frozen=True)
class Growing:
    """The two numbers that are tuned: rows in a leaf, and held-out rows that a path needs."""

    leaf: int = 5
    min_rows: int = 10


class Work:
    """What all units of work share; a subclass is a frozen dataclass with `label` and `compute`."""

    def key(self) -> dict[str, Any]:
        """Return everything that decides the result."""
        return {
            "work": type(self).__name__,
            **asdict(self),
            **{name: installed(name) for name in ("localmdi", "scikit-learn", "shap", "imodels")},
        }

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Return the computation; it has one row."""
        return lambda start, stop: self.compute()[np.newaxis]

    def compute(self) -> np.ndarray:
        """Return the result."""
        raise NotImplementedError


@dataclass(frozen=True)
class RowScores(Work):
    """How well measures find the true features of new rows: (measures, `NUMBERS`)."""

    problem: str | RealProblem
    seed: int
    measures: tuple[str, ...]
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        name = self.problem if isinstance(self.problem, str) else self.problem.name
        return f"rows {name.replace(',', '')} {self.seed}"

    def compute(self) -> np.ndarray:
        """Grow the forest, ask every measure, compare with the truth."""
        question = ask(self.drawn(), self.seed, sizes=self.sizes, growing=self.growing)
        truth = question.drawn.rows.truth
        numbers = []
        for name in self.measures:
            score, seconds = timed(name, question)
            numbers.append(
                [
                    auroc(score, truth).mean(),
                    top_share(score, truth).mean(),
                    within_auroc(score, truth),
                    seconds / len(score),
                ]
            )
        return np.array(numbers)

    def drawn(self) -> Drawn:
        """Return the sample of this problem and seed."""
        if isinstance(self.problem, str):
            return draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)
        return self.problem.draw(self.sizes.n_rows, seed=self.seed)


def ask(drawn: Drawn, seed: int, *, sizes: Sizes, growing: Growing, **options: Any) -> Question:
    """Grow a forest on the training rows and return the question about the new rows."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    options |= {"min_samples_leaf": growing.leaf, "random_state": seed}
    if drawn.regression:
        forest = RandomForestRegressor(sizes.n_trees, max_features=1 / 3, **options)
    else:
        forest = RandomForestClassifier(sizes.n_trees, max_features="sqrt", **options)
    forest.fit(drawn.train.X, drawn.train.y)
    return Question(forest, drawn, growing.min_rows, sizes.n_background, sizes.slow_trees, seed)


def installed(name: str) -> str:
    """Return the version of a package, or that it is not installed.

    Examples
    --------
    >>> installed("no-such-package")
    'not installed'
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
