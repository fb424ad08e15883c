"""A sample of fixed size from a stream of unknown length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.typing import IntArray

__all__ = ["Reservoir"]

Part = TypeVar("Part")


class Reservoir(Generic[Part]):
    """Keeps rows drawn without replacement, all with the same chance, in the order of the stream.

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

    Examples
    --------
    >>> import pyarrow as pa
    >>> reservoir = Reservoir(3, seed=0, concat=pa.concat_tables)
    >>> for first in range(0, 100, 10):
    ...     reservoir.add(pa.table({"x": range(first, first + 10)}), 10)
    >>> sample, rows = reservoir.result()
    >>> reservoir.n_seen, len(rows), sample["x"].to_pylist() == rows.tolist()
    (100, 3, True)
    """

    def __init__(self, size: int, *, seed: int, concat: Callable[[list[Any]], Part]) -> None:
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
        joined: Any = self._concat(self._parts)
        if len(self._keys) > self._size:
            smallest = np.sort(np.argpartition(self._keys, self._size - 1)[: self._size])
            joined = joined.take(smallest)
            self._keys, self._rows = self._keys[smallest], self._rows[smallest]
            self._limit = float(self._keys.max())
        self._parts = [joined]
