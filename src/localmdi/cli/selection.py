"""Rows by number: ``0:1000``, ``5``, ``1,7,9``; in a stream, without knowing its end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localmdi.typing import IntArray

__all__ = ["RowSelection", "parse_rows"]

_PART = re.compile(r"(\d*)(:?)(\d*)", re.ASCII)


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a file, counted from 0; made by `parse_rows`.

    Parameters
    ----------
    ranges : tuple of (int, int or None)
        First row and the row after the last; None: to the end.
    least_rows : int
        How many rows the file must have, because rows were named one by one.

    Examples
    --------
    >>> parse_rows("1,4:6").positions(3, 10).tolist()
    [1, 2]
    """

    ranges: tuple[tuple[int, int | None], ...]
    least_rows: int = 0

    @property
    def end(self) -> int | None:
        """The row after the last one wanted; None: to the end of the file."""
        stops = [stop for _, stop in self.ranges]
        known = [stop for stop in stops if stop is not None]
        return max(known) if len(known) == len(stops) else None

    def positions(self, first: int, n_rows: int) -> IntArray:
        """Return which of the n rows that begin with row `first` are wanted."""
        import numpy as np

        wanted = np.zeros(n_rows, dtype=bool)
        for start, stop in self.ranges:
            last = n_rows if stop is None else max(stop - first, 0)
            wanted[max(start - first, 0) : last] = True
        return np.flatnonzero(wanted)

    def check(self, n_rows: int, n_found: int) -> None:
        """Refuse rows that a file does not have."""
        if n_rows < self.least_rows:
            raise ValueError(
                f"the rows must exist; row {self.least_rows - 1} does not: the file has {n_rows} "
                "rows, counted from 0. Use smaller numbers."
            )
        if n_found == 0:
            raise ValueError(
                f"some row must be selected; the file has {n_rows} rows, counted from 0, and none "
                "of those asked for. Use smaller numbers."
            )


def parse_rows(text: str) -> RowSelection:
    """Read a selection of rows.

    Examples
    --------
    >>> parse_rows("0:1000").ranges, parse_rows("5").ranges, parse_rows("7:").end is None
    (((0, 1000),), ((5, 6),), True)
    """
    ranges: list[tuple[int, int | None]] = []
    least = 0
    for part in text.split(","):
        found = _PART.fullmatch(part.strip())
        start, colon, stop = found.groups() if found else ("", "", "")
        if not colon and not start:
            raise ValueError(
                f"rows must be numbers or ranges, counted from 0, such as 5 or 1,7,9 or 0:1000; "
                f"got {text!r:.80}."
            )
        first = int(start or 0)
        ranges.append((first, (int(stop) if stop else None) if colon else first + 1))
        least = least if colon else max(least, first + 1)
    return RowSelection(tuple(ranges), least)
