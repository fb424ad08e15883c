"""The groups of rows that a picture tells apart, from their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localmdi._validation import find_missing, learn_categories

if TYPE_CHECKING:
    from localmdi.typing import ArrayLike, IntArray

__all__ = ["Groups", "read_groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every row.

    Parameters
    ----------
    names : tuple of str
        The distinct labels, sorted if they can be; "missing" last if some row has none.
    code : ndarray of int64, shape (n_rows,)
        The position of each row's label in names.
    """

    names: tuple[str, ...]
    code: IntArray

    def take(self, rows: IntArray) -> Groups:
        """Return the groups of some rows; all names stay, so that colours do."""
        return Groups(self.names, self.code[rows])


def read_groups(labels: ArrayLike, n_rows: int) -> Groups:
    """Read labels of any array-like type.

    Examples
    --------
    >>> groups = read_groups(["well", "ill", "well"], 3)
    >>> groups.names, groups.code
    (('ill', 'well'), array([1, 0, 1]))
    """
    items = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    array = np.asarray(items)
    if array.dtype.kind in "US" and not isinstance(items, np.ndarray):
        array = np.array(items, dtype=object)  # a mixed list keeps its numbers
    if array.shape != (n_rows,):
        raise ValueError(
            f"by must have one label per row, shape ({n_rows},); got shape {array.shape}. "
            "Pass the labels of exactly these rows."
        )
    categories = learn_categories(array)
    names = [str(value) for value in categories.values]
    code = categories.encode(array)
    missing = find_missing(array)
    if missing.any():
        code[missing] = len(names)
        names.append("missing")
    return Groups(tuple(names), code)
