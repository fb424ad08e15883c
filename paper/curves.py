"""Appendix E: the correlations of all samples with the rivals, sorted, for the six datasets."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from paper import drawing
from paper.agreement import PAIRS, row_correlations
from paper.data import NAMES, load
from paper.piece import Picture, Piece, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["SIMILAR", "run", "sorted_correlations"]

# Appendix E calls importance vectors with this correlation similar: the paper's only bound.
SIMILAR = 0.75

_LINES = {"Pearson": "-", "Spearman": (0, (3, 1.2))}
_PANELS = ("led", "led_sampled", "iris", "wine", "breast_cancer", "digits")

Curves = dict[tuple[str, str], np.ndarray]


def run(settings: Settings, store: Store) -> Piece:
    """Compute and draw the sorted correlations of the six datasets."""
    found = {
        name: sorted_correlations(load(name), settings=settings, store=store) for name in NAMES
    }
    return Piece(
        name="curves",
        title="Sorted correlations of all samples",
        figures=(Picture("correlation-curves", _caption(settings), _picture(found)),),
        tables=(_quantiles(found), _table(found)),
    )


def sorted_correlations(dataset: Dataset, *, settings: Settings, store: Store) -> Curves:
    """Return by rival and coefficient the rows' correlations with local MDI, ascending.

    The values are signed and K = 1, as for the paper's table: the same rows, in another order.
    """
    found = row_correlations(dataset, settings=settings, store=store)
    return {pair: np.sort(rows) for pair, rows in found.items()}


def _quantiles(found: dict[str, Curves]) -> Table:
    at = (0, 1, 5, 10, 25, 50, 75, 100)
    rows = [
        (
            load(name).title,
            rival,
            coefficient,
            len(rows),
            *(f"{value:.3f}" for value in np.percentile(rows, at)),
        )
        for name, curves in found.items()
        for (rival, coefficient), rows in curves.items()
    ]
    return Table(
        "correlation-curves-quantiles",
        "The curves in short: correlations at some percentiles of the samples.",
        ("dataset", "rival", "correlation", "samples", *(f"{percent} %" for percent in at)),
        tuple(rows),
    )


def _table(found: dict[str, Curves]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, curves in found.items():
        columns = [[f"{value:.6f}" for value in values] for values in curves.values()]
        lines = zip_longest(*columns, fillvalue="")
        rows.extend((load(name).title, i, *line) for i, line in enumerate(lines, start=1))
    heads = (f"{rival}, {coefficient}" for rival, coefficient in PAIRS)
    return Table(
        "correlation-curves",
        "The numbers behind the curves: in each column the samples' correlations in ascending "
        "order.",
        ("dataset", "position", *heads),
        tuple(rows),
    )


def _caption(settings: Settings) -> str:
    return (
        "Correlations between local MDI and the rivals' importances of each sample, in ascending "
        "order, from totally randomized forests (K = 1); the dotted line is what the paper calls "
        f"similar. The vertical scales differ. {settings.note('digits')}"
    ).strip()


def _picture(found: dict[str, Curves]) -> Figure:
    from matplotlib.lines import Line2D

    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 4.3)
        panels = figure.subplots(2, 3, sharex=True)
        for ax, name in zip(panels.flat, _PANELS, strict=True):
            _draw_curves(ax, found[name])
            ax.set_title(load(name).title)
        for ax in panels[-1]:
            ax.set_xlabel("samples, in %")
        for ax in panels[:, 0]:
            ax.set_ylabel("correlation with local MDI")
        figure.legend(
            handles=[
                Line2D(
                    *([], []),
                    color=drawing.MEASURE_COLOURS[rival],
                    ls=_LINES[coefficient],
                    label=f"{rival}, {coefficient}",
                )
                for rival, coefficient in PAIRS
            ],
            loc="outside lower center",
            ncols=4,
        )
    return figure


def _draw_curves(ax: Axes, curves: Curves) -> None:
    ax.axhline(SIMILAR, color="#404040", lw=0.6, ls=(0, (1, 2)), zorder=1)
    for (rival, coefficient), values in curves.items():
        # The middle of each sample's step, so that ten samples fill the axis like a thousand.
        position = 100 * (np.arange(len(values)) + 0.5) / len(values)
        ax.plot(
            position,
            values,
            color=drawing.MEASURE_COLOURS[rival],
            ls=_LINES[coefficient],
            marker="o" if len(values) < 20 else "",
            ms=2.0,
        )
    low = min(values[0] for values in curves.values())
    room = 0.05 * (1 - low)
    ax.set(xlim=(0, 100), xticks=(0, 25, 50, 75, 100), ylim=(low - room, 1 + room))
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.5)
    ax.set_axisbelow(True)
