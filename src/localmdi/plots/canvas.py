"""Where a picture is drawn: the user's axes or new ones, and letters that fit them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "bare",
    "colour_bar",
    "describe_x",
    "font_size",
    "get_axes",
    "label_width",
    "legend_above",
    "open_frame",
    "person_ticks",
    "require",
    "write_title",
]

# In points: the smallest letters, and the width of axes below which letters shrink.
_SMALLEST = 4.0
_NARROW = 200.0
# Beyond this many, numbers get thousands or powers of ten.
_LARGE = 1e4


def require() -> Any:
    """Return pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib, which is not installed. Run: pip install "localmdi[app]"'
        ) from error
    return plt


def get_axes(ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """Return figure and axes: the user's, untouched, or new ones of a size in inches."""
    plt = require()
    if ax is None:
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        return figure, ax
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise TypeError(
            f"ax must be matplotlib axes or None; got {type(ax).__name__}. "
            "Pass one element of what plt.subplots returned."
        )
    return ax.figure, ax


def font_size(ax: Any, n_lines: int, *, axis: str = "y") -> float:
    """Return the size in points at which `n_lines` fit the height (or width) of the axes."""
    width, height = _points(ax)
    room = (height if axis == "y" else width) / max(1, n_lines)
    return float(np.clip(0.85 * room, _SMALLEST, _largest_font(ax)))


def label_width(ax: Any, size: float, *, share: float = 0.6, most: int = 40) -> int:
    """Return how many letters of a size may stand beside the axes, in a share of their width."""
    letter = 0.55 * size
    return int(np.clip(share * _points(ax)[0] / letter, 10, most))


def describe_x(ax: Any, *lines: str) -> None:
    """Write lines under the x axis, smaller and broken where the axes are narrow."""
    size = _largest_font(ax)
    letters = max(16, int(0.8 * _points(ax)[0] / (0.5 * size)))
    broken = [part for line in lines for part in textwrap.wrap(line, letters)]
    ax.set_xlabel("\n".join(broken), fontsize=size)


def write_title(ax: Any, text: str, *, loc: str = "center") -> None:
    """Write a title over the axes, smaller where they are narrow."""
    ax.set_title(text, loc=loc, fontsize=1.15 * _largest_font(ax))


def legend_above(ax: Any, n_labels: int) -> None:
    """Put the legend above the axes, where it hides nothing."""
    columns = min(n_labels, 2 if _points(ax)[0] < _NARROW else 5)
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1,
        columnspacing=1.2,
        fontsize=_largest_font(ax),
    )


def open_frame(ax: Any, *, keep: Sequence[str] = ("bottom",)) -> None:
    """Hide the sides of the frame that carry nothing, and fit the numbers at the others.

    Call it before the ticks get labels of their own.
    """
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    ax.tick_params(labelsize=_largest_font(ax))
    if "left" not in keep:
        ax.tick_params(axis="y", length=0)


def bare(ax: Any) -> None:
    """Remove the ticks and draw squares as squares: for pictures that are maps."""
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set_edgecolor("0.8")


def person_ticks(axis: Any) -> None:
    """Write very large and very small numbers of an axis as a person would.

    Call it when the limits are set.
    """
    from matplotlib.ticker import FuncFormatter

    largest = float(np.abs(axis.get_view_interval()).max())
    if largest >= _LARGE or 0 < largest < 1 / _LARGE:
        axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


def colour_bar(ax: Any, mappable: Any, *, label: str, shrink: float = 1.0) -> Any:
    """Draw the key of a colour scale beside the axes."""
    bar = ax.figure.colorbar(mappable, ax=ax, shrink=shrink)
    size = _largest_font(ax)
    room = 2 * shrink * _points(ax)[1] / max(1, len(label))
    bar.set_label(label, fontsize=min(size, room))
    bar.ax.tick_params(labelsize=size)
    person_ticks(bar.ax.yaxis)
    bar.outline.set_visible(False)
    return bar


def _largest_font(ax: Any) -> float:
    from matplotlib import rcParams

    size = float(rcParams["font.size"])
    return 0.8 * size if _points(ax)[0] < _NARROW else size


def _points(ax: Any) -> tuple[float, float]:
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    return box.width * scale, box.height * scale
