"""X in all its forms, handed on batch by batch in the dtype that the forest compares in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._validation.names import names_of
from localmdi._validation.sparse import compressed_rows

if TYPE_CHECKING:
    from localmdi.typing import AnyArray

__all__ = ["RowSource", "frame_labels", "frame_type", "read_frame", "read_rows"]

FrameType: TypeAlias = Literal["pandas", "polars", "pyarrow"]

# A converted batch stays near this size; the kernels cut it into tiles of their own.
_BATCH_BYTES = 1 << 25


@dataclass(frozen=True)
class RowSource:
    """Rows of any accepted kind; made by `read_rows`.

    Examples
    --------
    >>> rows = read_rows([[1, 2], [3, 4]], np.float32)
    >>> rows.shape, rows.batch(1, 2)
    ((2, 2), array([[3., 4.]], dtype=float32))
    """

    data: Any
    matrix: Any
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    frame_type: FrameType | None = None
    row_labels: Any = None

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_columns = self.matrix.shape
        return int(n_rows), int(n_columns)

    @property
    def sparse(self) -> bool:
        """Whether batches are compressed rows (scipy's CSR)."""
        return hasattr(self.matrix, "indptr")

    @property
    def ready(self) -> bool:
        """Whether the whole of X is one batch that needs no copy."""
        matrix = self.matrix
        return self.sparse or (
            isinstance(matrix, np.ndarray)
            and matrix.dtype == self.dtype
            and matrix.flags.c_contiguous
            and matrix.flags.aligned
        )

    @property
    def batch_rows(self) -> int:
        """How many rows to convert at a time."""
        n_rows, n_columns = self.shape
        if self.ready:
            return max(1, n_rows)
        return max(64, _BATCH_BYTES // (self.dtype.itemsize * max(1, n_columns)))

    def part(self, start: int, stop: int) -> RowSource:
        """Return rows start..stop as a source of their own."""
        matrix = self.matrix[start:stop]
        if isinstance(self.data, np.ndarray):
            data = self.data[start:stop]
        elif self.sparse:
            data = matrix
        else:
            data = read_frame(self.data)[start:stop].to_native()
        labels = None if self.row_labels is None else self.row_labels[start:stop]
        return replace(self, data=data, matrix=matrix, row_labels=labels)

    def batch(self, start: int, stop: int) -> Any:
        """Return rows start..stop as a C-contiguous array of `dtype`, or as CSR of `dtype`."""
        if self.sparse:
            part = self.matrix[start:stop] if stop - start < self.shape[0] else self.matrix
            with np.errstate(over="ignore"):
                return part.astype(self.dtype, copy=False)
        if isinstance(self.matrix, np.ndarray):
            return _convert(self.matrix[start:stop], self.dtype)
        return _frame_to_array(self.matrix[start:stop], self.dtype)


def read_rows(X: Any, dtype: Any) -> RowSource:
    """Recognise X: an array, a scipy sparse matrix, or a pandas, polars or pyarrow table.

    Examples
    --------
    >>> read_rows(np.zeros((3, 2), dtype=bool), "float64").shape
    (3, 2)
    """
    dtype = np.dtype(dtype)
    if isinstance(X, np.ndarray):
        return RowSource(X, _check_array(X), dtype)
    if hasattr(X, "tocsr"):
        return RowSource(X, compressed_rows(X), dtype)
    frame = read_frame(X)
    if frame is None:
        array = _check_array(_as_array(X))
        return RowSource(array, array, dtype)
    return RowSource(
        X,
        frame,
        dtype,
        names=names_of(list(X.columns) if frame_type(frame) == "pandas" else frame.columns),
        frame_type=frame_type(frame),
        row_labels=frame_labels(frame),
    )


def read_frame(X: Any) -> Any:
    """Return X as a narwhals frame, None if it is no pandas, polars or pyarrow table.

    Examples
    --------
    >>> read_frame([[1.0]]) is None
    True
    """
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_type(frame: Any) -> FrameType:
    """Return the library of a narwhals frame.

    Examples
    --------
    >>> import polars as pl
    >>> frame_type(read_frame(pl.DataFrame({"age": [3.5]})))
    'polars'
    """
    kind = frame.implementation
    return "pandas" if kind.is_pandas_like() else "polars" if kind.is_polars() else "pyarrow"


def frame_labels(frame: Any) -> Any:
    """Return the index of a pandas frame, None for others.

    Examples
    --------
    >>> import polars as pl
    >>> frame_labels(read_frame(pl.DataFrame({"age": [3.5]}))) is None
    True
    """
    import narwhals.stable.v2 as nw

    return nw.maybe_get_index(frame)


def _check_array(array: AnyArray) -> AnyArray:
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional, rows by features; got {array.ndim} dimension(s), shape "
            f"{array.shape}. For a single row pass X.reshape(1, -1)."
        )
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"X must hold numbers or booleans; got dtype {array.dtype}. "
            "Encode the other columns as the model's training data was encoded."
        )
    return array


def _as_array(X: Any) -> AnyArray:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"X must be a table of numbers whose rows have one length; got a {type(X).__name__} "
            f"that is none: {error}. Pass an array, a sparse matrix or a data frame."
        ) from error


def _convert(array: AnyArray, dtype: np.dtype[Any], *, what: str = "X") -> AnyArray:
    try:
        # A value beyond float32 becomes inf, which the check of the values reports.
        with np.errstate(over="ignore"):
            return np.require(array, dtype, ["C", "A", "E"])
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{what} must hold numbers; a value could not be converted to {dtype}: {error}. "
            "Encode it as the model's training data was encoded."
        ) from error


def _frame_to_array(frame: Any, dtype: np.dtype[Any]) -> AnyArray:
    out = np.empty(frame.shape, dtype=dtype)
    for j, column in enumerate(frame.iter_columns()):
        out[:, j] = _convert(_column_to_array(column), dtype, what=f"column {column.name!r} of X")
    return out


def _column_to_array(column: Any) -> AnyArray:
    import narwhals.stable.v2 as nw

    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        # Nulls become NaN; without them integers go to the row dtype in one step, rounded once.
        if column.null_count() > 0:
            column = column.cast(nw.Float64)
        return np.asarray(column.to_numpy())
    # Numbers may come as objects, in pandas' sparse columns, and in columns of nulls only.
    values = np.asarray(column.to_numpy()) if kind in (nw.Object, nw.Unknown) else None
    if values is None or values.dtype.kind not in "biufO":
        raise ValueError(
            f"the columns of X must hold numbers or booleans; column {column.name!r} has type "
            f"{kind}. Encode it as the model's training data was encoded."
        )
    return values
