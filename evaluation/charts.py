"""What the figures share: a colour and a marker for each measure, and dots with their errors."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import Mean, shown
from paper.drawing import TEXT, new_figure, style
from paper.piece import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = ["COLOURS", "MARKERS", "dots"]

# Okabe and Ito's colours; ours are filled, rivals open, so that grey prints tell them apart.
COLOURS = MappingProxyType(
    {
        "honest gain": "#0072B2",
        "account": "#56B4E9",
        "local MDI": "#D55E00",
        "local MDI, gain": "#E69F00",
        "TreeSHAP": "#009E73",
        "TreeSHAP, interventional": "#009E73",
        "Saabas": "#CC79A7",
        "permutation": "#595959",
        "ICE variance": "#595959",
        "LMDI+": "#000000",
        "honest gain, mean of all rows": "#0072B2",
    }
)
MARKERS = MappingProxyType(
    {
        "honest gain": "o",
        "account": "s",
        "local MDI": "D",
        "local MDI, gain": "^",
        "TreeSHAP": "v",
        "TreeSHAP, interventional": "<",
        "Saabas": "P",
        "permutation": "X",
        "ICE variance": "d",
        "LMDI+": "*",
        "honest gain, mean of all rows": "h",
    }
)


def dots(
    name: str,
    caption: str,
    *,
    numbers: Mapping[str, np.ndarray],
    panels: Sequence[str],
    label: str = "row AUROC",
) -> Picture:
    """Draw every measure's mean and two standard errors, a panel for each problem.

    `numbers` has an array (seeds, panels) for each measure.
    """
    order = sorted(numbers, key=lambda measure: float(numbers[measure].mean()))
    n_columns = 2 if len(panels) == 4 else min(len(panels), 3)
    n_lines = -(-len(panels) // n_columns)
    with style():
        figure = new_figure(TEXT, 0.55 + n_lines * (0.35 + 0.17 * len(order)))
        grid = figure.subplots(n_lines, n_columns, sharex=True, sharey=True, squeeze=False)
        for ax, panel, i in zip(grid.flat, panels, range(len(panels)), strict=False):
            for y, measure in enumerate(order):
                mean = Mean.of(numbers[measure][:, i])
                _dot(ax, mean, measure=measure, y=y)
            ax.set_title(panel, loc="left")
            ax.set_yticks(range(len(order)), [shown(measure) for measure in order])
            ax.grid(axis="x", linewidth=0.4, color="#dddddd")
            ax.axvline(0.5, color="#999999", linewidth=0.6, linestyle=":")
        for ax in grid.flat[len(panels) :]:
            ax.set_visible(False)
        figure.supxlabel(label, fontsize=8)
    return Picture(name, caption, figure)


def _dot(ax: Axes, mean: Mean, *, measure: str, y: float) -> None:
    error = 0.0 if np.isnan(mean.error) else 2 * mean.error
    ax.errorbar(
        mean.value,
        y,
        xerr=error,
        marker=MARKERS.get(measure, "o"),
        color=COLOURS.get(measure, "#595959"),
        markersize=4,
        linewidth=1,
    )
