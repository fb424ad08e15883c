"""Figure 2 and its appendix version: how alike the local measures are, against K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paper import drawing, measures
from paper.correlation import CORRELATIONS
from paper.curves import SIMILAR
from paper.data import load
from paper.piece import AS_READ, EXACT, NOT_REPRODUCED, Claim, Picture, Piece, Table
from paper.printed import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Agreement", "agreements", "run"]

# The paper's text does not say which coefficient its figure shows. The table has both.
SHOWN = "Pearson"
PAIRS = tuple(drawing.PAIR_COLOURS)
_SOURCES = {"digits": "Section 6, Figure 2", "led": "Appendix E, led version of Figure 2"}


@dataclass(frozen=True, eq=False)
class Agreement:
    """The correlations of all rows between two measures' absolute values, for one K."""

    max_features: int
    pair: tuple[str, str]
    coefficient: str
    rows: np.ndarray

    @property
    def mean(self) -> float:
        """The mean over the rows."""
        return float(self.rows.mean())

    @property
    def band(self) -> tuple[float, float]:
        """The smallest and the largest correlation of a row."""
        return float(self.rows.min()), float(self.rows.max())

    @property
    def width(self) -> float:
        """How far the band reaches."""
        low, high = self.band
        return high - low


def run(settings: Settings, store: Store) -> Piece:
    """Compute, draw and judge the agreement of the local measures on digits and on led."""
    figures, tables = [], []
    claims: list[Claim] = []
    everything = {
        # Led first: the forests of digits, slow to grow, stay in memory for the maps.
        name: agreements(load(name), settings=settings, store=store)
        for name in ("led", "digits")
    }
    for name, found in reversed(everything.items()):
        file = "figure-2" if name == "digits" else "figure-2-led"
        figures.append(Picture(file, _caption(load(name), settings), _picture(found, name)))
        tables.append(_table(file, found))
        claims.extend(_claims([a for a in found if a.coefficient == SHOWN], name))
    return Piece(
        name="figure-2",
        title="Figure 2: agreement of the local measures against K",
        figures=tuple(figures),
        tables=tuple(tables),
        claims=tuple(claims),
    )


def agreements(dataset: Dataset, *, settings: Settings, store: Store) -> list[Agreement]:
    """Correlate the absolute values of each pair of local measures, for every K and coefficient.

    The rows are those that TreeSHAP explains: all in full mode.
    """
    numbers = (
        settings.digits_max_features if dataset.name == "digits" else settings.led_max_features
    )
    found: list[Agreement] = []
    for K in numbers:
        shap = measures.treeshap(dataset, K, settings=settings, store=store)
        local = {
            "Local MDI": measures.local_mdi(dataset, K, settings=settings)[: len(shap)],
            "Saabas": measures.saabas(dataset, K, settings=settings)[: len(shap)],
            "TreeSHAP": shap,
        }
        # With K = p some features are equal but for rounding; their ranks must be equal too.
        absolute = {name: np.abs(values).round(10) for name, values in local.items()}
        found.extend(
            Agreement(K, (a, b), name, correlate(absolute[a], absolute[b]))
            for name, correlate in CORRELATIONS.items()
            for a, b in PAIRS
        )
    return found


def _claims(found: list[Agreement], name: str) -> Iterable[Claim]:
    source = _SOURCES[name]
    lowest = min(found, key=lambda agreement: agreement.mean)
    yield Claim(
        source,
        "The mean correlation over all samples remains close to 1 for all pairs.",
        "close to 1",
        f"at least {lowest.mean:.3f} ({' and '.join(lowest.pair)}, K = {lowest.max_features})",
        AS_READ if lowest.mean >= SIMILAR else NOT_REPRODUCED,
        reading=f"at least {SIMILAR}, what Appendix E calls similar",
    )
    widths = {pair: [a for a in found if a.pair == pair] for pair in PAIRS}
    ranges = {
        pair: (min(of, key=lambda a: a.width), max(of, key=lambda a: a.width))
        for pair, of in widths.items()
    }
    yield Claim(
        source,
        "The variation (the range between minimal and maximal correlations) is impacted by the "
        "value of K.",
        "impacted",
        "; ".join(
            f"{' and '.join(pair)}: {small.width:.2f} (K = {small.max_features}) to "
            f"{large.width:.2f} (K = {large.max_features})"
            for pair, (small, large) in ranges.items()
        ),
        AS_READ
        if any(large.width >= 2 * small.width for small, large in ranges.values())
        else NOT_REPRODUCED,
        reading="the range of some pair at least doubles",
    )
    margins = closer(found)
    failed = [K for K, margin in margins.items() if margin <= 0]
    yield Claim(
        source,
        "Saabas and TreeSHAP are closer to each other than to local MDI.",
        "for every K",
        f"for {len(margins) - len(failed)} of {len(margins)} values of K; mean correlation less "
        f"the larger one with local MDI: {min(margins.values()):.3f} to "
        f"{max(margins.values()):.3f}",
        NOT_REPRODUCED if failed else EXACT,
        because=_contradiction(name),
    )


def _contradiction(name: str) -> str:
    """Return what the paper's summary table says about local MDI and TreeSHAP, if it is all."""
    average = SUMMARY[name, "TreeSHAP", "Pearson"][0]
    if float(average) < 1.0:
        return ""
    return (
        f"contradicted by the paper's own table, where local MDI and TreeSHAP have a mean "
        f"correlation of {average}: nothing can be closer"
    )


def closer(found: list[Agreement]) -> dict[int, float]:
    """Return by K how much more alike Saabas and TreeSHAP are than either is to local MDI."""
    mean = {(a.max_features, a.pair): a.mean for a in found}
    *with_mdi, rivals = PAIRS
    return {
        K: mean[K, rivals] - max(mean[K, pair] for pair in with_mdi)
        for K, pair in mean
        if pair == rivals
    }


def _table(name: str, found: list[Agreement]) -> Table:
    return Table(
        name,
        "The numbers behind the figure, and the same with Spearman's correlation: mean, smallest "
        "and largest correlation of the rows' absolute values.",
        ("K", "pair", "coefficient", "mean", "min", "max", "rows"),
        tuple(
            (
                a.max_features,
                " and ".join(a.pair),
                a.coefficient,
                *(f"{value:.4f}" for value in (a.mean, *a.band)),
                len(a.rows),
            )
            for a in found
        ),
    )


def _caption(dataset: Dataset, settings: Settings) -> str:
    note = settings.note("digits") if dataset.name == "digits" else ""
    return (
        f"Mean {SHOWN} correlation over the samples of {dataset.name} between the absolute values "
        f"of two local measures from {settings.trees(dataset.name)} Extra-Trees, against K. The "
        "shade reaches from the smallest to the largest correlation of a sample, thin lines are "
        f"the means of the other pairs. {note}"
    ).strip()


def _picture(found: list[Agreement], name: str) -> Figure:
    shown = [agreement for agreement in found if agreement.coefficient == SHOWN]
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 2.2)
        panels = figure.subplots(1, 3, sharey=True)
        for ax, pair in zip(panels, PAIRS, strict=True):
            # The means of the other pairs stand behind, so that the three can be compared.
            for other in sorted(PAIRS, key=lambda each: each == pair):
                _draw_pair(ax, [a for a in shown if a.pair == other], front=other == pair)
            ax.set_title(" and ".join(pair), color=drawing.PAIR_COLOURS[pair])
            ax.set_xlabel("K")
            ax.grid(axis="y", color="#e6e6e6", linewidth=0.5)
            ax.set_axisbelow(True)
            if name == "digits":
                ax.set_xscale("log", base=2)
            numbers = sorted({agreement.max_features for agreement in shown})
            ax.set_xticks(numbers, [str(K) for K in numbers])
            ax.minorticks_off()
        panels[0].set_ylabel(f"{SHOWN} correlation")
        panels[0].set_ylim(top=1.01)
    return figure


def _draw_pair(ax: Axes, of_pair: list[Agreement], *, front: bool) -> None:
    pair = of_pair[0].pair
    colour = drawing.PAIR_COLOURS[pair]
    numbers = [agreement.max_features for agreement in of_pair]
    means = [agreement.mean for agreement in of_pair]
    if not front:
        ax.plot(numbers, means, color=colour, lw=0.8, alpha=0.6)
        return
    low, high = np.transpose([agreement.band for agreement in of_pair])
    ax.fill_between(numbers, low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(numbers, means, color=colour, lw=1.6, marker=drawing.PAIR_MARKERS[pair])
