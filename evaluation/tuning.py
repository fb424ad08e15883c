"""Leaf sizes and `min_rows`: chosen for every measure on seeds that give no other number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import shown
from evaluation.measures import LOCAL, WITH_MIN_ROWS, Question, timed
from evaluation.problems import INVASE, draw
from evaluation.scores import auroc
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Table

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["LEAVES", "MIN_ROWS", "Tuning", "tune"]

LEAVES = (1, 5, 20)
MIN_ROWS = (5, 10, 20, 40, 80)


@dataclass(frozen=True, eq=False)
class Tuning:
    """Mean AUROC of measures on the tuning seeds: (measures, leaves, `MIN_ROWS`).

    Measures without held-out rows have the same number for every `min_rows`.
    """

    auroc: np.ndarray

    def best(self, measure: str) -> Growing:
        """Return the setting with the largest mean.

        LMDI+ keeps its package's own leaf size; interventional TreeSHAP, which is slow, has that of
        path-dependent TreeSHAP.
        """
        if measure == "LMDI+":
            return Growing(2)
        means = self.auroc[LOCAL.index(measure.removesuffix(", interventional"))]
        leaf, min_rows = np.unravel_index(means.argmax(), means.shape)
        return Growing(LEAVES[leaf], MIN_ROWS[min_rows])

    def table(self, settings: Settings) -> Table:
        """Return every mean, and what was chosen."""
        rows = []
        for name, means in zip(LOCAL, self.auroc, strict=True):
            best = self.best(name)
            at = MIN_ROWS.index(best.min_rows)
            rows.append(
                (
                    shown(name),
                    *(f"{mean:.3f}" for mean in means[:, at]),
                    best.leaf,
                    best.min_rows if name in WITH_MIN_ROWS else "",
                )
            )
        return Table(
            "tuning",
            f"Row AUROC on the tuning seeds {', '.join(map(str, settings.tuning_seeds))}, mean "
            "over Syn1 to Syn6. Every measure is compared with the leaf size that suits it best; "
            "interventional TreeSHAP, which is slow, has TreeSHAP's, LMDI+ its package's own.",
            ("measure", *(f"leaf {leaf}" for leaf in LEAVES), "leaf chosen", "min_rows chosen"),
            tuple(rows),
        )

    def min_rows_table(self, settings: Settings) -> Table:
        """Return the honest measures' means for every `min_rows`, leaf by leaf."""
        rows = [
            (shown(name), leaf, *(f"{mean:.3f}" for mean in self.auroc[LOCAL.index(name), i]))
            for name in LOCAL
            if name in WITH_MIN_ROWS
            for i, leaf in enumerate(LEAVES)
        ]
        return Table(
            "min-rows",
            "What `min_rows` of `honest_mdi` does: row AUROC on the tuning seeds, mean over Syn1 "
            f"to Syn6, {settings.n_train} training rows.",
            ("measure", "leaf", *(f"min_rows {n}" for n in MIN_ROWS)),
            tuple(rows),
        )


@dataclass(frozen=True)
class TuningScores(Work):
    """Row AUROC of every measure for one leaf size: (measures, `MIN_ROWS`)."""

    problem: str
    seed: int
    leaf: int
    sizes: Sizes

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"tuning {self.problem} {self.seed} leaf {self.leaf}"

    def compute(self) -> np.ndarray:
        """Grow one forest and ask every measure."""
        drawn = draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)
        question = ask(drawn, self.seed, sizes=self.sizes, growing=Growing(self.leaf))
        return np.array([self._row(name, question) for name in LOCAL])

    def _row(self, name: str, question: Question) -> list[float]:
        from dataclasses import replace

        truth = question.drawn.rows.truth
        asked = [replace(question, min_rows=n) for n in MIN_ROWS if name in WITH_MIN_ROWS] or [
            question
        ]
        means = [auroc(timed(name, each)[0], truth).mean() for each in asked]
        return means if name in WITH_MIN_ROWS else means * len(MIN_ROWS)


def tune(settings: Settings, store: Store) -> Tuning:
    """Return what every measure reaches on the tuning seeds."""
    works = [
        TuningScores(problem, seed, leaf, Sizes.of(settings))
        for problem in INVASE
        for seed in settings.tuning_seeds
        for leaf in LEAVES
    ]
    found = np.array(store.each(works, label="tuning"))
    shape = (len(INVASE) * len(settings.tuning_seeds), len(LEAVES), len(LOCAL), len(MIN_ROWS))
    return Tuning(found.reshape(shape).mean(axis=0).transpose(1, 0, 2))
