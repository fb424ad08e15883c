"""Some rows of a table: those chosen by number, or a random sample of a stream."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from localmdi._text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from localmdi.tables.columns import TypedTable
    from localmdi.typing import IntArray

_PART = re.compile(r"(\d*)(:?)(\d*)", re.ASCII)

Part = TypeVar("Part")


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a file, counted from 0; made by `parse_rows`.

    Parameters
    ----------
    ranges : tuple of (int, int or None)
        First row and the row after the last; None: to the end.
    least_rows : int
        How many rows the file must have, because rows were named one by one.
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
                f"no row {self.least_rows - 1}; the file has {count(n_rows, 'row')}, counted "
                "from 0. Use smaller numbers."
            )
        if n_found == 0:
            raise ValueError(
                f"no row selected; the file has {count(n_rows, 'row')}, counted from 0. "
                "Use smaller numbers."
            )


ALL_ROWS = RowSelection(((0, None),))


def parse_rows(text: str) -> RowSelection:
    """Read a selection of rows.

    Examples
    --------
    >>> parse_rows("1,4:6").ranges, parse_rows("7:").end is None
    (((1, 2), (4, 6)), True)
    """
    ranges: list[tuple[int, int | None]] = []
    least = 0
    for part in text.split(","):
        found = _PART.fullmatch(part.strip())
        start, colon, stop = found.groups() if found else ("", "", "")
        if not colon and not start:
            raise ValueError(
                "rows must be numbers or ranges, counted from 0, such as 5 or 1,7,9 or 0:1000; "
                f"got {text!r:.80}."
            )
        first = int(start or 0)
        ranges.append((first, (int(stop) if stop else None) if colon else first + 1))
        least = least if colon else max(least, first + 1)
    return RowSelection(tuple(ranges), least)


def read_rows(
    table: TypedTable,
    names: Sequence[str],
    *,
    selection: RowSelection,
    batch_rows: int,
    advance: Callable[[int], object] = lambda n_rows: None,
) -> Iterator[tuple[IntArray, Any]]:
    """Yield the selected rows batch by batch: their numbers in the file, and these columns.

    `advance` is called with the number of rows read, for a progress bar.
    """
    n_rows = n_found = 0
    for batch in table.batches(names, batch_rows):
        chosen = selection.positions(n_rows, batch.num_rows)
        if len(chosen):
            yield n_rows + chosen, batch if len(chosen) == batch.num_rows else batch.take(chosen)
        n_rows += batch.num_rows
        n_found += len(chosen)
        advance(batch.num_rows)
        if selection.end is not None and n_rows >= selection.end:
            break
    if n_rows == 0:
        raise no_rows(table)
    selection.check(n_rows, n_found)


def no_rows(table: TypedTable) -> ValueError:
    """Return the error for a table without rows."""
    return ValueError(f"{table.path.name!r} has no rows, only column names.")


class Reservoir(Generic[Part]):
    """A sample without replacement from a stream of unknown length, in the order of the stream.

    Every row draws a number, and those with the smallest numbers stay; so the sample depends on
    the seed and the rows, and not on how the stream is cut into parts.

    Parameters
    ----------
    size : int
        How many rows to keep.
    seed : int
        Of the draw.
    concat : callable
        Joins a list of parts; a part has a method ``take(positions)``.
    """

    def __init__(self, size: int, *, seed: int, concat: Callable[[list[Any]], Part]) -> None:
        import numpy as np

        self.n_seen = 0
        self._size = size
        self._random = np.random.default_rng(seed)
        self._concat = concat
        self._parts: list[Any] = []
        self._keys = np.empty(0)
        self._rows = np.empty(0, dtype=np.int64)
        self._limit = np.inf

    def add(self, part: Any, n_rows: int) -> None:
        """Offer the next rows of the stream."""
        import numpy as np

        keys = self._random.random(n_rows)
        chosen = np.flatnonzero(keys < self._limit)
        if len(chosen):
            self._parts.append(part if len(chosen) == n_rows else part.take(chosen))
            self._keys = np.append(self._keys, keys[chosen])
            self._rows = np.append(self._rows, self.n_seen + chosen)
        self.n_seen += n_rows
        if len(self._keys) > 2 * self._size:
            self._shrink()

    def result(self) -> tuple[Part, IntArray]:
        """Return the sample and the numbers of its rows in the stream; not for an empty stream."""
        self._shrink()
        return self._parts[0], self._rows

    def _shrink(self) -> None:
        import numpy as np

        joined: Any = self._concat(self._parts)
        if len(self._keys) > self._size:
            smallest = np.sort(np.argpartition(self._keys, self._size - 1)[: self._size])
            joined = joined.take(smallest)
            self._keys, self._rows = self._keys[smallest], self._rows[smallest]
            self._limit = float(self._keys.max())
        self._parts = [joined]
