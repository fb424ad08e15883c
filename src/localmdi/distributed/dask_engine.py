"""Dask: the model is one task of the graph, whose result every worker fetches once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.distributed.on_worker import dask_opener, dask_task, state_mergers

if TYPE_CHECKING:
    from localmdi.distributed.feature_columns import ColumnKind, FeatureColumns
    from localmdi.distributed.on_worker import Reduction
    from localmdi.distributed.row_work import RowWork
    from localmdi.distributed.tree_work import TreeWork

__all__ = ["DaskEngine", "is_dask", "is_dask_array"]

# So many states are merged by one task.
_SPLIT_EVERY = 16


def is_dask(frame: Any) -> bool:
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
    """What the functions of this room need of Dask."""

    def kinds(self, frame: Any) -> dict[str, ColumnKind]:
        """Return what the columns hold."""
        return {name: _kind(dtype) for name, dtype in frame.dtypes.items()}

    def explain(self, frame: Any, explainer: Any, *, work: RowWork) -> Any:
        """Return the frame of the kept columns and the importances; nothing runs yet."""
        shipped = _ship((work, explainer))
        task = dask_task("explain_pandas")
        if is_dask_array(frame):
            p = len(work.names)
            task = dask_task("explain_array")
            whole = frame.rechunk({1: -1})
            return whole.map_blocks(task, shipped, dtype="float64", chunks=(whole.chunks[0], (p,)))
        names = list(dict.fromkeys((*work.keep, *work.columns.names)))
        return frame[names].map_partitions(task, shipped, meta=work.empty_pandas(frame._meta))

    def reduce(
        self, frame: Any, shipped: tuple[Any, ...], *, columns: FeatureColumns, how: Reduction
    ) -> Any:
        """Return the merged states of all partitions, None if there are no rows."""
        from dask import delayed

        task, work = delayed(dask_task(how.pandas_method)), _ship(shipped)
        if is_dask_array(frame):
            parts = frame.rechunk({1: -1}).to_delayed()[:, 0].tolist()
        else:
            names = list(dict.fromkeys((*how.keep, *columns.names)))
            parts = frame[names].to_delayed()
        states = [task(part, work) for part in parts]
        merge = delayed(state_mergers(how.merge).merge_all)
        while len(states) > 1:
            groups = range(0, len(states), _SPLIT_EVERY)
            states = [merge(states[start : start + _SPLIT_EVERY]) for start in groups]
        return states[0].compute() if states else None

    def count(self, frame: Any) -> int:
        """Return the number of rows."""
        return len(frame)

    def grow(self, frame: Any, work: TreeWork) -> list[Any]:
        """Return the trees in their order."""
        from dask import compute, delayed

        shipped = _ship((work,))
        draw = delayed(dask_task("draw_pandas"), nout=work.n_trees)
        grow = delayed(dask_task("grow_pandas"))
        parts = frame[[work.target, *work.columns.names]].to_delayed()
        drawn = [draw(part, shipped, i) for i, part in enumerate(parts)]
        trees = range(work.n_trees)
        return [*compute(*(grow([part[t] for part in drawn], shipped, t) for t in trees))]


def _ship(value: tuple[Any, ...]) -> Any:
    """Return a task that opens the pickled value on a worker; other workers fetch its result."""
    import cloudpickle
    from dask import delayed

    return delayed(dask_opener(), pure=True)(cloudpickle.dumps(value))


def _kind(dtype: Any) -> ColumnKind:
    import pandas as pd
    import pyarrow as pa
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(dtype) or is_bool_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype):
        return "vector" if pa.types.is_list(dtype.pyarrow_dtype) else "other"
    return "value"
