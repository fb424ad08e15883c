"""Labels that are noise: what values, p-values and tests say about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from evaluation.comparison import Mean, listed, signed
from evaluation.problems import draw
from evaluation.tables import TABLES, draw_table
from evaluation.work import Growing, Sizes, Work, ask
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from evaluation.problems import Drawn
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["NullScores", "run"]

# Name → problem or table whose labels are shuffled, and rows in a leaf.
DESIGNS = {
    "Syn1, leaf 5": ("Syn1", 5),
    "Syn1, leaf 1": ("Syn1", 1),
    "rare": ("rare", 5),
    "many values": ("many values", 5),
    "spread alone": ("spread alone", 5),
    "breast cancer": ("breast cancer", 5),
    "diabetes": ("diabetes", 5),
}
LEVELS = (0.01, 0.05, 0.2, 0.5)
N_TRAIN = 500
_ALPHA = 0.05


@dataclass(frozen=True)
class NullScores(Work):
    """One shuffle.

    The shares of new rows' p-values up to each of `LEVELS`; mean value of a feature divided by the
    baseline, of the gain, of the account and of plain MDI; features and runs that the global test
    names.
    """

    problem: str
    seed: int
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"null {self.problem} {self.seed}"

    def compute(self) -> np.ndarray:
        """Shuffle the labels, grow a forest, ask what it knows."""
        drawn = _shuffled(self._drawn(), self.seed)
        forest = ask(drawn, self.seed, sizes=self.sizes, growing=self.growing).forest
        X, y = drawn.train.X, drawn.train.y
        gain = lm.honest_mdi(forest, X, y, at=drawn.rows.X, standard_error="labels", n_jobs=1)
        account = lm.honest_mdi(forest, X, y, measure="loss", n_jobs=1).mean()
        own, plain = lm.honest_mdi(forest, X, y, n_jobs=1).mean(), lm.global_mdi(forest)
        p = gain.p_values()
        tested = lm.honest_global_mdi(forest, X, y, n_jobs=1)
        return np.array(
            [
                *((p <= level).mean() for level in LEVELS),
                *(each.values.mean() / plain.baseline for each in (own, account, plain)),
                (tested.p_values() <= _ALPHA).mean(),
                tested.significant(_ALPHA).any(),
            ]
        )

    def _drawn(self) -> Drawn:
        if self.problem in TABLES:
            return draw_table(self.problem, self.sizes.n_rows, seed=self.seed)
        return draw(self.problem, self.sizes.n_train, n_rows=self.sizes.n_rows, seed=self.seed)


def _shuffled(drawn: Drawn, seed: int) -> Drawn:
    y = np.random.default_rng(seed).permutation(drawn.train.y)
    return replace(drawn, train=replace(drawn.train, y=y))


def run(settings: Settings, store: Store) -> Piece:
    """Shuffle the labels of every design, once for each seed."""
    sizes = replace(Sizes.of(settings), n_train=min(N_TRAIN, settings.n_train))
    seeds = range(settings.n_shuffles)
    works = [
        NullScores(problem, seed, sizes, Growing(leaf))
        for problem, leaf in DESIGNS.values()
        for seed in seeds
    ]
    found = np.array(store.each(works, label="null")).reshape(len(DESIGNS), len(seeds), -1)
    n = len(LEVELS)
    return Piece(
        name="null",
        title="Labels that are noise",
        notes=(_p_values(found), _values(found[:, :, n : n + 3]), _global(found[:, :, n + 4])),
        tables=(_share_table(found[:, :, :n], sizes), _value_table(found[:, :, n:])),
    )


def _share_table(found: np.ndarray, sizes: Sizes) -> Table:
    rows = [
        (name, *(str(Mean.of(values)) for values in found[i].T)) for i, name in enumerate(DESIGNS)
    ]
    return Table(
        "null-p-values",
        'p-values of honest_mdi(at=…, standard_error="labels") with shuffled labels: the share of '
        f"new rows and features up to each level. {sizes.n_train} training rows, tables all but "
        f"{sizes.n_rows}; mean ± standard error over seeds 0 to {found.shape[1] - 1}.",
        ("design", *(f"up to {level}" for level in LEVELS)),
        tuple(rows),
    )


def _value_table(found: np.ndarray) -> Table:
    rows = [
        (
            name,
            *(_percent(Mean.of(values)) for values in found[i, :, :3].T),
            str(Mean.of(found[i, :, 3])),
            f"{found[i, :, 4].sum():.0f} of {found.shape[1]}",
        )
        for i, name in enumerate(DESIGNS)
    ]
    return Table(
        "null-values",
        "The same forests: the mean value of a feature in percent of the uncertainty before; the "
        f"share of features whose global p-value is at most {_ALPHA}; the shuffles where "
        f"honest_global_mdi(…).significant({_ALPHA}) names any feature.",
        (
            *("design", "honest gain, %", "account, %", "plain MDI, %"),
            *(f"global p up to {_ALPHA}", "any named"),
        ),
        tuple(rows),
    )


def _percent(mean: Mean) -> str:
    return signed(Mean(100 * mean.value, 100 * mean.error))


def _p_values(found: np.ndarray) -> str:
    """Return where small p-values are more frequent than their level."""
    at = LEVELS.index(_ALPHA)
    means = {name: Mean.of(found[i, :, at]) for i, name in enumerate(DESIGNS)}
    above = [
        f"{name} ({mean})"
        for name, mean in means.items()
        if Mean(mean.value - _ALPHA, mean.error).sign > 0
    ]
    whole = Mean.of(found[:, :, at].mean(axis=0))
    return (
        f"All labels are shuffled, so every feature is noise. Of the p-values of the gain of new "
        f"rows, {whole} are at most {_ALPHA}; in {listed(above) or 'no design'} they are more "
        f"than {_ALPHA} by two standard errors."
    )


def _values(found: np.ndarray) -> str:
    """Return the sign of the mean value of noise for each measure."""
    names = {1: "above", -1: "below", 0: "level with"}
    parts = []
    for k, measure in enumerate(("the honest gain", "the account", "plain MDI")):
        signs = [Mean.of(each[:, k]).sign for each in found]
        counts = [
            f"{names[sign]} 0 in {signs.count(sign)}" for sign in (1, 0, -1) if signs.count(sign)
        ]
        parts.append(f"by {measure} {listed(counts)}")
    return f"The mean value of noise, in {len(found)} designs, is {'; '.join(parts)}."


def _global(found: np.ndarray) -> str:
    share = Mean.of(found.ravel())
    word = "more than" if share.value > _ALPHA else "at most"
    return (
        f"The global test of the gain names a feature in {share} of the shuffles, {word} the "
        f"{_ALPHA} asked for."
    )
