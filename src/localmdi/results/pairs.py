"""The result of a decomposition by pairs: a value for each row and each pair that occurs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.results.axes import row_positions
from localmdi.results.fields import as_count, as_matrix, as_names, as_text, as_vector, dense
from localmdi.results.frames import FrameType, pairs_to_frame
from localmdi.results.notebook import pairs_html
from localmdi.results.repr import describe_pairs

if TYPE_CHECKING:
    from localmdi.results.axes import Choice
    from localmdi.results.fields import Matrix
    from localmdi.typing import FloatArray, IntArray

__all__ = ["PairImportance"]


@dataclass(frozen=True, eq=False, repr=False)
class PairImportance:
    """What pairs of features tell in each row; made by `localmdi.local_interactions`.

    Parameters
    ----------
    values : ndarray of float64 or scipy.sparse.csr_array, shape (n_rows, n_pairs)
        One column for each listed pair.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Positions of the two features. For ``index="conditional"`` the order counts: what the first
        told after the second was known; a feature with itself is what it told before any other.
    feature_names : sequence of str
        One name per feature.
    unit : str
        "bits", "gini", "variance" and so on.
    index : str
        "conditional", "SII", "STII" or "FSII".
    n_trees : int
        Number of trees.
    rest : ndarray of float64, shape (n_rows,), or None
        The sum of the pairs that are not listed.
    standard_error : ndarray of float64, shape (n_rows, n_pairs), or None
        Over trees.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives, that of the explained frame; None: pandas.

    Examples
    --------
    >>> values = np.array([[0.2, 0.5], [0.1, 0.7]])
    >>> PairImportance(values, [[0, 0], [1, 0]], ("a", "b"), unit="bits", index="conditional",
    ...                n_trees=9)
    PairImportance (conditional): 2 rows, 2 features, 2 pairs, in bits
      largest by mean |value|:
        b after a  0.6
        a alone    0.15
    """

    values: Matrix
    pairs: IntArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    index: str
    n_trees: int
    rest: FloatArray | None = None
    standard_error: FloatArray | None = None
    row_labels: Any = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        names = as_names(self.feature_names)
        pairs = np.asarray(self.pairs, dtype=np.int64).reshape(-1, 2)
        if pairs.size and (pairs.min() < 0 or pairs.max() >= len(names)):
            raise ValueError(
                f"pairs must hold positions of the {len(names)} features; got {pairs.min()} to "
                f"{pairs.max()}. Number the features from 0."
            )
        fixed: dict[str, Any] = {"feature_names": names, "pairs": pairs}
        fixed["values"] = as_matrix("values", self.values, n_features=len(pairs))
        fixed["unit"], fixed["index"] = as_text("unit", self.unit), as_text("index", self.index)
        fixed["n_trees"] = as_count("n_trees", self.n_trees)
        n_rows = fixed["values"].shape[0]
        if self.rest is not None:
            fixed["rest"] = as_vector("rest", self.rest, length=n_rows)
        if self.standard_error is not None:
            fixed["standard_error"] = as_matrix(
                "standard_error", self.standard_error, n_features=len(pairs), n_rows=n_rows
            )
        for name, value in fixed.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of listed pairs.

        Examples
        --------
        >>> PairImportance(np.zeros((3, 1)), [[0, 1]], ("a", "b"), unit="bits", index="SII",
        ...                n_trees=9).shape
        (3, 1)
        """
        return self.values.shape[0], len(self.pairs)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __getitem__(self, key: Choice) -> PairImportance:
        """Select rows by an int, a slice, a mask or a list of ints.

        Examples
        --------
        >>> result = PairImportance(np.zeros((3, 1)), [[0, 1]], ("a", "b"), unit="bits",
        ...                         index="SII", n_trees=9)
        >>> result[-1].shape
        (1, 1)
        """
        rows = row_positions(key, len(self))
        chosen: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("values", "rest", "standard_error", "row_labels")
        }
        return replace(self, **chosen)

    def __repr__(self) -> str:
        return describe_pairs(self)

    def _repr_html_(self) -> str:
        return pairs_html(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The pairs in words.

        Examples
        --------
        >>> PairImportance(np.zeros((1, 2)), [[0, 0], [1, 0]], ("a", "b"), unit="bits",
        ...                index="conditional", n_trees=9).names
        ('a alone', 'b after a')
        """
        between = "after" if self.index == "conditional" else "and"
        return tuple(
            f"{self.feature_names[first]} alone"
            if first == second
            else f"{self.feature_names[first]} {between} {self.feature_names[second]}"
            for first, second in self.pairs.tolist()
        )

    def mean(self) -> FloatArray:
        """Return the mean over rows of each listed pair, (n_pairs,).

        Examples
        --------
        >>> PairImportance(np.array([[1.0], [0.0]]), [[0, 1]], ("a", "b"), unit="bits",
        ...                index="SII", n_trees=9).mean()
        array([0.5])
        """
        return np.asarray(self.values.mean(axis=0)).ravel()

    def matrix(self, row: int | None = None) -> FloatArray:
        """Return one row's pairs, or their mean, as a table (n_features, n_features).

        Rows are the first features of the pairs. Pairs that are not listed are 0; for the indices
        the table is symmetric and its diagonal NaN.

        Parameters
        ----------
        row : int, optional
            Position of the row; None for the mean over rows.

        Examples
        --------
        >>> PairImportance(np.array([[0.2, 0.5]]), [[0, 0], [1, 0]], ("a", "b"), unit="bits",
        ...                index="conditional", n_trees=9).matrix()
        array([[0.2, 0. ],
               [0.5, 0. ]])
        """
        values = self.mean() if row is None else dense(self.values[[row]])[0]
        table = np.zeros((len(self.feature_names), len(self.feature_names)))
        first, second = self.pairs.T
        table[first, second] = values
        if self.index != "conditional":
            table[second, first] = values
            np.fill_diagonal(table, np.nan)
        return table

    def by_feature(self) -> FloatArray:
        """Return the local MDI that the conditional decomposition adds up to, (n_rows, n_features).

        Examples
        --------
        >>> PairImportance(np.array([[0.2, 0.5]]), [[0, 0], [1, 0]], ("a", "b"), unit="bits",
        ...                index="conditional", n_trees=9).by_feature()
        array([[0.2, 0.5]])
        """
        if self.index != "conditional" or self.rest is not None:
            given = f"index={self.index!r}" if self.index != "conditional" else "the largest pairs"
            raise ValueError(
                f"by_feature needs all pairs of index='conditional'; got {given}. Use pairs='all'."
            )
        from scipy.sparse import csr_array

        n_pairs, n_features = len(self.pairs), len(self.feature_names)
        owner = (np.ones(n_pairs), (np.arange(n_pairs), self.pairs[:, 0]))
        return dense(self.values @ csr_array(owner, shape=(n_pairs, n_features)))

    def to_frame(self, row: int | None = None) -> Any:
        """Return a table of one row's pairs, or of their mean, the strongest first.

        Parameters
        ----------
        row : int, optional
            Position of the row; None for the mean over rows.

        Examples
        --------
        >>> PairImportance(np.array([[0.2, 0.5]]), [[0, 0], [1, 0]], ("a", "b"), unit="bits",
        ...                index="conditional", n_trees=9).to_frame(0)
          first second  value
        0     b      a    0.5
        1     a      a    0.2
        """
        values = self.mean() if row is None else dense(self.values[[row]])[0]
        error = None if row is None or self.standard_error is None else self.standard_error[row]
        return pairs_to_frame(
            self.feature_names,
            (self.pairs[:, 0], self.pairs[:, 1]),
            values=values,
            standard_error=error,
            frame_type=self.frame_type,
        )
