"""Maps: pixels and segments in their places, and what pairs of features tell together."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import count
from localmdi.plots import style
from localmdi.plots.display import (
    Map,
    check_rows,
    fields_of,
    own_columns,
    row_or_mean,
    row_position,
    row_title,
    strongest,
)
from localmdi.results import InteractionImportance, LocalImportance, PairImportance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import GlobalImportance
    from localmdi.typing import BoolArray, FloatArray, ResultMeasure

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
_SMALLEST_ON_SEGMENTS = 4.0

_MAX_NUMBERS = 12
_SMALLEST_IN_CELLS = 5.0
_CONDITIONAL = "told by the left feature after the lower one"


@dataclass(eq=False, repr=False)
class ImageDisplay(Map):
    """The importance of each pixel, drawn in its place.

    Colours are centred on zero: teal pixels removed uncertainty, orange ones raised it. Usually
    made by `from_result`; made directly it shows any array, another measure's for example.

    Parameters
    ----------
    values : ndarray of float64, shape (height, width)
        One value per pixel.
    unit, measure, honest
        As in the result.
    title : str
        Which row it is, or the mean over rows.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.
    mappable_
        The drawn image, for a colour bar that several maps share:
        ``figure.colorbar(display.mappable_, ax=axes)``.
    vmax_
        The value of the darkest colours.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25, 0.0, 0.25]]), 1.0, unit="bits", n_trees=10,
    ...     residual=np.array([0.0]), feature_names=("p00", "p01", "p10", "p11"))
    >>> display = ImageDisplay.from_result(result, row=0, shape=(2, 2))
    >>> display.values
    array([[0.5 , 0.25],
           [0.  , 0.25]])
    >>> plt.close(display.figure_)
    """

    _: KW_ONLY
    title: str = ""

    def __post_init__(self) -> None:
        self.values = np.asarray(self.values, dtype=np.float64)
        if self.values.ndim != 2:
            raise ValueError(
                f"values must be a table of pixels, height by width; got shape "
                f"{self.values.shape}. Reshape them: values.reshape(height, width)."
            )
        check_rows(*self.values.shape)

    @classmethod
    def from_result(
        cls,
        result: LocalImportance | GlobalImportance,
        *,
        row: int | None = None,
        shape: tuple[int, int] = (8, 8),
        vmax: float | None = None,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> ImageDisplay:
        """Draw one row of a result, or the mean over its rows.

        Parameters
        ----------
        result : LocalImportance or GlobalImportance
            With one feature per pixel, line by line.
        row : int or None
            Position of the row; None: the mean over rows.
        shape : tuple of two ints
            Height and width of the image.
        vmax : float or None
            Value of the darkest colours, for maps that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        ImageDisplay

        Examples
        --------
        Two rows on one scale:

        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.0, 0.75]]), 1.0, unit="bits",
        ...     residual=np.full(2, 0.25), feature_names=("left", "right"), n_trees=10)
        >>> figure, axes = plt.subplots(1, 2)
        >>> for row, ax in enumerate(axes):
        ...     display = ImageDisplay.from_result(
        ...         result, row=row, shape=(1, 2), vmax=0.75, colorbar=False, ax=ax)
        >>> display.mappable_.get_clim()
        (-0.75, 0.75)
        >>> plt.close(figure)
        """
        values, title, _ = row_or_mean(result, row, display="ImageDisplay")
        height, width = _check_shape(shape, len(values))
        display = cls(
            values.reshape(height, width),
            **fields_of(result),
            title=title,
        )
        return display.plot(ax=ax, vmax=vmax, colorbar=colorbar)

    def _size(self) -> tuple[float, float]:
        height, width = self.values.shape
        size = 3.2 * np.sqrt([width / height, height / width]).clip(0.4, 2.5)
        return size[0], size[1] + 0.3

    def _draw(self) -> None:
        self.mappable_ = self.ax_.imshow(
            self.values,
            cmap=style.diverging(),
            vmin=-self.vmax_,
            vmax=self.vmax_,
            interpolation="nearest",
        )
        style.bare(self.ax_)
        style.write_title(self.ax_, self.title)


def _check_shape(shape: Any, n_features: int) -> tuple[int, int]:
    try:
        height, width = (int(length) for length in shape)
    except (TypeError, ValueError):
        height = width = 0
    if height < 1 or width < 1 or height * width != n_features:
        side = math.isqrt(n_features)
        advice = f"shape=({side}, {side})" if side**2 == n_features else "its height and width"
        raise ValueError(
            f"shape must be a height and a width whose product is the number of features, "
            f"{n_features}; got {shape!r}. Pass {advice}."
        )
    return height, width


@dataclass(eq=False, repr=False)
class SegmentDisplay(Map):
    """The importance of each segment of a seven-segment display, drawn in its place.

    Colours are centred on zero: teal segments removed uncertainty, orange ones raised it. Where
    the row is known, its lit segments have a dark frame. Usually made by `from_result`; made
    directly it shows any seven values.

    Parameters
    ----------
    values : ndarray of float64, shape (7,)
        Top, upper left, upper right, middle, lower left, lower right, bottom.
    unit, measure, honest
        As in the result.
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
    vmax_
        The value of the darkest colours.

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

    _: KW_ONLY
    lit: BoolArray | None = None
    title: str = ""

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
        vmax: float | None = None,
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
        vmax : float or None
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
        >>> display = SegmentDisplay.from_result(result, row=6, vmax=2, colorbar=False)
        >>> display.values.round(2)
        array([0.08, 0.24, 1.51, 0.23, 1.07, 0.09, 0.12])
        >>> plt.close(display.figure_)
        """
        values, title, position = row_or_mean(result, row, display="SegmentDisplay")
        lit = None
        if isinstance(result, LocalImportance) and position is not None and len(values) >= 7:
            columns = own_columns(result, np.array([position]), columns=np.arange(7))
            if columns is not None:
                lit = np.array([c is not None and c.position[0] > 0 for c in columns])
        display = cls(values[:7], **fields_of(result), lit=lit, title=title)
        return display.plot(ax=ax, vmax=vmax, colorbar=colorbar)

    def _size(self) -> tuple[float, float]:
        return 2.4, 3.8

    def _draw(self) -> None:
        from matplotlib.collections import PolyCollection

        ax = self.ax_
        lit = np.zeros(7, dtype=bool) if self.lit is None else self.lit
        self.mappable_ = PolyCollection(
            [_corners(x, y, direction=way) for x, y, way in _PLACES],
            array=self.values,
            cmap=style.diverging(),
            edgecolors=[style.ink() if on else "0.75" for on in lit],
            linewidths=np.where(lit, 1.6, 0.8) * min(1.0, self._inch()),
        )
        self.mappable_.set_clim(-self.vmax_, self.vmax_)
        ax.add_collection(self.mappable_)
        ax.set(xlim=(-0.25, 1.25), ylim=(-0.25, 2.25))
        style.write_title(ax, self.title)
        style.bare(ax)
        for spine in ax.spines.values():
            spine.set_visible(False)
        self._draw_numbers()

    def _inch(self) -> float:
        """Return the length of a segment in inches."""
        box = self.ax_.get_window_extent()
        return float(min(box.width / 1.5, box.height / 2.5) / self.ax_.figure.dpi)

    def _draw_numbers(self) -> None:
        size = min(10.0, 0.75 * 72 * self._inch() * 2 * _HALF_WIDTH)
        if size < _SMALLEST_ON_SEGMENTS:
            return
        colours = self.mappable_.to_rgba(self.values)
        for (x, y, direction), value, colour in zip(_PLACES, self.values, colours, strict=True):
            self.ax_.text(
                x,
                y,
                style.format_value(value, min(self.vmax_, 1.0)),
                ha="center",
                va="center",
                fontsize=size,
                rotation=0 if direction == "lying" else 90,
                color=style.contrast(colour[:3]),
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


@dataclass(eq=False, repr=False)
class InteractionDisplay(Map):
    """What pairs of features tell together beyond what each tells alone, as a matrix.

    Colours are centred on zero: teal is synergy, orange redundancy. Usually made by
    `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_shown, n_shown)
        Of an index: symmetric, NaN on the diagonal. Of the conditional decomposition: what the
        feature of the row told after that of the column, on the diagonal before any other.
    feature_names : tuple of str
        Names of the features shown.
    unit : str
        Unit of the values.
    title : str
        Which row it is, or the mean over rows.
    n_features : int or None
        Number of features of the whole result, if not all are shown.
    key : str
        What the colours mean, beside their key.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.
    mappable_
        The drawn matrix, for a colour bar that several share.
    vmax_
        The value of the darkest colours.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.infinite import infinite_interactions
    >>> result = infinite_interactions([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> display = InteractionDisplay.from_result(result)
    >>> float(display.values[0, 1])
    1.0
    >>> plt.close(display.figure_)
    """

    feature_names: tuple[str, ...]
    _: KW_ONLY
    title: str = ""
    n_features: int | None = None
    key: str = "redundancy < 0 < synergy"
    measure: ResultMeasure = field(default="drop", init=False)
    honest: bool = field(default=False, init=False)
    _KEY: ClassVar[tuple[float, float]] = (1.0, 0.8)

    @classmethod
    def from_result(
        cls,
        result: InteractionImportance | PairImportance,
        *,
        row: int | None = None,
        max_features: int = 20,
        vmax: float | None = None,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> InteractionDisplay:
        """Draw one row of an interaction index, or the mean over its rows.

        Parameters
        ----------
        result : InteractionImportance or PairImportance
            What `infinite_interactions` or `local_interactions` returned.
        row : int or None
            Position of the row; None: the mean over rows.
        max_features : int
            How many features to show: those with the largest sum of absolute interactions, in the
            order of the columns.
        vmax : float or None
            Value of the darkest colours, for matrices that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        InteractionDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.infinite import infinite_interactions
        >>> result = infinite_interactions([[0, 0], [1, 1]], [0, 1])
        >>> display = InteractionDisplay.from_result(result, row=0)
        >>> float(display.values[0, 1])
        -1.0
        >>> plt.close(display.figure_)
        """
        if not isinstance(result, InteractionImportance | PairImportance):
            raise TypeError(
                "InteractionDisplay shows an InteractionImportance or a PairImportance; got "
                f"{type(result).__name__}. Pass what infinite_interactions or local_interactions "
                "returned."
            )
        n_rows, n_features = len(result), len(result.feature_names)
        check_rows(n_rows, n_features)
        position = None if row is None else row_position(row, n_rows)
        table = _table(result, position)
        strength = np.nansum(np.abs(table), axis=1) + np.nansum(np.abs(table), axis=0)
        shown = np.sort(strongest(strength, max_features))
        display = cls(
            table[np.ix_(shown, shown)],
            tuple(result.feature_names[i] for i in shown),
            unit=result.unit,
            title="mean over rows" if position is None else row_title(result, position),
            n_features=n_features if len(shown) < n_features else None,
            key=_CONDITIONAL if result.index == "conditional" else cls.key,
        )
        return display.plot(ax=ax, vmax=vmax, colorbar=colorbar)

    def _size(self) -> tuple[float, float]:
        side = 2.4 + 0.28 * len(self.feature_names)
        return side, side

    def _draw(self) -> None:
        ax = self.ax_
        self.mappable_ = ax.imshow(
            np.ma.masked_invalid(self.values),
            cmap=style.diverging().with_extremes(bad="0.88"),
            vmin=-self.vmax_,
            vmax=self.vmax_,
        )
        # The names at two sides, and the key, leave a square of about 0.6 times the height.
        size = style.font_size(ax, round(len(self.feature_names) / 0.6))
        width = min(24, style.label_width(ax, size, share=0.35))
        style.name_square(ax, style.feature_labels(self.feature_names, width), size=size)
        for spine in ax.spines.values():
            spine.set_visible(False)
        style.write_title(ax, ", ".join(filter(None, [self.title, self._note()])))
        self._draw_numbers()

    def _label(self) -> str:
        unit = unit_of(self.unit)
        return f"{self.key} ({style.plain(unit.symbol or unit.quantity)})"

    def _note(self) -> str:
        shown = len(self.feature_names)
        return "" if self.n_features is None else f"{shown} of {count(self.n_features, 'feature')}"

    def _draw_numbers(self) -> None:
        n_shown = len(self.feature_names)
        known = self.values[~np.isnan(self.values)]
        words = [style.format_value(value, 10 * self.vmax_) for value in known]
        letters = max(map(len, words), default=1)
        size = 1.2 * style.font_size(self.ax_, letters * n_shown, axis="x")
        if n_shown > _MAX_NUMBERS or size < _SMALLEST_IN_CELLS:
            return
        colours = self.mappable_.to_rgba(self.values)
        places = np.argwhere(~np.isnan(self.values))
        for (i, j), word in zip(places, words, strict=True):
            self.ax_.text(
                j,
                i,
                word,
                ha="center",
                va="center",
                fontsize=size,
                color=style.contrast(colours[i, j, :3]),
            )


def _table(result: InteractionImportance | PairImportance, position: int | None) -> FloatArray:
    if isinstance(result, PairImportance):
        return result.matrix(position)
    return result.mean() if position is None else result.values[position]
