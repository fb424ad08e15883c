"""The dependence scatter: the importance of one feature against its value."""

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
    legend_above,
    open_frame,
    person_ticks,
)
from localmdi.plots.captions import cell_text, elide, feature_labels, value_label
from localmdi.plots.colours import ADDED, MISSING, REMOVED, ink, palette
from localmdi.plots.result_parts import check_local, spread_rows
from localmdi.plots.row_groups import Groups, read_groups
from localmdi.results.axes import feature_positions
from localmdi.results.data_columns import read_data
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import LocalImportance
    from localmdi.typing import ArrayLike, FloatArray, ResultMeasure

__all__ = ["DependenceDisplay"]

_MARKERS = "osD^vP*X"
# Dots of a category spread over this much of the room between two categories.
_SPREAD = 0.6
_MAX_CATEGORIES = 50


@dataclass(eq=False, repr=False)
class DependenceDisplay:
    """How much uncertainty a feature removed for each row, against the feature's value.

    Categories stand beside each other, with their dots spread sideways; rows without a value have
    a place of their own at the right. Usually made by `from_result`.

    Parameters
    ----------
    position : ndarray of float64, shape (n_rows,)
        The feature's values, or the positions of their categories; NaN where missing.
    values : ndarray of float64, shape (n_rows,)
        The feature's importances.
    feature_name : str
        Name of the feature.
    unit : str
        Unit of the importances.
    categories : tuple of str or None
        The categories in the order of their positions; None for numbers.
    groups : Groups or None
        The label of every row, told apart by colour and marker.
    n_rows : int or None
        Number of rows of the whole result, of which these may be a part.
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
    >>> result = LocalImportance(np.array([[0.5], [0.2]]), 1.0, residual=np.array([0.5, 0.8]),
    ...     unit="bits", feature_names=("age",), n_trees=10, data=np.array([[30.0], [60.0]]))
    >>> display = DependenceDisplay.from_result(result, feature="age")
    >>> display.position
    array([30., 60.])
    >>> plt.close(display.figure_)
    """

    position: FloatArray
    values: FloatArray
    _: KW_ONLY
    feature_name: str
    unit: str
    categories: tuple[str, ...] | None = None
    groups: Groups | None = None
    n_rows: int | None = None
    measure: ResultMeasure = "drop"
    honest: bool = False
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

    @classmethod
    def from_result(
        cls,
        result: LocalImportance,
        *,
        feature: str | int,
        by: ArrayLike | None = None,
        max_rows: int = 10_000,
        ax: Axes | None = None,
    ) -> DependenceDisplay:
        """Draw one feature of a local result.

        Parameters
        ----------
        result : LocalImportance
            With its `data`, which every function of localmdi keeps; loaded results have none.
        feature : str or int
            Name or position of the feature.
        by : array-like of shape (n_rows,), optional
            Labels of the rows, the class for example, told apart by colour and marker.
        max_rows : int
            Of more rows this many are drawn, at even distances.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        DependenceDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5], [0.2]]), 1.0, residual=np.array([0.5, 0.8]),
        ...     unit="bits", feature_names=("sex",), n_trees=10, data=np.array([["m"], ["f"]]))
        >>> display = DependenceDisplay.from_result(result, feature="sex", by=["ill", "well"])
        >>> display.categories
        ('f', 'm')
        >>> plt.close(display.figure_)
        """
        check_local(result, "DependenceDisplay")
        chosen = feature_positions(feature, result.feature_names)
        columns = np.arange(len(result.feature_names))[chosen]
        if len(columns) != 1:
            raise ValueError(
                f"feature must be one name or one position; got {len(columns)} features. "
                "Call once for each feature."
            )
        rows = spread_rows(len(result), max_rows)
        data = read_data(result, rows, columns=columns)
        if data is None:
            raise ValueError(
                "the result must keep the data of its rows, one column per feature; it does not. "
                "Set it with result.with_data(X)."
            )
        if data[0].categories is not None and len(data[0].categories) > _MAX_CATEGORIES:
            raise ValueError(
                f"a feature must have at most {_MAX_CATEGORIES} categories to be drawn; "
                f"{elide(result.feature_names[columns[0]], 40)} has {len(data[0].categories)}. "
                "Select the rows of some of them."
            )
        display = cls(
            data[0].position,
            dense(result.values[rows][:, columns])[:, 0],
            feature_name=result.feature_names[columns[0]],
            unit=result.unit,
            measure=result.measure,
            honest=result.honest,
            categories=data[0].categories,
            groups=None if by is None else read_groups(by, len(result)).take(rows),
            n_rows=len(result),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> DependenceDisplay:
        """Draw the dots.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        DependenceDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> display = DependenceDisplay(np.array([30.0, 60.0]), np.array([0.5, 0.2]),
        ...                             feature_name="age", unit="bits")
        >>> display.plot(ax=ax).ax_.get_xlabel()
        'age'
        >>> plt.close(figure)
        """
        self.figure_, self.ax_ = get_axes(ax, (5.6, 4.0))
        open_frame(self.ax_, keep=("left", "bottom"))
        self.ax_.axhline(0, color=ink(), linewidth=0.8, zorder=1)
        x, missing_at = self._places()
        if self.groups is None:
            colours = np.where(self.values < 0, ADDED, REMOVED).tolist()
            self._draw_dots(x, np.full(len(x), True), colour=colours)
        else:
            colours = palette(len(self.groups.names))
            for i, name in enumerate(self.groups.names):
                colour = MISSING if name == "missing" else colours[i]
                self._draw_dots(x, self.groups.code == i, colour=colour, number=i)
            legend_above(self.ax_, len(self.groups.names))
        self._label_places(missing_at)
        person_ticks(self.ax_.yaxis)
        n_drawn = len(self.values)
        notes = [elide(self.feature_name, 60)]
        if self.n_rows is not None and n_drawn < self.n_rows:
            notes.append(f"{n_drawn:,} of {count(self.n_rows, 'row')}")
        describe_x(self.ax_, *notes)
        self.ax_.set_ylabel(
            value_label(self.unit, self.measure, honest=self.honest),
            fontsize=font_size(self.ax_, 12),
        )
        return self

    def _draw_dots(self, x: FloatArray, chosen: Any, *, colour: Any, number: int = 0) -> None:
        # Few dots are large; many are small and translucent.
        many = len(x) > 300
        self.ax_.scatter(
            x[chosen],
            self.values[chosen],
            s=12 if many else 28,
            alpha=0.6 if many else 0.85,
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)],
            linewidths=0,
            rasterized=len(x) > 2000,
            label=None if self.groups is None else elide(self.groups.names[number], 24),
            zorder=2,
        )

    def _places(self) -> tuple[FloatArray, float | None]:
        """Return where the dots stand, and where those without a value stand, if any."""
        missing = ~np.isfinite(self.position)
        known = self.position[~missing]
        if self.categories is not None:
            at = float(len(self.categories))
            x = np.where(missing, at, self.position)
            return x + _jitter(len(x)) * _SPREAD, at if missing.any() else None
        if not missing.any():
            return self.position, None
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        step = 0.08 * (high - low) or 1.0
        at = float(high + 1.5 * step)
        return np.where(missing, at + _jitter(len(missing)) * step, self.position), at

    def _label_places(self, missing_at: float | None) -> None:
        from matplotlib.ticker import MaxNLocator

        ax = self.ax_
        if self.categories is not None:
            names = [*self.categories, *["missing"] * (missing_at is not None)]
            size = max(6.0, font_size(ax, len(names) * 4, axis="x"))
            labels = feature_labels(names, 18)
            room = label_width(ax, size, share=1.0, most=400) / len(names)
            ax.set_xticks(np.arange(len(names)), labels, fontsize=size)
            upright = max(map(len, labels)) + 1 > room
            ax.tick_params(axis="x", length=0, rotation=90 if upright else 0)
            ax.set_xlim(-0.6, len(names) - 0.4)
        elif missing_at is not None:
            known = self.position[np.isfinite(self.position)]
            ticks = (
                MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(known.min(), known.max())
                if len(known)
                else []
            )
            kept = [t for t in ticks if known.min() <= t <= known.max()]
            labels = [*(cell_text(float(t)) for t in kept), "missing"]
            kept, labels = self._apart([*kept, missing_at], labels)
            ax.set_xticks(kept, labels)
        else:
            person_ticks(ax.xaxis)
            if max(abs(x) for x in ax.get_xlim()) >= 1e4:
                ax.locator_params(axis="x", nbins=4)

    def _apart(self, places: list[float], labels: list[str]) -> tuple[list[float], list[str]]:
        """Leave out ticks, from the right to the left, whose labels would touch the next one."""
        low, high = self.ax_.get_xlim()
        letters = label_width(self.ax_, font_size(self.ax_, 1), share=1.0, most=400)
        width = (high - low) / max(1, letters)
        kept = [len(places) - 1]
        for i in range(len(places) - 2, -1, -1):
            gap = places[kept[-1]] - places[i]
            if gap > width * (0.5 * (len(labels[i]) + len(labels[kept[-1]])) + 1):
                kept.append(i)
        kept.reverse()
        return [places[i] for i in kept], [labels[i] for i in kept]


def _jitter(n_dots: int) -> FloatArray:
    """Return numbers in [−½, ½) that fill the range evenly and are the same every time."""
    golden = (np.sqrt(5) - 1) / 2
    return np.asarray((np.arange(n_dots) * golden) % 1.0 - 0.5, dtype=np.float64)
