"""The image map: features that are pixels, in their places."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.plots.canvas import bare, colour_bar, get_axes, write_title
from localmdi.plots.captions import value_label
from localmdi.plots.colours import check_limit, diverging, symmetric_limit
from localmdi.plots.result_parts import check_rows, row_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import FloatArray, ResultMeasure

__all__ = ["ImageDisplay"]


@dataclass(eq=False, repr=False)
class ImageDisplay:
    """The importance of each pixel, drawn in its place.

    Colours are centred on zero: teal pixels removed uncertainty, orange ones raised it. Usually
    made by `from_result`; made directly it shows any array, another measure's for example.

    Parameters
    ----------
    values : ndarray of float64, shape (height, width)
        One value per pixel.
    unit : str
        Unit of the values.
    title : str
        Which row it is, or the mean over rows.
    measure : {"drop", "gain", "saabas"}
        What the values are.
    honest : bool
        Whether they were measured on rows that the trees have not seen.

    Attributes
    ----------
    figure_, ax_
        Where it was drawn last.
    mappable_
        The drawn image, for a colour bar that several maps share:
        ``figure.colorbar(display.mappable_, ax=axes)``.

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

    values: FloatArray
    _: KW_ONLY
    unit: str
    title: str = ""
    measure: ResultMeasure = "drop"
    honest: bool = False
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)
    mappable_: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.values = np.asarray(self.values, dtype=np.float64)
        if self.values.ndim != 2:
            raise ValueError(
                f"values must be a table of pixels, height by width; got shape "
                f"{self.values.shape}. Reshape them: values.reshape(height, width)."
            )

    @classmethod
    def from_result(
        cls,
        result: LocalImportance | GlobalImportance,
        *,
        row: int | None = None,
        shape: tuple[int, int] = (8, 8),
        limit: float | None = None,
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
        limit : float or None
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
        ...         result, row=row, shape=(1, 2), limit=0.75, colorbar=False, ax=ax)
        >>> display.mappable_.get_clim()
        (-0.75, 0.75)
        >>> plt.close(figure)
        """
        values, title, _ = row_values(result, row, display="ImageDisplay")
        height, width = _check_shape(shape, len(values))
        display = cls(
            values.reshape(height, width),
            unit=result.unit,
            title=title,
            measure=result.measure,
            honest=result.honest,
        )
        return display.plot(ax=ax, limit=limit, colorbar=colorbar)

    def plot(
        self, ax: Axes | None = None, *, limit: float | None = None, colorbar: bool = True
    ) -> ImageDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.
        limit : float or None
            Value of the darkest colours, for maps that share a scale; None: the largest shown.
        colorbar : bool
            Whether to draw the key of the colours.

        Returns
        -------
        ImageDisplay
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> figure, ax = plt.subplots()
        >>> ImageDisplay(np.eye(3), unit="bits").plot(ax=ax).mappable_.get_clim()
        (-1.0, 1.0)
        >>> plt.close(figure)
        """
        check_rows(*self.values.shape)
        check_limit(limit)
        height, width = self.values.shape
        size = 3.2 * np.sqrt([width / height, height / width]).clip(0.4, 2.5)
        self.figure_, self.ax_ = get_axes(ax, (size[0] + 0.9 * colorbar, size[1] + 0.3))
        end = symmetric_limit(self.values, limit)
        self.mappable_ = self.ax_.imshow(
            self.values, cmap=diverging(), vmin=-end, vmax=end, interpolation="nearest"
        )
        bare(self.ax_)
        write_title(self.ax_, self.title)
        if colorbar:
            colour_bar(
                self.ax_,
                self.mappable_,
                label=value_label(self.unit, self.measure, honest=self.honest),
                shrink=0.9,
            )
        return self


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
