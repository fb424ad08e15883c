"""Columns as codes: which hold categories, which are cut into bins, and which stay numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmdi._validation import Categories, Columns, default_names, find_missing, learn_categories
from localmdi.infinite.binning import BinsNotes, apply_edges, bins_by_column, find_edges

if TYPE_CHECKING:
    from localmdi.infinite.binning import Bins
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["Codes", "Encoder", "Missing", "Numeric", "learn_encoder"]

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
    notes = BinsNotes(bins)
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
            edges[j] = find_edges(numbers[~np.isnan(numbers)], rule, name=names[j])
            column = apply_edges(numbers, edges[j])
        learned = learn_categories(column)
        if rule is not None:
            notes.add_binned(names[j], rule, n_bins=len(edges[j]) + 1)
        elif column.dtype.kind in "iuf" and not columns.is_categorical[j] and j not in numeric:
            notes.add_whole(names[j], len(learned.values))
        if learned.has_missing and missing == "error":
            raise ValueError(
                f"X must not contain missing values; column {names[j]!r} does. Impute them, or "
                "pass missing='category' to treat missing as a value of its own."
            )
        categories.append(learned)
        codes[:, j] = learned.encode(column)
    notes_given = tuple(notes.messages())
    return Encoder(names, tuple(categories), edges, notes_given, numeric=numeric), codes


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
