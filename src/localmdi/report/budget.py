"""Keep the explained values of a page within a number of bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi.report.encode import MAX_TEXT, encode_column, read_column

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FittedColumns", "fit_columns"]

_TEXT_LIMITS = (MAX_TEXT, 40, 20, 10)
# A float32 takes 5.33 bytes in base64. With 100,000 cells this leaves a page below 2 MB.
_BYTES_PER_CELL = 5.5
_ALWAYS_ALLOWED = 200_000


@dataclass(frozen=True)
class FittedColumns:
    """Encoded columns; None for those that the page has no room for.

    Examples
    --------
    >>> FittedColumns(({"kind": "number"}, None), text_limit=80).n_dropped
    1
    """

    columns: tuple[dict[str, Any] | None, ...]
    text_limit: int

    @property
    def n_dropped(self) -> int:
        """How many columns there was no room for."""
        return sum(column is None for column in self.columns)


def fit_columns(columns: Sequence[Sequence[Any]]) -> FittedColumns:
    """Encode columns of equal length, the most important first.

    Long texts are cut, the shorter the less room there is; if that is not enough, the last columns
    are left out.

    Examples
    --------
    >>> fit_columns([["a", "b"], [1, 2]]).text_limit
    80
    """
    budget = max(_ALWAYS_ALLOWED, int(_BYTES_PER_CELL * sum(map(len, columns))))
    read = [read_column(column) for column in columns]
    for limit in _TEXT_LIMITS:
        encoded = [encode_column(column, limit) for column in read]
        sizes = [_size(column) for column in encoded]
        if sum(sizes) <= budget:
            return FittedColumns(tuple(encoded), limit)
    kept: list[dict[str, Any] | None] = []
    for column, size in zip(encoded, sizes, strict=True):
        budget -= size
        kept.append(column if budget >= 0 else None)
    return FittedColumns(tuple(kept), limit)


def _size(column: dict[str, Any]) -> int:
    """Count the bytes in the page, where a character that HTML knows takes six."""
    text = json.dumps(column, ensure_ascii=False)
    return len(text.encode("utf-8")) + 5 * sum(text.count(character) for character in "<>&")
