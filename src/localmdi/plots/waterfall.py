"""The waterfall: one row's way from the uncertainty at the root down to what is left."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import count
from localmdi.plots.canvas import (
    describe_x,
    font_size,
    get_axes,
    label_width,
    open_frame,
    person_ticks,
    write_title,
)
from localmdi.plots.captions import (
    cell_text,
    feature_labels,
    format_value,
    impurity_label,
    row_story,
    value_label,
)
from localmdi.plots.colours import ADDED, LEVEL, REMOVED, ink
from localmdi.plots.result_parts import check_local, largest_features, row_position
from localmdi.results.data_columns import read_data
from localmdi.results.fields import dense, predicts_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import LocalImportance
    from localmdi.typing import FloatArray, IntArray, ResultMeasure

__all__ = ["WaterfallDisplay"]

# A gap below this share of the scale is rounding.
_ROUNDING = 1e-9


@dataclass(eq=False, repr=False)
class WaterfallDisplay:
    """How each feature changed the uncertainty about one row, step by step.

    The first bar is the uncertainty at the root, the last one what is left at the leaves, and the
    bars between lead from one to the other: ``values.sum() == baseline - residual``. A step to
    the left, in teal, removed uncertainty; a step to the right, in orange, raised it, and its
    value is negative. Measures without a baseline have
    no levels to lead from one to the other: their values are drawn as bars that start at zero.
    Honest results end with what is really left: what rows show that the trees have not seen.
    Usually made by `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_steps,)
        What each step removed, by decreasing size; negative if it raised the uncertainty.
    step_names : tuple of str
        Names of the features; then, if they are there, "N other features" and, for results
        without some of the model's features, "features left out".
    baseline : float or None
        Impurity at the root.
    residual : float or None
        Impurity at the leaf.
    unit : str
        Unit of all of them.
    data : tuple of str or None
        The row's own values as text; "" for steps that are not one feature.
    n_more : int
        How many steps, at the end, are not one feature.
    title : str
        Which row it is.
    measure : {"drop", "gain", "saabas"}
        What the values are.
    honest : bool
        Whether they were measured on rows that the trees have not seen.
    direction : ndarray of float64, shape (n_steps,), or None
        How each step moved the share of the predicted class or the predicted number; NaN: unknown.
    predicts_classes : bool or None
        Whether the direction is that of a class; None: as the unit says.

    Attributes
    ----------
    levels : ndarray of float64, shape (n_steps + 1,), or None
        The uncertainty before the first step and after each, in the order drawn; None without a
        baseline.
    order : ndarray of int64, shape (n_steps,)
        The order in which the steps are drawn.
    figure_, ax_
        Where it was drawn last.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
    ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
    >>> display = WaterfallDisplay.from_result(result)
    >>> display.levels
    array([1.  , 0.5 , 0.25])
    >>> plt.close(display.figure_)
    """

    values: FloatArray
    step_names: tuple[str, ...]
    _: KW_ONLY
    baseline: float | None
    residual: float | None
    unit: str
    data: tuple[str, ...] | None = None
    n_more: int = 0
    title: str = ""
    measure: ResultMeasure = "drop"
    honest: bool = False
    direction: FloatArray | None = None
    predicts_classes: bool | None = None
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

    @property
    def levels(self) -> FloatArray | None:
        """The uncertainty before the first step and after each; None without a baseline.

        Examples
        --------
        >>> WaterfallDisplay(np.array([0.75]), ("age",), baseline=1.0, residual=0.25,
        ...                  unit="bits").levels
        array([1.  , 0.25])
        """
        return None if self.baseline is None else self._levels(self.order)

    @property
    def order(self) -> IntArray:
        """The order in which the steps are drawn: as given, or those that raised it first.

        The latter where the way down would pass below zero, which no uncertainty can.

        Examples
        --------
        >>> WaterfallDisplay(np.array([1.5, -0.75]), ("age", "sex"), baseline=1.0, residual=0.25,
        ...                  unit="bits").order
        array([1, 0])
        """
        given = np.arange(len(self.values))
        if self.baseline is None or self.residual is None:
            return given
        lowest = float(np.min(self._levels(given), initial=0.0))
        scale = abs(self.baseline) + float(np.abs(self.values).sum())
        if lowest >= min(0.0, self.residual) - _ROUNDING * scale:
            return given
        return np.argsort(self.values >= 0, kind="stable")

    def _levels(self, order: IntArray) -> FloatArray:
        start = 0.0 if self.baseline is None else self.baseline
        return start - np.concatenate([[0.0], np.cumsum(self.values[order])])

    @classmethod
    def from_result(
        cls,
        result: LocalImportance,
        *,
        row: int = 0,
        max_features: int = 12,
        ax: Axes | None = None,
    ) -> WaterfallDisplay:
        """Draw one row of a local result.

        Parameters
        ----------
        result : LocalImportance
            Its `data`, when kept, stand beside the names.
        row : int
            Position of the row.
        max_features : int
            How many features get a step of their own, by decreasing absolute value; the others
            make one step together.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        WaterfallDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25, 0.125]]), 1.0, unit="bits", n_trees=10,
        ...     residual=np.array([0.125]), feature_names=("age", "dose", "sex"))
        >>> WaterfallDisplay.from_result(result, max_features=1).step_names
        ('age', '2 other features')
        >>> plt.close("all")
        """
        check_local(result, "WaterfallDisplay")
        row = row_position(row, len(result))
        values = dense(result.values[[row]])[0]
        shown = largest_features(values, max_features)
        if len(shown) + 1 == len(values):  # one other feature may as well have its name
            shown = largest_features(values, len(values))
        baseline = residual = change = None
        if result.baseline is not None and result.residual is not None:
            baseline = float(np.broadcast_to(result.baseline, len(result))[row])
            residual = float(result.residual[row])
            change = baseline - residual
        rest = _rest(values, shown, change=change)
        display = cls(
            np.concatenate([values[shown], list(rest.values())]),
            (*(result.feature_names[i] for i in shown), *rest),
            baseline=baseline,
            residual=residual,
            unit=result.unit,
            data=_read_row(result, row, shown=shown, n_more=len(rest)),
            n_more=len(rest),
            title=row_story(result, row),
            measure=result.measure,
            honest=result.honest,
            direction=_read_direction(result, row, shown=shown, rest=rest),
            predicts_classes=predicts_classes(result),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> WaterfallDisplay:
        """Draw the waterfall.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        WaterfallDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> display = WaterfallDisplay(np.array([0.75]), ("age",), baseline=1.0, residual=0.25,
        ...                            unit="bits")
        >>> [text.get_text() for text in display.plot(ax=ax).ax_.get_yticklabels()]
        ['uncertainty at the root', 'age', 'left at the leaves']
        >>> plt.close(figure)
        """
        numbers = self._numbers()
        n_lines = len(numbers)
        self.figure_, self.ax_ = get_axes(ax, (6.4, 1.1 + 0.28 * n_lines))
        size = font_size(self.ax_, n_lines)
        open_frame(self.ax_)
        start, end, colours = self._bars()
        self._draw_bars(start, end, colours=colours)
        self._draw_numbers(np.maximum(start, end), numbers, size=size)
        low, high = min(start.min(), end.min()), max(start.max(), end.max())
        span = (high - low) or 1.0
        self.ax_.set_xlim(low - 0.02 * span * (low < 0), high + 0.16 * span)
        labels = self._line_labels(label_width(self.ax_, size, share=0.75))
        self.ax_.set_yticks(np.arange(n_lines), labels, fontsize=size)
        self.ax_.set_ylim(n_lines - 0.4, -0.6)
        person_ticks(self.ax_.xaxis)
        describe_x(self.ax_, *self._axis_title())
        write_title(self.ax_, self.title, loc="left")
        return self

    def _axis_title(self) -> list[str]:
        notes = []
        if self.honest and self.baseline is not None:
            notes.append("measured on rows that the trees have not seen")
        if self.direction is not None:
            known = self.predicts_classes
            classes = self.unit in ("bits", "gini") if known is None else known
            notes.append(
                "↑ towards the predicted class, ↓ away from it"
                if classes
                else "↑ raised the prediction, ↓ lowered it"
            )
        if self.baseline is None:
            return [value_label(self.unit, self.measure, honest=self.honest), *notes]
        return [impurity_label(self.unit), *notes]

    def _bars(self) -> tuple[FloatArray, FloatArray, list[str]]:
        """Return where every bar starts and ends, from top to bottom, and its colour."""
        values = self.values[self.order]
        colours = [REMOVED if value >= 0 else ADDED for value in values]
        levels = self.levels
        if levels is None:
            return np.zeros(len(values)), values, colours
        start = np.concatenate([[0.0], levels[:-1], [0.0]])
        end = np.concatenate([[levels[0]], levels[1:], [self.residual]])
        return start, end, [LEVEL, *colours, LEVEL]

    def _draw_bars(self, start: FloatArray, end: FloatArray, *, colours: list[str]) -> None:
        lines = np.arange(len(start))
        self.ax_.barh(lines, end - start, left=start, height=0.75, color=colours)
        levels = self.levels
        if levels is not None:
            self.ax_.vlines(levels, lines[:-1], lines[1:], color="0.5", linewidth=0.8)
        self.ax_.axvline(0, color=ink(), linewidth=0.8)

    def _numbers(self) -> list[str]:
        """Return what stands beside the bars: the levels, and the values as the result has them."""
        scale = float(np.abs(self.values).max(initial=0.0)) or abs(self.baseline or 0.0)
        arrows = [self._arrow(i) for i in range(len(self.values))]
        values = [format_value(self.values[i], scale) + arrows[i] for i in self.order]
        if self.baseline is None or self.residual is None:
            return values
        return [
            format_value(self.baseline, scale),
            *values,
            format_value(self.residual, scale),
        ]

    def _arrow(self, step: int) -> str:
        move = 0.0 if self.direction is None else self.direction[step]
        return " ↑" if move > 0 else " ↓" if move < 0 else ""

    def _draw_numbers(self, ends: FloatArray, numbers: list[str], *, size: float) -> None:
        for line, (end, number) in enumerate(zip(ends, numbers, strict=True)):
            self.ax_.annotate(
                number,
                (max(end, 0.0), line),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
            )

    def _line_labels(self, width: int) -> list[str]:
        names = self.step_names
        cells = ("",) * len(names) if self.data is None else self.data
        ends = [f" = {cell}" if cell else "" for cell in cells]
        n_features = len(names) - self.n_more
        room = max(12, width - max(map(len, ends)))
        labels = [*feature_labels(names[:n_features], room), *names[n_features:]]
        steps = [labels[i] + ends[i] for i in self.order]
        if self.baseline is None:
            return steps
        end = "really left" if self.honest else "left at the leaves"
        return [f"{unit_of(self.unit).quantity} at the root", *steps, end]


def _rest(values: FloatArray, shown: IntArray, *, change: float | None) -> dict[str, float]:
    """Return the steps that are not one feature, so that all steps add up to the change."""
    rest = {}
    n_others = len(values) - len(shown)
    if n_others:
        rest[count(n_others, "other feature")] = float(np.delete(values, shown).sum())
    if change is None:
        return rest
    gap = change - float(values.sum())
    if abs(gap) > _ROUNDING * (np.abs(values).sum() + abs(change)):
        rest["features left out"] = gap
    return rest


def _read_direction(
    result: LocalImportance, row: int, *, shown: IntArray, rest: dict[str, float]
) -> FloatArray | None:
    if result.direction is None:
        return None
    moves = dense(result.direction[[row]])[0]
    others = [np.delete(moves, shown).sum()] if len(shown) < len(moves) else []
    unknown = [np.nan] * (len(rest) - len(others))
    return np.concatenate([moves[shown], others, unknown])


def _read_row(
    result: LocalImportance, row: int, *, shown: IntArray, n_more: int
) -> tuple[str, ...] | None:
    columns = read_data(result, np.array([row]), columns=shown)
    if columns is None:
        return None
    return (*(cell_text(column.raw[0]) for column in columns), *[""] * n_more)
