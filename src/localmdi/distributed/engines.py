"""The engine of a frame, and what is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from localmdi.distributed.dask_engine import DaskEngine, is_dask
from localmdi.distributed.spark_engine import SparkEngine, is_spark

if TYPE_CHECKING:
    from localmdi._explainer import Explainer
    from localmdi.distributed.feature_columns import ColumnKind, FeatureColumns
    from localmdi.distributed.on_worker import Reduction
    from localmdi.distributed.row_work import RowWork
    from localmdi.distributed.tree_work import TreeWork

__all__ = ["Engine", "engine_of"]


class Engine(Protocol):
    """What the functions of this room need; the engine schedules, shuffles and retries."""

    def kinds(self, frame: Any) -> dict[str, ColumnKind]:
        """Return what the columns hold, in their order."""

    def explain(self, frame: Any, explainer: Explainer, *, work: RowWork) -> Any:
        """Return the frame of the kept columns and the importances; nothing runs yet."""

    def reduce(
        self, frame: Any, shipped: tuple[Any, ...], *, columns: FeatureColumns, how: Reduction
    ) -> Any:
        """Return the merged states of all partitions, None if there are no rows.

        Parameters
        ----------
        frame : DataFrame or Array
            The rows.
        shipped : tuple
            The work, and what its method gets before the rows.
        columns : FeatureColumns
            The features.
        how : Reduction
            The method, how states are merged, and the other columns that are read.
        """

    def count(self, frame: Any) -> int:
        """Return the number of rows."""

    def grow(self, frame: Any, work: TreeWork) -> list[Any]:
        """Return the trees in their order, as `join_trees` gets them."""


def engine_of(frame: Any) -> Engine:
    """Return the engine that a frame belongs to."""
    if is_spark(frame):
        return SparkEngine()
    if is_dask(frame):
        return DaskEngine()
    kind = type(frame)
    raise TypeError(
        f"frame must be a Spark DataFrame, a Dask DataFrame or a Dask Array; got "
        f"{kind.__module__.partition('.')[0]}.{kind.__name__}. For rows in memory use the "
        "functions of the same name in localmdi."
    )
