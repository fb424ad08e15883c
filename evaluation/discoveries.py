"""Features named by the test of single rows: how many are false, how many true ones are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean
from evaluation.problems import DIFFICULTIES, INVASE, draw
from evaluation.scores import false_share, found_share
from evaluation.tuning import tune
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["Discoveries", "run"]

ALPHA = 0.05


@dataclass(frozen=True)
class Discoveries(Work):
    """The test of the honest gain on new rows, three shares.

    Of the features named, the share that decides about no row at all, and the share that does not
    decide about this row; of the features that decide about this row, the share that is named.
    """

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"discoveries {self.problem} {self.seed}"

    def compute(self) -> np.ndarray:
        """Return the three shares, means over the rows."""
        drawn = draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)
        question = ask(drawn, self.seed, sizes=self.sizes, growing=self.growing)
        result = lm.honest_mdi(
            question.forest,
            drawn.train.X,
            drawn.train.y,
            at=drawn.rows.X,
            min_rows=self.growing.min_rows,
            standard_error="labels",
            n_jobs=1,
        )
        named, truth = result.significant(ALPHA), drawn.rows.truth
        anywhere = np.broadcast_to(drawn.train.truth.any(axis=0), truth.shape)
        return np.array(
            [
                false_share(named, anywhere).mean(),
                false_share(named, truth).mean(),
                found_share(named, truth).mean(),
            ]
        )


def run(settings: Settings, store: Store) -> Piece:
    """Test every feature of every row on the simulated problems."""
    problems, seeds = (*INVASE, *DIFFICULTIES), settings.other_seeds
    growing = tune(settings, store).best("honest gain")
    works = [
        Discoveries(name, seed, Sizes.of(settings), growing) for name in problems for seed in seeds
    ]
    found = np.array(store.each(works, label="discoveries")).reshape(len(problems), len(seeds), 3)
    # Doubles tell about the answer through the features that they double, so naming them is right
    # in the sense of the test.
    clean = [i for i, name in enumerate(problems) if name != "doubles"]
    noise = Mean.of(found[clean, :, 0].mean(axis=0))
    word = "at most" if noise.value <= ALPHA else "more than"
    return Piece(
        name="discoveries",
        title="Features named for a row: how many are false?",
        notes=(
            f'honest_mdi(standard_error="labels").significant({ALPHA}) names features for each '
            f"row. Of the features named, {noise} are noise that decides about no row, {word} the "
            f"{ALPHA} asked for (doubles left out: they do tell about the answer).",
            "The test asks whether a feature tells something on the row's paths. A feature that "
            "decides about other rows only is told apart less often: paths cross nodes where these "
            "rows are not separated yet, and there it does tell something.",
        ),
        tables=(
            Table(
                "discoveries",
                f"The test of single rows at a false-discovery rate of {ALPHA}: shares of the "
                "features named and of the true ones. Mean ± standard error over seeds "
                f"{seeds[0]} to {seeds[-1]}.",
                (
                    "problem",
                    "named, decide about no row",
                    "named, do not decide about this row",
                    "true ones found",
                ),
                tuple(
                    (name, *(str(Mean.of(values)) for values in found[i].T))
                    for i, name in enumerate(problems)
                ),
            ),
        ),
    )
