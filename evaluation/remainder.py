"""What is left: the remainder of every measure beside the forest's own loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean
from evaluation.problems import draw
from evaluation.tables import TABLES, draw_table
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from evaluation.problems import Drawn, Sample
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["Remainders", "run"]

CLASSES = ("Syn1", "Syn4", "wrong labels", "rare", "breast cancer", "digits")
NUMBERS = ("diabetes", "mean and spread")
_COLUMNS = (
    *("before", "plain MDI", "account"),
    *("out of bag", "expected, new rows", "new rows"),
)


@dataclass(frozen=True)
class Remainders(Work):
    """Means over rows, `_COLUMNS`, and what must be 0.

    "out of bag" and "new rows" are computed by scikit-learn from the forest's predictions. Last:
    the largest difference between a row's remainder of the account and its loss by scikit-learn's
    own out-of-bag predictions, as a Brier score or squared error.
    """

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"remainder {self.problem} {self.seed}"

    def compute(self) -> np.ndarray:
        """Grow a forest with out-of-bag predictions and divide its loss."""
        drawn = self._drawn()
        train, rows = drawn.train, drawn.rows
        options = {} if drawn.regression else {"criterion": "entropy"}
        forest = ask(
            drawn, self.seed, sizes=self.sizes, growing=self.growing, oob_score=True, **options
        ).forest
        plain = lm.local_mdi(forest, train.X, n_jobs=1)
        account = lm.honest_mdi(forest, train.X, train.y, measure="loss", n_jobs=1)
        expected = lm.honest_mdi(forest, train.X, train.y, at=rows.X, measure="loss", n_jobs=1)
        return np.array(
            [
                *(
                    np.nanmean(each)
                    for each in (account.baseline, plain.residual, account.residual)
                ),
                _loss(forest, train, drawn=drawn, out_of_bag=True),
                expected.residual.mean(),
                _loss(forest, rows, drawn=drawn, out_of_bag=False),
                self._difference(forest, drawn),
            ]
        )

    def _drawn(self) -> Drawn:
        if self.problem in TABLES:
            return draw_table(self.problem, self.sizes.n_rows, seed=self.seed)
        return draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)

    def _difference(self, forest: Any, drawn: Drawn) -> float:
        train = drawn.train
        options: dict[str, Any] = {} if drawn.regression else {"loss": "brier"}
        left = lm.honest_mdi(forest, train.X, train.y, measure="loss", n_jobs=1, **options).residual
        if drawn.regression:
            loss = (forest.oob_prediction_ - train.y) ** 2
        else:
            one = train.y[:, np.newaxis] == forest.classes_
            loss = ((forest.oob_decision_function_ - one) ** 2).sum(axis=1)
        return float(np.nanmax(np.abs(left - loss)))


def _loss(forest: Any, sample: Sample, *, drawn: Drawn, out_of_bag: bool) -> float:
    """Return the loss of the forest's predictions by scikit-learn, in bits or as squared error."""
    from sklearn.metrics import log_loss, mean_squared_error

    if drawn.regression:
        guess = forest.oob_prediction_ if out_of_bag else forest.predict(sample.X)
        return float(mean_squared_error(sample.y, guess))
    chance = forest.oob_decision_function_ if out_of_bag else forest.predict_proba(sample.X)
    known = ~np.isnan(chance).any(axis=1)
    nats = log_loss(sample.y[known], chance[known], labels=forest.classes_)
    return float(nats / np.log(2))


def run(settings: Settings, store: Store) -> Piece:
    """Print every remainder beside the loss that it claims to be."""
    names, seeds = (*CLASSES, *NUMBERS), settings.other_seeds
    sizes = replace(Sizes.of(settings), n_rows=4 * settings.n_rows)
    works = [Remainders(name, seed, sizes, Growing()) for name in names for seed in seeds]
    found = np.array(store.each(works, label="remainder")).reshape(len(names), len(seeds), -1)
    rows = [
        (name, "variance" if name in NUMBERS else "bits", *(_number(v) for v in found[i, :, :-1].T))
        for i, name in enumerate(names)
    ]
    return Piece(
        name="remainder",
        title="What is left: remainders beside the forest's own loss",
        notes=(
            _distances(found, len(CLASSES)),
            "The remainder of the account, as a Brier score or squared error, is scikit-learn's "
            "out-of-bag loss row by row: the largest difference of any row of any forest is "
            f"{found[:, :, -1].max():.1e}. In bits the account shrinks each prediction a little "
            "towards the prior, because some trees may agree that what happens has no chance; "
            "scikit-learn's log loss clips such chances instead, and one such row costs "
            f"{-np.log2(np.finfo(float).eps):.0f} bits.",
            _new_rows(found, names),
        ),
        tables=(
            Table(
                "remainder",
                "Uncertainty before, and what each measure says is left of it; beside it the "
                "forest's own loss by scikit-learn's out-of-bag predictions, the account expected "
                "for new rows, and the true loss on these. Forests with leaf 5; mean over seeds "
                f"{seeds[0]} to {seeds[-1]} ± standard error.",
                ("problem", "unit", *_COLUMNS),
                tuple(rows),
            ),
        ),
    )


def _number(values: np.ndarray) -> str:
    mean = Mean.of(values)
    return str(mean) if mean.value < 100 else f"{mean.value:.0f} ± {mean.error:.0f}"


def _distances(found: np.ndarray, n: int) -> str:
    """Return how far each remainder is from the forest's own loss, in parts of what was before."""
    at = {name: k for k, name in enumerate(_COLUMNS)}
    gap = (found - found[:, :, [at["out of bag"]]]) / found[:, :, [at["before"]]]
    mean = [
        f"{name} {100 * Mean.of(gap[:, :, at[name]].mean(axis=0)).value:+.1f} %"
        for name in ("plain MDI", "account")
    ]
    return (
        "What a measure says is left, minus the forest's own out-of-bag loss, in percent of the "
        f"uncertainty before, mean over {len(found)} problems, {n} of them in bits: "
        f"{', '.join(mean)}. The gain has no remainder: it does not divide a loss."
    )


def _new_rows(found: np.ndarray, names: Sequence[str]) -> str:
    """Return how far the expectation is from what happens."""
    at = {name: k for k, name in enumerate(_COLUMNS)}
    gap = found[:, :, at["expected, new rows"]] - found[:, :, at["new rows"]]
    gap = 100 * (gap / found[:, :, at["before"]]).mean(axis=1)
    worst = int(np.abs(gap).argmax())
    return (
        "For new rows, whose labels the account does not know, the expected remainder minus the "
        f"true loss is {gap.mean():+.1f} % of the uncertainty before on average, and farthest on "
        f"{names[worst]}, {gap[worst]:+.1f} %."
    )
