"""The size of the tables that the theory may build: everything here is exact, so it enumerates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MAX_ENTRIES", "require_feasible"]

MAX_ENTRIES = 2**25
"""Most numbers a table may hold: 2^25 float64 are 256 MiB."""


def require_feasible(shape: Iterable[int], *, what: str) -> None:
    """Raise unless a table of this shape has at most `MAX_ENTRIES` entries.

    Parameters
    ----------
    shape : iterable of int
        Lengths of the table's axes.
    what : str
        What the table holds, for the message.

    Raises
    ------
    ValueError
        If the table is too large; the message names its shape and size.

    Examples
    --------
    >>> require_feasible([2] * 10, what="the law")
    >>> require_feasible([2] * 40, what="the law")
    Traceback (most recent call last):
    ...
    ValueError: the law would be a table of 2^40 = 1,099,511,627,776 entries; ...
    """
    lengths = tuple(shape)
    entries = math.prod(lengths)
    if entries <= MAX_ENTRIES:
        return
    sizes = sorted(set(lengths))
    factors = " * ".join(
        f"{size}^{lengths.count(size)}" if lengths.count(size) > 1 else str(size) for size in sizes
    )
    raise ValueError(
        f"{what} would be a table of {factors} = {entries:,} entries; the exact theory holds at "
        f"most {MAX_ENTRIES:,}. Use fewer features, merge categories, or sample "
        "(localmdi.infinite_mdi)."
    )
