"""What the displays have in common, and the part of a result that they show."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import count
from localmdi._validation import find_missing, learn_categories
from localmdi.plots.style import check_vmax, colour_bar, elide, get_axes, largest, plain
from localmdi.results import GlobalImportance, LocalImportance
from localmdi.results.fields import dense
from localmdi.results.own_data import read_data

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

    from localmdi.results import InteractionImportance, PairImportance
    from localmdi.results.fields import Matrix
    from localmdi.results.own_data import DataColumn
    from localmdi.typing import ArrayLike, FloatArray, IntArray, ResultMeasure

_BLOCK = 1 << 22
# The last entry in the account of boosted trees: no column of the rows.
_INTERCEPT = "(intercept)"


@dataclass(eq=False, repr=False, kw_only=True)
class Display:
    """A picture of a result that carries what it shows, and can be drawn again."""

    unit: str
    measure: ResultMeasure = "drop"
    honest: bool = False
    figure_: Any = field(default=None, init=False)
    ax_: Any = field(default=None, init=False)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.

        Returns
        -------
        Display
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.plots import BarDisplay
        >>> figure, ax = plt.subplots()
        >>> BarDisplay(np.array([[0.5]]), ("age",), unit="bits").plot(ax=ax).ax_ is ax
        True
        >>> plt.close(figure)
        """
        self.figure_, self.ax_ = get_axes(ax, self._size())
        self._draw()
        return self

    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure, in inches."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Draw into the axes."""
        raise NotImplementedError

    def _label(self) -> str:
        """Return what the values are, for an axis or a key."""
        return plain(unit_of(self.unit).value_label(self.measure, honest=self.honest))


@dataclass(eq=False, repr=False)
class Map(Display):
    """A display whose values are colours, on a scale that is centred on zero."""

    values: FloatArray
    _: KW_ONLY
    vmax_: float = field(default=1.0, init=False)
    mappable_: Any = field(default=None, init=False)
    # Of the key: inches of a new figure, and share of the height.
    _KEY: ClassVar[tuple[float, float]] = (0.9, 0.9)

    def plot(
        self, ax: Axes | None = None, *, vmax: float | None = None, colorbar: bool = True
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None: in a new figure.
        vmax : float or None
            Value of the darkest colours, for maps that share a scale; None: as in `from_result`.
        colorbar : bool
            Whether to draw the key of the colours.

        Returns
        -------
        Map
            Itself.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.plots import ImageDisplay
        >>> display = ImageDisplay(np.eye(3), unit="bits")
        >>> display.plot().vmax_, display.plot(vmax=2).mappable_.get_clim()
        (1.0, (-2.0, 2.0))
        >>> plt.close("all")
        """
        self.vmax_ = self._scale() if vmax is None else check_vmax(vmax)
        width, height = self._size()
        room, share = self._KEY
        self.figure_, self.ax_ = get_axes(ax, (width + room * colorbar, height))
        self._draw()
        if colorbar:
            colour_bar(self.ax_, self.mappable_, label=self._label(), shrink=share)
        return self

    def _scale(self) -> float:
        """Return the value of the darkest colours."""
        return largest(self.values)


def fields_of(result: Any) -> dict[str, Any]:
    """Return what every display says about the values of a result."""
    return {"unit": result.unit, "measure": result.measure, "honest": result.honest}


def check_local(result: object, display: str) -> None:
    """Raise unless this is a local result with rows and features."""
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance; got {type(result).__name__}. "
            "Pass what local_mdi, decompose_global or infinite_mdi returned."
        )
    check_rows(*result.shape)


def check_rows(n_rows: int, n_features: int) -> None:
    """Raise if there is nothing to show."""
    if not n_rows or not n_features:
        raise ValueError(
            "a picture needs at least one row and one feature; got "
            f"{count(n_rows, 'row')} and {count(n_features, 'feature')}. "
            "Select some before drawing."
        )


def known_rows(result: LocalImportance) -> IntArray:
    """Return the rows that have values; those that every tree has seen have none (NaN)."""
    known = np.flatnonzero(~np.isnan(np.asarray(result.values.sum(axis=1)).ravel()))
    if not len(known):
        raise ValueError(
            f"a picture needs at least one row with values; {count(len(result), 'row')} "
            "have only NaN, which is what rows get that every tree has seen. Use more trees."
        )
    return known


def one_row(result: LocalImportance, row: object) -> tuple[int, FloatArray]:
    """Return the position of a row, counted from the end if it is negative, and its values."""
    position = row_position(row, len(result))
    values = np.asarray(dense(result.values[[position]])[0])
    if np.isnan(values).any():
        raise ValueError(
            f"the row must have values; {row_title(result, position)} has NaN, which is what rows "
            "get that every tree has seen. Choose another row, or use more trees."
        )
    return position, values


def row_position(row: object, n_rows: int) -> int:
    """Return the position of one row, counted from the end if it is negative."""
    if not isinstance(row, int | np.integer) or isinstance(row, bool):
        raise TypeError(
            f"row must be the position of a row, an integer; got {row!r}. "
            "To draw several rows, call once for each."
        )
    if not -n_rows <= row < n_rows:
        raise IndexError(
            f"row must lie in [{-n_rows}, {n_rows}); got {row}. Compare with len(result)."
        )
    return int(row) % n_rows


def row_title(result: LocalImportance | InteractionImportance | PairImportance, row: int) -> str:
    """Name a row by its label, or else by its position."""
    label = row if result.row_labels is None else result.row_labels[row]
    return f"row {elide(label, 40)}"


def row_or_mean(
    result: object, row: int | None, *, display: str
) -> tuple[FloatArray, str, int | None]:
    """Return the values of one row or of the mean over rows, their title, and the position."""
    if isinstance(result, GlobalImportance):
        check_rows(1, len(result))
        if row is not None:
            raise ValueError(
                f"row must be None for a GlobalImportance, which has no rows; got {row!r}. "
                "Pass the LocalImportance to see one of its rows."
            )
        return result.values, "mean over rows", None
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance or a GlobalImportance; got "
            f"{type(result).__name__}. Pass what local_mdi or global_mdi returned; for an array "
            f"call {display}(values, unit=…).plot()."
        )
    check_rows(*result.shape)
    if row is None:
        return result.mean().values, "mean over rows", None
    position, values = one_row(result, row)
    return values, row_title(result, position), position


def own_columns(
    result: LocalImportance, rows: IntArray, *, columns: IntArray
) -> list[DataColumn | None] | None:
    """Return what rows hold in the columns of some features, where that is known.

    None in place of a column: the intercept of boosted trees, which has none.
    """
    n_columns = len(result.feature_names)
    if result.measure == "loss" and result.feature_names[-1] == _INTERCEPT:
        n_columns -= 1
        result = replace(result[:, :n_columns], data=result.data)
    found = read_data(result, rows, columns=columns[columns < n_columns])
    if found is None:
        return None
    left = iter(found)
    return [next(left) if column < n_columns else None for column in columns]


def strongest(strength: FloatArray, max_features: int) -> IntArray:
    """Return the columns of the strongest features, strongest first; of equal ones the first.

    Examples
    --------
    >>> strongest(np.array([0.1, 0.5, 0.1]), 2)
    array([1, 0])
    """
    k = _check_size("max_features", max_features)
    return np.argsort(-np.abs(strength), kind="stable")[:k].astype(np.int64)


def mean_absolute(values: Matrix, rows: IntArray) -> FloatArray:
    """Return the mean absolute value of each column, without a copy of the whole matrix."""
    total = np.zeros(values.shape[1])
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(rows), step):
        total += abs(values[rows[start : start + step]]).sum(axis=0)
    return np.asarray(total / len(rows))


def spread(rows: IntArray, max_rows: int) -> IntArray:
    """Return all rows, or `max_rows` of them at even distances: the same ones every time.

    Examples
    --------
    >>> spread(np.arange(10), 3)
    array([0, 4, 9])
    """
    k = _check_size("max_rows", max_rows)
    return rows if len(rows) <= k else rows[np.linspace(0, len(rows) - 1, k).astype(np.int64)]


def _check_size(parameter: str, value: object) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"{parameter} must be a positive integer; got {value!r}. Pass how many to show."
        )
    return int(value)


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every row.

    Parameters
    ----------
    names : tuple of str
        The distinct labels, sorted if they can be; "missing" last if some row has none.
    code : ndarray of int64, shape (n_rows,)
        The position of each row's label in names.
    """

    names: tuple[str, ...]
    code: IntArray

    def take(self, rows: IntArray) -> Groups:
        """Return the groups of some rows; all names stay, so that colours do."""
        return Groups(self.names, self.code[rows])


def read_groups(labels: ArrayLike, n_rows: int) -> Groups:
    """Read labels of any array-like type.

    Examples
    --------
    >>> groups = read_groups(["well", "ill", "well"], 3)
    >>> groups.names, groups.code
    (('ill', 'well'), array([1, 0, 1]))
    """
    items = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    array = np.asarray(items)
    if array.dtype.kind in "US" and not isinstance(items, np.ndarray):
        array = np.array(items, dtype=object)  # a mixed list keeps its numbers
    if array.shape != (n_rows,):
        raise ValueError(
            f"by must have one label per row, shape ({n_rows},); got shape {array.shape}. "
            "Pass the labels of exactly these rows."
        )
    categories = learn_categories(array)
    names = [str(value) for value in categories.values]
    code = categories.encode(array)
    missing = find_missing(array)
    if missing.any():
        code[missing] = len(names)
        names.append("missing")
    return Groups(tuple(names), code)
