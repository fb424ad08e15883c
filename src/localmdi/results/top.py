"""The k features with the largest values of each row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import count
from localmdi.results.fields import as_count
from localmdi.results.frames import FrameType, columns_to_frame

if TYPE_CHECKING:
    from localmdi.results.fields import Matrix
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["TopFeatures", "top_of_rows"]

# Dense rows are sorted in blocks of about this many values, to keep the working memory small.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class TopFeatures:
    """The k features with the largest values of each row, largest first.

    Parameters
    ----------
    indices : ndarray of int64, shape (n_rows, k)
        Columns of the features, by decreasing absolute value; of two equal ones the first column.
    values : ndarray of float64, shape (n_rows, k)
        Their signed values.
    feature_names : tuple of str
        The names of all features, so that ``feature_names[indices[i, j]]`` is a name.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows; None: their positions.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives; None: pandas.

    Examples
    --------
    >>> import numpy as np
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(
    ...     np.array([[0.5, -0.75, 0.0]]), 1.0, residual=np.array([1.25]),
    ...     unit="bits", feature_names=("age", "dose", "sex"), n_trees=10)
    >>> result.top(2)
    TopFeatures: 1 row, 2 of 3 features
      dose -0.75, age 0.5
    """

    indices: IntArray
    values: FloatArray
    _: KW_ONLY
    feature_names: tuple[str, ...]
    row_labels: Any = None
    frame_type: FrameType = None

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        n, k = self.indices.shape
        features = count(len(self.feature_names), "feature")
        lines = [f"TopFeatures: {count(n, 'row')}, {k} of {features}"]
        for indices, values in zip(self.indices[:5], self.values[:5], strict=True):
            pairs = zip(indices, values, strict=True)
            lines.append("  " + ", ".join(f"{self.feature_names[j]} {v:.4g}" for j, v in pairs))
        return "\n".join(lines + ["  ..."] * (n > 5))

    @property
    def names(self) -> AnyArray:
        """Names of the features, an object array of shape (n_rows, k).

        Examples
        --------
        >>> import numpy as np
        >>> TopFeatures(np.array([[1]]), np.array([[0.5]]), feature_names=("a", "b")).names
        array([['b']], dtype=object)
        """
        return np.asarray(np.array(self.feature_names, dtype=object)[self.indices])

    def to_frame(self) -> Any:
        """Return one line per row and rank: columns row, rank (from 1), feature, value.

        Examples
        --------
        >>> import numpy as np
        >>> TopFeatures(np.array([[1]]), np.array([[0.5]]), feature_names=("a", "b")).to_frame()
           row  rank feature  value
        0    0     1       b    0.5
        """
        n, k = self.indices.shape
        rows = np.repeat(np.arange(n), k)
        columns = {
            "row": rows if self.row_labels is None else self.row_labels[rows],
            "rank": np.tile(np.arange(1, k + 1), n),
            "feature": self.names.reshape(-1),
            "value": self.values.reshape(-1),
        }
        return columns_to_frame(columns, self.frame_type)


def top_of_rows(values: Matrix, k: int) -> tuple[IntArray, FloatArray]:
    """Return columns and signed values of the k largest absolute values of each row.

    Examples
    --------
    >>> top_of_rows(np.array([[0.5, -2.0, 0.5]]), 2)
    (array([[1, 0]]), array([[-2. ,  0.5]]))
    """
    if as_count("k", k) == 0:
        raise ValueError("k must be at least 1; got 0. Pass the number of features to keep.")
    k = min(int(k), values.shape[1])
    return _top_of_dense(values, k) if isinstance(values, np.ndarray) else _top_of_csr(values, k)


def _top_of_dense(values: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    n, p = values.shape
    indices = np.empty((n, k), dtype=np.int64)
    step = max(1, _BLOCK // max(1, p))
    for start in range(0, n, step):
        block = slice(start, start + step)
        indices[block] = np.argsort(-np.abs(values[block]), axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(values, indices, axis=1)


def _top_of_csr(values: Any, k: int) -> tuple[IntArray, FloatArray]:
    indices = np.empty((values.shape[0], k), dtype=np.int64)
    top = np.zeros((values.shape[0], k))
    first = np.arange(k)
    for row, (start, end) in enumerate(zip(values.indptr[:-1], values.indptr[1:], strict=True)):
        stored = values.data[start:end]
        order = np.argsort(-np.abs(stored), kind="stable")[:k]
        order = order[stored[order] != 0]
        columns = values.indices[start:end][order]
        found = len(columns)
        indices[row, :found] = columns
        top[row, :found] = stored[order]
        if found < k:
            # All further values are 0, and equal values go by column: the first columns not named.
            indices[row, found:] = np.setdiff1d(first, columns, assume_unique=True)[: k - found]
    return indices, top
