"""The forest: the one form in which models reach the measures; made, checked, saved and loaded."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np

from localmdi import _core
from localmdi._criteria import UNIT_OF, criterion_names, find_criterion
from localmdi._text import clean, count, cut
from localmdi._validation import check_keywords, default_names
from localmdi.exceptions import FileFormatError, MissingStatisticsError
from localmdi.forest.credit import class_impurity
from localmdi.forest.rules import (
    ARRAYS,
    STATISTICS,
    STRUCTURE,
    ForestFields,
    SplitKind,
    as_feature_count,
    check_header,
    check_statistics,
    check_structure,
    convert,
    freeze,
)
from localmdi.forest.statistics import NodeStatistics
from localmdi.forest.storage import read_fields, write_fields

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import NDArray

    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray, RowsLike

# Stands for a leaf without training rows in a mean over leaves; adding it changes no other weight.
_NO_WEIGHT = 1e-290
# What a forest may leave in the model until somebody asks for it.
_NODES = ({*STRUCTURE, "weight", "impurity"} - {"tree_offset"}) | {"_node_table"}


class NodeSource(Protocol):
    """Trees in the form in which a model has them: binary, comparing float32, with impurities.

    To explain rows, the kernels need the packed form only, and that is made straight from there.
    """

    routes_missing: bool
    """Whether every split has a way for missing values; else none has."""

    def columns(self) -> dict[str, Any]:
        """Return the fields of the nodes: the vectors of the trees, weights and impurities."""

    def root_impurity(self) -> FloatArray:
        """Return the impurity of each tree's root."""

    def pack_drops(
        self, tree_weight: FloatArray, *, n_features: int, n_threads: int
    ) -> _core.Packed32 | None:
        """Return the trees packed with their impurity decreases; None: only the table can be."""


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
    feature_names : sequence of str, or None
        One name per feature; None: the features have no names.
    weight : ndarray of float64, shape (n_nodes,), or None
        Total weight of the training rows that reached the node.
    impurity : ndarray of float64, shape (n_nodes,), or None
        Impurity of the training rows that reached the node.
    value : ndarray of float64, shape (n_nodes, n_values), or None
        What the node predicts: a column per output, or per class of each output. At splits of
        boosted trees, the mean of the leaves below.
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
        Whether each tree was grown on the errors of the ones before it. Boosted trees are not a
        sample of trees, so that no standard error over trees is given for them.
    base_value : ndarray of float64, shape (n_values,), or None
        What is added to the trees' values in a prediction: the score that boosting starts from.
        NaN: it differs from row to row, so that the trees alone do not predict.
    column_rule : ndarray of uint8, shape (n_features,), or None
        What happens to the values of each feature before they are routed: members of `ColumnRule`,
        added up;
        None: nothing.

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
    feature_names: tuple[str, ...] | None = None
    # Without a default in the class, which would answer for nodes that are not read yet.
    weight: FloatArray | None = field(default_factory=lambda: None)
    impurity: FloatArray | None = field(default_factory=lambda: None)
    value: FloatArray | None = None
    criterion: str | None = None
    aggregation: str = "mean"
    classes: tuple[AnyArray, ...] | None = None
    categories: tuple[AnyArray | None, ...] | None = None
    row_dtype: str = "float64"
    boosted: bool = False
    base_value: FloatArray | None = None
    column_rule: NDArray[np.uint8] | None = None

    # Not fields: what follows from them; and where the nodes are, if they have not been read.
    _node_table: ClassVar[_core.NodeTable]
    source: ClassVar[NodeSource | None] = None

    def __post_init__(self) -> None:
        header = check_header(vars(self))
        vectors, table = check_structure({**vars(self), **header})
        statistics = check_statistics({**vars(self), **header, **vectors})
        vars(self).update(header | vectors | statistics, _node_table=table)

    @classmethod
    def deferred(cls, source: NodeSource, *, tree_offset: AnyArray, **header: Any) -> Self:
        """Return a forest that reads its nodes when they are asked for, and is checked then.

        Parameters
        ----------
        source : NodeSource
            The trees.
        tree_offset : ndarray of int64, shape (n_trees + 1,)
            First node of each tree, and at the end the number of nodes.
        **header
            The other fields, all but those of the nodes; checked now.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> class Leaf:
        ...     "A tree that is one leaf, in a model that need not be read yet."
        ...     def columns(self):
        ...         return {"feature": [-1], "split_kind": [0], "threshold": [0.0],
        ...                 "child_offset": [0, 0], "child": [], "impurity": [0.5]}
        >>> forest = Forest.deferred(Leaf(), tree_offset=np.array([0, 1]), n_features=1,
        ...                          tree_weight=np.ones(1), criterion="gini")
        >>> forest.n_trees, forest.impurity
        (1, array([0.5]))
        """
        own = {
            each.name: None if each.default is MISSING else each.default
            for each in fields(cls)
            if each.name not in _NODES
        }
        offset = freeze("tree_offset", tree_offset, dtype=STRUCTURE["tree_offset"], shape=(None,))
        own |= header | {"tree_offset": offset}
        own |= check_header(own)
        statistics = check_statistics({"weight": None, "impurity": None, **own})
        del statistics["weight"], statistics["impurity"]  # which are not known yet
        forest = cls.__new__(cls)
        vars(forest).update(own | statistics, source=source)
        return forest

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read the nodes when the first of their fields is asked for."""
            own = vars(self)
            source = own.get("source") if name in _NODES else None
            if source is not None:
                header = {each: own[each] for each in ForestFields.__annotations__ if each in own}
                # Two threads may both come here: they find the same, and the last one stays.
                own.update(vars(build_forest(**{**header, **source.columns()})))
                own.pop("source", None)
            if name not in own:
                raise AttributeError(f"'Forest' object has no attribute {name!r}")
            return own[name]

    def __getstate__(self) -> dict[str, Any]:
        return self._fields()

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
        counts = (count(self.n_trees, "tree"), count(self.n_nodes, "node"))
        names = "" if self.feature_names is None else f" ({_some(self.feature_names)})"
        known = [field for field in STATISTICS if getattr(self, field) is not None]
        lines = [
            f"Forest: {', '.join(counts)}, {count(self.n_features, 'feature')}{names}",
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
        return None if self.criterion is None else UNIT_OF[self.criterion]

    def measures(self, criterion: str) -> bool:
        """Tell whether the impurities are those of a criterion, under any of its names.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...              threshold=[0], child_offset=[0, 0], child=[],
        ...              criterion="log_loss").measures("entropy")
        True
        """
        wanted = find_criterion(criterion).name
        return self.criterion is not None and find_criterion(self.criterion).name == wanted

    @property
    def table(self) -> dict[str, Any]:
        """The fields that route a row: the number of features and the nine vectors."""
        return {field: getattr(self, field) for field in ("n_features", *STRUCTURE)}

    @property
    def node_table(self) -> _core.NodeTable:
        """The kernels' view of `table`, made once, when it was checked."""
        if "_node_table" not in vars(self) and self.source is None:
            # Some loaders restore the fields without a call of the constructor.
            vars(self)["_node_table"] = _core.NodeTable(**self.table)
        return self._node_table

    @property
    def tree_scale(self) -> FloatArray:
        """What each tree's value is multiplied by in a prediction.

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> build_forest(n_features=1, tree_offset=[0, 1, 2], feature=[-1, -1], split_kind=[0, 0],
        ...              threshold=[0, 0], child_offset=[0, 0, 0], child=[]).tree_scale
        array([0.5, 0.5])
        """
        if self.aggregation == "sum":
            return np.ones(self.n_trees)
        return np.asarray(self.tree_weight / self.tree_weight.sum())

    def names_for(self, columns: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the names of the features: the forest's own, those of X, or "x0", "x1", ….

        Examples
        --------
        >>> from localmdi.forest import build_forest
        >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
        ...                     threshold=[0.0], child_offset=[0, 0], child=[])
        >>> leaf.names_for(("age",)), leaf.names_for(None)
        (('age',), ('x0',))
        """
        return self.feature_names or columns or default_names(self.n_features)

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
                f"the nodes must have {field}; got a forest without it. {self._advice(field)}"
            )
        return array

    def _advice(self, field: str) -> str:
        """Say how to get a statistic."""
        if field == "value":
            return (
                "Keep it with as_forest(model), or compute it from rows with "
                "forest.with_statistics(X, y, criterion=...)."
            )
        # A criterion for the kind of target that the model has.
        numbers = self.criterion in (None, "absolute_error", "poisson") and self.classes is None
        fitting = self.criterion if self.criterion in criterion_names(computed=True) else None
        criterion = fitting or ("squared_error" if numbers else "entropy")
        return (
            "Compute it from rows with as_forest(model).with_statistics(X, y, "
            f"criterion={criterion!r}), or for boosted trees with_gradients(model, X, y)."
        )

    def with_statistics(
        self,
        X: RowsLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        criterion: str | None = None,
        n_jobs: int | None = None,
    ) -> Forest:
        """Return the same trees with weights, impurities and values of the rows (X, y).

        The rows are routed down every tree. For models that store no impurities, or to measure a
        forest on other rows than those it was grown on. A node that no row reaches takes its
        parent's impurity and value: nothing is known to change there. `NodeStatistics` takes rows
        that come in parts.

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
        statistics = NodeStatistics(self, criterion)
        return statistics.add(X, y, sample_weight=sample_weight, n_jobs=n_jobs).forest()

    def with_criterion(self, criterion: str) -> Forest:
        """Return the same trees, measured by another criterion of classes: bits instead of Gini.

        The new impurities follow from the class frequencies that the nodes hold; no rows are
        needed. Of several outputs the impurity is the mean over outputs.

        Parameters
        ----------
        criterion : {"entropy", "log_loss", "gini"}
            The impurity. The forest's own, whatever it is, gives the forest itself.

        Raises
        ------
        MissingStatisticsError
            The nodes have no values, or these are not the frequencies of classes.
        UnsupportedModelError
            The trees are boosted, so that their nodes hold steps of a score.
        ValueError
            The criterion is unknown, or not one for the target of the model.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import as_forest
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = as_forest(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> forest.impurity.round(3), forest.with_criterion("entropy").impurity.round(3)
        (array([0.667, 0.   , 0.5  ]), array([1.585, 0.   , 1.   ]))
        """
        if self.measures(criterion):
            return self
        measured = find_criterion(criterion)
        impurity = class_impurity(self, measured)
        return replace(self, impurity=impurity, criterion=measured.name)

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


def build_forest(**given: Unpack[ForestFields]) -> Forest:
    """Make a forest from its fields, or raise an error that says which rule they break.

    Read-only arrays that have their type already are kept without a copy.

    Parameters
    ----------
    **given
        The fields of `Forest`, by keyword. May be left out: ``missing_child`` (-1 everywhere: a
        missing value is an error), ``category_offset`` and ``category_bits`` (no node splits
        categories), ``tree_weight`` (ones), ``weight``, ``impurity`` and ``value`` (not known),
        ``feature_names`` (none), and what has a default in `Forest`.

        A ``value`` that is NaN at a split becomes the mean of the leaves below, weighted by
        ``weight``. Give NaN for boosted trees: whatever a library keeps at their splits, only
        leaves add up to the score, and Saabas' moves should lead from mean to mean.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidForestError
        The fields do not form a forest; the message names the field, the tree and the node.

    Examples
    --------
    A stump that sends rows with x1 ≤ 0.5 to node 1 and others to node 2:

    >>> from localmdi.forest import SplitKind
    >>> stump = build_forest(n_features=2, tree_offset=[0, 3], feature=[1, -1, -1],
    ...                      split_kind=[SplitKind.LESS_EQUAL, SplitKind.LEAF, SplitKind.LEAF],
    ...                      threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> stump
    Forest: 1 tree, 3 nodes, 2 features
      criterion: None
      node statistics: none
    """
    check_keywords("build_forest", given, known=ForestFields.__annotations__)
    fields: dict[str, Any] = {**given}
    fields["n_features"] = as_feature_count(fields.get("n_features"))
    for name, dtype in ARRAYS.items():
        if fields.get(name) is not None:
            fields[name] = convert(name, fields[name], dtype=dtype)
    n_nodes = np.size(fields.get("feature", ()))
    n_trees = max(np.size(fields.get("tree_offset", ())) - 1, 0)
    defaults: dict[str, Callable[[], AnyArray]] = {
        "missing_child": lambda: np.full(n_nodes, -1, dtype=np.int32),
        "category_offset": lambda: np.zeros(n_nodes + 1, dtype=np.int64),
        "category_bits": lambda: np.zeros(0, dtype=np.uint64),
        "tree_weight": lambda: np.ones(n_trees),
    }
    for name, default in defaults.items():
        if fields.get(name) is None:
            fields[name] = default()
            fields[name].flags.writeable = False  # so that the forest keeps it without a copy
    value = fields.get("value")
    if value is None or not np.isnan(value).any():
        return Forest(**fields)
    forest = Forest(**{**fields, "value": None})
    return replace(forest, value=_mean_of_leaves(forest, value))


def _mean_of_leaves(forest: Forest, value: FloatArray) -> FloatArray:
    """Return the values with NaN at splits replaced by the mean of the leaves below."""
    if value.ndim != 2 or len(value) != forest.n_nodes:
        return value  # which is refused
    is_leaf = forest.split_kind == SplitKind.LEAF
    unknown = np.isnan(value) & ~is_leaf[:, None]
    weight = np.ones(forest.n_nodes) if forest.weight is None else forest.weight
    share = np.where(is_leaf, np.maximum(weight, _NO_WEIGHT), 0.0)
    # What overflows here is refused as a value that is not finite.
    with np.errstate(all="ignore"):
        sums = np.column_stack([share, share[:, None] * np.where(is_leaf[:, None], value, 0.0)])
        _core.add_children(forest.node_table, sums)
        mean = sums[:, 1:] / sums[:, :1]
    return np.where(unknown, mean, value)


def load_forest(path: str | os.PathLike[str]) -> Forest:
    """Read a forest that `Forest.save` wrote.

    Everything comes back bit for bit. The file holds numbers and strings only and is checked like
    any forest: loading a file of unknown origin runs no code from it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Forest

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or written by a newer version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.forest import build_forest
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...                      split_kind=[1, 0, 0], threshold=[0.5, 0, 0],
    ...                      child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "stump.lmdi"
    ...     stump.save(path)
    ...     load_forest(path)
    Forest: 1 tree, 3 nodes, 1 feature
      criterion: None
      node statistics: none
    """
    try:
        return Forest(**read_fields(path))
    except FileFormatError:
        raise
    except ValueError as error:
        raise FileFormatError(
            f"cannot read {os.fspath(path)!r}: its fields do not form a forest: "
            f"{str(error).rstrip('.')}. Save the forest again."
        ) from error


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


def _some(items: Any) -> str:
    shown = [cut(clean(item), 30) for item in items[:5]]
    return ", ".join([*shown, "..."] if len(items) > 5 else shown)
