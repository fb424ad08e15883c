"""The heatmap: all rows side by side, one line per feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi._text import count
from localmdi.plots.canvas import (
    colour_bar,
    describe_x,
    font_size,
    get_axes,
    label_width,
    open_frame,
)
from localmdi.plots.captions import elide, feature_labels, value_label
from localmdi.plots.colours import TEXT, check_limit, diverging, symmetric_limit
from localmdi.plots.result_parts import (
    check_local,
    largest_features,
    mean_absolute,
    spread_rows,
)
from localmdi.plots.row_groups import Groups, read_groups
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import LocalImportance
    from localmdi.typing import ArrayLike, FloatArray, IntArray, ResultMeasure

__all__ = ["HeatmapDisplay", "similarity_order"]

# The colours end at this percentile, so that a single row cannot make the others pale.
_PERCENTILE = 99.5
# A feature this many times as strong as the next would leave the others without colour.
_PALE = 4


@dataclass(eq=False, repr=False)
class HeatmapDisplay:
    """The importances of many rows side by side, one line per feature.

    Colours are centred on zero: teal removed uncertainty, orange raised it. Usually made by
    `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_shown_rows, n_shown)
        The importances in the order drawn: rows from left to right, the strongest feature first.
    feature_names : tuple of str
        Names of the features shown.
    unit : str
        Unit of the values.
    rows : ndarray of int64, shape (n_shown_rows,)
        Positions of the rows in the result.
    groups : tuple of (str, int)
        Names of groups of rows and their numbers of rows, from left to right; may be empty.
    order : str
        How the rows are ordered, in words.
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
    mappable_
        The drawn image, for a colour bar that several maps share.

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

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    rows: IntArray
    groups: tuple[tuple[str, int], ...] = ()
    order: str = ""
    n_rows: int
    n_features: int
    measure: ResultMeasure = "drop"
    honest: bool = False
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)
    mappable_: Any = field(default=None, init=False)

    @classmethod
    def from_result(
        cls,
        result: LocalImportance,
        *,
        by: ArrayLike | None = None,
        order: Literal["similarity", "given"] | ArrayLike = "similarity",
        max_features: int = 20,
        max_rows: int = 1000,
        limit: float | None = None,
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
        limit : float or None
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
        shown = largest_features(mean_absolute(result.values), max_features)
        groups = None if by is None else read_groups(by, len(result))
        rows, how = _choose_rows(order, len(result), max_rows=max_rows)
        values = dense(result.values[rows][:, shown])
        place = _arrange(values, None if groups is None else groups.code[rows], order=order)
        display = cls(
            values[place],
            tuple(result.feature_names[i] for i in shown),
            unit=result.unit,
            measure=result.measure,
            honest=result.honest,
            rows=rows[place],
            groups=_runs(groups, rows[place]),
            order=how,
            n_rows=len(result),
            n_features=len(result.feature_names),
        )
        return display.plot(ax=ax, limit=limit)

    def plot(
        self, ax: Axes | None = None, *, limit: float | None = None, colorbar: bool = True
    ) -> HeatmapDisplay:
        """Draw the heatmap.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.
        limit : float or None
            Value of the darkest colours; None: as in `from_result`.
        colorbar : bool
            Whether to draw the key of the colours.

        Returns
        -------
        HeatmapDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> display = HeatmapDisplay(np.eye(2), ("age", "dose"), unit="bits", rows=np.arange(2),
        ...                          n_rows=2, n_features=2)
        >>> display.plot(ax=ax, limit=2).mappable_.get_clim()
        (-2.0, 2.0)
        >>> plt.close(figure)
        """
        end = check_limit(limit)
        if end is None:
            end = symmetric_limit(np.array([self._strengths().max()]))
            dominant = self._dominant()
            if dominant is not None:
                # The other features keep half of the colours; this one is darkest throughout.
                end = 2 * symmetric_limit(np.delete(self._strengths(), dominant))
        n_shown = len(self.feature_names)
        self.figure_, self.ax_ = get_axes(ax, (7.2, 1.3 + 0.26 * n_shown))
        ax = self.ax_
        self.mappable_ = ax.imshow(
            self.values.T,
            cmap=diverging(),
            vmin=-end,
            vmax=end,
            aspect="auto",
            interpolation="none",
        )
        open_frame(ax, keep=())
        size = font_size(ax, n_shown)
        labels = feature_labels(self.feature_names, label_width(ax, size))
        ax.set_yticks(np.arange(n_shown), labels, fontsize=size)
        ax.set_xticks([])
        notes = [self._note()]
        over = [self.feature_names[j] for j in np.flatnonzero(self._strengths() > 1.01 * end)]
        if over:
            named = elide(over[0], 30) if len(over) == 1 else count(len(over), "feature")
            notes.append(f"darkest: the values of {named} go beyond the colours")
        describe_x(ax, *notes)
        self._draw_groups()
        if colorbar:
            colour_bar(
                ax, self.mappable_, label=value_label(self.unit, self.measure, honest=self.honest)
            )
        return self

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
        font = font_size(self.ax_, 1)
        letters = label_width(self.ax_, font, share=1.0)
        start = 0
        for name, size in self.groups:
            if start:
                self.ax_.axvline(start - 0.5, color=TEXT, linewidth=1.2)
            room = int(letters * size / n_rows)
            label = elide(name, max(room, 1))
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


def _choose_rows(order: Any, n_rows: int, *, max_rows: Any) -> tuple[IntArray, str]:
    kept = spread_rows(n_rows, max_rows)
    if isinstance(order, str):
        if order not in ("similarity", "given"):
            raise ValueError(
                f"order must be 'similarity', 'given' or positions of rows; got {order!r}. "
                "To sort the rows by something, pass np.argsort of it."
            )
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
    return positions[spread_rows(len(positions), max_rows)].astype(np.int64), ""


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
