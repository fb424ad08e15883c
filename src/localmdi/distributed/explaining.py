"""Local and mean importances of rows that live in a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from localmdi._text import quote_names
from localmdi.adapters import adapt
from localmdi.distributed.dask_engine import is_dask_array
from localmdi.distributed.engines import engine_of
from localmdi.distributed.feature_columns import FeatureColumns, choose_features, choose_kept
from localmdi.distributed.on_worker import Reduction
from localmdi.distributed.row_work import RowWork
from localmdi.distributed.shipping import shipped_explainer

if TYPE_CHECKING:
    from collections.abc import Hashable

    from localmdi.adapters import AdaptedModel
    from localmdi.distributed.row_work import Output
    from localmdi.results import GlobalImportance
    from localmdi.typing import FittedModel, Names

__all__ = ["local_mdi", "mean_mdi"]

_OUTPUTS = ("columns", "array", "top")
_MOST_NAMED = 10


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
    how = Reduction(
        "mean_batches", "mean_pandas", "localmdi.distributed.row_work:merge_means", kept
    )
    explainer = shipped_explainer(adapted, columns.row_names)
    means = engine.reduce(frame, (work, explainer), columns=columns, how=how)
    if not means:
        raise ValueError("a mean needs rows; the frame has none. Check how it was filtered.")
    # All rows have one baseline, and merging would round it.
    means = {label: replace(mean, baseline=explainer.baseline) for label, mean in means.items()}
    return means[None] if by is None else _sorted(means)


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
