"""What is kept of a stream of explained rows: means, the first rows, a sample for the report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.cli.reservoir import Reservoir
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["Explained", "Summary"]


@dataclass(frozen=True, eq=False)
class Explained:
    """Explained rows, with what stands beside them.

    Parameters
    ----------
    result : LocalImportance
        Their importances.
    rows : ndarray of int
        Their numbers in the file.
    prediction, target : ndarray or None
        One entry per row.

    Examples
    --------
    >>> result = LocalImportance(np.ones((2, 1)), 1.0, residual=np.zeros(2), unit="bits",
    ...                          feature_names=("age",), n_trees=1)
    >>> Explained(result, np.array([5, 6])).take(np.array([1])).rows.tolist()
    [6]
    """

    result: LocalImportance
    rows: IntArray
    prediction: AnyArray | None = None
    target: AnyArray | None = None

    def take(self, positions: IntArray) -> Explained:
        """Return some of the rows."""
        beside = [
            None if column is None else column[positions]
            for column in (self.prediction, self.target)
        ]
        data = self.result.data
        chosen = replace(self.result, data=None)[positions]
        if data is not None:
            chosen = replace(chosen, data=data.take(positions))
        return Explained(chosen, self.rows[positions], *beside)

    @classmethod
    def concat(cls, parts: Sequence[Explained]) -> Explained:
        """Join rows of one model."""
        if len(parts) == 1:
            return parts[0]
        import pyarrow as pa

        data = [part.result.data for part in parts]
        result = LocalImportance.concat([replace(part.result, data=None) for part in parts])
        if all(frame is not None for frame in data):
            result = replace(result, data=pa.concat_tables(data))
        return cls(
            result,
            np.concatenate([part.rows for part in parts]),
            _join([part.prediction for part in parts]),
            _join([part.target for part in parts]),
        )

    def stories(self) -> list[dict[str, Any]]:
        """Return each row as a dict: its values, its data and what stands beside it."""
        result = self.result
        data = [{}] * len(self.rows) if result.data is None else result.data.to_pylist()
        baseline = np.broadcast_to(result.baseline, len(self.rows))
        told = []
        for i, row in enumerate(self.rows.tolist()):
            one = {
                "row": row,
                "baseline": float(baseline[i]),
                "residual": float(result.residual[i]),
                "values": dict(
                    zip(result.feature_names, np.asarray(result.values[i]).tolist(), strict=True)
                ),
                "data": data[i],
            }
            for noun, column in (("prediction", self.prediction), ("target", self.target)):
                if column is not None:
                    one[noun] = column[i : i + 1].tolist()[0]
            told.append(one)
        return told


class Summary:
    """Sums over a stream of explained rows, in memory that does not grow with it.

    Parameters
    ----------
    show : int
        How many of the first rows to keep.
    sample : int
        How many rows drawn at random to keep.
    seed : int
        Of the draw.

    Examples
    --------
    >>> summary = Summary(show=1, sample=0, seed=0)
    >>> result = LocalImportance(np.array([[0.5], [1.0]]), 1.0, residual=np.array([0.5, 0.0]),
    ...                          unit="bits", feature_names=("age",), n_trees=1)
    >>> summary.add(Explained(result, np.arange(2)))
    >>> summary.n_rows, summary.mean.tolist(), summary.mean_residual
    (2, [0.75], 0.25)
    """

    def __init__(self, *, show: int, sample: int, seed: int) -> None:
        self.n_rows = 0
        self.first: list[dict[str, Any]] = []
        self.result: Any = None
        self._show = show
        self._values: Any = 0.0
        self._residual = 0.0
        self._additivity = 0.0
        self._reservoir: Reservoir[Explained] | None = None
        if sample:
            self._reservoir = Reservoir(sample, seed=seed, concat=Explained.concat)

    def add(self, part: Explained) -> None:
        """Add the next rows."""
        if self.result is None:
            # Of the rows themselves nothing is kept: only unit, names and baseline are asked for.
            self.result = replace(part.result, data=None)[:0]
        self.n_rows += len(part.rows)
        self._values = self._values + part.result.values.sum(axis=0)
        self._residual += float(part.result.residual.sum())
        self._additivity = max(self._additivity, part.result.additivity_error())
        wanted = self._show - len(self.first)
        if wanted > 0:
            self.first += part.take(np.arange(min(wanted, len(part.rows)))).stories()
        if self._reservoir is not None:
            self._reservoir.add(part, len(part.rows))

    @property
    def mean(self) -> FloatArray:
        """Mean importances over all rows."""
        return np.asarray(self._values / self.n_rows)

    @property
    def mean_residual(self) -> float:
        """Mean uncertainty that is left."""
        return self._residual / self.n_rows

    @property
    def additivity_error(self) -> float:
        """By how much a row's values miss the difference of baseline and residual at most."""
        return self._additivity

    def sample(self) -> Explained:
        """Return the rows drawn at random."""
        if self._reservoir is None:
            raise ValueError("the summary must keep a sample; it was made with sample=0.")
        return self._reservoir.result()[0]


def _join(columns: Sequence[AnyArray | None]) -> AnyArray | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None
