"""What a worker does with its rows to measure a forest: add them to the nodes that they reach."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.distributed.row_work import batch_rows_of, cut_rows, regroup
from localmdi.distributed.shipping import restore_forest, ship_forest
from localmdi.forest import NodeStatistics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localmdi.distributed.feature_columns import FeatureColumns
    from localmdi.forest import Forest
    from localmdi.typing import AnyArray

__all__ = ["NoRowsYet", "StatisticsWork", "merge_statistics"]


class NoRowsYet:
    """Statistics without rows that travel with their forest, and begin every part."""

    def __init__(self, forest: Forest, criterion: str | None) -> None:
        self._sent = (forest, criterion)
        # Adding nothing prepares what the copies then share.
        nothing = np.empty((0, forest.n_features))
        self._statistics = NodeStatistics(forest, criterion).add(nothing, [])

    def __reduce__(self) -> tuple[Any, ...]:
        forest, criterion = self._sent
        return _receive, (ship_forest(forest), criterion)

    def begin(self) -> NodeStatistics:
        """Return statistics without rows."""
        return copy.copy(self._statistics)


def _receive(shipped: dict[str, Any], criterion: str | None) -> NoRowsYet:
    return NoRowsYet(restore_forest(shipped), criterion)


@dataclass(frozen=True)
class StatisticsWork:
    """Which columns to read.

    Parameters
    ----------
    columns : FeatureColumns
        The features.
    target : str
        The column of the target.
    weight : str or None
        The column of the weights.
    """

    columns: FeatureColumns
    target: str
    weight: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are no features."""
        return (self.target,) if self.weight is None else (self.target, self.weight)

    def add_batches(self, none_yet: NoRowsYet, batches: Iterable[Any]) -> NodeStatistics | None:
        """Return the statistics of the rows of Arrow batches: `beside` first, then the features."""
        import pyarrow as pa

        names = [*self.beside, *self.columns.names]
        found = none_yet.begin()
        for table in regroup(batches, batch_rows_of(len(names), self.columns.width)):
            beside = [np.asarray(column.to_numpy()) for column in table.columns[: len(self.beside)]]
            features = table.columns[len(self.beside) :]
            self._add(found, pa.table(features, names=list(self.columns.names)), beside=beside)
        return found if found.n_rows else None

    def add_pandas(self, none_yet: NoRowsYet, frame: Any) -> NodeStatistics | None:
        """Return the statistics of the rows of a pandas frame."""
        found = none_yet.begin()
        step = batch_rows_of(len(frame.columns), self.columns.width)
        for part in cut_rows(frame, step):
            self._add(found, part, beside=[part[name].to_numpy() for name in self.beside])
        return found if found.n_rows else None

    def _add(self, found: NodeStatistics, part: Any, *, beside: list[AnyArray]) -> None:
        y, *weight = beside
        with self.columns.named_errors(part):
            found.add(self.columns.rows_of(part), y, *(as_numbers(column) for column in weight))


def as_numbers(column: AnyArray) -> AnyArray:
    """Return weights as floats; nulls become NaN, which is refused later."""
    return column.astype(np.float64)


def merge_statistics(one: NodeStatistics, other: NodeStatistics) -> NodeStatistics:
    """Return the statistics of the rows of both."""
    return one.merge(other)
