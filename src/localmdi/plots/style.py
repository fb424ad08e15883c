"""How pictures look: axes and letters that fit them, colours, names and numbers as text."""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import cell_number, number_text, one_line, power_of_ten
from localmdi._validation import is_missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi.typing import FloatArray

# In points: the smallest letters, and the width of axes below which letters shrink.
_SMALLEST = 4.0
_NARROW = 200.0
# Beyond this many, numbers get thousands or powers of ten.
_LARGE = 1e4
# A label that shows what only one name has begins with so many letters of it.
_LEAST_START = 4
_MINUS = "\N{MINUS SIGN}"

# Teal removed, orange raised, as in the report; dark against light, so that they differ in grey
# print too.
REMOVED = "#0b7078"
ADDED = "#e08214"
_RAISED_TO_REMOVED = (
    "#c2660a",
    "#e08214",
    "#f5a94f",
    "#fdd9ab",
    "#f7f7f7",
    "#b5dcdd",
    "#57a7ac",
    REMOVED,
    "#04363b",
)
LEVEL = "0.72"
MISSING = "0.65"
TEXT = "0.15"
# Dark to light in even steps, whatever the eye.
SEQUENTIAL = "viridis"

# Okabe and Ito's colours, the palest last.
_OKABE_ITO = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#000000",
    "#f0e442",
)


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


def name_lines(ax: Any, names: Sequence[str]) -> None:
    """Write the name of a feature beside every line of the picture."""
    size = font_size(ax, len(names))
    labels = feature_labels(names, label_width(ax, size))
    ax.set_yticks(np.arange(len(names)), labels, fontsize=size)


def name_square(ax: Any, labels: Sequence[str], *, size: float) -> None:
    """Write names at two sides of a matrix, upright below it where they are long."""
    upright = max(map(len, labels)) * len(labels) > label_width(ax, size, share=1.0)
    ax.set_yticks(np.arange(len(labels)), labels, fontsize=size)
    ax.set_xticks(np.arange(len(labels)), labels, fontsize=size, rotation=90 if upright else 0)
    ax.tick_params(length=0)


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


def palette(n_colours: int) -> list[Any]:
    """Return colours for labels that have no order."""
    if n_colours <= len(_OKABE_ITO):
        return list(_OKABE_ITO[:n_colours])
    from matplotlib import colormaps

    return [tuple(colour) for colour in colormaps["viridis"](np.linspace(0, 0.95, n_colours))]


def diverging() -> Any:
    """Return the colour map of values around zero: from raised to removed."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("raised to removed", _RAISED_TO_REMOVED)


def ink() -> str:
    """Return the colour of the user's letters: black, or white on a dark style."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def check_vmax(vmax: Any) -> float:
    """Return the end of a colour scale given by the user."""
    number = isinstance(vmax, int | float | np.integer | np.floating)
    if not number or isinstance(vmax, bool) or not 0 < vmax < np.inf:
        raise ValueError(
            f"vmax must be a positive number or None; got {vmax!r}. Pass the largest absolute "
            "value of all pictures that share a colour scale."
        )
    return float(vmax)


def largest(values: FloatArray) -> float:
    """Return the largest absolute value, the end of a colour scale; 1 if there is none above 0."""
    found = float(np.nanmax(np.abs(values), initial=0.0))
    return found if found > 0 else 1.0


def contrast(colour: Any) -> str:
    """Return the colour of a text that stands on a coloured ground."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return TEXT if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def plain(text: Any) -> str:
    r"""Return text on one line that matplotlib draws letter by letter, never as a formula.

    Examples
    --------
    >>> print(plain("price in $, two\nlines"))
    price in \$, two lines
    """
    # Fonts have no glyph for what is not printable, such as unassigned characters.
    visible = "".join(letter if letter.isprintable() else " " for letter in one_line(text))
    return " ".join(visible.split()).replace("$", r"\$")


def elide(text: Any, width: int) -> str:
    """Return plain text of at most `width` letters, shortened in the middle.

    Examples
    --------
    >>> elide("mean concave points", 12)
    'mean c…oints'
    """
    line = " ".join(str(text).split())
    if len(line) <= width:
        return plain(line)
    tail = (width - 1) // 2
    return plain(f"{line[: width - 1 - tail]}…{line[len(line) - tail :]}")


def feature_labels(names: Sequence[str], width: int) -> list[str]:
    """Return short labels; of names that would look alike the part in which they differ.

    Where that is not short enough, or names are equal, they are numbered.

    Examples
    --------
    >>> feature_labels(["answer to question 7 of 9", "answer to question 8 of 9", "age"], 12)
    ['answer to…7…', 'answer to…8…', 'age']
    >>> feature_labels(["a_very_long_name", "a_very_wrong_name"], 7)
    ['a_…e #1', 'a_…e #2']
    """
    labels = [elide(name, width) for name in names]
    alike = {label for label, n_labels in Counter(labels).items() if n_labels > 1}
    taken = {label for label in labels if label not in alike}
    for label in alike:
        members = [i for i, other in enumerate(labels) if other == label]
        own = _own_parts([names[i] for i in members], width)
        if own is not None and taken.isdisjoint(own):
            taken.update(own)
            for i, text in zip(members, own, strict=True):
                labels[i] = text
    for i, label in enumerate(labels):
        if label in alike:
            labels[i] = next(new for new in _numbered(names[i], width) if new not in taken)
            taken.add(labels[i])
    return labels


def _own_parts(names: Sequence[str], width: int) -> list[str] | None:
    """Return the beginning of each name and the part that only it has; None if that is long."""
    lines = [" ".join(str(name).split()) for name in names]
    start = _n_shared(lines)
    end = _n_shared([line[start:][::-1] for line in lines])
    own = [line[start : len(line) - end] for line in lines]
    room = width - 2 - max(map(len, own))
    if room < min(_LEAST_START, start) or len(set(own)) < len(own):
        return None
    head = lines[0][: min(room, start)] + ("" if room >= start else "…")
    tail = "…" if end else ""
    found = [plain(f"{head}{part}{tail}") for part in own]
    return found if len(set(found)) == len(found) else None


def _n_shared(lines: Sequence[str]) -> int:
    """Count the first letters that all lines share."""
    return next(
        (i for i, letters in enumerate(zip(*lines, strict=False)) if len(set(letters)) > 1),
        min(map(len, lines)),
    )


def _numbered(name: str, width: int) -> Iterator[str]:
    for n in count(1):
        number = f" #{n}"
        yield elide(name, max(3, width - len(number))) + number


def format_value(value: float, scale: float) -> str:
    """Return a number with three digits of a scale and a typographic minus.

    Examples
    --------
    >>> format_value(3.32193, scale=0.15), format_value(-12345.6, 3e4), format_value(2e7, 2e7)
    ('3.322', '−12,346', '20.0 × 10⁶')
    """
    scale = abs(scale)
    if not scale > 0 or not np.isfinite(scale):
        return number_text(value, 3)
    if not 1e-4 <= scale < 1e7:
        # Numbers beside each other share one power of ten.
        power = 3 * int(np.floor(np.log10(scale) / 3))
        factor = format_value(value / 10.0**power, scale / 10.0**power)
        return f"{factor} {power_of_ten(power)}"
    decimals = max(0, 2 - int(np.floor(np.log10(scale))))
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return f"{_MINUS}{text[1:]}" if text.startswith("-") else text


def cell_text(value: Any, width: int = 14) -> str:
    """Return a row's own value, to stand beside the name of its feature.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(54.0), cell_text(float("nan")), cell_text("north")
    ('0.1235', '54', 'missing', 'north')
    """
    if is_missing(value):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer) and -(10**8) < int(value) < 10**8:
        return str(int(value)).replace("-", _MINUS)
    if isinstance(value, int | float | np.integer | np.floating):
        return cell_number(float(value))
    return elide(value, width)
