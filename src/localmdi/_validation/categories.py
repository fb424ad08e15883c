"""The categories of a column: learned once, then every value is a code."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Categories:
    """The distinct values of a column; made by `learn_categories`.

    Parameters
    ----------
    values : 1-D ndarray
        The distinct values that are not missing: sorted, or by first appearance if they cannot be.
    has_missing : bool
        Whether missing is a category of its own, the one after the values.
    """

    values: AnyArray
    has_missing: bool = False

    def __len__(self) -> int:
        return len(self.values) + self.has_missing

    def encode(self, column: AnyArray) -> IntArray:
        """Return the code of every entry: its position in `values`, −1 for what was not learned.

        A missing entry has the code ``len(values)`` if `has_missing`, else −1.
        """
        codes = np.full(len(column), -1, dtype=np.int64)
        missing = find_missing(column)
        codes[missing] = len(self.values) if self.has_missing else -1
        codes[~missing] = self._positions(column[~missing])
        return codes

    def _positions(self, column: AnyArray) -> IntArray:
        if len(self.values) == 0 or len(column) == 0:
            return np.full(len(column), -1, dtype=np.int64)
        if column.dtype.kind in "mM" and column.dtype.kind == self.values.dtype.kind:
            column = column.astype(self.values.dtype)
        if column.dtype == self.values.dtype and column.dtype.kind != "O":
            nearest = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
            return np.where(self.values[nearest] == column, nearest, -1).astype(np.int64)
        # Python compares integers, floats and strings of any width by value, without rounding.
        place = {value: code for code, value in enumerate(self.values.tolist())}
        return np.fromiter(
            (place.get(value, -1) for value in _hashable(column)), np.int64, len(column)
        )


def learn_categories(column: AnyArray) -> Categories:
    """Return the categories of one column."""
    missing = find_missing(column)
    present = column[~missing]
    if column.dtype.kind != "O":
        return Categories(np.unique(present), bool(missing.any()))
    found = list(dict.fromkeys(_hashable(present)))
    with suppress(TypeError):
        found = sorted(found)  # not in place: that would leave those that cannot be half sorted
    return Categories(np.fromiter(found, dtype=object, count=len(found)), bool(missing.any()))


def find_missing(column: AnyArray) -> BoolArray:
    """Tell which entries are missing: None, NaN, NaT or pandas' NA."""
    kind = column.dtype.kind
    if kind == "f":
        return np.isnan(column)
    if kind in "mM":
        return np.isnat(column)
    if kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.fromiter(map(is_missing, column), bool, len(column))


def is_missing(value: Any) -> bool:
    """Tell whether one value is missing: None, NaN, NaT or pandas' NA."""
    # pandas' NA has no truth value; it is known by its type, so that pandas need not be loaded.
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, str) and type(value != value) in (bool, np.bool) and value != value


def _hashable(column: AnyArray) -> list[Any]:
    values: list[Any] = column.tolist()
    for value in values:
        try:
            hash(value)
        except TypeError as error:
            raise ValueError(
                f"categories must be single values that Python can hash; got {value!r:.60}. "
                "Convert the column, for example to strings."
            ) from error
    return values
