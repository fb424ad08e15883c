"""The forest: the one form in which models reach the measures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi.exceptions import MissingStatisticsError
from localmdi.forest.checks import check_forest
from localmdi.forest.schema import STATISTICS, STRUCTURE, UNITS
from localmdi.forest.statistics import recompute_statistics
from localmdi.forest.storage import write_fields

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["Forest"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Forest:
    """Trees as one table of nodes: frozen, and checked whenever one is made.

    Make one with `as_forest`, `load_forest` or `build_forest`. Its arrays are read-only; those that
    could still be written to are copied. Nodes are numbered over the whole forest, parents before
    their children; the first node of a tree is its root.

    Parameters
    ----------
    n_features : int
        Number of columns of a row.
    tree_offset : ndarray of int64, shape (n_trees + 1,)
        First node of each tree, and at the end the number of nodes.
    feature : ndarray of int32, shape (n_nodes,)
        Split feature; -1 at a leaf.
    split_kind : ndarray of uint8, shape (n_nodes,)
        How the node splits, a `SplitKind`.
    threshold : ndarray of float64, shape (n_nodes,)
        Threshold of the ordered kinds; not read at other nodes.
    child_offset : ndarray of int64, shape (n_nodes + 1,)
        Where the children of each node begin in `child`, and at the end the length of `child`.
    child : ndarray of int64
        Children of all nodes, one node after the other.
    missing_child : ndarray of int32, shape (n_nodes,)
        Which child, from 0, takes a missing value; -1: a missing value is an error.
    category_offset : ndarray of int64, shape (n_nodes + 1,)
        Where the words of each node begin in `category_bits`, and at the end its length.
    category_bits : ndarray of uint64
        CATEGORY_SET: bit c % 64 of word c // 64 says whether category c goes to the first child.
        MULTIWAY: the category of each child, ascending.
    tree_weight : ndarray of float64, shape (n_trees,)
        Weight of each tree in the mean over trees.
    feature_names : sequence of str
        One name per feature.
    weight : ndarray of float64, shape (n_nodes,), or None
        Total weight of the training rows that reached the node.
    impurity : ndarray of float64, shape (n_nodes,), or None
        Impurity of the training rows that reached the node.
    value : ndarray of float64, shape (n_nodes, n_values), or None
        What the node predicts: a column per output, or per class of each output.
    criterion : str or None
        What `impurity` measures, by scikit-learn's names.
    aggregation : {"mean", "sum"}
        How the values of the trees make a prediction; "sum" for boosting.
    classes : tuple of ndarray, or None
        Class labels of each output of a classifier.
    categories : tuple of (ndarray or None), or None
        For each feature the category of each code in order; None: not categorical.
    row_dtype : {"float32", "float64"}
        The type to which rows are converted before they are compared with thresholds.
    boosted : bool
        Whether trees were grown one upon the other, so that they are no sample of trees.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> build_forest(n_features=2, tree_offset=[0, 3], feature=[1, -1, -1], split_kind=[1, 0, 0],
    ...              threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...              impurity=[1.0, 0.0, 0.0], criterion="entropy", feature_names=("age", "dose"))
    Forest: 1 tree, 3 nodes, 2 features (age, dose)
      criterion: entropy, in bits
      node statistics: impurity
    """

    n_features: int
    tree_offset: IntArray
    feature: NDArray[np.int32]
    split_kind: NDArray[np.uint8]
    threshold: FloatArray
    child_offset: IntArray
    child: IntArray
    missing_child: NDArray[np.int32]
    category_offset: IntArray
    category_bits: NDArray[np.uint64]
    tree_weight: FloatArray
    feature_names: tuple[str, ...]
    weight: FloatArray | None = None
    impurity: FloatArray | None = None
    value: FloatArray | None = None
    criterion: str | None = None
    aggregation: str = "mean"
    classes: tuple[AnyArray, ...] | None = None
    categories: tuple[AnyArray | None, ...] | None = None
    row_dtype: str = "float64"
    boosted: bool = False

    def __post_init__(self) -> None:
        for field, value in check_forest(vars(self)).items():
            object.__setattr__(self, field, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a pickle cannot bring in what a file cannot.
        return _from_fields, (self._fields(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        theirs = other._fields()
        return all(_same(value, theirs[field]) for field, value in self._fields().items())

    def __hash__(self) -> int:
        return hash((self.n_trees, self.n_nodes, self.feature_names, self.criterion))

    def __repr__(self) -> str:
        counts = (_count(self.n_trees, "tree"), _count(self.n_nodes, "node"))
        names = f"{_count(self.n_features, 'feature')} ({_some(self.feature_names)})"
        known = [field for field in STATISTICS if getattr(self, field) is not None]
        lines = [
            f"Forest: {', '.join(counts)}, {names}",
            f"  criterion: {self.criterion}" + (f", in {self.unit}" if self.unit else ""),
            f"  node statistics: {', '.join(known) or 'none'}",
        ]
        lines += [f"  classes: {_some(labels)}" for labels in (self.classes or ())[:5]]
        return "\n".join(lines)

    @property
    def n_trees(self) -> int:
        """Number of trees.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> build_forest(n_features=1, tree_offset=[0, 1, 2], feature=[-1, -1], split_kind=[0, 0],
        ...              threshold=[0.0, 0.0], child_offset=[0, 0, 0], child=[]).n_trees
        2
        """
        return len(self.tree_offset) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> build_forest(n_features=1, tree_offset=[0, 1, 2], feature=[-1, -1], split_kind=[0, 0],
        ...              threshold=[0.0, 0.0], child_offset=[0, 0, 0], child=[]).n_nodes
        2
        """
        return len(self.feature)

    @property
    def unit(self) -> str | None:
        """Unit of the impurities, from the criterion; None if it is not known.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...              threshold=[0], child_offset=[0, 0], child=[], criterion="log_loss").unit
        'bits'
        """
        return None if self.criterion is None else UNITS[self.criterion]

    @property
    def table(self) -> dict[str, Any]:
        """What the kernels need to route rows: ``_core.NodeTable(**forest.table)``.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...                     threshold=[0.0], child_offset=[0, 0], child=[])
        >>> sorted(leaf.table)[:3]
        ['category_bits', 'category_offset', 'child']
        """
        return {field: getattr(self, field) for field in ("n_features", *STRUCTURE)}

    def statistic(self, field: Literal["weight", "impurity", "value"]) -> FloatArray:
        """Return a node statistic that a measure cannot do without.

        Raises
        ------
        MissingStatisticsError
            The forest does not have it.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...                     threshold=[0.0], child_offset=[0, 0], child=[], weight=[7])
        >>> leaf.statistic("weight")
        array([7.])
        >>> leaf.statistic("impurity")
        Traceback (most recent call last):
        localmdi.exceptions.MissingStatisticsError: the nodes must have impurity; got a forest ...
        """
        array: FloatArray | None = getattr(self, field)
        if array is None:
            raise MissingStatisticsError(
                f"the nodes must have {field}; got a forest without it. "
                "Compute it with forest.with_statistics(X, y)."
            )
        return array

    def with_statistics(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        criterion: str | None = None,
        n_jobs: int | None = None,
    ) -> Forest:
        """Return the same trees with weights and impurities of the rows (X, y).

        The rows are pushed down every tree. For models that store no impurities, or to measure a
        forest on other rows than those it was grown on. A node that no row reaches takes its
        parent's impurity: nothing is known to change there.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or pandas, polars or pyarrow table
            The rows.
        y : array-like, shape (n_rows,) or (n_rows, n_outputs)
            Their targets; the impurity of several outputs is the mean over outputs.
        sample_weight : array-like, shape (n_rows,), or None
            Weights of the rows.
        criterion : {"entropy", "log_loss", "gini", "squared_error", "variance"} or None
            The impurity; None: the forest's own.
        n_jobs : int or None
            Number of threads, as in `local_mdi`.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
        ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2],
        ...     child=[1, 2])
        >>> forest.with_statistics([[0], [0], [1], [1]], list("aabb"), criterion="entropy").impurity
        array([1., 0., 0.])
        """
        return recompute_statistics(
            self, X, y=y, sample_weight=sample_weight, criterion=criterion, n_jobs=n_jobs
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the forest to a file that `load_forest` reads; there is no pickle in it.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from localmdi.forest import build_forest, load_forest
        >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...                     threshold=[0.0], child_offset=[0, 0], child=[])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "forest.lmdi"
        ...     leaf.save(path)
        ...     load_forest(path) == leaf
        True
        """
        write_fields(path, self._fields())

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _from_fields(values: dict[str, Any]) -> Forest:
    return Forest(**values)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        # Thresholds of leaves may be NaN.
        nan = one.dtype.kind == other.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=nan)
    return type(one) is type(other) and bool(one == other)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _some(items: Any) -> str:
    texts = [str(item) for item in items[:5]]
    shown = [text if len(text) <= 30 else f"{text[:27]}..." for text in texts]
    return ", ".join([*shown, "..."] if len(items) > 5 else shown)
