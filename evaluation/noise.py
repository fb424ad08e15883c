"""Global importances: whether noise comes after the features that matter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean, against, words
from evaluation.measures import Question, timed
from evaluation.problems import PROBLEMS, draw
from evaluation.scores import auroc
from evaluation.tuning import tune
from evaluation.work import Growing, Sizes, Work, ask, installed
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["GLOBAL", "NoiseScores", "run"]

NAMES = ("Li", "many values", "doubles", "rare", "rare, many values")


def _mdi(question: Question) -> np.ndarray:
    return lm.global_mdi(question.forest).values


def _honest(question: Question, **options: Any) -> np.ndarray:
    train = question.drawn.train
    return lm.honest_global_mdi(question.forest, train.X, train.y, n_jobs=1, **options).values


def _gain(question: Question) -> np.ndarray:
    return _honest(question, min_rows=question.min_rows)


def _treeshap(question: Question) -> np.ndarray:
    return timed("TreeSHAP", question)[0].mean(axis=0)


def _permutation(question: Question) -> np.ndarray:
    from sklearn.inspection import permutation_importance

    rows = question.drawn.rows
    found = permutation_importance(
        question.forest, rows.X, rows.y, scoring="neg_brier_score", n_repeats=5, random_state=0
    )
    return found.importances_mean


def _sage(question: Question, n_permutations: int) -> np.ndarray:
    import sage

    rows = question.drawn.rows
    imputer = sage.MarginalImputer(
        question.forest, question.background[: max(1, question.n_background // 4)]
    )
    estimator = sage.PermutationEstimator(imputer, "cross entropy", random_state=0)
    found = estimator(
        rows.X,
        rows.y,
        batch_size=min(n_permutations, 64),
        n_permutations=n_permutations,
        detect_convergence=False,
        bar=False,
    )
    return found.values


GLOBAL = {
    "honest gain": _gain,
    "account": partial(_honest, measure="loss"),
    "MDI-oob": partial(_honest, method="mdi_oob"),
    "UFI": partial(_honest, method="ufi"),
    "MDI": _mdi,
    "mean |TreeSHAP|": _treeshap,
    "permutation": _permutation,
}


@dataclass(frozen=True)
class NoiseScores(Work):
    """Three numbers of every measure, SAGE last.

    AUROC of features that matter against noise; what noise has of all |importance|; CPU seconds.
    """

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing
    sage_permutations: int

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"noise {self.problem.replace(',', '')} {self.seed}"

    def key(self) -> dict[str, Any]:
        """Return everything that decides the result."""
        return super().key() | {"sage": installed("sage-importance")}

    def compute(self) -> np.ndarray:
        """Ask every global measure about one forest."""
        drawn = draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)
        question = ask(drawn, self.seed, sizes=self.sizes, growing=self.growing)
        truth = drawn.train.truth.any(axis=0)
        numbers = []
        for measure in (*GLOBAL.values(), lambda asked: _sage(asked, self.sage_permutations)):
            start = process_time()
            values = measure(question)
            seconds = process_time() - start
            share = np.abs(values[~truth]).sum() / np.abs(values).sum()
            numbers.append([auroc(values[None], truth[None])[0], share, seconds])
        return np.array(numbers)


def run(settings: Settings, store: Store) -> Piece:
    """Compare the global measures."""
    seeds = settings.other_seeds
    # Fully grown trees, where plain MDI rewards noise most.
    growing = Growing(1, tune(settings, store).best("honest gain").min_rows)
    works = [
        NoiseScores(name, seed, Sizes.of(settings), growing, settings.sage_permutations)
        for name in NAMES
        for seed in seeds
    ]
    names = (*GLOBAL, "SAGE")
    found = np.array(store.each(works, label="noise")).reshape(len(NAMES), len(seeds), -1, 3)
    numbers = {name: found[:, :, i] for i, name in enumerate(names)}
    means = {name: values[:, :, 0].mean(axis=0) for name, values in numbers.items()}
    shares = _share_table(numbers)
    return Piece(
        name="noise",
        title="Global importances: does noise come last?",
        notes=(
            words(against(means, "honest gain"), "honest gain"),
            words(against(means, "account"), "account"),
            "Of the sum of all |importances|, noise has least by "
            f"{shares.rows[0][0]} and most by {shares.rows[-1][0]}, mean over the problems.",
        ),
        tables=(
            _auc_table(numbers, settings),
            shares,
            Table(
                "noise-problems",
                "The problems.",
                ("problem", "what decides"),
                tuple((name, PROBLEMS[name].text) for name in NAMES),
            ),
        ),
    )


def _auc_table(numbers: Mapping[str, np.ndarray], settings: Settings) -> Table:
    rows = [
        (
            name,
            *(str(Mean.of(auc)) for auc in values[:, :, 0]),
            str(Mean.of(values[:, :, 0].mean(axis=0))),
            f"{values[:, :, 2].mean():.3f}",
        )
        for name, values in sorted(numbers.items(), key=lambda item: -item[1][:, :, 0].mean())
    ]
    seeds = settings.other_seeds
    caption = (
        "Noise-AUC: the probability that a feature that matters has a larger importance than one "
        f"that does not. Fully grown trees; mean ± standard error over seeds {seeds[0]} to "
        f"{seeds[-1]}; permutation, TreeSHAP and SAGE, with {settings.sage_permutations} "
        f"permutations, explain {settings.n_rows} new rows."
    )
    return Table("noise", caption, ("measure", *NAMES, "mean", "CPU seconds"), tuple(rows))


def _share_table(numbers: Mapping[str, np.ndarray]) -> Table:
    rows = [
        (name, *(str(Mean.of(share)) for share in values[:, :, 1]))
        for name, values in sorted(numbers.items(), key=lambda item: item[1][:, :, 1].mean())
    ]
    return Table(
        "noise-shares",
        "The same forests: what noise has of the sum of all |importances|.",
        ("measure", *NAMES),
        tuple(rows),
    )
