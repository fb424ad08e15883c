"""The engines: Spark and Dask map and merge; what a worker does with its rows is in `worker`.

A worker gets the model once: from Spark as a broadcast, from Dask as the result of one task of the
graph. Functions made inside of functions are pickled by value, so these arrive where localmdi is
not installed, too, and can say so.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from localmdi.distributed.worker import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from localmdi.distributed.feature_columns import ColumnKind, FeatureColumns
    from localmdi.distributed.worker import RowWork, TreeWork

# So many states are merged by one task of Dask.
_SPLIT_EVERY = 16


@dataclass(frozen=True)
class Reduction:
    """How rows become one state.

    Parameters
    ----------
    arrow_method, pandas_method : str
        Methods of the work that turn the Arrow batches, or the pandas frame, of a partition into a
        state.
    merge : str
        The function that merges two states, as "module:name".
    keep : tuple of str
        Columns that the methods read beside the features.
    """

    arrow_method: str
    pandas_method: str
    merge: str
    keep: tuple[str, ...] = ()


def engine_of(frame: Any) -> SparkEngine | DaskEngine:
    """Return the engine that a frame belongs to."""
    if _is_spark(frame):
        return SparkEngine()
    if _is_dask(frame):
        return DaskEngine()
    kind = type(frame)
    raise TypeError(
        f"frame must be a Spark DataFrame, a Dask DataFrame or a Dask Array; got "
        f"{kind.__module__.partition('.')[0]}.{kind.__name__}. For rows in memory use the "
        "functions of the same name in localmdi."
    )


def _is_spark(frame: Any) -> bool:
    """Whether a frame is Spark's; that of a Spark Connect session is refused."""
    kinds = [kind for kind in type(frame).__mro__ if kind.__module__.startswith("pyspark.sql.")]
    if any(kind.__module__.startswith("pyspark.sql.connect.") for kind in kinds):
        raise TypeError(
            "the frame must belong to a classic Spark session; got one of Spark Connect, which has "
            "no broadcast variables and would send the model with every task. Connect with "
            'SparkSession.builder.config("spark.api.mode", "classic"), or run the program on the '
            "cluster with spark-submit."
        )
    return any(kind.__name__ == "DataFrame" for kind in kinds)


class SparkEngine:
    """The rows stay in the executors, which get one broadcast of the model."""

    def kinds(self, frame: Any) -> dict[str, ColumnKind]:
        """Return what the columns hold."""
        return {field.name: _spark_kind(field.dataType) for field in frame.schema.fields}

    def explain(self, frame: Any, explainer: Any, *, work: RowWork) -> Any:
        """Return the frame of the kept columns and the importances; nothing runs yet."""
        rows = _spark_columns(frame, work.columns, keep=work.keep)
        task = _spark_task(_broadcast(frame, (work, explainer)), "explain_batches")
        return rows.mapInArrow(task, _schema(rows, work))

    def reduce(
        self, frame: Any, shipped: tuple[Any, ...], *, columns: FeatureColumns, how: Reduction
    ) -> Any:
        """Return the merged states of all partitions, None if there are no rows."""
        rows = _spark_columns(frame, columns, keep=how.keep)
        task = _spark_task(_broadcast(frame, shipped), how.arrow_method, state=True)
        states = rows.mapInArrow(task, "state binary").rdd
        merge = _merger(how.merge)

        def add_row(state: Any, row: Any) -> Any:
            import pickle

            return merge(state, pickle.loads(row[0]))

        return states.treeAggregate(None, add_row, merge)

    def count(self, frame: Any) -> int:
        """Return the number of rows."""
        return int(frame.count())

    def grow(self, frame: Any, work: TreeWork) -> list[Any]:
        """Return the trees in their order."""
        from pyspark.sql import types

        rows = _spark_columns(frame, work.columns, keep=(work.target,))
        shipped = _broadcast(frame, (work,))
        keys = [types.StructField(key, types.LongType()) for key in KEYS]
        drawn = rows.mapInArrow(
            _spark_draw_task(shipped), types.StructType([*keys, *rows.schema.fields])
        )
        task = _spark_group_task(shipped, "grow_table")
        grown = drawn.groupBy(KEYS[0]).applyInArrow(task, "tree int, forest binary")
        found = {row.tree: pickle.loads(row.forest) for row in grown.collect()}
        return [found.get(tree) for tree in range(work.n_trees)]


class _Pickled:
    """What Spark's plain pickle of broadcasts cannot do: functions of notebooks, by value."""

    def __init__(self, value: Any) -> None:
        from pyspark import cloudpickle

        self._bytes = cloudpickle.dumps(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self._bytes,)


def _broadcast(frame: Any, value: Any) -> Any:
    # A Python worker keeps what it has unpickled of a broadcast for its later tasks.
    return frame.sparkSession.sparkContext.broadcast(_Pickled(value))


def _spark_kind(kind: Any) -> ColumnKind:
    from pyspark.sql import types

    if isinstance(kind, (types.NumericType, types.BooleanType)):
        return "number"
    if isinstance(kind, types.ArrayType) and isinstance(kind.elementType, types.NumericType):
        return "vector"
    if type(kind).__name__ == "VectorUDT":
        return "vector"
    single = (types.StringType, types.DateType, types.TimestampType, types.BinaryType)
    return "value" if isinstance(kind, (*single, types.TimestampNTZType)) else "other"


def _spark_columns(frame: Any, columns: FeatureColumns, *, keep: tuple[str, ...]) -> Any:
    """Return the kept columns, then the features: vectors as arrays, decimals as doubles.

    The columns are called _0, _1, …: mapInArrow reads a dot in a name as a field of a struct, and a
    feature may be kept, too.
    """
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import types

    kinds = {field.name: field.dataType for field in frame.schema.fields}
    chosen = [_column(frame, name) for name in keep]
    for name in columns.names:
        column = _column(frame, name)
        if type(kinds[name]).__name__ == "VectorUDT":
            column = vector_to_array(column)
        elif isinstance(kinds[name], types.DecimalType):
            column = column.cast("double")
        chosen.append(column)
    return frame.select(*(column.alias(f"_{i}") for i, column in enumerate(chosen)))


def _column(frame: Any, name: str) -> Any:
    return frame["`" + name.replace("`", "``") + "`"]


def _schema(rows: Any, work: RowWork) -> Any:
    from pyspark.sql import types

    kept = zip(work.keep, rows.schema.fields, strict=False)
    made = types.StructType([types.StructField(name, field.dataType) for name, field in kept])
    if work.output == "columns":
        for name in work.names:
            made = made.add(name, types.DoubleType())
        return made
    if work.output == "top":
        made = made.add("feature", types.ArrayType(types.StringType()))
    return made.add("importance", types.ArrayType(types.DoubleType()))


def _is_dask(frame: Any) -> bool:
    """Whether a frame is a Dask DataFrame or Array."""
    return is_dask_array(frame) or _is("dask.dataframe", frame, name="DataFrame")


def is_dask_array(frame: Any) -> bool:
    """Whether a frame is a Dask Array."""
    return _is("dask.array", frame, name="Array")


def _is(package: str, frame: Any, *, name: str) -> bool:
    return any(
        kind.__module__.startswith(package) and kind.__name__ == name
        for kind in type(frame).__mro__
    )


class DaskEngine:
    """The model is one task of the graph, whose result every worker fetches once."""

    def kinds(self, frame: Any) -> dict[str, ColumnKind]:
        """Return what the columns hold."""
        return {name: _dask_kind(dtype) for name, dtype in frame.dtypes.items()}

    def explain(self, frame: Any, explainer: Any, *, work: RowWork) -> Any:
        """Return the frame of the kept columns and the importances; nothing runs yet."""
        shipped = _ship((work, explainer))
        task = _dask_task("explain_pandas")
        if is_dask_array(frame):
            p = len(work.names)
            task = _dask_task("explain_array")
            whole = frame.rechunk({1: -1})
            return whole.map_blocks(task, shipped, dtype="float64", chunks=(whole.chunks[0], (p,)))
        names = list(dict.fromkeys((*work.keep, *work.columns.names)))
        return frame[names].map_partitions(task, shipped, meta=work.empty_pandas(frame._meta))

    def reduce(
        self, frame: Any, shipped: tuple[Any, ...], *, columns: FeatureColumns, how: Reduction
    ) -> Any:
        """Return the merged states of all partitions, None if there are no rows."""
        from dask import delayed

        task, work = delayed(_dask_task(how.pandas_method)), _ship(shipped)
        if is_dask_array(frame):
            parts = frame.rechunk({1: -1}).to_delayed()[:, 0].tolist()
        else:
            names = list(dict.fromkeys((*how.keep, *columns.names)))
            parts = frame[names].to_delayed()
        states = [task(part, work) for part in parts]
        merge = _merger(how.merge)

        def merge_all(states: list[Any]) -> Any:
            from functools import reduce

            return reduce(merge, states)

        merge_some = delayed(merge_all)
        while len(states) > 1:
            groups = range(0, len(states), _SPLIT_EVERY)
            states = [merge_some(states[start : start + _SPLIT_EVERY]) for start in groups]
        return states[0].compute() if states else None

    def count(self, frame: Any) -> int:
        """Return the number of rows."""
        return len(frame)

    def grow(self, frame: Any, work: TreeWork) -> list[Any]:
        """Return the trees in their order."""
        from dask import compute, delayed

        shipped = _ship((work,))
        draw = delayed(_dask_task("draw_pandas"), nout=work.n_trees)
        grow = delayed(_dask_task("grow_pandas"))
        parts = frame[[work.target, *work.columns.names]].to_delayed()
        drawn = [draw(part, shipped, i) for i, part in enumerate(parts)]
        trees = range(work.n_trees)
        return [*compute(*(grow([part[t] for part in drawn], shipped, t) for t in trees))]


def _ship(value: tuple[Any, ...]) -> Any:
    """Return a task that opens the pickled value on a worker; other workers fetch its result."""
    import cloudpickle
    from dask import delayed

    return delayed(_dask_opener(), pure=True)(cloudpickle.dumps(value))


def _dask_kind(dtype: Any) -> ColumnKind:
    import pandas as pd
    import pyarrow as pa
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(dtype) or is_bool_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype):
        return "vector" if pa.types.is_list(dtype.pyarrow_dtype) else "other"
    return "value"


def _opener() -> Callable[[Callable[[], Any]], Any]:
    """Return the function that opens on a worker what was shipped to it, or says why it cannot."""
    package = __name__.partition(".")[0]
    expected = version(package)

    def open_shipped(load: Callable[[], Any]) -> Any:
        try:
            from importlib.metadata import version

            found = version(package)
            if found == expected:
                return load()
        except ImportError as error:
            raise RuntimeError(
                f"every worker must have localmdi {expected} and the packages of the model; this "
                f"one lacks a package: {error}. Install it on the workers."
            ) from None
        raise RuntimeError(
            f"every worker must have the version of localmdi that the driver has, {expected}; this "
            f"one has {found}. Install the same version on the workers."
        )

    return open_shipped


def _spark_task(
    broadcast: Any, method: str, *, state: bool = False
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function of `mapInArrow` that calls a method of the broadcast work.

    Parameters
    ----------
    broadcast : Broadcast
        The work, and what its method gets before the batches.
    method : str
        The name of the method.
    state : bool
        Whether it returns a state, which is pickled; otherwise it yields batches.
    """
    open_shipped = _opener()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pickle

        import pyarrow as pa

        work, *given = open_shipped(lambda: broadcast.value)
        found = getattr(work, method)(*given, batches)
        if not state:
            yield from found
        elif found:
            yield pa.record_batch({"state": pa.array([pickle.dumps(found)], pa.binary())})

    return run


def _spark_draw_task(broadcast: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function of `mapInArrow` that draws rows for trees."""
    open_shipped = _opener()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        (work,) = open_shipped(lambda: broadcast.value)
        yield from work.draw_batches(batches, TaskContext.get().partitionId())

    return run


def _spark_group_task(broadcast: Any, method: str) -> Callable[[Any], Any]:
    """Return the function of `applyInArrow` that calls a method of the broadcast work."""
    open_shipped = _opener()

    def run(table: Any) -> Any:
        (work,) = open_shipped(lambda: broadcast.value)
        return getattr(work, method)(table)

    return run


def _dask_opener() -> Callable[[bytes], Any]:
    """Return the function that opens on a Dask worker what was shipped to it."""
    open_shipped = _opener()

    def open_bytes(payload: bytes) -> Any:
        import pickle

        return open_shipped(lambda: pickle.loads(payload))

    return open_bytes


def _dask_task(method: str) -> Callable[..., Any]:
    """Return the function of a partition and the shipped work that calls a method of the work."""

    def run(part: Any, shipped: Any, *further: Any) -> Any:
        work, *given = shipped
        return getattr(work, method)(*given, part, *further)

    return run


def _merger(merge: str) -> Callable[[Any, Any], Any]:
    """Return the function that applies the `merge` of a `Reduction`; no state yet is None."""

    def merge_states(one: Any, other: Any) -> Any:
        from pkgutil import resolve_name

        if one is None or other is None:
            return other if one is None else one
        return resolve_name(merge)(one, other)

    return merge_states
