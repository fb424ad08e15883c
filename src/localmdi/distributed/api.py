"""The public functions: importances, statistics and forests of rows that live in a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from localmdi._criteria import criterion_names, find_criterion
from localmdi._text import quote_names
from localmdi.adapters import adapt
from localmdi.distributed.engines import Reduction, engine_of, is_dask_array
from localmdi.distributed.feature_columns import (
    FeatureColumns,
    check_exist,
    choose_features,
    choose_kept,
)
from localmdi.distributed.shipping import shipped_explainer
from localmdi.distributed.worker import NoRowsYet, RowWork, StatisticsWork, TreeWork, join_trees
from localmdi.forest import NodeStatistics

if TYPE_CHECKING:
    from collections.abc import Hashable

    from localmdi.adapters import AdaptedModel
    from localmdi.distributed.feature_columns import ColumnKind
    from localmdi.distributed.worker import Output
    from localmdi.forest import Forest
    from localmdi.results import GlobalImportance
    from localmdi.typing import FittedModel, Names

_OUTPUTS = ("columns", "array", "top")
_MOST_NAMED = 10
_GROWING = (
    "max_features",
    "draw",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_impurity_decrease",
    "categorical_features",
)


def local_mdi(
    model: FittedModel,
    frame: Any,
    *,
    features: str | Names | None = None,
    output: Output = "columns",
    k: int | None = None,
    keep: str | Names | None = None,
) -> Any:
    """Explain the rows of a Spark or Dask frame where they are.

    Every row gets the values that ``localmdi.local_mdi`` gives it, to the last bit. Nothing runs
    until the result is used; rows keep their order and partitions. Each worker gets the model once.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        See `as_forest`. The steps of a Pipeline run on the workers.
    frame : Spark DataFrame, Dask DataFrame or Dask Array
        The rows.
    features : str, sequence of str or None
        The feature columns; None: those with the names that the model was fitted with. Needed for
        a model without names, in the order of its features. One column of vectors or arrays can
        hold all features.
    output : {"columns", "array", "top"}
        "columns": one column per feature, with its name. "array": one column "importance", an
        array of all values; cheaper. "top": the columns "feature" and "importance", arrays with the
        names and signed values of the `k` features with the largest absolute values; for models
        with many features. For a Dask Array the result is an array of all values.
    k : int or None
        How many features "top" names; None: 10.
    keep : str, sequence of str or None
        Columns to pass through; None: all that are no features.

    Returns
    -------
    DataFrame or Array of the same engine
        The kept columns, then the importances.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi.distributed import local_mdi
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> rows = dd.from_pandas(X.assign(flower=range(150)), npartitions=2)
    >>> local_mdi(model, rows, output="top", k=1).compute().head(2)
       flower                feature          importance
    0       0  ['petal width (cm)']  [0.66666667]
    1       1  ['petal width (cm)']  [0.66666667]
    """
    engine, adapted = engine_of(frame), adapt(model, values=False)
    columns, kept = _columns(adapted, frame, features=features, keep=keep)
    names = _names(adapted, columns)
    work = RowWork(columns, names, kept, _check_output(output), _check_k(k, output))
    if is_dask_array(frame) and output == "top":
        raise ValueError(
            "output='top' needs a frame with columns; got a Dask Array. "
            "Use output='array', or dask.dataframe.from_dask_array."
        )
    _check_names(work)
    return engine.explain(frame, shipped_explainer(adapted, columns.row_names), work=work)


@overload
def mean_mdi(
    model: FittedModel, frame: Any, *, by: None = None, features: str | Names | None = None
) -> GlobalImportance: ...
@overload
def mean_mdi(
    model: FittedModel, frame: Any, *, by: str, features: str | Names | None = None
) -> dict[Hashable, GlobalImportance]: ...
def mean_mdi(
    model: FittedModel,
    frame: Any,
    *,
    by: str | None = None,
    features: str | Names | None = None,
) -> GlobalImportance | dict[Hashable, GlobalImportance]:
    """Return the mean local importances of the rows of a frame, without collecting rows.

    Partitions send the sums of their rows, which are merged in a tree.

    Parameters
    ----------
    model, frame, features
        As in `local_mdi`.
    by : str or None
        A column of labels, none missing: gives one mean per label.

    Returns
    -------
    GlobalImportance, or dict of label to GlobalImportance
        As ``LocalImportance.mean`` gives it, to rounding; labels in sorted order, or in order of
        appearance if they cannot be sorted.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi.distributed import mean_mdi
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> mean_mdi(model, da.from_array(X, chunks=(50, 4))).top(1)
    [('x3', 0.333...)]
    """
    engine, adapted = engine_of(frame), adapt(model, values=False)
    columns, kept = _columns(adapted, frame, features=features, keep=() if by is None else by)
    if len(kept) > 1:
        raise ValueError(f"by must be the name of one column; got {by!r}. Name one column.")
    work = RowWork(columns, _names(adapted, columns), kept)
    how = Reduction("mean_batches", "mean_pandas", "localmdi.distributed.worker:merge_means", kept)
    explainer = shipped_explainer(adapted, columns.row_names)
    means = engine.reduce(frame, (work, explainer), columns=columns, how=how)
    if not means:
        raise ValueError("a mean needs rows; the frame has none. Check how it was filtered.")
    # All rows have one baseline, and merging would round it.
    means = {label: replace(mean, baseline=explainer.baseline) for label, mean in means.items()}
    return means[None] if by is None else _sorted(means)


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
        "localmdi.distributed.worker:merge_statistics",
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


def _columns(
    adapted: AdaptedModel, frame: Any, *, features: str | Names | None, keep: str | Names | None
) -> tuple[FeatureColumns, tuple[str, ...]]:
    if is_dask_array(frame):
        return _array_columns(adapted, frame, features=features, keep=keep), ()
    kinds = engine_of(frame).kinds(frame)
    columns = choose_features(adapted, kinds, features=features)
    return columns, choose_kept(keep, kinds, features=columns.names)


def _array_columns(
    adapted: AdaptedModel, frame: Any, *, features: str | Names | None, keep: str | Names | None
) -> FeatureColumns:
    if features is not None or keep:
        raise ValueError(
            "features, keep and by name columns, which a Dask Array does not have. "
            "Use dask.dataframe.from_dask_array, or leave them out."
        )
    is_pipeline = adapted.transform is not None
    width = adapted.n_features_in if is_pipeline else adapted.forest.n_features
    if frame.ndim != 2 or (width is not None and frame.shape[1] != width):
        raise ValueError(
            f"the array must have the shape (rows, {width}); got {frame.shape}. "
            "Pass the columns that the model was fitted with."
        )
    return FeatureColumns((), adapted.input_names, width, True, is_pipeline)


def _names(adapted: AdaptedModel, columns: FeatureColumns) -> tuple[str, ...]:
    """Return the names of the importances."""
    if adapted.transform is not None:
        return adapted.forest.names_for(None)
    return adapted.forest.names_for(columns.row_names or adapted.input_names)


def _check_output(output: Output) -> Output:
    if output not in _OUTPUTS:
        raise ValueError(
            f"output must be one of {quote_names(_OUTPUTS)}; got {output!r}. "
            "Use 'top' for models with many features."
        )
    return output


def _check_k(k: int | None, output: Output) -> int:
    if k is None:
        return _MOST_NAMED
    if output != "top" or not isinstance(k, int) or k < 1:
        raise ValueError(
            f"k must be a positive whole number, and needs output='top'; got k={k!r} and "
            f"output={output!r}. Leave k out, or use output='top'."
        )
    return k


def _check_names(work: RowWork) -> None:
    made = {"columns": work.names, "array": ("importance",), "top": ("feature", "importance")}
    twice = [name for name in made[work.output] if name in work.keep]
    if twice:
        raise ValueError(
            f"the kept columns must not have the names of the importances; {quote_names(twice)} "
            "would appear twice. Rename them, choose others with keep=[...], or use another output."
        )


def _sorted(means: dict[Hashable, GlobalImportance]) -> dict[Hashable, GlobalImportance]:
    labels: list[Any] = list(means)
    try:
        labels.sort()
    except TypeError:
        return means
    return {label: means[label] for label in labels}


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
