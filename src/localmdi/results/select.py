"""Which rows and features ``result[rows, features]`` means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import IntArray, Names

__all__ = ["feature_positions", "is_everything", "row_positions"]


def is_everything(key: Any) -> bool:
    """Tell whether a key is ``:``.

    Examples
    --------
    >>> is_everything(slice(None)), is_everything(slice(1))
    (True, False)
    """
    return isinstance(key, slice) and key == slice(None)


def row_positions(key: Any, n_rows: int) -> slice | IntArray:
    """Return the rows chosen by an int, a slice, a mask or a list of ints.

    Examples
    --------
    >>> row_positions([True, False, True], 3)
    array([0, 2])
    >>> row_positions(-1, 3)
    array([2])
    """
    if isinstance(key, slice):
        key.indices(n_rows)
        return key
    chosen = np.asarray([key] if isinstance(key, int | np.integer) else key)
    if chosen.dtype == object:
        chosen = np.array(chosen.tolist())
    wrong_type = chosen.size > 0 and chosen.dtype.kind not in "biu"
    if isinstance(key, tuple) or chosen.ndim != 1 or wrong_type:
        raise TypeError(
            "rows and positions are chosen by an int, a slice, a mask or a list of ints; got "
            f"{key!r}. For features by name write result[:, names]."
        )
    if chosen.dtype == np.bool_:
        if len(chosen) != n_rows:
            raise IndexError(
                f"a mask must have one entry for each of {n_rows}; got {len(chosen)}. "
                "Build the mask from the same rows or features."
            )
        return np.flatnonzero(chosen)
    positions = chosen.astype(np.int64)
    if positions.size and not (-n_rows <= positions.min() and positions.max() < n_rows):
        raise IndexError(
            f"positions must lie in [{-n_rows}, {n_rows}); got {positions.min()} to "
            f"{positions.max()}. Compare with the shape of the result."
        )
    return np.where(positions < 0, positions + n_rows, positions)


def feature_positions(key: Any, names: Names) -> slice | IntArray:
    """Return the columns chosen by a name, a list of names, or as rows are.

    Examples
    --------
    >>> feature_positions(["dose", "age"], ("age", "dose"))
    array([1, 0])
    """
    wanted = [key] if isinstance(key, str) else key
    if not np.iterable(wanted) or not all(isinstance(name, str) for name in wanted):
        return row_positions(key, len(names))
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    for name in wanted:
        if len(places.get(name, ())) != 1:
            given = "occurs more than once" if name in places else "is not among them"
            raise KeyError(
                f"a feature must be one of feature_names, and only once; {name!r} {given}. "
                "Choose another name, or columns by position."
            )
    return np.array([places[name][0] for name in wanted], dtype=np.int64)
