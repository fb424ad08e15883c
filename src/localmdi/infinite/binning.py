"""Measured numbers cut into bins: where the cuts are, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from localmdi._text import count, quote_names

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, Names

__all__ = ["Bins", "BinsNotes", "apply_edges", "bins_by_column", "find_edges"]

_MOST_BINS = 1 << 24  # as many as a column may have categories

Bins: TypeAlias = (
    int
    | Sequence[float]
    | Mapping[str, int | Sequence[float]]
    | Mapping[str, int]
    | Mapping[int, int | Sequence[float]]
)


class BinsNotes:
    """What a user should know about the bins of a table: merged ones, and columns without."""

    def __init__(self, bins: Bins | None) -> None:
        self._bins = bins
        self._merged: list[tuple[str, int, int]] = []
        self._whole: list[tuple[str, int]] = []

    def add_binned(self, name: str, rule: Any, *, n_bins: int) -> None:
        """Note a column that was cut into so many bins."""
        if isinstance(rule, Integral) and n_bins < int(rule):
            self._merged.append((name, n_bins, int(rule)))

    def add_whole(self, name: str, n_values: int) -> None:
        """Note a column of so many whole numbers, which are categories."""
        if self._bins is None or isinstance(self._bins, Mapping):
            return
        most = (
            self._bins if isinstance(self._bins, Integral) else len(np.atleast_1d(self._bins)) + 1
        )
        if n_values > int(most):
            self._whole.append((name, n_values))

    def messages(self) -> list[str]:
        """Return one message for each kind of note.

        Examples
        --------
        >>> notes = BinsNotes(4)
        >>> notes.add_binned("dose", 4, n_bins=2)
        >>> notes.add_whole("age", 73)
        >>> for message in notes.messages():
        ...     print(message)
        Values that repeat leave fewer bins than asked for: 'dose' has 2 instead of 4.
        Only columns with fractions are cut by bins=4; columns of whole numbers keep every value as
        a category: 'age' (73 values). To cut it as well pass bins={'age': 4}.
        """
        found = []
        if self._merged:
            each = ", ".join(
                f"{quote_names([name])} has {n} instead of {asked}"
                for name, n, asked in self._merged[:8]
            )
            more = f" and {count(len(self._merged) - 8, 'more column')}" * (len(self._merged) > 8)
            found.append(f"Values that repeat leave fewer bins than asked for: {each}{more}.")
        if self._whole:
            each = ", ".join(
                f"{quote_names([name])} ({count(n, 'value')})" for name, n in self._whole[:8]
            )
            more = f" and {count(len(self._whole) - 8, 'more column')}" * (len(self._whole) > 8)
            it = "it" if len(self._whole) == 1 else "them"
            found.append(
                f"Only columns with fractions are cut by bins={self._bins!r:.40}; columns of whole "
                f"numbers keep every value as a category: {each}{more}. To cut {it} as well pass "
                f"bins={{{self._whole[0][0]!r}: {self._bins!r:.40}}}."
            )
        return found


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
