"""Spark: the rows stay in the executors, which get one broadcast of the model."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from localmdi.distributed.on_worker import (
    spark_draw_task,
    spark_group_task,
    spark_task,
    state_mergers,
)
from localmdi.distributed.tree_work import KEYS

if TYPE_CHECKING:
    from localmdi.distributed.feature_columns import ColumnKind, FeatureColumns
    from localmdi.distributed.on_worker import Reduction
    from localmdi.distributed.row_work import RowWork
    from localmdi.distributed.tree_work import TreeWork

__all__ = ["SparkEngine", "is_spark"]


def is_spark(frame: Any) -> bool:
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
    """What the functions of this room need of Spark."""

    def kinds(self, frame: Any) -> dict[str, ColumnKind]:
        """Return what the columns hold."""
        return {field.name: _kind(field.dataType) for field in frame.schema.fields}

    def explain(self, frame: Any, explainer: Any, *, work: RowWork) -> Any:
        """Return the frame of the kept columns and the importances; nothing runs yet."""
        rows = _select(frame, work.columns, keep=work.keep)
        task = spark_task(_broadcast(frame, (work, explainer)), "explain_batches")
        return rows.mapInArrow(task, _schema(rows, work))

    def reduce(
        self, frame: Any, shipped: tuple[Any, ...], *, columns: FeatureColumns, how: Reduction
    ) -> Any:
        """Return the merged states of all partitions, None if there are no rows."""
        rows = _select(frame, columns, keep=how.keep)
        task = spark_task(_broadcast(frame, shipped), how.arrow_method, state=True)
        states = rows.mapInArrow(task, "state binary").rdd
        mergers = state_mergers(how.merge)
        return states.treeAggregate(None, mergers.add_row, mergers.merge)

    def count(self, frame: Any) -> int:
        """Return the number of rows."""
        return int(frame.count())

    def grow(self, frame: Any, work: TreeWork) -> list[Any]:
        """Return the trees in their order."""
        from pyspark.sql import types

        rows = _select(frame, work.columns, keep=(work.target,))
        shipped = _broadcast(frame, (work,))
        keys = [types.StructField(key, types.LongType()) for key in KEYS]
        drawn = rows.mapInArrow(
            spark_draw_task(shipped), types.StructType([*keys, *rows.schema.fields])
        )
        task = spark_group_task(shipped, "grow_table")
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


def _kind(kind: Any) -> ColumnKind:
    from pyspark.sql import types

    if isinstance(kind, (types.NumericType, types.BooleanType)):
        return "number"
    if isinstance(kind, types.ArrayType) and isinstance(kind.elementType, types.NumericType):
        return "vector"
    if type(kind).__name__ == "VectorUDT":
        return "vector"
    single = (types.StringType, types.DateType, types.TimestampType, types.BinaryType)
    return "value" if isinstance(kind, (*single, types.TimestampNTZType)) else "other"


def _select(frame: Any, columns: FeatureColumns, *, keep: tuple[str, ...]) -> Any:
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
