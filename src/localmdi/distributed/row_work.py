"""What a worker does with its rows: explain them, or add them up. No engine is known here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from localmdi._explainer import Explainer
    from localmdi.distributed.feature_columns import FeatureColumns
    from localmdi.results import GlobalImportance
    from localmdi.typing import AnyArray

__all__ = [
    "Means",
    "Output",
    "RowWork",
    "batch_rows_of",
    "cut_rows",
    "merge_means",
    "regroup",
]

Output: TypeAlias = Literal["columns", "array", "top"]
Means: TypeAlias = "dict[Hashable, GlobalImportance]"
"""Label → mean of its rows; without labels the only key is None."""

# The kernels are quickest on many rows at a time; a batch and its results stay near 32 MB.
_BATCH_ROWS = 1 << 16
_BATCH_VALUES = 1 << 21


@dataclass(frozen=True)
class RowWork:
    """Which columns to read, and what to return.

    Parameters
    ----------
    columns : FeatureColumns
        The features.
    names : tuple of str
        The names of the importances, one per feature of the forest.
    keep : tuple of str
        Columns that are passed through.
    output : {"columns", "array", "top"}
        The form of the importances.
    k : int
        How many features "top" names.
    """

    columns: FeatureColumns
    names: tuple[str, ...]
    keep: tuple[str, ...] = ()
    output: Output = "columns"
    k: int = 1

    @property
    def batch_rows(self) -> int:
        """How many rows to explain at a time."""
        return batch_rows_of(len(self.names), self.columns.width)

    def explain_batches(self, explainer: Explainer, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of the kept columns and the importances, in the order of the rows.

        The given batches have the kept columns first, then the features, under any names.
        """
        import pyarrow as pa

        for kept, part in self._arrow_parts(batches):
            found = self._importances(explainer, part)
            arrays = [*(column.combine_chunks() for column in kept), *found.values()]
            yield pa.RecordBatch.from_arrays(arrays, names=[*self.keep, *found])

    def explain_pandas(self, explainer: Explainer, frame: Any) -> Any:
        """Return a pandas frame of the kept columns and the importances, with the same index."""
        import pandas as pd

        parts = [
            self._as_pandas(part, self._importances(explainer, part))
            for part in cut_rows(frame, self.batch_rows)
        ]
        return pd.concat(parts) if parts else self.empty_pandas(frame)

    def explain_array(self, explainer: Explainer, block: AnyArray) -> AnyArray:
        """Return the importances of the rows of an array."""
        out = np.empty((len(block), len(self.names)))
        parts = cut_rows(block, self.batch_rows)
        outs = cut_rows(out, self.batch_rows)
        for part, values in zip(parts, outs, strict=True):
            values[:] = explainer(self.columns.rows_of(part)).values
        return out

    def empty_pandas(self, frame: Any) -> Any:
        """Return what `explain_pandas` returns for the frame without its rows."""
        return self._as_pandas(frame.iloc[:0], self._empty())

    def mean_batches(self, explainer: Explainer, batches: Iterable[Any]) -> Means:
        """Return the mean importances of the rows of Arrow batches, by the kept column's labels."""
        parts = self._arrow_parts(batches)
        return self._mean(
            explainer, ((part, [column.to_pylist() for column in kept]) for kept, part in parts)
        )

    def mean_pandas(self, explainer: Explainer, frame: Any) -> Means:
        """Return the mean importances of the rows of a pandas frame or an array."""
        parts = cut_rows(frame, self.batch_rows)
        return self._mean(
            explainer, ((part, [part[name].tolist() for name in self.keep]) for part in parts)
        )

    def _arrow_parts(self, batches: Iterable[Any]) -> Iterator[tuple[list[Any], Any]]:
        """Yield the kept columns and a table of the features for every few rows."""
        import pyarrow as pa

        n_kept = len(self.keep)
        for table in regroup(batches, self.batch_rows):
            arrays = table.columns
            yield arrays[:n_kept], pa.table(arrays[n_kept:], names=list(self.columns.names))

    def _mean(self, explainer: Explainer, parts: Iterable[tuple[Any, list[list[Any]]]]) -> Means:
        means: Means = {}
        for part, labels in parts:
            with self.columns.named_errors(part):
                result = explainer(self.columns.rows_of(part))
            found: Means = {**result.mean(by=labels[0])} if labels else {None: result.mean()}
            means = merge_means(means, found)
        return means

    def _importances(self, explainer: Explainer, part: Any) -> dict[str, Any]:
        with self.columns.named_errors(part):
            return self._explain(explainer, self.columns.rows_of(part))

    def _explain(self, explainer: Explainer, rows: Any) -> dict[str, Any]:
        import pyarrow as pa

        if self.output == "top":
            top = explainer.top(rows, self.k)
            labels = pa.array(self.names, pa.string()).take(pa.array(top.indices.ravel()))
            k = top.indices.shape[1]
            return {"feature": _lists(labels, k), "importance": _lists(top.values.ravel(), k)}
        values = np.asarray(explainer(rows).values)
        if self.output == "array":
            return {"importance": _lists(values.ravel(), values.shape[1])}
        return dict(zip(self.names, map(pa.array, np.ascontiguousarray(values.T)), strict=True))

    def _empty(self) -> dict[str, Any]:
        import pyarrow as pa

        if self.output == "columns":
            return {name: pa.array([], pa.float64()) for name in self.names}
        found = {"importance": pa.array([], pa.list_(pa.float64()))}
        if self.output == "top":
            found = {"feature": pa.array([], pa.list_(pa.string())), **found}
        return found

    def _as_pandas(self, part: Any, found: dict[str, Any]) -> Any:
        import pandas as pd

        kept = part[list(self.keep)]
        made = {
            name: array.to_numpy()
            if self.output == "columns"
            else pd.array(array, dtype=pd.ArrowDtype(array.type))
            for name, array in found.items()
        }
        return pd.concat([kept, pd.DataFrame(made, index=part.index)], axis=1)


def merge_means(one: Means, other: Means) -> Means:
    """Return the means of the rows behind both."""
    from localmdi.results import GlobalImportance

    merged = {**one}
    for label, mean in other.items():
        before = one.get(label)
        merged[label] = mean if before is None else GlobalImportance.merge([before, mean])
    return merged


def batch_rows_of(n_columns: int, width: int | None) -> int:
    """Return how many rows to work on at a time, of so many columns or so long vectors."""
    return max(64, min(_BATCH_ROWS, _BATCH_VALUES // max(n_columns, width or 1)))


def cut_rows(frame: Any, n_rows: int) -> Iterator[Any]:
    """Yield parts of `n_rows` rows, the last one shorter, of a pandas frame or an array."""
    rows = frame if isinstance(frame, np.ndarray) else frame.iloc
    for start in range(0, len(frame), n_rows):
        yield rows[start : start + n_rows]


def regroup(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of `n_rows` rows, the last one shorter, from batches of any size.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = [pa.record_batch({"a": [1, 2, 3]}), pa.record_batch({"a": [4, 5]})]
    >>> [table["a"].to_pylist() for table in regroup(batches, 2)]
    [[1, 2], [3, 4], [5]]
    """
    import pyarrow as pa

    held: list[Any] = []
    n_held = 0
    for batch in batches:
        start = 0
        while batch.num_rows - start >= n_rows - n_held:
            taken = n_rows - n_held
            yield pa.Table.from_batches([*held, batch.slice(start, taken)])
            held, n_held, start = [], 0, start + taken
        if start < batch.num_rows:
            held.append(batch.slice(start))
            n_held += batch.num_rows - start
    if held:
        yield pa.Table.from_batches(held)


def _lists(values: Any, length: int) -> Any:
    """Return the values as an Arrow array of lists of one length."""
    import pyarrow as pa

    flat = pa.array(values)
    offsets = np.arange(0, len(flat) + 1, length, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat)
