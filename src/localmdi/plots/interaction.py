"""The interaction matrix: what two features tell together beyond what each tells alone."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import count
from localmdi.plots.canvas import colour_bar, font_size, get_axes, label_width, write_title
from localmdi.plots.captions import feature_labels, format_value, plain, row_title
from localmdi.plots.colours import contrast, diverging, symmetric_limit
from localmdi.plots.result_parts import check_rows, largest_features, row_position
from localmdi.results import InteractionImportance, PairImportance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.typing import FloatArray

__all__ = ["InteractionDisplay"]

_MAX_NUMBERS = 12
_SMALLEST_LETTERS = 5.0
_CONDITIONAL = "told by the left feature after the lower one"


@dataclass(eq=False, repr=False)
class InteractionDisplay:
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

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    title: str = ""
    n_features: int | None = None
    key: str = "redundancy < 0 < synergy"
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)
    mappable_: Any = field(default=None, init=False)

    @classmethod
    def from_result(
        cls,
        result: InteractionImportance | PairImportance,
        *,
        row: int | None = None,
        max_features: int = 20,
        limit: float | None = None,
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
        limit : float or None
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
        shown = np.sort(largest_features(strength, max_features))
        display = cls(
            table[np.ix_(shown, shown)],
            tuple(result.feature_names[i] for i in shown),
            unit=result.unit,
            title="mean over rows" if position is None else row_title(result, position),
            n_features=n_features if len(shown) < n_features else None,
            key=_CONDITIONAL if result.index == "conditional" else cls.key,
        )
        return display.plot(ax=ax, limit=limit, colorbar=colorbar)

    def plot(
        self, ax: Axes | None = None, *, limit: float | None = None, colorbar: bool = True
    ) -> InteractionDisplay:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.
        limit : float or None
            Value of the darkest colours, for matrices that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.

        Returns
        -------
        InteractionDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> values = np.array([[np.nan, 0.5], [0.5, np.nan]])
        >>> display = InteractionDisplay(values, ("age", "dose"), unit="bits")
        >>> display.plot(ax=ax).mappable_.get_clim()
        (-0.5, 0.5)
        >>> plt.close(figure)
        """
        end = symmetric_limit(self.values, limit)
        n_shown = len(self.feature_names)
        side = 2.4 + 0.28 * n_shown
        self.figure_, self.ax_ = get_axes(ax, (side + 1.0 * colorbar, side))
        ax = self.ax_
        colours = diverging().with_extremes(bad="0.88")
        self.mappable_ = ax.imshow(
            np.ma.masked_invalid(self.values), cmap=colours, vmin=-end, vmax=end
        )
        # The names at two sides, and the key, leave a square of about 0.6 times the height.
        size = font_size(ax, round(n_shown / 0.6))
        labels = feature_labels(self.feature_names, min(24, label_width(ax, size, share=0.35)))
        upright = max(map(len, labels)) * n_shown > label_width(ax, size, share=1.0)
        ax.set_yticks(np.arange(n_shown), labels, fontsize=size)
        ax.set_xticks(np.arange(n_shown), labels, fontsize=size, rotation=90 if upright else 0)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        write_title(ax, ", ".join(filter(None, [self.title, self._note()])))
        self._draw_numbers(end)
        if colorbar:
            unit = unit_of(self.unit)
            label = f"{self.key} ({plain(unit.symbol or unit.quantity)})"
            colour_bar(ax, self.mappable_, label=label, shrink=0.8)
        return self

    def _note(self) -> str:
        shown = len(self.feature_names)
        return "" if self.n_features is None else f"{shown} of {count(self.n_features, 'feature')}"

    def _draw_numbers(self, end: float) -> None:
        n_shown = len(self.feature_names)
        known = self.values[~np.isnan(self.values)]
        words = [format_value(value, 10 * end) for value in known]
        letters = max(map(len, words), default=1)
        size = 1.2 * font_size(self.ax_, letters * n_shown, axis="x")
        if n_shown > _MAX_NUMBERS or size < _SMALLEST_LETTERS:
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
                color=contrast(colours[i, j, :3]),
            )


def _table(result: InteractionImportance | PairImportance, position: int | None) -> FloatArray:
    if isinstance(result, PairImportance):
        return result.matrix(position)
    return result.mean() if position is None else result.values[position]
