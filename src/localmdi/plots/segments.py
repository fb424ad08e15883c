"""The seven-segment map: features that are the segments of a digit, in their places."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.plots.canvas import bare, colour_bar, get_axes, write_title
from localmdi.plots.captions import format_value, value_label
from localmdi.plots.colours import contrast, diverging, ink, symmetric_limit
from localmdi.plots.result_parts import row_values
from localmdi.results import LocalImportance
from localmdi.results.data_columns import read_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import GlobalImportance
    from localmdi.typing import BoolArray, FloatArray

__all__ = ["SegmentDisplay"]

# Centre and direction of the segments in the order of datasets.make_led: top, upper left, upper
# right, middle, lower left, lower right, bottom. A segment is one long.
_PLACES = (
    (0.5, 2.0, "lying"),
    (0.0, 1.5, "standing"),
    (1.0, 1.5, "standing"),
    (0.5, 1.0, "lying"),
    (0.0, 0.5, "standing"),
    (1.0, 0.5, "standing"),
    (0.5, 0.0, "lying"),
)
_HALF_WIDTH = 0.13
_GAP = 0.035
_SMALLEST_LETTERS = 4.0


@dataclass(eq=False, repr=False)
class SegmentDisplay:
    """The importance of each segment of a seven-segment display, drawn in its place.

    Colours are centred on zero: teal segments removed uncertainty, orange ones raised it. Where
    the row is known, its lit segments have a dark frame. Usually made by `from_result`; made
    directly it shows any seven values.

    Parameters
    ----------
    values : ndarray of float64, shape (7,)
        Top, upper left, upper right, middle, lower left, lower right, bottom.
    unit : str
        Unit of the values.
    lit : ndarray of bool, shape (7,), or None
        Which segments are lit in this row; None: not known, or the mean over rows.
    title : str
        Which row it is, or the mean over rows.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.
    mappable_
        The drawn segments, for a colour bar that several maps share.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.datasets import make_led
    >>> from localmdi.infinite import infinite_mdi
    >>> display = SegmentDisplay.from_result(infinite_mdi(*make_led()), row=1)
    >>> display.lit.astype(int)
    array([0, 0, 1, 0, 0, 1, 0])
    >>> plt.close(display.figure_)
    """

    values: FloatArray
    _: KW_ONLY
    unit: str
    lit: BoolArray | None = None
    title: str = ""
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)
    mappable_: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.values = np.asarray(self.values, dtype=np.float64)
        if self.values.shape != (7,):
            raise ValueError(
                f"values must be the seven values of the segments; got shape {self.values.shape}. "
                "Select the segments: result[:, :7]."
            )

    @classmethod
    def from_result(
        cls,
        result: LocalImportance | GlobalImportance,
        *,
        row: int | None = None,
        limit: float | None = None,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> SegmentDisplay:
        """Draw one row of a result, or the mean over its rows.

        Parameters
        ----------
        result : LocalImportance or GlobalImportance
            Its first seven features are the segments, in the order of `datasets.make_led`.
        row : int or None
            Position of the row; None: the mean over rows.
        limit : float or None
            Value of the darkest colours, for maps that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        SegmentDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.datasets import make_led
        >>> from localmdi.infinite import infinite_mdi
        >>> result = infinite_mdi(*make_led())
        >>> display = SegmentDisplay.from_result(result, row=6, limit=2, colorbar=False)
        >>> display.values.round(2)
        array([0.08, 0.24, 1.51, 0.23, 1.07, 0.09, 0.12])
        >>> plt.close(display.figure_)
        """
        values, title, position = row_values(result, row, display="SegmentDisplay")
        lit = None
        if isinstance(result, LocalImportance) and position is not None and len(values) >= 7:
            columns = read_data(result, np.array([position]), columns=np.arange(7))
            lit = None if columns is None else np.array([c.position[0] > 0 for c in columns])
        display = cls(values[:7], unit=result.unit, lit=lit, title=title)
        return display.plot(ax=ax, limit=limit, colorbar=colorbar)

    def plot(
        self, ax: Axes | None = None, *, limit: float | None = None, colorbar: bool = True
    ) -> SegmentDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.
        limit : float or None
            Value of the darkest colours, for maps that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.

        Returns
        -------
        SegmentDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> SegmentDisplay(np.arange(7.0), unit="bits").plot(ax=ax).mappable_.get_clim()
        (-6.0, 6.0)
        >>> plt.close(figure)
        """
        end = symmetric_limit(self.values, limit)
        self.figure_, self.ax_ = get_axes(ax, (2.4 + 0.9 * colorbar, 3.8))
        from matplotlib.collections import PolyCollection

        lit = np.zeros(7, dtype=bool) if self.lit is None else self.lit
        self.mappable_ = PolyCollection(
            [_corners(x, y, direction=way) for x, y, way in _PLACES],
            array=self.values,
            cmap=diverging(),
            edgecolors=[ink() if on else "0.75" for on in lit],
            linewidths=np.where(lit, 1.6, 0.8) * min(1.0, self._inch()),
        )
        self.mappable_.set_clim(-end, end)
        self.ax_.add_collection(self.mappable_)
        self.ax_.set(xlim=(-0.25, 1.25), ylim=(-0.25, 2.25))
        write_title(self.ax_, self.title)
        bare(self.ax_)
        for spine in self.ax_.spines.values():
            spine.set_visible(False)
        self._draw_numbers(end)
        if colorbar:
            colour_bar(self.ax_, self.mappable_, label=value_label(self.unit), shrink=0.9)
        return self

    def _inch(self) -> float:
        """Return the length of a segment in inches."""
        box = self.ax_.get_window_extent()
        return float(min(box.width / 1.5, box.height / 2.5) / self.ax_.figure.dpi)

    def _draw_numbers(self, end: float) -> None:
        size = min(10.0, 0.75 * 72 * self._inch() * 2 * _HALF_WIDTH)
        if size < _SMALLEST_LETTERS:
            return
        colours = self.mappable_.to_rgba(self.values)
        for (x, y, direction), value, colour in zip(_PLACES, self.values, colours, strict=True):
            self.ax_.text(
                x,
                y,
                format_value(value, min(end, 1.0)),
                ha="center",
                va="center",
                fontsize=size,
                rotation=0 if direction == "lying" else 90,
                color=contrast(colour[:3]),
            )


def _corners(x: float, y: float, *, direction: str) -> list[tuple[float, float]]:
    """Return the six corners of a segment that is pointed at both ends."""
    half, tip = 0.5 - _GAP, 0.5 - _GAP - _HALF_WIDTH
    lying = [
        (-half, 0.0),
        (-tip, _HALF_WIDTH),
        (tip, _HALF_WIDTH),
        (half, 0.0),
        (tip, -_HALF_WIDTH),
        (-tip, -_HALF_WIDTH),
    ]
    if direction == "lying":
        return [(x + a, y + b) for a, b in lying]
    return [(x + b, y + a) for a, b in lying]
