"""Deletion and insertion on real tables: what the forest says without a row's top features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import Mean, against, shown, words
from evaluation.measures import LOCAL, predictions, timed
from evaluation.tables import draw_table
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from evaluation.measures import Question
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["Deletion", "curves", "run"]

NAMES = ("breast cancer", "wine, second cultivar", "digits, odd", "diabetes")
# So many top features are taken away, or put in, as long as they are at most half of all.
COUNTS = (1, 2, 3, 5, 8, 12, 20, 32)
_N_OTHERS = 10
_JUDGES = ("deletion, answer", "insertion, answer", "deletion, loss", "insertion, loss")


@dataclass(frozen=True)
class Deletion(Work):
    """Four areas for every measure, and last for features in random order: (measures + 1, 4)."""

    table: str
    seed: int
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"deletion {self.table.replace(',', '')} {self.seed}"

    def key(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return super().key() | {"measures": LOCAL}

    def compute(self) -> np.ndarray:
        """Grow one forest and take away what each measure puts first."""
        drawn = draw_table(self.table, self.sizes.n_rows, seed=self.seed)
        question = ask(drawn, self.seed, sizes=self.sizes, growing=self.growing)
        scores = [timed(name, question)[0] for name in LOCAL]
        scores.append(np.random.default_rng(self.seed).random(drawn.rows.X.shape))
        return np.array([curves(question, score) for score in scores])


def curves(question: Question, score: np.ndarray) -> np.ndarray:
    """Return the four areas of one measure, means over rows and `COUNTS`.

    Features that are taken away, together, get the values of training rows, and the forest's answer
    is the mean over these. How far it moves from the answer about the whole row, squared, and by
    how much its squared error rises: without the top features, and with them alone.
    """
    rows, train = question.drawn.rows, question.drawn.train
    n_rows, p = score.shape
    rank = np.empty((n_rows, p), dtype=np.int64)
    order = np.argsort(-score, axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(p)[np.newaxis], axis=1)
    counts = [count for count in COUNTS if 2 * count <= p]
    top = np.array([rank < count for count in counts])
    others = train.X[
        np.random.default_rng(question.seed).integers(len(train.X), size=(_N_OTHERS, n_rows))
    ]
    whole = predictions(question, rows.X)
    areas = []
    for gone in (top, ~top):
        X = np.where(gone[:, np.newaxis], others, rows.X)
        answer = predictions(question, X.reshape(-1, p))
        answer = answer.reshape(len(counts), _N_OTHERS, n_rows).mean(axis=1)
        rise = (answer - rows.y) ** 2 - (whole - rows.y) ** 2
        areas.append([((answer - whole) ** 2).mean(), rise.mean()])
    return np.array(areas).T.ravel()


def run(settings: Settings, store: Store) -> Piece:
    """Compare the measures on four tables with their own answers."""
    seeds = settings.other_seeds
    works = [
        Deletion(name, seed, Sizes.of(settings), Growing()) for name in NAMES for seed in seeds
    ]
    found = np.array(store.each(works, label="deletion"))
    found = found.reshape(len(NAMES), len(seeds), len(LOCAL) + 1, 4)
    # A table counts as much as another, whatever its unit: relative to random order, all seeds.
    relative = (found / found[:, :, -1:].mean(axis=1, keepdims=True)).mean(axis=0)
    values = {
        judge: {name: relative[:, i, k] for i, name in enumerate(LOCAL)}
        for k, judge in enumerate(_JUDGES)
    }
    caption = (
        f"Deletion and insertion on {', '.join(NAMES)}: forests with leaf 5 and min_rows 10, up to "
        f"{settings.n_rows} new rows, the top {', '.join(map(str, COUNTS))} features, at most half "
        "of all. Answer: squared distance of the forest's answer from that about the whole row; "
        "loss: by how much its squared error rises. Both relative to features in random order: "
        "larger is better for deletion, smaller for insertion. Mean ± standard error over seeds "
        f"{seeds[0]} to {seeds[-1]}."
    )
    rows = [
        (shown(name), *(str(Mean.of(values[judge][name])) for judge in _JUDGES))
        for name in sorted(LOCAL, key=lambda name: -values[_JUDGES[0]][name].mean())
    ]
    return Piece(
        name="deletion",
        title="Deletion and insertion on real tables",
        notes=(
            "No truth is known here; the forest itself is the judge. Its answer is what Saabas, "
            "TreeSHAP and the ICE variance explain, not what the gain measures; permutation knows "
            "the labels, by which the loss is judged. Differences are positive where the honest "
            "gain is better.",
            *(_verdict(judge, values[judge]) for judge in _JUDGES),
        ),
        tables=(Table("deletion", caption, ("measure", *_JUDGES), tuple(rows)),),
    )


def _verdict(judge: str, values: dict[str, np.ndarray]) -> str:
    """Return where the honest gain stands before one judge."""
    if judge.startswith("insertion"):
        values = {name: -each for name, each in values.items()}
    return f"{judge.capitalize()}: {words(against(values, 'honest gain'), 'honest gain')}"
