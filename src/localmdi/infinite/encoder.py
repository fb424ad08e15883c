"""Columns as codes: which hold categories, which are cut into bins, and which stay numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmdi._text import count, quote_names
from localmdi._validation import Categories, Columns, default_names, find_missing, learn_categories

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, Names

Codes: TypeAlias = NDArray[np.int32]
Numeric: TypeAlias = Sequence[str] | Sequence[int]
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
    notes : tuple of str
        What a user should know about them.
    numeric : tuple of int
        The columns that stay numbers; their codes are the ranks of their values.
    """

    names: tuple[str, ...]
    categories: tuple[Categories, ...]
    edges: Mapping[int, FloatArray]
    notes: tuple[str, ...]
    numeric: tuple[int, ...] = ()

    def encode(self, columns: Columns) -> Codes:
        """Return the codes of other rows, (n_rows, n_features); −1 where one was not learned."""
        codes = np.empty(columns.shape, dtype=np.int32)
        for j, column in enumerate(columns.arrays):
            if j in self.edges:
                column = apply_edges(_as_numbers(column, self.names[j]), self.edges[j])
            elif j in self.numeric:
                column = _as_measured(column, self.names[j])
            codes[:, j] = self.categories[j].encode(column)
        return codes

    def numbers(self, columns: Columns) -> FloatArray:
        """Return the numeric columns, (n_rows, n_numeric), as the trees compare them."""
        numbers = np.empty((columns.shape[0], len(self.numeric)))
        for k, j in enumerate(self.numeric):
            numbers[:, k] = _as_measured(columns.arrays[j], self.names[j])
        return numbers

    @property
    def bins(self) -> dict[str, tuple[float, ...]]:
        """The edges of the binned columns, by name."""
        return {self.names[j]: tuple(edges.tolist()) for j, edges in self.edges.items()}


def learn_encoder(
    columns: Columns,
    *,
    bins: Bins | None = None,
    missing: Missing = "error",
    numeric_features: Numeric | None = None,
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
    numeric_features : sequence of str or int, or None
        Columns of whole numbers that stay numbers, beside those with fractions that are not
        binned. None: no column may be numeric.

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
    numeric = _numeric_columns(columns, names, chosen=numeric_features, bins=bins)
    single = bins_by_column(bins, names)
    shared = None if isinstance(bins, Mapping) else bins
    edges: dict[int, FloatArray] = {}
    categories = []
    rules: dict[int, Any] = {}
    codes = np.empty(columns.shape, dtype=np.int32)
    for j, column in enumerate(columns.arrays):
        rule = single.get(j)
        if j in numeric:
            column = _as_measured(column, names[j])
        elif rule is None and not _holds_categories(column, columns.is_categorical[j]):
            rule = shared
            if rule is None:
                raise ValueError(_refusal(names[j], column))
        if rule is not None:
            numbers = _as_numbers(column, names[j])
            rules[j], edges[j] = rule, find_edges(numbers[~np.isnan(numbers)], rule, name=names[j])
            column = apply_edges(numbers, edges[j])
        learned = learn_categories(column)
        if learned.has_missing and missing == "error":
            raise ValueError(
                f"X must not contain missing values; column {names[j]!r} does. Impute them, or "
                "pass missing='category' to treat missing as a value of its own."
            )
        categories.append(learned)
        codes[:, j] = learned.encode(column)
    merged = [
        (names[j], len(found) + 1, int(rules[j]))
        for j, found in edges.items()
        if isinstance(rules[j], Integral) and len(found) + 1 < int(rules[j])
    ]
    whole = [
        (names[j], len(categories[j].values))
        for j, column in enumerate(columns.arrays)
        if j not in edges
        and j not in numeric
        and column.dtype.kind in "iuf"
        and not columns.is_categorical[j]
        and len(categories[j].values) > _n_bins(bins)
    ]
    notes = bins_notes(bins, merged, whole=whole)
    return Encoder(names, tuple(categories), edges, notes, numeric=numeric), codes


def _numeric_columns(
    columns: Columns, names: tuple[str, ...], *, chosen: Numeric | None, bins: Bins | None
) -> tuple[int, ...]:
    """Return the columns that stay numbers: those chosen, and those with fractions and no bins."""
    if chosen is None:
        return ()
    wanted = set(bins_by_column(dict.fromkeys(chosen, 2), names, what="numeric_features"))
    binned = set(bins_by_column(bins, names))
    if wanted & binned:
        raise ValueError(
            f"a column cannot be both binned and numeric; {names[min(wanted & binned)]!r} is in "
            "bins and in numeric_features. Name it in one of them."
        )
    if bins is None or isinstance(bins, Mapping):
        wanted |= {
            j
            for j, column in enumerate(columns.arrays)
            if j not in binned
            and column.dtype.kind in "fO"
            and not _holds_categories(column, columns.is_categorical[j])
        }
    return tuple(sorted(wanted))


def _as_measured(column: AnyArray, name: str) -> FloatArray:
    """Return numbers as the trees compare them, in single precision."""
    numbers = _as_numbers(column, name, must="a numeric column must hold numbers")
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32).astype(np.float64)
    if not np.isfinite(single).all():
        raise ValueError(
            f"numeric columns must be finite and within float32; column {name!r} holds missing, "
            f"infinite or larger values. Impute them, or cut the column with bins={{{name!r}: 4}} "
            "and missing='category'."
        )
    # There is one zero.
    return single + 0.0


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


def _as_numbers(
    column: AnyArray, name: str, *, must: str = "a binned column must hold numbers"
) -> FloatArray:
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError(f"it has dtype {column.dtype}")
        if column.dtype.kind == "O":
            column = np.where(find_missing(column), np.nan, column)
        return column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{must}; column {name!r} does not: {error}. Leave it out.") from error


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


_MOST_BINS = 1 << 24  # as many as a column may have categories

Bins: TypeAlias = (
    int
    | Sequence[float]
    | Mapping[str, int | Sequence[float]]
    | Mapping[str, int]
    | Mapping[int, int | Sequence[float]]
)


def bins_notes(
    bins: Bins | None, merged: Sequence[tuple[str, int, int]], *, whole: Sequence[tuple[str, int]]
) -> tuple[str, ...]:
    """Return what a user should know: bins that merged, and whole columns that `bins` left alone.

    Parameters
    ----------
    bins : int, sequence of float, dict or None
        As it was given.
    merged : sequence of (name, number of bins, number asked for)
        Of columns whose values repeat.
    whole : sequence of (name, number of values)
        Of columns of whole numbers that keep more categories than `bins` would leave.

    Examples
    --------
    >>> for message in bins_notes(4, [("dose", 2, 4)], whole=[("age", 73)]):
    ...     print(message)
    Values that repeat leave fewer bins than asked for: 'dose' has 2 instead of 4.
    Only columns with fractions are cut by bins=4; columns of whole numbers keep every value as
    a category: 'age' (73 values). To cut it as well pass bins={'age': 4}.
    """
    found = []
    if merged:
        each = [f"{quote_names([name])} has {n} instead of {asked}" for name, n, asked in merged]
        found.append(f"Values that repeat leave fewer bins than asked for: {_some(each)}.")
    if whole:
        each = [f"{quote_names([name])} ({count(n, 'value')})" for name, n in whole]
        found.append(
            f"Only columns with fractions are cut by bins={bins!r:.40}; columns of whole numbers "
            f"keep every value as a category: {_some(each)}. To cut "
            f"{'it' if len(whole) == 1 else 'them'} as well pass "
            f"bins={{{whole[0][0]!r}: {bins!r:.40}}}."
        )
    return tuple(found)


def _some(texts: list[str]) -> str:
    more = f" and {count(len(texts) - 8, 'more column')}" * (len(texts) > 8)
    return ", ".join(texts[:8]) + more


def _n_bins(bins: Bins | None) -> float:
    """Return how many bins every measured column gets; infinitely many where `bins` says nothing.

    Examples
    --------
    >>> _n_bins(4), _n_bins([18, 65]), _n_bins({"age": 4})
    (4, 3, inf)
    """
    if bins is None or isinstance(bins, Mapping):
        return float("inf")
    return int(bins) if isinstance(bins, Integral) else len(np.atleast_1d(bins)) + 1


def bins_by_column(bins: Any, names: Names, *, what: str = "the keys of bins") -> dict[int, Any]:
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
            f"{what} must be columns of X; got {unknown[0]!r}. "
            f"Use names such as {names[0] if names else 'x0'!r}, or positions."
        )
    return {position[key]: rule for key, rule in bins.items()}


def find_edges(values: FloatArray, rule: Any, *, name: str) -> FloatArray:
    """Return rising edges: bin i holds the values from edge i − 1 (included) up to edge i.

    Parameters
    ----------
    values : ndarray
        The column, without missing values.
    rule : int or sequence of float
        A number of bins with equally many rows, or the edges. Values that repeat cannot be shared
        out, so that there may be fewer bins; but a column that varies has at least two.
    name : str
        The column's name, for messages.

    Examples
    --------
    >>> find_edges(np.array([0.5, 1.5, 2.5, 3.5]), 2, name="age")
    array([2.])
    >>> find_edges(np.array([0.0, 0.0, 0.0, 0.0, 3.5]), 4, name="dose")
    array([1.75])
    >>> find_edges(np.array([0.5, 20.0]), [18, 65], name="age")
    array([18., 65.])
    """
    if isinstance(rule, Integral) and not isinstance(rule, bool) and 2 <= int(rule) <= _MOST_BINS:
        return _quantile_edges(np.sort(values), int(rule))
    try:
        edges = np.asarray(rule, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        edges = np.empty((0, 0))
    if edges.ndim != 1 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(
            f"bins of column {name!r} must be a number of bins, from 2 to {_MOST_BINS:,}, or "
            f"finite edges in rising order; got {rule!r:.80}. Pass bins=4, or "
            f"bins={{{name!r}: [1, 2]}}."
        )
    if (
        values.size
        and values.min() < values.max()
        and not _separating(np.sort(values), edges).any()
    ):
        raise ValueError(
            f"the bins of column {name!r} must tell its values apart; all of them, from "
            f"{values.min():.6g} to {values.max():.6g}, fall into one bin of {rule!r:.80}. "
            "Choose an edge between them."
        )
    return edges


def apply_edges(values: AnyArray, edges: FloatArray) -> FloatArray:
    """Return the number of each value's bin; missing stays missing."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(numbers), np.nan, np.searchsorted(edges, numbers, side="right"))


def _quantile_edges(ordered: FloatArray, n_bins: int) -> FloatArray:
    finite = ordered[np.isfinite(ordered)]
    edges = np.empty(0)
    if finite.size:
        edges = np.unique(np.quantile(finite, np.arange(1, n_bins) / n_bins))
        edges = edges[_separating(ordered, edges)]
    if edges.size or not ordered.size or ordered[0] == ordered[-1]:
        return edges
    # More than (n_bins − 1) / n_bins of the values equal the smallest: it against the others.
    return np.array([_between(ordered[0], ordered[ordered > ordered[0]][0])])


def _separating(ordered: FloatArray, edges: FloatArray) -> Any:
    """Return which edges have values below them that are not below the edge before, and above."""
    below = np.searchsorted(ordered, edges, side="left")
    before = np.concatenate([[0], below[:-1]])
    return (below > before) & (below < len(ordered))


def _between(low: float, high: float) -> float:
    if np.isfinite(low) and np.isfinite(high):
        middle = low / 2 + high / 2
        return float(middle if low < middle else high)
    if np.isfinite(high):
        return float(high)
    return float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0
