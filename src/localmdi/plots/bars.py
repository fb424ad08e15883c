"""Bars: the importance of each feature, and one row's way from what was unknown to what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import count, number_text, with_unit
from localmdi.plots import style
from localmdi.plots.display import (
    Display,
    check_local,
    check_rows,
    fields_of,
    one_row,
    own_columns,
    row_title,
    strongest,
)
from localmdi.results import ClassImportance, Comparison, GlobalImportance, LocalImportance
from localmdi.results.fields import dense, predicts_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.typing import BoolArray, ErrorOf, FloatArray, IntArray

_NORMAL_95 = 1.96
# A gap below this share of the scale is rounding.
_ROUNDING = 1e-9


@dataclass(eq=False, repr=False)
class BarDisplay(Display):
    """The importance of each feature as a bar, with its 95 % interval where it is known.

    Usually made by `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_labels, n_shown)
        The importances of the features shown, strongest first; one row if there are no labels.
    feature_names : tuple of str
        Names of the features shown.
    unit, measure, honest
        As in the result.
    standard_error : ndarray like values, or None
        Whiskers reach 1.96 standard errors to both sides.
    labels : tuple of str or None
        Names of the groups of rows; None: one group of all rows.
    n_others : int
        Number of features that are not shown.
    others : float
        The sum of their values, of all rows.
    error : {"trees", "labels", "both", "sample"}
        What the standard errors are of.
    noise : ndarray of bool, shape (n_shown,), or None
        Features that cannot be told from noise, drawn grey; None: not tested.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from localmdi.results import GlobalImportance
    >>> result = GlobalImportance(np.array([0.2, 0.5]), unit="bits", n_trees=10,
    ...                           feature_names=("age", "dose"))
    >>> display = BarDisplay.from_result(result)
    >>> display.feature_names, display.ax_.get_xlabel()
    (('dose', 'age'), 'uncertainty removed (bits)')
    >>> plt.close(display.figure_)
    """

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    standard_error: FloatArray | None = None
    labels: tuple[str, ...] | None = None
    n_others: int = 0
    others: float = 0.0
    error: ErrorOf = "trees"
    noise: BoolArray | None = None

    @classmethod
    def from_result(
        cls,
        result: GlobalImportance
        | LocalImportance
        | ClassImportance
        | Comparison
        | Mapping[Any, GlobalImportance],
        *,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> BarDisplay:
        """Draw global importances, the mean of local ones, or one mean per label.

        Parameters
        ----------
        result : GlobalImportance, LocalImportance, ClassImportance, Comparison, or dict
            A local result is drawn as its mean over rows, one by class with a bar for each class,
            a comparison with the means of both, side by side; a dict of label to
            GlobalImportance comes from ``mean(by=labels)``.
        max_features : int
            How many features to show, by decreasing absolute value (of several labels the mean);
            honest gains by decreasing value, because those below zero are noise.
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        BarDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), 1.0, unit="bits",
        ...     residual=np.array([0.25, 0.75]), feature_names=("age", "dose"), n_trees=10)
        >>> display = BarDisplay.from_result(result.mean(by=["ill", "well"]))
        >>> display.labels, display.values
        (('ill', 'well'), array([[0.5 , 0.25],
               [0.25, 0.  ]]))
        >>> plt.close(display.figure_)
        """
        labels, means = _read_means(result)
        values = np.stack([mean.values for mean in means])
        check_rows(*values.shape)
        weight = np.array([mean.weight for mean in means])
        gains = all(mean.honest and mean.measure != "loss" for mean in means)
        strength = np.maximum(values, 0.0) if gains else np.abs(values)
        shown = strongest(strength.mean(axis=0), max_features)
        errors = [mean.standard_error for mean in means if mean.standard_error is not None]
        others = np.delete(values, shown, axis=1).sum(axis=1)
        display = cls(
            values[:, shown],
            tuple(means[0].feature_names[i] for i in shown),
            **fields_of(means[0]) | {"honest": all(mean.honest for mean in means)},
            standard_error=np.stack(errors)[:, shown] if len(errors) == len(means) else None,
            labels=labels,
            n_others=values.shape[1] - len(shown),
            others=float(np.average(others, weights=weight if weight.sum() > 0 else None)),
            error=means[0].error_kind,
            noise=_find_noise(means, shown),
        )
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n_groups, n_shown = self.values.shape
        # Of many groups the bars are thin, so that the picture is no taller than a page.
        return 6.4, 1.1 + n_shown * max(0.26, min(0.11 * n_groups, 0.2 + 0.055 * n_groups))

    def _draw(self) -> None:
        n_groups, n_shown = self.values.shape
        place = np.arange(n_shown)
        thickness = 0.8 / n_groups
        colours = style.palette(n_groups)
        noise = np.zeros(n_shown, dtype=bool) if self.noise is None else self.noise
        for i, values in enumerate(self.values):
            signs = np.where(
                noise, style.MISSING, np.where(values >= 0, style.REMOVED, style.ADDED)
            ).tolist()
            self.ax_.barh(
                place + (i - (n_groups - 1) / 2) * thickness,
                values,
                height=thickness * (0.92 if n_groups > 1 else 0.9),
                color=signs if self.labels is None else colours[i],
                label=None if self.labels is None else style.elide(self.labels[i], 24),
                xerr=self._whiskers(i),
                error_kw={"ecolor": style.ink(), "elinewidth": 1, "capsize": 2},
            )
        style.open_frame(self.ax_)
        style.name_lines(self.ax_, self.feature_names)
        self.ax_.set_ylim(n_shown - 0.4, -0.6)
        self.ax_.axvline(0, color=style.ink(), linewidth=0.8)
        style.person_ticks(self.ax_.xaxis)
        style.describe_x(self.ax_, *self._notes())
        if self.labels is not None:
            style.legend_above(self.ax_, len(self.labels))

    def _whiskers(self, group: int) -> FloatArray | None:
        if self.standard_error is None:
            return None
        return np.asarray(np.nan_to_num(_NORMAL_95 * self.standard_error[group]))

    def _notes(self) -> list[str]:
        notes = [self._label()]
        if self.standard_error is not None and np.isfinite(self.standard_error).any():
            given = "over trees" if self.error == "trees" else "given the trees"
            notes[0] += f", 95\N{NO-BREAK SPACE}% interval {given}"
        if self.noise is not None and self.noise.any():
            notes.append("grey: not distinguishable from noise")
        if self.n_others:
            together = style.format_value(self.others, np.abs(self.values).max())
            many = "" if self.n_others == 1 else " together"
            notes.append(f"{count(self.n_others, 'other feature')}{many}: {together}")
        return notes


def _find_noise(means: list[GlobalImportance], shown: IntArray) -> BoolArray | None:
    """Return which features cannot be told from noise; None if that was not tested."""
    # Of an account the test is another: whether the forest profits from the feature.
    if len(means) > 1 or not means[0].honest or means[0].measure == "loss":
        return None
    if means[0].standard_error is None or means[0].error_kind == "trees":
        return None
    return ~means[0].significant()[shown]


def _read_means(result: Any) -> tuple[tuple[str, ...] | None, list[GlobalImportance]]:
    if isinstance(result, LocalImportance):
        check_rows(*result.shape)
        return None, [result.mean()]
    if isinstance(result, GlobalImportance):
        return None, [result]
    if isinstance(result, ClassImportance):
        check_rows(*result.shape[:2])
        result = result.mean()
    if isinstance(result, Comparison):
        check_rows(*result.first.shape)
        result = dict(zip(result.names, (result.first.mean(), result.second.mean()), strict=True))
    means = list(result.values()) if isinstance(result, Mapping) else []
    if not means or not all(isinstance(mean, GlobalImportance) for mean in means):
        raise TypeError(
            "BarDisplay shows a GlobalImportance, a LocalImportance, a Comparison, or a dict of "
            f"label to GlobalImportance; got {type(result).__name__}. For bars by label pass "
            "result.mean(by=labels)."
        )
    for attribute in ("feature_names", "unit"):
        if len({getattr(mean, attribute) for mean in means}) > 1:
            raise ValueError(
                f"all labels must have the same {attribute}; got several. "
                "Draw results of one model in one picture."
            )
    return tuple(str(label) for label in result), means


@dataclass(eq=False, repr=False)
class WaterfallDisplay(Display):
    """How each feature changed the uncertainty about one row, step by step.

    The first bar is the uncertainty at the root, the last one what is left at the leaves, and the
    bars between lead from one to the other: ``values.sum() == baseline - residual``. A step to
    the left, in teal, removed uncertainty; a step to the right, in orange, raised it, and its
    value is negative. Measures without a baseline have
    no levels to lead from one to the other: their values are drawn as bars that start at zero.
    An account leads from how surprising the row's answer is when nothing is known to how surprising
    it still is to the forest; a step to the right made the forest worse.
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
    unit, measure, honest
        As in the result.
    data : tuple of str or None
        The row's own values as text; "" for steps that are not one feature.
    n_more : int
        How many steps, at the end, are not one feature.
    title : str
        Which row it is.
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
    data: tuple[str, ...] | None = None
    n_more: int = 0
    title: str = ""
    direction: FloatArray | None = None
    predicts_classes: bool | None = None

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
        row, values = one_row(result, row)
        shown = strongest(values, max_features)
        if len(shown) + 1 == len(values):  # one other feature may as well have its name
            shown = strongest(values, len(values))
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
            **fields_of(result),
            data=_read_row(result, row, shown=shown, n_more=len(rest)),
            n_more=len(rest),
            title=_story(result, row, baseline=baseline, change=change),
            direction=_read_direction(result, row, shown=shown, rest=rest),
            predicts_classes=predicts_classes(result),
        )
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n_ends = 0 if self.baseline is None or self.residual is None else 2
        return 6.4, 1.1 + 0.28 * (len(self.values) + n_ends)

    def _draw(self) -> None:
        ax, numbers = self.ax_, self._numbers()
        size = style.font_size(ax, len(numbers))
        style.open_frame(ax)
        start, end, colours = self._bars()
        lines = np.arange(len(numbers))
        ax.barh(lines, end - start, left=start, height=0.75, color=colours)
        if self.levels is not None:
            ax.vlines(self.levels, lines[:-1], lines[1:], color="0.5", linewidth=0.8)
        ax.axvline(0, color=style.ink(), linewidth=0.8)
        for line, right, number in zip(lines, np.maximum(start, end), numbers, strict=True):
            ax.annotate(
                number,
                (max(right, 0.0), line),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
            )
        low, high = min(start.min(), end.min()), max(start.max(), end.max())
        span = (high - low) or 1.0
        ax.set_xlim(low - 0.02 * span * (low < 0), high + 0.16 * span)
        ax.set_yticks(
            lines, self._line_labels(style.label_width(ax, size, share=0.75)), fontsize=size
        )
        ax.set_ylim(len(lines) - 0.4, -0.6)
        style.person_ticks(ax.xaxis)
        style.describe_x(ax, *self._axis_title())
        style.write_title(ax, self.title, loc="left")

    def _axis_title(self) -> list[str]:
        notes = []
        if self.measure == "loss":
            notes.append("by trees that have not seen the row")
        elif self.honest and self.baseline is not None:
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
            return [self._label(), *notes]
        return [style.plain(unit_of(self.unit).label(self.measure)), *notes]

    def _bars(self) -> tuple[FloatArray, FloatArray, list[str]]:
        """Return where every bar starts and ends, from top to bottom, and its colour."""
        values = self.values[self.order]
        colours = [style.REMOVED if value >= 0 else style.ADDED for value in values]
        levels = self.levels
        if levels is None:
            return np.zeros(len(values)), values, colours
        start = np.concatenate([[0.0], levels[:-1], [0.0]])
        end = np.concatenate([[levels[0]], levels[1:], [self.residual]])
        return start, end, [style.LEVEL, *colours, style.LEVEL]

    def _numbers(self) -> list[str]:
        """Return what stands beside the bars: the levels, and the values as the result has them."""
        scale = float(np.abs(self.values).max(initial=0.0)) or abs(self.baseline or 0.0)
        arrows = [self._arrow(i) for i in range(len(self.values))]
        values = [style.format_value(self.values[i], scale) + arrows[i] for i in self.order]
        if self.baseline is None or self.residual is None:
            return values
        return [
            style.format_value(self.baseline, scale),
            *values,
            style.format_value(self.residual, scale),
        ]

    def _arrow(self, step: int) -> str:
        move = 0.0 if self.direction is None else self.direction[step]
        return " ↑" if move > 0 else " ↓" if move < 0 else ""

    def _line_labels(self, width: int) -> list[str]:
        names = self.step_names
        cells = ("",) * len(names) if self.data is None else self.data
        ends = [f" = {cell}" if cell else "" for cell in cells]
        n_features = len(names) - self.n_more
        room = max(12, width - max(map(len, ends)))
        labels = [*style.feature_labels(names[:n_features], room), *names[n_features:]]
        steps = [labels[i] + ends[i] for i in self.order]
        if self.baseline is None:
            return steps
        quantity = unit_of(self.unit).quantity_of(self.measure)
        if self.measure == "loss":
            return [f"{quantity} when nothing is known", *steps, "left to the forest"]
        return [f"{quantity} at the root", *steps, "left at the leaves"]


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
    columns = own_columns(result, np.array([row]), columns=shown)
    if columns is None:
        return None
    cells = ["" if column is None else style.cell_text(column.raw[0]) for column in columns]
    return (*cells, *[""] * n_more)


def _story(
    result: LocalImportance, row: int, *, baseline: float | None, change: float | None
) -> str:
    """Name a row and say how much was removed of what there was, where that is known."""
    title = row_title(result, row)
    if baseline is None or change is None:
        return title
    unit = unit_of(result.unit)
    start = with_unit(number_text(baseline, 3), unit.symbol)
    start += "" if unit.symbol else f" {unit.quantity_of(result.measure)}"
    if change < 0:
        return style.plain(f"{title}: {number_text(-change, 3)} added to {start}")
    return style.plain(f"{title}: {number_text(change, 3)} of {start} removed")
