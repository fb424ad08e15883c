"""Global importances: whether noise comes after the features that matter."""

from __future__ import annotations

from dataclasses import dataclass
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
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["GLOBAL", "NoiseScores", "run"]

NAMES = ("Li", "many values", "doubles")


def _mdi(question: Question) -> np.ndarray:
    return lm.global_mdi(question.forest).values


def _honest(question: Question, **options: Any) -> np.ndarray:
    train = question.drawn.train
    return lm.honest_global_mdi(question.forest, train.X, train.y, n_jobs=1, **options).values


def _oob(question: Question) -> np.ndarray:
    return _honest(question)


def _ufi(question: Question) -> np.ndarray:
    return _honest(question, over="in_bag")


def _gain(question: Question) -> np.ndarray:
    return _honest(question, measure="gain", min_rows=question.min_rows)


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
    "MDI-oob (honest drop)": _oob,
    "UFI": _ufi,
    "MDI": _mdi,
    "mean |TreeSHAP|": _treeshap,
    "permutation": _permutation,
}


@dataclass(frozen=True)
class NoiseScores(Work):
    """AUROC of features that matter against noise, and CPU seconds: (measures, 2); SAGE is last."""

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing
    sage_permutations: int

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"noise {self.problem} {self.seed}"

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
            numbers.append([auroc(values[None], truth[None])[0], process_time() - start])
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
    found = np.array(store.each(works, label="noise")).reshape(len(NAMES), len(seeds), -1, 2)
    means = {name: found[:, :, i, 0].mean(axis=0) for i, name in enumerate(names)}
    rows = [
        (
            name,
            *(str(Mean.of(found[k, :, names.index(name), 0])) for k in range(len(NAMES))),
            str(Mean.of(means[name])),
            f"{found[:, :, names.index(name), 1].mean():.3f}",
        )
        for name in sorted(names, key=lambda name: -means[name].mean())
    ]
    caption = (
        "Noise-AUC: the probability that a feature that matters has a larger importance than one "
        f"that does not. Fully grown trees; mean ± standard error over seeds {seeds[0]} to "
        f"{seeds[-1]}; permutation, TreeSHAP and SAGE, with {settings.sage_permutations} "
        f"permutations, explain {settings.n_rows} new rows."
    )
    return Piece(
        name="noise",
        title="Global importances: does noise come last?",
        notes=(
            words(against(means, "MDI-oob (honest drop)"), "MDI-oob (honest drop)"),
            words(against(means, "honest gain"), "honest gain"),
        ),
        tables=(
            Table("noise", caption, ("measure", *NAMES, "mean", "CPU seconds"), tuple(rows)),
            Table(
                "noise-problems",
                "The problems.",
                ("problem", "what decides"),
                tuple((name, PROBLEMS[name].text) for name in NAMES),
            ),
        ),
    )
