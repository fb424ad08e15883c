"""Columns as codes: which columns hold categories, and how measured numbers are cut into bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmdi._validation import Categories, Columns, default_names, find_missing, learn_categories

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, Names

__all__ = ["Bins", "Codes", "Encoder", "Missing", "learn_encoder"]

Codes: TypeAlias = NDArray[np.int32]
Bins: TypeAlias = (
    int
    | Sequence[float]
    | Mapping[str, int | Sequence[float]]
    | Mapping[str, int]
    | Mapping[int, int | Sequence[float]]
)
Missing: TypeAlias = Literal["error", "category"]


@dataclass(frozen=True, eq=False)
class Encoder:
    """How the columns of a sample become codes; made by `learn_encoder`.

    Parameters
    ----------
    names : tuple of str
        The features.
    categories : tuple of Categories
        Of every column.
    edges : dict of int to ndarray
        The bins of columns that were binned.
    """

    names: tuple[str, ...]
    categories: tuple[Categories, ...]
    edges: Mapping[int, FloatArray]

    def encode(self, columns: Columns) -> Codes:
        """Return the codes of other rows, (n_rows, n_features); −1 where one was not learned."""
        codes = np.empty(columns.shape, dtype=np.int32)
        for j, column in enumerate(columns.arrays):
            if j in self.edges:
                column = _apply_edges(_as_numbers(column, self.names[j]), self.edges[j])
            codes[:, j] = self.categories[j].encode(column)
        return codes

    @property
    def bins(self) -> dict[str, tuple[float, ...]]:
        """The edges of the binned columns, by name."""
        return {self.names[j]: tuple(edges.tolist()) for j, edges in self.edges.items()}


def learn_encoder(
    columns: Columns, *, bins: Bins | None = None, missing: Missing = "error"
) -> tuple[Encoder, Codes]:
    """Learn the categories of every column, and return the codes of its rows with them.

    Parameters
    ----------
    columns : Columns
        The sample.
    bins : int, sequence of float, dict or None
        See `localmdi.infinite.infinite_mdi`.
    missing : {"error", "category"}
        Whether a missing value is refused or is a category of its own.

    Examples
    --------
    >>> from localmdi._validation import read_columns
    >>> encoder, codes = learn_encoder(read_columns([["a", 1], ["b", 2]]))
    >>> codes.tolist(), encoder.encode(read_columns([["b", 3]])).tolist()
    ([[0, 0], [1, 1]], [[1, -1]])
    """
    if missing not in ("error", "category"):
        raise ValueError(
            f"missing must be 'error' or 'category'; got {missing!r}. "
            "Use 'category' to treat missing values as one more value."
        )
    names = columns.names or default_names(columns.shape[1])
    single = _bins_by_column(bins, names)
    shared = None if isinstance(bins, Mapping) else bins
    edges: dict[int, FloatArray] = {}
    categories = []
    codes = np.empty(columns.shape, dtype=np.int32)
    for j, column in enumerate(columns.arrays):
        rule = single.get(j)
        if rule is None and not _holds_categories(column, columns.is_categorical[j]):
            rule = shared
            if rule is None:
                raise ValueError(_refusal(names[j], column))
        if rule is not None:
            numbers = _as_numbers(column, names[j])
            edges[j] = _find_edges(numbers[~np.isnan(numbers)], rule, name=names[j])
            column = _apply_edges(numbers, edges[j])
        learned = learn_categories(column)
        if learned.has_missing and missing == "error":
            raise ValueError(
                f"X must not contain missing values; column {names[j]!r} does. Impute them, or "
                "pass missing='category' to treat missing as a value of its own."
            )
        categories.append(learned)
        codes[:, j] = learned.encode(column)
    return Encoder(names, tuple(categories), edges), codes


def _holds_categories(column: AnyArray, declared: bool) -> bool:
    kind = column.dtype.kind
    if kind in "biuUS":
        return True
    if kind == "f":
        present = column[~np.isnan(column)]
        return declared or bool((present == np.floor(present)).all() and np.isfinite(present).all())
    if kind == "O":
        present = column[~find_missing(column)]
        return not any(isinstance(v, float) and not float(v).is_integer() for v in present)
    return False


def _as_numbers(column: AnyArray, name: str) -> FloatArray:
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError(f"it has dtype {column.dtype}")
        if column.dtype.kind == "O":
            column = np.where(find_missing(column), np.nan, column)
        return column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a binned column must hold numbers; column {name!r} does not: {error}. "
            "Leave it out of bins."
        ) from error


def _refusal(name: str, column: AnyArray) -> str:
    if column.dtype.kind in "mM":
        return (
            f"the columns of X must hold categories; column {name!r} holds dates or times. "
            "Convert it to the part that matters, for example the month as an integer."
        )
    present = column[~find_missing(column)]
    example = float(next(v for v in present if not float(v).is_integer()))
    return (
        f"the columns of X must hold categories; column {name!r} holds measured numbers, such as "
        f"{example!r}. Pass bins=4 to cut such columns into quarters, "
        f"bins={{{name!r}: [edges]}} to choose the cuts, or convert it."
    )


def _bins_by_column(bins: Any, names: Names) -> dict[int, Any]:
    """Return what `bins` says about single columns, by position.

    A dict goes from column names (or positions) to a number of bins or to edges; anything else
    is about all measured columns and gives an empty result here.
    """
    if not isinstance(bins, Mapping):
        return {}
    position = {name: j for j, name in enumerate(names)} | {j: j for j in range(len(names))}
    unknown = [key for key in bins if key not in position]
    if unknown:
        raise ValueError(
            f"the keys of bins must be columns of X; got {unknown[0]!r}. "
            f"Use names such as {names[0] if names else 'x0'!r}, or positions."
        )
    return {position[key]: rule for key, rule in bins.items()}


def _find_edges(values: AnyArray, rule: Any, *, name: str) -> FloatArray:
    """Return rising edges: bin i holds the values from edge i − 1 (included) up to edge i.

    Parameters
    ----------
    values : ndarray
        The column, without missing values.
    rule : int or sequence of float
        A number of bins with equally many rows (fewer where values repeat), or the edges.
    name : str
        The column's name, for messages.

    Examples
    --------
    >>> _find_edges(np.array([0.5, 1.5, 2.5, 3.5]), 2, name="age")
    array([2.])
    >>> _find_edges(np.array([0.5]), [18, 65], name="age")
    array([18., 65.])
    """
    if isinstance(rule, Integral) and not isinstance(rule, bool) and int(rule) >= 1:
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return np.empty(0)
        return np.unique(np.quantile(finite, np.arange(1, int(rule)) / int(rule)))
    try:
        edges = np.asarray(rule, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.empty((0, 0))
    if edges.ndim != 1 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(
            f"bins of column {name!r} must be a number of bins, at least 1, or finite edges in "
            f"rising order; got {rule!r:.80}. Pass bins=4, or bins={{{name!r}: [1, 2]}}."
        )
    return edges


def _apply_edges(values: AnyArray, edges: FloatArray) -> FloatArray:
    """Return the number of each value's bin; missing stays missing."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(numbers), np.nan, np.searchsorted(edges, numbers, side="right"))
