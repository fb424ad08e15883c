"""Colours that colour-blind people can tell apart, and scales centred on zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import FloatArray

__all__ = [
    "ADDED",
    "LEVEL",
    "MISSING",
    "REMOVED",
    "SEQUENTIAL",
    "TEXT",
    "check_limit",
    "contrast",
    "diverging",
    "ink",
    "palette",
    "symmetric_limit",
]

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


def check_limit(limit: Any) -> float | None:
    """Return the end of a colour scale given by the user."""
    if limit is None:
        return None
    number = isinstance(limit, int | float | np.integer | np.floating)
    if not number or isinstance(limit, bool) or not 0 < limit < np.inf:
        raise ValueError(
            f"limit must be a positive number or None; got {limit!r}. Pass the largest absolute "
            "value of all pictures that share a colour scale."
        )
    return float(limit)


def symmetric_limit(values: FloatArray, limit: Any = None) -> float:
    """Return the end of a colour scale that is centred on zero."""
    given = check_limit(limit)
    if given is not None:
        return given
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return largest if largest > 0 else 1.0


def contrast(colour: Any) -> str:
    """Return the colour of a text that stands on a coloured ground."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return TEXT if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
