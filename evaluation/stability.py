"""Whether measures say the same again, with other seeds and other rows, and at what cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from evaluation.charts import COLOURS, MARKERS
from evaluation.comparison import Mean, by_mean, listed, shown
from evaluation.measures import LOCAL, timed
from evaluation.problems import INVASE, Sample, draw
from evaluation.rows import collect, over_problems
from evaluation.tables import TABLES, draw_table
from evaluation.tuning import tune
from evaluation.work import Growing, Sizes, Work, ask
from paper.correlation import spearman
from paper.drawing import TEXT, new_figure, style
from paper.piece import Picture, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluation.problems import Drawn
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["Refit", "overlap", "run", "with_jackknife"]

TOP = 3
DATA = ("Syn4", "breast cancer")
KINDS = {"seed": "other forest seed", "rows": "other half of the rows"}


@dataclass(frozen=True)
class Refit(Work):
    """The scores of measures for the same rows after one fit: (measures, rows, features)."""

    data: str
    kind: str
    repeat: int
    measures: tuple[str, ...]
    sizes: Sizes
    growing: Growing

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"refit {self.data} {self.kind} {self.repeat}"

    def compute(self) -> np.ndarray:
        """Fit to all rows with a seed of its own, or to a half of the rows of its own."""
        drawn, seed = _drawn(self.data, self.sizes), self.repeat
        if self.kind == "rows":
            half = np.random.default_rng(self.repeat).permutation(len(drawn.train.X))
            half = half[: len(half) // 2]
            train = drawn.train
            train = Sample(train.X[half], train.y[half], train.truth[half])
            drawn, seed = replace(drawn, train=train), 0
        question = ask(drawn, seed, sizes=self.sizes, growing=self.growing)
        return np.array([timed(name, question)[0] for name in self.measures])


def _drawn(data: str, sizes: Sizes) -> Drawn:
    if data in TABLES:
        return draw_table(data, sizes.n_rows, seed=0)
    return draw(data, sizes.n_train, n_rows=sizes.n_rows, seed=0)


def overlap(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return for each row the share of the three top features that two explanations share.

    Examples
    --------
    >>> overlap(np.array([[4, 3, 2, 1]]), np.array([[4, 3, 1, 2]])).round(2).tolist()
    [0.67]
    """
    tops = [np.argsort(-scores, axis=1, kind="stable")[:, :TOP] for scores in (first, second)]
    return np.array([len(set(a) & set(b)) for a, b in zip(*tops, strict=True)]) / TOP


def with_jackknife(
    repeats: np.ndarray, agree: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Mean:
    """Return the mean agreement over pairs of repeats, with its jackknife error."""
    pairs = {
        (i, j): float(agree(repeats[i], repeats[j]).mean())
        for i, j in combinations(range(len(repeats)), 2)
    }
    n = len(repeats)
    without = [np.mean([v for pair, v in pairs.items() if left not in pair]) for left in range(n)]
    error = np.sqrt((n - 1) / n * ((without - np.mean(without)) ** 2).sum())
    return Mean(float(np.mean(list(pairs.values()))), float(error))


def run(settings: Settings, store: Store) -> Piece:
    """Fit again and again, and draw quality and stability against cost."""
    stable = _stability(settings, store)
    numbers = collect(INVASE, settings, store=store, seeds=settings.seeds)
    quality = over_problems(numbers, "AUROC")
    cost = {name: 1000 * v.mean() for name, v in over_problems(numbers, "seconds").items()}
    best = by_mean(
        {name: values["seed", "overlap"].mean(axis=0) for name, values in stable.items()}
    )
    cheaper = [name for name in cost if cost[name] < cost["honest gain"]]
    better = [name for name in quality if quality[name].mean() > quality["honest gain"].mean()]
    front = [
        name
        for name in quality
        if not any(
            quality[other].mean() > quality[name].mean() and cost[other] < cost[name]
            for other in quality
        )
    ]
    return Piece(
        name="stability",
        title="Stability and cost",
        notes=(
            f"Steadiest over forest seeds: {shown(best[0])}; least steady: {shown(best[-1])}.",
            "No measure is both better and cheaper than "
            f"{_names(sorted(front, key=lambda name: cost[name]))}. Cheaper than the honest "
            f"gain: {_names(cheaper)}; better: {_names(better)}.",
        ),
        figures=(_picture(quality, cost, stable=stable),),
        tables=(_table(stable, settings), _cost_table(quality, cost, n_rows=settings.n_rows)),
    )


def _stability(settings: Settings, store: Store) -> dict[str, dict[tuple[str, str], np.ndarray]]:
    """Return for every measure: (kind, number) → (datasets, mean and error)."""
    tuning, sizes = tune(settings, store), Sizes.of(settings)
    groups: dict[Growing, list[str]] = {}
    for name in LOCAL:
        groups.setdefault(tuning.best(name), []).append(name)
    stable: dict[str, dict[tuple[str, str], np.ndarray]] = {name: {} for name in LOCAL}
    works = {
        (growing, kind, data): [
            Refit(data, kind, repeat, tuple(names), sizes, growing)
            for repeat in range(settings.n_refits)
        ]
        for growing, names in groups.items()
        for kind in KINDS
        for data in DATA
    }
    store.each([work for each in works.values() for work in each], label="refits")
    for growing, names in groups.items():
        for kind in KINDS:
            found = [
                np.array(store.each(works[growing, kind, data], label="refits")) for data in DATA
            ]
            for i, name in enumerate(names):
                for number, agree in (("overlap", overlap), ("correlation", spearman)):
                    means = [with_jackknife(scores[:, i], agree) for scores in found]
                    stable[name][kind, number] = np.array([[m.value, m.error] for m in means])
    return stable


def _names(names: list[str]) -> str:
    return listed(map(shown, names)) or "none"


def _table(stable: Mapping[str, Mapping[tuple[str, str], np.ndarray]], settings: Settings) -> Table:
    columns = [(kind, number, d) for d in range(len(DATA)) for kind in KINDS for number in _WORDS]
    rows = [
        (shown(name), *(str(Mean(*values[kind, number][d])) for kind, number, d in columns))
        for name, values in stable.items()
    ]
    return Table(
        "stability",
        f"Agreement of two explanations of the same {settings.n_rows} new rows: share of the top "
        f"{TOP} features in common, and Spearman's correlation of |values|. Mean over the pairs of "
        f"{settings.n_refits} fits ± jackknife error.",
        ("measure", *(f"{DATA[d]}, {KINDS[k]}: {_WORDS[number]}" for k, number, d in columns)),
        tuple(rows),
    )


_WORDS = {"overlap": f"top {TOP}", "correlation": "ranks"}


def _cost_table(
    quality: Mapping[str, np.ndarray], cost: Mapping[str, float], *, n_rows: int
) -> Table:
    return Table(
        "cost",
        "Quality and cost on Syn1 to Syn6: CPU seconds to explain 1000 rows, the forest given; "
        f"scaled from {n_rows} rows, with what a call costs before its first row.",
        ("measure", "row AUROC", "CPU seconds for 1000 rows"),
        tuple(
            (shown(name), str(Mean.of(quality[name])), f"{cost[name]:.3g}")
            for name in sorted(cost, key=lambda name: cost[name])
        ),
    )


def _picture(
    quality: Mapping[str, np.ndarray],
    cost: Mapping[str, float],
    *,
    stable: Mapping[str, Mapping[tuple[str, str], np.ndarray]],
) -> Picture:
    with style():
        figure = new_figure(TEXT, 3.0)
        left, right = figure.subplots(1, 2)
        for name in cost:
            mean = Mean.of(quality[name])
            look = {
                "color": COLOURS[name],
                "marker": MARKERS[name],
                "label": shown(name),
                "ls": "none",
            }
            left.errorbar(cost[name], mean.value, yerr=2 * np.nan_to_num(mean.error), **look)
            if name in stable:
                value, error = stable[name]["rows", "overlap"].mean(axis=0)
                right.errorbar(cost[name], value, yerr=2 * error, **look)
        left.set(xscale="log", ylabel="row AUROC, Syn1 to Syn6")
        right.set(xscale="log", ylabel=f"top {TOP} in common, other rows")
        figure.supxlabel("CPU seconds to explain 1000 rows", fontsize=8)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
    caption = (
        "Quality and stability against cost, with two standard errors. Up and to the left is "
        "better."
    )
    return Picture("cost", caption, figure)
