"""Columns of categories as codes: which columns may be read so, and by which rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import Categories, Columns, default_names, find_missing, learn_categories
from localmdi.infinite.bins import apply_edges, bins_by_column, find_edges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["Encoder", "learn_encoder"]


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

    Examples
    --------
    >>> from localmdi._validation import read_columns
    >>> encoder = learn_encoder(read_columns([["a", 1], ["b", 2]]))
    >>> encoder.encode(read_columns([["b", 3]]))
    array([[ 1, -1]], dtype=int32)
    """

    names: tuple[str, ...]
    categories: tuple[Categories, ...]
    edges: Mapping[int, FloatArray]

    def encode(self, columns: Columns) -> IntArray:
        """Return int32 codes, (n_rows, n_features); −1 for a category that was not learned.

        Examples
        --------
        >>> from localmdi._validation import read_columns
        >>> columns = read_columns(np.array([[3], [7]]))
        >>> learn_encoder(columns).encode(columns).tolist()
        [[0], [1]]
        """
        codes = np.empty(columns.shape, dtype=np.int32)
        for j, column in enumerate(columns.arrays):
            if j in self.edges:
                column = apply_edges(_as_numbers(column, self.names[j]), self.edges[j])
            codes[:, j] = self.categories[j].encode(column)
        return codes  # type: ignore[return-value]  # int32, which the aliases do not name

    @property
    def bins(self) -> dict[str, tuple[float, ...]]:
        """The edges of the binned columns, by name."""
        return {self.names[j]: tuple(edges.tolist()) for j, edges in self.edges.items()}


def learn_encoder(columns: Columns, *, bins: Any = None, missing: str = "error") -> Encoder:
    """Learn the categories of every column.

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
    >>> learn_encoder(read_columns(np.array([[0.5], [1.5]])))
    Traceback (most recent call last):
        ...
    ValueError: the columns of X must hold categories; column 'x0' holds measured numbers, ...
    """
    if missing not in ("error", "category"):
        raise ValueError(
            f"missing must be 'error' or 'category'; got {missing!r}. "
            "Use 'category' to treat missing values as one more value."
        )
    names = columns.names or default_names(columns.shape[1])
    single = bins_by_column(bins, names)
    shared = None if bins is None or single or isinstance(bins, dict) else bins
    edges: dict[int, FloatArray] = {}
    categories = []
    for j, column in enumerate(columns.arrays):
        rule = single.get(j)
        if rule is None and not _holds_categories(column, columns.is_categorical[j]):
            rule = shared
            if rule is None:
                raise ValueError(_refusal(names[j], column))
        if rule is not None:
            numbers = _as_numbers(column, names[j])
            edges[j] = find_edges(numbers[~np.isnan(numbers)], rule, name=names[j])
            column = apply_edges(numbers, edges[j])
        learned = learn_categories(column)
        if learned.has_missing and missing == "error":
            raise ValueError(
                f"X must not contain missing values; column {names[j]!r} does. Impute them, or "
                "pass missing='category' to treat missing as a value of its own."
            )
        categories.append(learned)
    return Encoder(names, tuple(categories), edges)


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
