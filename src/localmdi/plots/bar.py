"""Bars: the importance of each feature, for all rows or for the rows of each label."""

from __future__ import annotations

from collections.abc import Mapping
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
from localmdi.plots.captions import elide, feature_labels, format_value, value_label
from localmdi.plots.colours import ADDED, MISSING, REMOVED, ink, palette
from localmdi.plots.result_parts import check_rows, largest_features
from localmdi.results import ClassImportance, Comparison, GlobalImportance, LocalImportance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.typing import BoolArray, ErrorOf, FloatArray, IntArray, ResultMeasure

__all__ = ["BarDisplay"]

_NORMAL_95 = 1.96


@dataclass(eq=False, repr=False)
class BarDisplay:
    """The importance of each feature as a bar, with its 95 % interval where it is known.

    Usually made by `from_result`.

    Parameters
    ----------
    values : ndarray of float64, shape (n_labels, n_shown)
        The importances of the features shown, strongest first; one row if there are no labels.
    feature_names : tuple of str
        Names of the features shown.
    unit : str
        Unit of the values.
    standard_error : ndarray like values, or None
        Whiskers reach 1.96 standard errors to both sides.
    labels : tuple of str or None
        Names of the groups of rows; None: one group of all rows.
    n_others : int
        Number of features that are not shown.
    others : float
        The sum of their values, of all rows.
    measure : {"drop", "gain", "saabas"}
        What the values are.
    honest : bool
        Whether they were measured on rows that the trees have not seen.
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
    unit: str
    standard_error: FloatArray | None = None
    labels: tuple[str, ...] | None = None
    n_others: int = 0
    others: float = 0.0
    measure: ResultMeasure = "drop"
    honest: bool = False
    error: ErrorOf = "trees"
    noise: BoolArray | None = None
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

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
            honest ones by decreasing value, because those below zero are noise.
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
        honest = all(mean.honest for mean in means)
        strength = np.maximum(values, 0.0) if honest else np.abs(values)
        shown = largest_features(strength.mean(axis=0), max_features)
        errors = [mean.standard_error for mean in means if mean.standard_error is not None]
        others = np.delete(values, shown, axis=1).sum(axis=1)
        display = cls(
            values[:, shown],
            tuple(means[0].feature_names[i] for i in shown),
            unit=means[0].unit,
            standard_error=np.stack(errors)[:, shown] if len(errors) == len(means) else None,
            labels=labels,
            n_others=values.shape[1] - len(shown),
            others=float(np.average(others, weights=weight if weight.sum() > 0 else None)),
            measure=means[0].measure,
            honest=honest,
            error=means[0].error,
            noise=_find_noise(means, shown),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> BarDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        BarDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> BarDisplay(np.array([[0.5]]), ("age",), unit="bits").plot(ax=ax).ax_ is ax
        True
        >>> plt.close(figure)
        """
        n_groups, n_shown = self.values.shape
        # Of many groups the bars are thin, lest the picture be taller than a page.
        height = 1.1 + n_shown * max(0.26, min(0.11 * n_groups, 0.2 + 0.055 * n_groups))
        self.figure_, self.ax_ = get_axes(ax, (6.4, height))
        size = font_size(self.ax_, n_shown)
        place = np.arange(n_shown)
        thickness = 0.8 / n_groups
        colours = palette(n_groups)
        for i, values in enumerate(self.values):
            noise = np.zeros(n_shown, dtype=bool) if self.noise is None else self.noise
            signs = [
                MISSING if told_nothing else REMOVED if value >= 0 else ADDED
                for value, told_nothing in zip(values, noise, strict=True)
            ]
            self.ax_.barh(
                place + (i - (n_groups - 1) / 2) * thickness,
                values,
                height=thickness * (0.92 if n_groups > 1 else 0.9),
                color=signs if self.labels is None else colours[i],
                label=None if self.labels is None else elide(self.labels[i], 24),
                xerr=self._whiskers(i),
                error_kw={"ecolor": ink(), "elinewidth": 1, "capsize": 2},
            )
        self._finish(place, size)
        return self

    def _whiskers(self, group: int) -> FloatArray | None:
        if self.standard_error is None:
            return None
        return np.asarray(np.nan_to_num(_NORMAL_95 * self.standard_error[group]))

    def _finish(self, place: Any, size: float) -> None:
        ax = self.ax_
        open_frame(ax)
        labels = feature_labels(self.feature_names, label_width(ax, size))
        ax.set_yticks(place, labels, fontsize=size)
        ax.set_ylim(len(place) - 0.4, -0.6)
        ax.axvline(0, color=ink(), linewidth=0.8)
        person_ticks(ax.xaxis)
        notes = [value_label(self.unit, self.measure, honest=self.honest)]
        if self.standard_error is not None and np.isfinite(self.standard_error).any():
            given = "over trees" if self.error == "trees" else "given the trees"
            notes[0] += f", 95\N{NO-BREAK SPACE}% interval {given}"
        if self.noise is not None and self.noise.any():
            notes.append("grey: not distinguishable from noise")
        if self.n_others:
            together = format_value(self.others, np.abs(self.values).max())
            many = "" if self.n_others == 1 else " together"
            notes.append(f"{count(self.n_others, 'other feature')}{many}: {together}")
        describe_x(ax, *notes)
        if self.labels is not None:
            legend_above(ax, len(self.labels))


def _find_noise(means: list[GlobalImportance], shown: IntArray) -> BoolArray | None:
    """Return which features cannot be told from noise; None if that was not tested."""
    if len(means) > 1 or not means[0].honest:
        return None
    if means[0].standard_error is None or means[0].error == "trees":
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
