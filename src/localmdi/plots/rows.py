"""Many rows at once: as dots beside each other, as a map, and against the values of a feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from localmdi._text import count
from localmdi.plots import style
from localmdi.plots.display import (
    Display,
    Groups,
    Map,
    check_local,
    fields_of,
    known_rows,
    mean_absolute,
    own_columns,
    read_groups,
    spread,
    strongest,
)
from localmdi.results.axes import feature_positions
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import LocalImportance
    from localmdi.results.own_data import DataColumn
    from localmdi.typing import ArrayLike, FloatArray, IntArray

# Of a beeswarm: dots of almost the same value alternate around their line.
_BINS = 120
_HALF_HEIGHT = 0.42
# The colours of a heatmap end at this percentile, so that a single row cannot make the others pale.
_PERCENTILE = 99.5
# A feature this many times as strong as the next would leave the others without colour.
_PALE = 4
_MARKERS = "osD^vP*X"
# Dots of a category spread over this much of the room between two categories.
_SPREAD = 0.6
_MAX_CATEGORIES = 50


@dataclass(eq=False, repr=False)
class BeeswarmDisplay(Display):
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
    unit, measure, honest
        As in the result.
    level : ndarray of float64, shape (n_dots, n_shown), or None
        Where the row's value lies between the feature's low (0) and high (1) values; NaN: grey.
    n_rows, n_features : int
        The size of the whole result, of which this may be a part.

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
    level: FloatArray | None
    n_rows: int
    n_features: int

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
        known = known_rows(result)
        shown = strongest(mean_absolute(result.values, known), max_features)
        rows = spread(known, max_rows)
        display = cls(
            dense(result.values[rows][:, shown]),
            tuple(result.feature_names[i] for i in shown),
            **fields_of(result),
            level=_levels(result, rows, shown=shown),
            n_rows=len(result),
            n_features=len(result.feature_names),
        )
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.2 + 0.34 * len(self.feature_names)

    def _draw(self) -> None:
        ax = self.ax_
        n_dots, n_shown = self.values.shape
        span = (float(self.values.min()), float(self.values.max()))
        ax.hlines(np.arange(n_shown), *span, color="0.5", alpha=0.25, linewidth=0.8, zorder=0)
        ax.axvline(0, color=style.ink(), linewidth=0.8, zorder=1)
        area = _dot_area(ax, n_shown, n_dots=n_dots)
        for j in range(n_shown):
            self._draw_feature(j, span=span, area=area)
        if self.level is not None and np.isfinite(self.level).any():
            self._draw_key()
        style.open_frame(ax)
        style.name_lines(ax, self.feature_names)
        ax.set_ylim(n_shown - 0.4, -0.6)
        style.person_ticks(ax.xaxis)
        style.describe_x(ax, self._label(), *self._note())

    def _draw_feature(self, j: int, *, span: tuple[float, float], area: float) -> None:
        from matplotlib import colormaps

        offset = swarm(self.values[:, j], span)
        level = np.full(len(offset), np.nan) if self.level is None else self.level[:, j]
        self.ax_.scatter(
            self.values[:, j],
            j + offset,
            color=colormaps[style.SEQUENTIAL].with_extremes(bad=style.MISSING)(level),
            s=area,
            linewidths=0,
            rasterized=len(offset) > 500,  # thousands of dots make a heavy vector file
            zorder=2,
        )

    def _draw_key(self) -> None:
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(cmap=style.SEQUENTIAL)
        scale.set_clim(0, 1)
        bar = self.ax_.figure.colorbar(scale, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_ticks([0, 1], labels=["low", "high"])
        size = style.font_size(self.ax_, 16)  # about the length of the words below, in lines
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
    columns = own_columns(result, rows, columns=shown)
    return None if columns is None else np.stack([_level(c, len(rows)) for c in columns], axis=1)


def _level(column: DataColumn | None, n_rows: int) -> FloatArray:
    if column is None or column.categories is not None:
        return np.full(n_rows, np.nan)
    numbers = np.where(np.isfinite(column.position), column.position, np.nan)
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


@dataclass(eq=False, repr=False)
class HeatmapDisplay(Map):
    """The importances of many rows side by side, one line per feature.

    Colours are centred on zero: teal removed uncertainty, orange raised it. Usually made by
    `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_shown_rows, n_shown)
        The importances in the order drawn: rows from left to right, the strongest feature first.
    feature_names : tuple of str
        Names of the features shown.
    unit, measure, honest
        As in the result.
    rows : ndarray of int64, shape (n_shown_rows,)
        Positions of the rows in the result.
    groups : tuple of (str, int)
        Names of groups of rows and their numbers of rows, from left to right; may be empty.
    order : str
        How the rows are ordered, in words.
    n_rows, n_features : int
        The size of the whole result, of which this may be a part.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.
    mappable_
        The drawn image, for a colour bar that several maps share.
    vmax_
        The value of the darkest colours.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.0], [0.0, 0.5], [0.4, 0.0]]), 1.0, unit="bits",
    ...     residual=np.array([0.5, 0.5, 0.6]), feature_names=("age", "dose"), n_trees=10)
    >>> display = HeatmapDisplay.from_result(result)
    >>> display.rows
    array([1, 0, 2])
    >>> plt.close(display.figure_)
    """

    feature_names: tuple[str, ...]
    _: KW_ONLY
    rows: IntArray
    groups: tuple[tuple[str, int], ...] = ()
    order: str = ""
    n_rows: int
    n_features: int
    _KEY: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def from_result(
        cls,
        result: LocalImportance,
        *,
        by: ArrayLike | None = None,
        order: Literal["similarity", "given"] | ArrayLike = "similarity",
        max_features: int = 20,
        max_rows: int = 1000,
        vmax: float | None = None,
        ax: Axes | None = None,
    ) -> HeatmapDisplay:
        """Draw the rows of a local result.

        Parameters
        ----------
        result : LocalImportance
            What to draw.
        by : array-like of shape (n_rows,), optional
            Labels: the rows of each label stand together, in sorted order of the labels.
        order : "similarity", "given" or array-like of ints
            Rows with similar values beside each other, or as they are, or positions of the rows
            to draw from left to right.
        max_features : int
            How many features to show, by decreasing mean absolute value over all rows.
        max_rows : int
            Of more rows this many are drawn, at even distances.
        vmax : float or None
            Value of the darkest colours; None: 99.5 % of each feature's values lie within, except
            those of a feature that is more than four times as strong as any other.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        HeatmapDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5], [0.1], [0.4]]), 1.0, unit="bits", n_trees=10,
        ...     residual=np.array([0.5, 0.9, 0.6]), feature_names=("age",))
        >>> display = HeatmapDisplay.from_result(result, by=["well", "ill", "well"])
        >>> display.groups
        (('ill', 1), ('well', 2))
        >>> plt.close(display.figure_)
        """
        check_local(result, "HeatmapDisplay")
        known = known_rows(result)
        shown = strongest(mean_absolute(result.values, known), max_features)
        groups = None if by is None else read_groups(by, len(result))
        rows, how = _choose_rows(order, len(result), known=known, max_rows=max_rows)
        values = dense(result.values[rows][:, shown])
        place = _arrange(values, None if groups is None else groups.code[rows], order=order)
        display = cls(
            values[place],
            tuple(result.feature_names[i] for i in shown),
            **fields_of(result),
            rows=rows[place],
            groups=_runs(groups, rows[place]),
            order=how,
            n_rows=len(result),
            n_features=len(result.feature_names),
        )
        return display.plot(ax=ax, vmax=vmax)

    def _scale(self) -> float:
        dominant = self._dominant()
        if dominant is None:
            return style.largest(self._strengths())
        # The other features keep half of the colours; this one is darkest throughout.
        return 2 * style.largest(np.delete(self._strengths(), dominant))

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.3 + 0.26 * len(self.feature_names)

    def _draw(self) -> None:
        ax, end = self.ax_, self.vmax_
        self.mappable_ = ax.imshow(
            self.values.T,
            cmap=style.diverging(),
            vmin=-end,
            vmax=end,
            aspect="auto",
            interpolation="none",
        )
        style.open_frame(ax, keep=())
        style.name_lines(ax, self.feature_names)
        ax.set_xticks([])
        notes = [self._note()]
        over = [self.feature_names[j] for j in np.flatnonzero(self._strengths() > 1.01 * end)]
        if over:
            named = style.elide(over[0], 30) if len(over) == 1 else count(len(over), "feature")
            notes.append(f"darkest: the values of {named} go beyond the colours")
        style.describe_x(ax, *notes)
        self._draw_groups()

    def _strengths(self) -> FloatArray:
        """Return how far the values of each feature reach, but for single rows."""
        return np.asarray(np.nanpercentile(np.abs(self.values), _PERCENTILE, axis=0))

    def _dominant(self) -> int | None:
        """Return the feature beside which all others would be pale, if there is one."""
        strength = self._strengths()
        if len(strength) < 2:
            return None
        second, first = np.argsort(strength)[-2:]
        pale = 0 < strength[second] * _PALE < strength[first]
        return int(first) if pale else None

    def _draw_groups(self) -> None:
        n_rows = len(self.values)
        font = style.font_size(self.ax_, 1)
        letters = style.label_width(self.ax_, font, share=1.0)
        start = 0
        for name, size in self.groups:
            if start:
                self.ax_.axvline(start - 0.5, color=style.TEXT, linewidth=1.2)
            room = int(letters * size / n_rows)
            label = style.elide(name, max(room, 1))
            if label.strip("…"):
                self.ax_.annotate(
                    label,
                    (start - 0.5 + size / 2, 1.0),
                    xycoords=("data", "axes fraction"),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                    va="bottom",
                    fontsize=font,
                )
            start += size

    def _note(self) -> str:
        n_drawn, n_shown = self.values.shape
        rows = count(self.n_rows, "row")
        parts = [rows if n_drawn == self.n_rows else f"{n_drawn:,} of {rows}", self.order]
        if n_shown < self.n_features:
            parts.append(f"the strongest {n_shown} of {count(self.n_features, 'feature')}")
        return ", ".join(part for part in parts if part)


def similarity_order(values: FloatArray) -> IntArray:
    """Return an order in which rows of similar values stand beside each other.

    The leaves of a hierarchical clustering by average distance, from left to right.

    Examples
    --------
    >>> similarity_order(np.array([[0.0], [5.0], [0.5], [6.0]]))
    array([0, 2, 1, 3])
    """
    if len(values) < 3:
        return np.arange(len(values))
    from scipy.cluster.hierarchy import leaves_list, linkage

    return np.asarray(leaves_list(linkage(values, "average")), dtype=np.int64)


def _choose_rows(
    order: Any, n_rows: int, *, known: IntArray, max_rows: Any
) -> tuple[IntArray, str]:
    """Return the rows to draw, and how they are ordered, in words."""
    kept = spread(known, max_rows)
    if isinstance(order, str) and order in ("similarity", "given"):
        return kept, "ordered by similarity" if order == "similarity" and n_rows > 2 else ""
    positions = np.asarray(order)
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or not len(positions):
        raise ValueError(
            f"order must be 'similarity', 'given' or positions of rows; got {order!r}. "
            "To sort the rows by something, pass np.argsort of it."
        )
    if positions.min() < 0 or positions.max() >= n_rows:
        raise IndexError(
            f"positions in order must lie in [0, {n_rows}); got {positions.min()} to "
            f"{positions.max()}. Compare with len(result)."
        )
    kept = positions[np.isin(positions, known)].astype(np.int64)
    if not len(kept):
        raise ValueError(
            f"order must name at least one row with values; got {order!r}, whose values are NaN. "
            "Add other rows."
        )
    return spread(kept, max_rows), ""


def _arrange(values: FloatArray, code: IntArray | None, *, order: Any) -> IntArray:
    """Return the places of the chosen rows: group by group, and ordered in each."""
    code = np.zeros(len(values), dtype=np.int64) if code is None else code
    parts = []
    for group in np.unique(code):
        members = np.flatnonzero(code == group)
        by_value = isinstance(order, str) and order == "similarity"
        parts.append(members[similarity_order(values[members])] if by_value else members)
    return np.concatenate(parts)


def _runs(groups: Groups | None, rows: IntArray) -> tuple[tuple[str, int], ...]:
    if groups is None:
        return ()
    found, size = np.unique(groups.code[rows], return_counts=True)
    return tuple((groups.names[g], int(n)) for g, n in zip(found, size, strict=True))


@dataclass(eq=False, repr=False)
class DependenceDisplay(Display):
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
    unit, measure, honest
        As in the result.
    categories : tuple of str or None
        The categories in the order of their positions; None for numbers.
    groups : Groups or None
        The label of every row, told apart by colour and marker.
    n_rows : int or None
        Number of rows of the whole result, of which these may be a part.

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
    categories: tuple[str, ...] | None = None
    groups: Groups | None = None
    n_rows: int | None = None

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
        rows = spread(known_rows(result), max_rows)
        data = own_columns(result, rows, columns=columns)
        if data is None:
            raise ValueError(
                "the result must keep the data of its rows, one column per feature; it does not. "
                "Set it with result.attach_data(X)."
            )
        (own,), name = data, result.feature_names[columns[0]]
        if own is None:
            raise ValueError(
                f"feature must be a column of the rows; got {name!r}, where boosted trees start. "
                "Choose another."
            )
        if own.categories is not None and len(own.categories) > _MAX_CATEGORIES:
            raise ValueError(
                f"a feature must have at most {_MAX_CATEGORIES} categories to be drawn; "
                f"{style.elide(name, 40)} has {len(own.categories)}. Select the rows of some."
            )
        display = cls(
            own.position,
            dense(result.values[rows][:, columns])[:, 0],
            feature_name=name,
            **fields_of(result),
            categories=own.categories,
            groups=None if by is None else read_groups(by, len(result)).take(rows),
            n_rows=len(result),
        )
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.6, 4.0

    def _draw(self) -> None:
        style.open_frame(self.ax_, keep=("left", "bottom"))
        self.ax_.axhline(0, color=style.ink(), linewidth=0.8, zorder=1)
        x, missing_at = self._places()
        if self.groups is None:
            colours = np.where(self.values < 0, style.ADDED, style.REMOVED).tolist()
            self._draw_dots(x, np.full(len(x), True), colour=colours)
        else:
            colours = style.palette(len(self.groups.names))
            for i, name in enumerate(self.groups.names):
                colour = style.MISSING if name == "missing" else colours[i]
                self._draw_dots(x, self.groups.code == i, colour=colour, number=i)
            style.legend_above(self.ax_, len(self.groups.names))
        self._label_places(missing_at)
        style.person_ticks(self.ax_.yaxis)
        n_drawn = len(self.values)
        notes = [style.elide(self.feature_name, 60)]
        if self.n_rows is not None and n_drawn < self.n_rows:
            notes.append(f"{n_drawn:,} of {count(self.n_rows, 'row')}")
        style.describe_x(self.ax_, *notes)
        self.ax_.set_ylabel(self._label(), fontsize=style.font_size(self.ax_, 12))

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
            label=None if self.groups is None else style.elide(self.groups.names[number], 24),
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
            size = max(6.0, style.font_size(ax, len(names) * 4, axis="x"))
            labels = style.feature_labels(names, 18)
            room = style.label_width(ax, size, share=1.0, most=400) / len(names)
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
            labels = [*(style.cell_text(float(t)) for t in kept), "missing"]
            kept, labels = self._apart([*kept, missing_at], labels)
            ax.set_xticks(kept, labels)
        else:
            style.person_ticks(ax.xaxis)
            if max(abs(x) for x in ax.get_xlim()) >= 1e4:
                ax.locator_params(axis="x", nbins=4)

    def _apart(self, places: list[float], labels: list[str]) -> tuple[list[float], list[str]]:
        """Leave out ticks, from the right to the left, whose labels would touch the next one."""
        low, high = self.ax_.get_xlim()
        letters = style.label_width(self.ax_, style.font_size(self.ax_, 1), share=1.0, most=400)
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
