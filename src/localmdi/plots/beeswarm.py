"""The beeswarm: every row as a dot, on one line per feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import count
from localmdi.plots.canvas import (
    describe_x,
    font_size,
    get_axes,
    label_width,
    open_frame,
    person_ticks,
)
from localmdi.plots.captions import feature_labels, value_label
from localmdi.plots.colours import MISSING, SEQUENTIAL, ink
from localmdi.plots.result_parts import (
    check_local,
    largest_features,
    mean_absolute,
    spread_rows,
)
from localmdi.results.data_columns import read_data
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import LocalImportance
    from localmdi.typing import FloatArray, IntArray, ResultMeasure

__all__ = ["BeeswarmDisplay", "swarm"]

_BINS = 120
_HALF_HEIGHT = 0.42


@dataclass(eq=False, repr=False)
class BeeswarmDisplay:
    """Every row as a dot: how much uncertainty each feature removed, coloured by its value.

    Colours run from the low to the high values of each feature by themselves, between its 5th and
    95th percentile; missing values and categories, which have no order, are grey. Usually made
    by `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_dots, n_shown)
        The importances of the rows and features shown, the strongest feature first.
    feature_names : tuple of str
        Names of the features shown.
    unit : str
        Unit of the values.
    level : ndarray of float64, shape (n_dots, n_shown), or None
        Where the row's value lies between the feature's low (0) and high (1) values; NaN: grey.
    n_rows, n_features : int
        The size of the whole result, of which this may be a part.
    measure : {"drop", "gain", "saabas"}
        What the values are.
    honest : bool
        Whether they were measured on rows that the trees have not seen.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25], [0.1, 0.6]]), 1.0, unit="bits", n_trees=10,
    ...     residual=np.array([0.25, 0.3]), feature_names=("age", "dose"))
    >>> display = BeeswarmDisplay.from_result(result)
    >>> display.feature_names
    ('dose', 'age')
    >>> plt.close(display.figure_)
    """

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    level: FloatArray | None
    n_rows: int
    n_features: int
    measure: ResultMeasure = "drop"
    honest: bool = False
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

    @classmethod
    def from_result(
        cls,
        result: LocalImportance,
        *,
        max_features: int = 20,
        max_rows: int = 2000,
        ax: Axes | None = None,
    ) -> BeeswarmDisplay:
        """Draw the rows of a local result.

        Parameters
        ----------
        result : LocalImportance
            Its `data`, when kept, give the colours.
        max_features : int
            How many features to show, by decreasing mean absolute value over all rows.
        max_rows : int
            How many dots a feature may have; of more rows this many are drawn, at even distances.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        BeeswarmDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.ones((50, 1)), 1.0, unit="bits", n_trees=10,
        ...     residual=np.zeros(50), feature_names=("age",))
        >>> BeeswarmDisplay.from_result(result, max_rows=10).values.shape
        (10, 1)
        >>> plt.close("all")
        """
        check_local(result, "BeeswarmDisplay")
        shown = largest_features(mean_absolute(result.values), max_features)
        rows = spread_rows(len(result), max_rows)
        display = cls(
            dense(result.values[rows][:, shown]),
            tuple(result.feature_names[i] for i in shown),
            unit=result.unit,
            level=_levels(result, rows, shown=shown),
            n_rows=len(result),
            n_features=len(result.feature_names),
            measure=result.measure,
            honest=result.honest,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> BeeswarmDisplay:
        """Draw the dots.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        BeeswarmDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> display = BeeswarmDisplay(np.array([[0.5]]), ("age",), unit="bits", level=None,
        ...                           n_rows=1, n_features=1)
        >>> display.plot(ax=ax).ax_ is ax
        True
        >>> plt.close(figure)
        """
        n_dots, n_shown = self.values.shape
        self.figure_, self.ax_ = get_axes(ax, (6.4, 1.2 + 0.34 * n_shown))
        ax = self.ax_
        size = font_size(ax, n_shown)
        span = (float(self.values.min()), float(self.values.max()))
        place = np.arange(n_shown)
        ax.hlines(place, *span, color="0.5", alpha=0.25, linewidth=0.8, zorder=0)
        ax.axvline(0, color=ink(), linewidth=0.8, zorder=1)
        for j in range(n_shown):
            self._draw_feature(j, span=span, area=_dot_area(ax, n_shown, n_dots=n_dots))
        if self.level is not None and np.isfinite(self.level).any():
            self._draw_key()
        open_frame(ax)
        labels = feature_labels(self.feature_names, label_width(ax, size))
        ax.set_yticks(place, labels, fontsize=size)
        ax.set_ylim(n_shown - 0.4, -0.6)
        person_ticks(ax.xaxis)
        describe_x(ax, value_label(self.unit, self.measure, honest=self.honest), *self._note())
        return self

    def _draw_feature(self, j: int, *, span: tuple[float, float], area: float) -> None:
        from matplotlib import colormaps

        offset = swarm(self.values[:, j], span)
        level = np.full(len(offset), np.nan) if self.level is None else self.level[:, j]
        self.ax_.scatter(
            self.values[:, j],
            j + offset,
            color=colormaps[SEQUENTIAL].with_extremes(bad=MISSING)(level),
            s=area,
            linewidths=0,
            rasterized=len(offset) > 500,  # thousands of dots make a heavy vector file
            zorder=2,
        )

    def _draw_key(self) -> None:
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(cmap=SEQUENTIAL)
        scale.set_clim(0, 1)
        bar = self.ax_.figure.colorbar(scale, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_ticks([0, 1], labels=["low", "high"])
        size = font_size(self.ax_, 16)  # about the length of the words below, in lines
        bar.set_label("value of the feature", fontsize=size, labelpad=-1.4 * size)
        bar.ax.tick_params(length=0, labelsize=size)
        bar.outline.set_visible(False)

    def _note(self) -> list[str]:
        n_dots, n_shown = self.values.shape
        parts = []
        if n_shown < self.n_features:
            parts.append(f"the strongest {n_shown} of {count(self.n_features, 'feature')}")
        if n_dots < self.n_rows:
            parts.append(f"{n_dots:,} of {count(self.n_rows, 'row')}")
        return [", ".join(parts)] if parts else []


def swarm(values: FloatArray, span: tuple[float, float]) -> FloatArray:
    """Return how far each dot of a line moves up or down, so that dots do not hide each other.

    Dots of almost the same value alternate around the line, in the order of the rows.

    Examples
    --------
    >>> swarm(np.array([0.5, 0.5, 0.5, 0.0]), (0.0, 1.0)).round(2)
    array([ 0.  ,  0.12, -0.12,  0.  ])
    """
    width = (span[1] - span[0]) or 1.0
    place = np.floor((values - span[0]) / width * _BINS).astype(np.int64)
    order = np.argsort(place, kind="stable")
    _, start, size = np.unique(place[order], return_index=True, return_counts=True)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(start, size)
    side = np.where(rank % 2 == 1, 1, -1)
    layers = max(1, int(size.max()) // 2)
    step = min(0.12, _HALF_HEIGHT / layers)
    return np.asarray(side * ((rank + 1) // 2) * step, dtype=np.float64)


def _levels(result: LocalImportance, rows: IntArray, *, shown: IntArray) -> FloatArray | None:
    columns = read_data(result, rows, columns=shown)
    if columns is None:
        return None
    unordered = np.full(len(rows), np.nan)
    levels = [_level(c.position) if c.categories is None else unordered for c in columns]
    return np.stack(levels, axis=1)


def _level(numbers: FloatArray) -> FloatArray:
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return numbers
    low, high = np.percentile(known, [5, 95])
    if low == high:
        low, high = known.min(), known.max()
    if low == high:
        return np.where(np.isnan(numbers), np.nan, 0.5)
    # Halves, because the difference of two large numbers may be infinite.
    return np.asarray(np.clip((numbers / 2 - low / 2) / (high / 2 - low / 2), 0, 1))


def _dot_area(ax: Any, n_shown: int, *, n_dots: int) -> float:
    line = ax.get_window_extent().height * 72 / ax.figure.dpi / n_shown
    diameter = np.clip(line / (6 if n_dots > 200 else 4), 1.5, 6)
    return float(diameter**2)
