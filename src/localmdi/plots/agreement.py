"""Agreement of measures: how far two explanations of the same row order its features alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi.plots import style
from localmdi.plots.display import check_rows
from localmdi.results import Comparison, LocalImportance
from localmdi.results.comparison import row_correlation
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from localmdi.typing import AnyArray, ArrayLike, FloatArray

_LINES = ("-", "--", "-.", ":")


@dataclass(eq=False, repr=False)
class AgreementDisplay:
    """How far measures agree on each row: their correlation over the features.

    Left, the rows' correlations with the first measure, from the lowest to the highest, one curve
    for each other measure; right, the mean over rows for all pairs. Usually made by `from_result`.

    Parameters
    ----------
    correlation : ndarray of float64, shape (n_measures, n_measures, n_rows)
        Of every pair of measures and every row; NaN where a measure gives all features the same.
    names : tuple of str
        Names of the measures; the first is the one that the others are compared with.
    method : str
        Which correlation it is, in words.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n_measures, n_measures)
        The mean correlation over the rows where it is defined.
    figure_
        Where it was drawn last.
    ax_ : ndarray of two axes
        The curves and the matrix.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ours = np.array([[0.5, 0.2, 0.1], [0.1, 0.4, 0.2]])
    >>> display = AgreementDisplay.from_result({"ours": ours, "double": 2 * ours})
    >>> display.matrix
    array([[1., 1.],
           [1., 1.]])
    >>> plt.close(display.figure_)
    """

    correlation: FloatArray
    names: tuple[str, ...]
    _: KW_ONLY
    method: str = "correlation"
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

    @property
    def matrix(self) -> FloatArray:
        """The mean correlation over the rows where it is defined.

        Examples
        --------
        >>> AgreementDisplay(np.ones((1, 1, 5)), ("ours",)).matrix
        array([[1.]])
        """
        known = np.isfinite(self.correlation)
        total = np.where(known, self.correlation, 0.0).sum(axis=2)
        count = known.sum(axis=2)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    @classmethod
    def from_result(
        cls,
        result: Comparison | Mapping[str, LocalImportance | ArrayLike],
        *,
        method: Literal["pearson", "spearman"] = "pearson",
        absolute: bool = False,
        ax: Sequence[Axes] | AnyArray | None = None,
    ) -> AgreementDisplay:
        """Compare measures of the same rows and features.

        Parameters
        ----------
        result : Comparison, or dict of str to LocalImportance or array (n_rows, n_features)
            What `localmdi.compare` returned, or the measures by name; the others are compared
            with the first.
        method : {"pearson", "spearman"}
            Correlation of the values, or of their ranks.
        absolute : bool
            Whether to compare absolute values, for measures whose signs mean different things.
        ax : sequence of two matplotlib axes, or None
            Where to draw the curves and the matrix; None: in a new figure.

        Returns
        -------
        AgreementDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> ours = np.array([[0.5, 0.2, 0.1], [0.1, 0.4, 0.2]])
        >>> display = AgreementDisplay.from_result({"ours": ours, "other": -ours}, absolute=True)
        >>> display.correlation[0, 1]
        array([1., 1.])
        >>> plt.close(display.figure_)
        """
        if method not in ("pearson", "spearman"):
            raise ValueError(f"method must be 'pearson' or 'spearman'; got {method!r}. Choose one.")
        if isinstance(result, Comparison):
            result = dict(zip(result.names, (result.first, result.second), strict=True))
        tables = _read_tables(result)
        if absolute:
            tables = [np.abs(table) for table in tables]
        correlation = np.stack(
            [[row_correlation(a, b, method=method) for b in tables] for a in tables]
        )
        name = f"{method.capitalize()} correlation" + " of absolute values" * absolute
        return cls(correlation, tuple(map(str, result)), method=name).plot(ax=ax)

    def plot(self, ax: Sequence[Axes] | AnyArray | None = None) -> AgreementDisplay:
        """Draw the curves and the matrix.

        Parameters
        ----------
        ax : sequence of two matplotlib axes, or None
            Where to draw; None: in a new figure.

        Returns
        -------
        AgreementDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, axes = plt.subplots(1, 2)
        >>> AgreementDisplay(np.ones((2, 2, 5)), ("ours", "other")).plot(ax=axes).figure_ is figure
        True
        >>> plt.close(figure)
        """
        plt = style.require()
        if ax is None:
            _, ax = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
        axes = np.asarray(ax, dtype=object)
        if axes.shape != (2,):
            raise ValueError(
                f"ax must be two axes, for the curves and the matrix, or None; got {ax!r}. "
                "Pass the second value of plt.subplots(1, 2)."
            )
        self.ax_ = axes
        self.figure_ = axes[0].figure
        self._draw_curves(axes[0])
        self._draw_matrix(axes[1])
        return self

    def _draw_curves(self, ax: Any) -> None:
        colours = style.palette(max(1, len(self.names) - 1))
        ax.axhline(0, color="0.8", linewidth=0.8)
        for i, name in enumerate(self.names[1:]):
            known = np.sort(self.correlation[0, i + 1])
            known = known[np.isfinite(known)]
            share = (np.arange(len(known)) + 0.5) / max(1, len(known))
            ax.plot(
                100 * share,
                known,
                color=colours[i],
                linestyle=_LINES[i % len(_LINES)],
                marker="o" if len(known) <= 20 else None,
                markersize=4,
                label=style.elide(name, 28),
            )
        ax.set(xlim=(0, 100), ylim=(min(-0.05, *ax.get_ylim()), 1.03))
        style.describe_x(ax, "rows by increasing correlation (%)")
        ax.set_ylabel(
            f"{self.method}\nwith {style.elide(self.names[0], 28)}",
            fontsize=style.font_size(ax, 14),
        )
        style.open_frame(ax, keep=("left", "bottom"))
        style.legend_above(ax, len(self.names) - 1)

    def _draw_matrix(self, ax: Any) -> None:
        style.open_frame(ax, keep=())
        matrix = self.matrix
        size = style.font_size(ax, 2 * len(self.names))
        labels = style.feature_labels(self.names, min(24, style.label_width(ax, size)))
        shown = ax.imshow(np.ma.masked_invalid(matrix), cmap=style.diverging(), vmin=-1, vmax=1)
        style.name_square(ax, labels, size=size)
        style.write_title(ax, "mean over rows")
        colours = shown.to_rgba(matrix)
        for i, j in np.ndindex(matrix.shape):
            word = "none" if np.isnan(matrix[i, j]) else f"{matrix[i, j]:.2f}"
            colour = style.contrast(colours[i, j, :3])
            ax.text(j, i, word, ha="center", va="center", fontsize=size, color=colour)


def _read_tables(result: object) -> list[FloatArray]:
    if not isinstance(result, Mapping) or len(result) < 2:
        raise TypeError(
            "AgreementDisplay compares two or more measures, a dict of name to LocalImportance or "
            f"array, or shows what compare returned; got {type(result).__name__}. "
            "Pass {'local MDI': result, 'other': array}."
        )
    tables = []
    for name, item in result.items():
        values = dense(item.values) if isinstance(item, LocalImportance) else np.asarray(item)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(
                f"every measure must have shape (n_rows, n_features); {name!r} has shape "
                f"{values.shape}. Choose one class of measures that have a class axis."
            )
        tables.append(values.astype(np.float64))
    shapes = {table.shape for table in tables}
    if len(shapes) > 1:
        raise ValueError(
            f"all measures must have the same rows and features; got shapes {sorted(shapes)}. "
            "Explain the same rows with each measure."
        )
    check_rows(*tables[0].shape)
    return tables
