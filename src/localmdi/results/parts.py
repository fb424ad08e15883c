"""Results whose values have parts: by class of the target, by pair of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from localmdi._text import clean, count, quote_names
from localmdi.results.axes import row_positions, select_fields
from localmdi.results.fields import as_array, check_fields, dense
from localmdi.results.frames import FrameType, columns_to_frame, pairs_to_frame
from localmdi.results.local import LocalImportance
from localmdi.results.shown import classes_html, describe_pairs, pairs_html

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import DTypeLike

    from localmdi.results.axes import Choice
    from localmdi.results.fields import Matrix
    from localmdi.results.global_ import GlobalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class ClassImportance:
    """How much of the uncertainty about each class every feature removed, row by row.

    Entropy and Gini impurity are sums over the classes, Σ −p log2 p and Σ p (1 − p); what a split
    removes is such a sum too. The parts of a row and feature add up to its `LocalImportance`. A
    feature can remove uncertainty about one class and raise it about another. For several targets
    the parts are those of the targets.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features, n_classes)
        The parts.
    baseline : ndarray of float64, shape (n_classes,)
        The parts of the impurity at the root.
    residual : ndarray of float64, shape (n_rows, n_classes)
        The parts of the impurity that is left at the leaf.
    classes : tuple
        The labels of the classes.
    unit : str
        "bits" or "gini".
    feature_names : sequence of str
        One name per feature.
    n_trees : int
        Number of trees.
    data, row_labels, frame_type
        As for `LocalImportance`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import localmdi as lm
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ExtraTreesClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    >>> result = lm.local_mdi_by_class(model, X)
    >>> result
    ClassImportance: 150 rows, 4 features, 3 classes, 50 trees, in bits
      0  petal length (cm) 0.248
      1  petal width (cm) 0.2405
      2  petal width (cm) 0.2467
    >>> bool(np.allclose(result.values.sum(axis=2), lm.local_mdi(model, X).values))
    True
    """

    values: FloatArray
    baseline: FloatArray
    _: KW_ONLY
    residual: FloatArray
    classes: tuple[Any, ...]
    unit: str
    feature_names: tuple[str, ...]
    n_trees: int
    data: Any = None
    row_labels: Any = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        check_fields(self, values="rfc", baseline="c", residual="rc")
        as_array("baseline", self.baseline, len(self.classes))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of rows, of features and of classes.

        Examples
        --------
        >>> ClassImportance(np.zeros((5, 1, 2)), np.ones(2), residual=np.ones((5, 2)), unit="bits",
        ...                 classes=("a", "b"), feature_names=("age",), n_trees=10).shape
        (5, 1, 2)
        """
        n_rows, n_features, n_classes = self.values.shape
        return n_rows, n_features, n_classes

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n_rows, n_features, n_classes = self.shape
        sizes = [count(n_rows, "row"), count(n_features, "feature"), count(n_classes, "class")]
        sizes.append(count(self.n_trees, "tree"))
        lines = [f"{type(self).__name__}: {', '.join(sizes)}, in {self.unit}"]
        if n_rows and n_features:
            for label, mean in list(self.mean().items())[:10]:
                name, value = mean.top(1)[0]
                lines.append(f"  {clean(label)}  {clean(name)} {value:.4g}")
            lines += ["  ..."] * (n_classes > 10)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return classes_html(self)

    def __getitem__(self, label: Hashable) -> LocalImportance:
        """Return the parts of one class, which every display shows.

        Examples
        --------
        >>> result = ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5),
        ...     residual=np.full((1, 2), 0.5), unit="bits", classes=("a", "b"),
        ...     feature_names=("age",), n_trees=10)
        >>> result["a"].values
        array([[1.]])
        """
        if label not in self.classes:
            raise KeyError(
                f"{label!r} is not among the classes {quote_names(self.classes)}. Choose one."
            )
        k = self.classes.index(label)
        return self._local(
            self.values[:, :, k], float(self.baseline[k]), residual=self.residual[:, k]
        )

    def total(self) -> LocalImportance:
        """Add up the classes: what `local_mdi` gives, up to rounding.

        Examples
        --------
        >>> ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5), residual=np.full((1, 2), 0.5),
        ...     unit="bits", classes=("a", "b"), feature_names=("age",), n_trees=10).total().values
        array([[2.]])
        """
        return self._local(
            self.values.sum(axis=2), float(self.baseline.sum()), residual=self.residual.sum(axis=1)
        )

    def mean(self) -> dict[Hashable, GlobalImportance]:
        """Return the mean over rows of each class; `BarDisplay` draws them as bars by class.

        Examples
        --------
        >>> result = ClassImportance(np.ones((3, 1, 2)), np.full(2, 1.5),
        ...     residual=np.full((3, 2), 0.5), unit="bits", classes=("a", "b"),
        ...     feature_names=("age",), n_trees=10)
        >>> {label: mean.values for label, mean in result.mean().items()}
        {'a': array([1.]), 'b': array([1.])}
        """
        return {label: self[label].mean() for label in self.classes}

    def to_frame(self) -> Any:
        """Return one line per row and class: columns row, class, and one per feature.

        Examples
        --------
        >>> ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5), residual=np.full((1, 2), 0.5),
        ...     unit="bits", classes=("a", "b"), feature_names=("age",), n_trees=10).to_frame()
           row class  age
        0    0     a  1.0
        1    0     b  1.0
        """
        n_rows, n_features, n_classes = self.shape
        rows = np.repeat(np.arange(n_rows), n_classes)
        flat = self.values.transpose(0, 2, 1).reshape(-1, n_features)
        columns = {
            "row": rows if self.row_labels is None else np.asarray(self.row_labels)[rows],
            "class": np.tile(np.array(self.classes), n_rows),
        }
        columns |= {name: flat[:, j] for j, name in enumerate(self.feature_names)}
        return columns_to_frame(columns, self.frame_type)

    def _local(
        self, values: FloatArray, baseline: float, *, residual: FloatArray
    ) -> LocalImportance:
        common = ("unit", "feature_names", "n_trees", "data", "row_labels", "frame_type")
        return LocalImportance(
            np.ascontiguousarray(values),
            baseline,
            residual=np.ascontiguousarray(residual),
            **{name: getattr(self, name) for name in common},
        )


@dataclass(frozen=True, eq=False, repr=False)
class InteractionImportance:
    """How much more (or less) two features tell together than each alone, for each row.

    Positive values are synergy, as in an exclusive or; negative ones redundancy, as between copies.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features, n_features)
        Symmetric, with NaN on the diagonal.
    feature_names : sequence of str
        One name per feature.
    unit : str
        "bits", "gini" or "variance".
    index : str
        "SII", "STII" or "FSII".
    standard_error : like values, or None
        None for exact values.
    row_weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows in `mean`; None: equal.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows.
    method : str or None
        How the values were computed.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives, that of the explained frame; None: pandas.

    Examples
    --------
    >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]]])
    >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII")
    InteractionImportance (SII): 1 row, 2 features, in bits
      largest by mean |value|:
        a and b  1
    """

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    index: str
    standard_error: FloatArray | None = None
    row_weight: FloatArray | None = None
    row_labels: Any = None
    method: str | None = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        check_fields(self, values="rff", standard_error="rff")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of rows, of features, and of features again.

        Examples
        --------
        >>> InteractionImportance(np.zeros((3, 2, 2)), ("a", "b"), unit="bits", index="SII").shape
        (3, 2, 2)
        """
        n_rows, n_features, _ = self.values.shape
        return n_rows, n_features, n_features

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, key: Choice) -> InteractionImportance:
        """Select rows by an int, a slice, a mask or a list of ints.

        Examples
        --------
        >>> result = InteractionImportance(np.zeros((3, 1, 1)), ("a",), unit="bits", index="SII")
        >>> result[-1].shape
        (1, 1, 1)
        """
        return replace(self, **select_fields(self, row_positions(key, len(self))))

    def __repr__(self) -> str:
        n_rows, n_features, _ = self.shape
        second, first = np.tril_indices(n_features, -1)
        return describe_pairs(
            self,
            [count(n_rows, "row"), count(n_features, "feature")],
            mean_size=np.abs(self.values[:, second, first]).sum(axis=0) / max(1, n_rows),
            name=lambda k: f"{self.feature_names[first[k]]} and {self.feature_names[second[k]]}",
        )

    def _repr_html_(self) -> str:
        return pairs_html(self)

    def mean(self) -> FloatArray:
        """Return the global interactions, (n_features, n_features): the mean over rows.

        Of the training rows it is I(Y; Xi, Xj | S) − I(Y; Xi | S) − I(Y; Xj | S), weighed over the
        contexts S: positive for synergy, negative for redundancy.

        Examples
        --------
        >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]], [[np.nan, 0.0], [0.0, np.nan]]])
        >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII").mean()
        array([[nan, 0.5],
               [0.5, nan]])
        """
        return np.asarray(np.average(self.values, axis=0, weights=self.row_weight))

    def to_frame(self, row: int | None = None) -> Any:
        """Return a table of one row's pairs, or of their mean, the strongest first.

        Parameters
        ----------
        row : int, optional
            Position of the row; None for the mean over rows.

        Examples
        --------
        >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]]])
        >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII").to_frame(0)
          first second  value
        0     a      b    1.0
        """
        table = self.mean() if row is None else self.values[row]
        second, first = np.tril_indices(self.shape[1], -1)
        error = None if row is None or self.standard_error is None else self.standard_error[row]
        return pairs_to_frame(
            self.feature_names,
            (first, second),
            values=table[first, second],
            standard_error=None if error is None else error[first, second],
            frame_type=self.frame_type,
        )


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
        check_fields(self, values="rp", standard_error="rp")
        n_features, pairs = len(self.feature_names), self.pairs
        if pairs.size and (pairs.min() < 0 or pairs.max() >= n_features):
            raise ValueError(
                f"pairs must hold positions of the {n_features} features; got {pairs.min()} to "
                f"{pairs.max()}. Number the features from 0."
            )

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
        return replace(self, **select_fields(self, row_positions(key, len(self))))

    def __repr__(self) -> str:
        n_rows, n_pairs = self.shape
        n_features = len(self.feature_names)
        return describe_pairs(
            self,
            [count(n_rows, "row"), count(n_features, "feature"), count(n_pairs, "pair")],
            mean_size=np.asarray(abs(self.values).sum(axis=0)).ravel() / max(1, n_rows),
            name=self.names.__getitem__,
        )

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
