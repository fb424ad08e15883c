"""Rows that the forest gets wrong, and what finds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean, against, behind, listed, words
from evaluation.problems import draw
from evaluation.rows import in_front
from evaluation.tables import TABLES, draw_table
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["WrongRows", "run"]

NAMES = ("Syn1", "Syn4", "wrong labels", "many values", "breast cancer", "digits")
OURS = "expected remainder"
SCORES = (OURS, "forest's entropy", "1 - largest probability", "plain MDI's remainder")


@dataclass(frozen=True)
class WrongRows(Work):
    """AUC of `SCORES` for the new rows that the forest misclassifies, and the share of these."""

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"wrong {self.problem} {self.seed}"

    def compute(self) -> np.ndarray:
        """Grow a forest and rank the new rows by what is said to be unsure about them."""
        from sklearn.metrics import roc_auc_score

        if self.problem in TABLES:
            drawn = draw_table(self.problem, self.sizes.n_rows, seed=self.seed)
        else:
            drawn = draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)
        forest = ask(
            drawn, self.seed, sizes=self.sizes, growing=self.growing, criterion="entropy"
        ).forest
        train, rows = drawn.train, drawn.rows
        account = lm.honest_mdi(forest, train.X, train.y, at=rows.X, measure="loss", n_jobs=1)
        plain = lm.local_mdi(forest, rows.X, n_jobs=1)
        chance = forest.predict_proba(rows.X)
        entropy = -(chance * np.log2(np.where(chance > 0, chance, 1))).sum(axis=1)
        wrong = forest.predict(rows.X) != rows.y
        scores = (account.residual, entropy, 1 - chance.max(axis=1), plain.residual)
        if not 0 < wrong.sum() < len(wrong):
            return np.array([*np.full(len(scores), np.nan), wrong.mean()])
        return np.array([*(roc_auc_score(wrong, score) for score in scores), wrong.mean()])


def run(settings: Settings, store: Store) -> Piece:
    """Compare the expected remainder with what the forest says of itself."""
    seeds = settings.other_seeds
    sizes = replace(Sizes.of(settings), n_rows=4 * settings.n_rows)
    works = [WrongRows(name, seed, sizes, Growing()) for name in NAMES for seed in seeds]
    found = np.array(store.each(works, label="wrong")).reshape(len(NAMES), len(seeds), -1)
    # A problem without any wrong row in some draw says nothing.
    known = ~np.isnan(found).any(axis=(1, 2))
    means = {name: found[known, :, k].mean(axis=0) for k, name in enumerate(SCORES)}
    gaps = against(means, OURS)
    rows = [
        (name, *(str(Mean.of(values)) for values in found[i].T))
        for i, name in enumerate(NAMES)
        if known[i]
    ]
    return Piece(
        name="wrong",
        title="Rows that the forest gets wrong",
        notes=(
            "The remainder of a labelled row contains its label, so it would find wrong rows "
            "because it was told. For new rows the account expects the answer, and its remainder "
            "can be compared with what the forest says of itself.",
            words(gaps, OURS),
            in_front(
                {name: found[known, :, k : k + 1].swapaxes(0, 1) for k, name in enumerate(SCORES)},
                [row[0] for row in rows],
                of=OURS,
            ),
            _advice(means),
        ),
        tables=(
            Table(
                "wrong",
                "AUC for finding the new rows that the forest misclassifies, and how many of them "
                f"there are. Forests with leaf 5, up to {sizes.n_rows} new rows; mean ± standard "
                f"error over seeds {seeds[0]} to {seeds[-1]}.",
                ("problem", *SCORES, "wrong rows"),
                tuple(rows),
            ),
        ),
    )


def _advice(means: dict[str, np.ndarray]) -> str:
    """Return what to use."""
    better = behind(means, OURS)
    if better:
        return f"Over all of them, use {listed(better)} to find rows that may be wrong."
    if all(gap.sign == 0 for gap in against(means, OURS).values()):
        return f"Over all of them, the {OURS} is no better than what is simpler."
    return f"Over all of them, nothing here finds rows that may be wrong better than the {OURS}."
