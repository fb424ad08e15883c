"""What the figures share: page sizes, fonts, one colour per measure, the seven-segment display."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Width in inches of the text of a two-column paper.
TEXT = 6.9

# Okabe and Ito's colours, which stay apart for colour-blind readers. A pair of measures takes the
# colour of the rival of local MDI in it, so that a measure keeps its colour in every figure.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#595959"
MEASURE_COLOURS = {"Local MDI": BLUE, "Saabas": ORANGE, "TreeSHAP": GREEN, "SAGE": PURPLE}
PAIR_COLOURS = {
    ("Local MDI", "Saabas"): ORANGE,
    ("Local MDI", "TreeSHAP"): GREEN,
    ("Saabas", "TreeSHAP"): GREY,
}
PAIR_MARKERS = dict(zip(PAIR_COLOURS, "osD", strict=True))

# Seven features in one panel: colour and marker differ, for readers of grey prints.
SEGMENT_COLOURS = ("#332288", "#CC6677", "#44AA99", "#999933", "#AA4499", "#88CCEE", "#DDAA33")
SEGMENT_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.0,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw with the paper's fonts and lines, and leave the reader's own settings as they were.

    Examples
    --------
    >>> import matplotlib
    >>> before = matplotlib.rcParams["font.size"]
    >>> with style():
    ...     matplotlib.rcParams["font.size"]
    8.0
    >>> matplotlib.rcParams["font.size"] == before
    True
    """
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def new_figure(width: float, height: float, *, layout: str = "constrained") -> Figure:
    """Return an empty figure of this size in inches that no window manager knows of.

    Examples
    --------
    >>> new_figure(3.0, 2.0).get_size_inches().tolist()
    [3.0, 2.0]
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=200, layout=layout)


def label_ends(ax: Axes, heights: Sequence[float], *, x: float, gap: float) -> None:
    """Write X_1, X_2, … right of the curves' last points, at least `gap` apart.

    Examples
    --------
    >>> ax = new_figure(1.0, 1.0).add_subplot()
    >>> label_ends(ax, [0.50, 0.51, 0.9], x=7, gap=0.1)
    >>> [round(float(text.get_position()[1]), 3) for text in ax.texts]
    [0.455, 0.555, 0.9]
    """
    at = np.array(heights, dtype=float)
    order = np.argsort(at, kind="stable")
    # Push neighbours apart by halves until all gaps are kept; few labels need few rounds.
    for _ in range(200):
        for low, high in pairwise(order):
            push = (gap - (at[high] - at[low])) / 2
            if push > 0:
                at[low] -= push
                at[high] += push
    for m, height in enumerate(at):
        ax.text(x, height, f"$X_{m + 1}$", va="center", fontsize=7.5)


def fade(ax: Axes) -> None:
    """Take away the frame and the ticks of an axes that shows a picture.

    Examples
    --------
    >>> ax = new_figure(1.0, 1.0).add_subplot()
    >>> fade(ax)
    >>> len(ax.get_xticks())
    0
    """
    ax.set(xticks=[], yticks=[], aspect="equal")
    for spine in ax.spines.values():
        spine.set_visible(False)


# Centre and direction of the segments X1..X7 of a display two units high and one wide: top, upper
# left, upper right, middle, lower left, lower right, bottom.
_CENTRES = ((0.5, 2.0), (0.0, 1.5), (1.0, 1.5), (0.5, 1.0), (0.0, 0.5), (1.0, 0.5), (0.5, 0.0))
_HORIZONTAL = (True, False, False, True, False, False, True)
_HALF_LENGTH, _HALF_WIDTH = 0.46, 0.12


def segment_corners() -> np.ndarray:
    """Return the six corners of each of the seven segments.

    Examples
    --------
    >>> segment_corners().shape
    (7, 6, 2)
    """
    tip, body, half = _HALF_LENGTH, _HALF_LENGTH - _HALF_WIDTH, _HALF_WIDTH
    lying = np.array(
        [(-tip, 0), (-body, half), (body, half), (tip, 0), (body, -half), (-body, -half)]
    )
    standing = lying[:, ::-1]
    return np.array(
        [
            np.add(centre, lying if horizontal else standing)
            for centre, horizontal in zip(_CENTRES, _HORIZONTAL, strict=True)
        ]
    )


def draw_segments(ax: Axes, colours: Sequence[object], *, edge: str = "#8c8c8c") -> None:
    """Draw a seven-segment display whose segment X_m has colour m.

    Examples
    --------
    >>> ax = new_figure(1.0, 1.0).add_subplot()
    >>> draw_segments(ax, ["black"] * 7)
    >>> len(ax.collections[0].get_paths())
    7
    """
    from matplotlib.collections import PolyCollection

    faces = PolyCollection(segment_corners(), facecolors=colours, edgecolors=edge, linewidths=0.4)
    ax.add_collection(faces)
    ax.set(xlim=(-0.2, 1.2), ylim=(-0.2, 2.2))
    fade(ax)


def draw_segment_key(ax: Axes) -> None:
    """Draw the display that tells which feature is which segment, in the features' colours.

    Examples
    --------
    >>> ax = new_figure(1.0, 1.0).add_subplot()
    >>> draw_segment_key(ax)
    >>> [text.get_text() for text in ax.texts][:2]
    ['$X_1$', '$X_2$']
    """
    draw_segments(ax, SEGMENT_COLOURS, edge="none")
    beside = ((0, 0.3), (-0.35, 0), (0.35, 0), (0, 0.27), (-0.35, 0), (0.35, 0), (0, -0.32))
    for m, (centre, shift) in enumerate(zip(_CENTRES, beside, strict=True)):
        x, y = np.add(centre, shift)
        ax.text(x, y, f"$X_{m + 1}$", ha="center", va="center", fontsize=7)
    ax.set(xlim=(-0.6, 1.6), ylim=(-0.5, 2.5))
