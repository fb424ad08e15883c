"""Rows by their labels: what ``result.loc`` means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import quote_names

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, IntArray

__all__ = ["RowsByLabel"]


class RowsByLabel:
    """``result.loc[labels]`` and ``result.loc[labels, features]``; see `LocalImportance.loc`."""

    def __init__(self, result: LocalImportance) -> None:
        self._result = result

    def __getitem__(self, key: Any) -> LocalImportance:
        labels = self._result.row_labels
        by_levels = getattr(labels, "nlevels", 1) > 1
        # Of an index with several levels a tuple is one label, as in pandas.
        is_pair = isinstance(key, tuple) and len(key) == 2 and not by_levels
        rows, columns = key if is_pair else (key, slice(None))
        if hasattr(labels, "get_indexer_for"):
            return self._result[_in_pandas(labels, rows), columns]
        known = np.arange(len(self._result)) if labels is None else np.asarray(labels)
        return self._result[_in_array(known, rows), columns]


def _in_pandas(labels: Any, key: Any) -> IntArray:
    import pandas

    found = pandas.Series(np.arange(len(labels)), index=labels).loc[key]
    return np.atleast_1d(np.asarray(found, dtype=np.int64))


def _in_array(labels: AnyArray, key: Any) -> IntArray:
    """Return the positions of labels, in the order asked for; a slice has both of its ends."""
    if isinstance(key, slice):
        if key.step is not None:
            raise ValueError("a slice of labels has no step. Choose rows by position instead.")
        first = 0 if key.start is None else _positions(labels, key.start)[0]
        last = len(labels) - 1 if key.stop is None else _positions(labels, key.stop)[-1]
        return np.arange(first, last + 1)
    array = None if isinstance(key, str) else np.asarray(key)
    if array is not None and array.ndim == 1:
        if array.dtype == np.bool_:
            if len(array) != len(labels):
                raise IndexError(
                    f"a mask must have length {len(labels)}; got {len(array)}. "
                    "Build the mask from the same rows."
                )
            return np.flatnonzero(array)
        parts = [_positions(labels, label) for label in list(key)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return _positions(labels, key)


def _positions(labels: AnyArray, label: Any) -> IntArray:
    found = np.flatnonzero(np.asarray(labels == label))
    if not len(found):
        raise KeyError(
            f"no row is labelled {label!r}; the labels are {quote_names(labels, most=3)}. "
            "Choose rows by position with result[...]."
        )
    return found
