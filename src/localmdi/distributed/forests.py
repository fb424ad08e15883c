"""Forests whose node statistics come from rows that live in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import criterion_names, find_criterion
from localmdi._text import quote_names
from localmdi.adapters import adapt
from localmdi.distributed.dask_engine import is_dask_array
from localmdi.distributed.engines import engine_of
from localmdi.distributed.feature_columns import FeatureColumns, check_exist, choose_features
from localmdi.distributed.on_worker import Reduction
from localmdi.distributed.statistics_work import NoRowsYet, StatisticsWork
from localmdi.distributed.tree_work import TreeWork, join_trees
from localmdi.forest import NodeStatistics

if TYPE_CHECKING:
    from localmdi.distributed.feature_columns import ColumnKind
    from localmdi.forest import Forest
    from localmdi.typing import Names

__all__ = ["grow", "with_statistics"]

_GROWING = (
    "max_features",
    "draw",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_impurity_decrease",
    "categorical_features",
)


def with_statistics(
    forest: Forest,
    frame: Any,
    *,
    target: str,
    weight: str | None = None,
    criterion: str | None = None,
    features: str | Names | None = None,
) -> Forest:
    """Return the same trees with weights, impurities and values of all rows of a frame.

    One pass over the rows: every partition sends the sums of its rows at the nodes, which are
    merged in a tree. A forest grown on a sample gets its statistics from all rows; rows that the
    trees were not grown on make them honest.

    Parameters
    ----------
    forest : Forest
        The trees; for a fitted model use `as_forest`.
    frame : Spark DataFrame or Dask DataFrame
        The rows.
    target : str
        The column of the target.
    weight : str or None
        The column of the weights; None: all weigh 1.
    criterion : {"entropy", "log_loss", "gini", "squared_error", "variance"} or None
        The impurity; None: the forest's own.
    features : str, sequence of str or None
        As in `local_mdi`.

    Returns
    -------
    Forest
        That of ``forest.with_statistics(X, y)`` for the same rows; partitions do not matter.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi import as_forest
    >>> from localmdi.distributed import with_statistics
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = as_forest(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
    >>> rows = dd.from_pandas(X.assign(species=y), npartitions=3)
    >>> with_statistics(forest, rows, target="species", criterion="entropy").weight
    array([150.,  50., 100.])
    """
    statistics = NodeStatistics(forest, criterion)
    engine = engine_of(_with_columns(frame))
    kinds = engine.kinds(frame)
    columns = choose_features(adapt(forest), kinds, features=features)
    work = StatisticsWork(columns, target, weight)
    _check_beside(work.beside, kinds, features=columns.names)
    how = Reduction(
        "add_batches",
        "add_pandas",
        "localmdi.distributed.statistics_work:merge_statistics",
        work.beside,
    )
    shipped = (work, NoRowsYet(forest, criterion))
    found = engine.reduce(frame, shipped, columns=columns, how=how)
    return (statistics if found is None else statistics.merge(found)).forest()


def grow(
    frame: Any,
    *,
    target: str,
    n_trees: int,
    criterion: str = "entropy",
    sample_rows: int = 10_000,
    features: str | Names | None = None,
    random_state: int = 0,
    **growing: Any,
) -> Forest:
    """Grow a randomized forest in a cluster: each tree on a sample, measured on all rows.

    Three passes over the rows: they are counted, each tree's sample is drawn and brought to one
    worker, which grows the tree, and `with_statistics` measures the trees on all rows. As long as
    samples are small beside the frame, nearly all of these rows are new to a tree. Keep a frame
    that is costly to compute in the cluster's memory first.

    Parameters
    ----------
    frame : Spark DataFrame or Dask DataFrame
        The rows.
    target : str
        The column of the target.
    n_trees : int
        Number of trees.
    criterion : {"entropy", "log_loss", "gini", "squared_error", "variance"}
        The impurity, of classes or of numbers.
    sample_rows : int
        How many rows a tree grows on, on average: every row is drawn with the same chance.
    features : str, sequence of str or None
        The feature columns; None: all of single values but the target.
    random_state : int
        The seed. The same seed gives the same trees for the same partitions.
    **growing
        Further parameters of `RandomizedForestClassifier` or `RandomizedForestRegressor`:
        ``max_features`` (1: totally randomized), ``draw``, ``max_depth``, ``min_samples_split``,
        ``min_samples_leaf``, ``min_impurity_decrease``, ``categorical_features``.

    Returns
    -------
    Forest

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from localmdi.distributed import grow
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rows = dd.from_pandas(X.assign(species=y), npartitions=3)
    >>> forest = grow(rows, target="species", n_trees=5, sample_rows=50)
    >>> forest.n_trees, int(forest.weight[0])
    (5, 150)
    """
    _check_growing(growing)
    find_criterion(criterion, among=criterion_names(computed=True))
    engine = engine_of(_with_columns(frame))
    kinds = engine.kinds(frame)
    columns = _training_columns(kinds, target, features=features)
    _check_beside((target,), kinds, features=columns.names)
    n_trees = _check_count("n_trees", n_trees)
    sample_rows = _check_count("sample_rows", sample_rows)
    n_rows = engine.count(frame)
    if n_rows == 0:
        raise ValueError("trees need rows; the frame has none. Check how it was filtered.")
    share = min(1.0, sample_rows / n_rows)
    work = TreeWork(columns, target, criterion, random_state, n_trees, share, growing)
    grown = engine.grow(frame, work)
    if any(tree is None for tree in grown):
        raise ValueError(
            f"every tree needs rows; tree {grown.index(None)} has drawn none. "
            "Use a larger sample_rows."
        )
    return with_statistics(
        join_trees(grown), frame, target=target, criterion=criterion, features=columns.names
    )


def _check_growing(growing: dict[str, Any]) -> None:
    """Refuse parameters that make no sense for a tree grown on a sample."""
    wrong = [name for name in growing if name not in _GROWING]
    if wrong:
        raise TypeError(
            f"grow has no parameter {quote_names(wrong)}. Beside those in its signature it has "
            f"{quote_names(_GROWING)}."
        )


def _check_count(name: str, given: Any) -> int:
    """Return a positive whole number."""
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 1:
        raise ValueError(f"{name} must be a positive whole number; got {given!r}. Pass 1 or more.")
    return int(given)


def _training_columns(
    kinds: dict[str, ColumnKind], target: str, *, features: str | Names | None
) -> FeatureColumns:
    if features is None:
        single = [name for name, kind in kinds.items() if kind in ("number", "value")]
        chosen = tuple(name for name in single if name != target)
    else:
        chosen = (features,) if isinstance(features, str) else tuple(features)
    check_exist(chosen, kinds)
    vector = len(chosen) == 1 and kinds[chosen[0]] == "vector"
    # As a Pipeline's: the estimator gets pandas with names, or an array.
    return FeatureColumns(chosen, None if vector else chosen, None, vector, True)


def _with_columns(frame: Any) -> Any:
    if is_dask_array(frame):
        raise ValueError(
            "a frame with a column of the target is needed; got a Dask Array. "
            "Use dask.dataframe.from_dask_array, and add the target."
        )
    return frame


def _check_beside(
    names: tuple[str, ...], kinds: dict[str, ColumnKind], *, features: tuple[str, ...]
) -> None:
    """Check the columns of the target and of the weights."""
    wrong = [name for name in names if name not in kinds or name in features]
    if wrong:
        raise ValueError(
            f"target and weight must be columns of the frame that are no features; "
            f"{quote_names(wrong)} is not. The frame has {quote_names(kinds)}."
        )
