"""X in all its forms, handed on batch by batch in the forest's dtype.

Also what X may hold (`RowRules`), and what some libraries do to a column's values before they
compare them (`ColumnRule`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._validation.arguments import names_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from localmdi.typing import AnyArray, BoolArray


FrameType: TypeAlias = Literal["pandas", "polars", "pyarrow"]

# A converted batch stays near this size; the kernels cut it into tiles of their own.
_BATCH_BYTES = 1 << 25
# LightGBM's kZeroThreshold, a float32.
_NEARLY_ZERO = float(np.float32(1e-35))


@dataclass(frozen=True)
class RowSource:
    """Rows of any accepted kind; made by `read_rows`."""

    data: Any
    matrix: Any
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    frame_type: FrameType | None = None
    row_labels: Any = None
    groups: dict[str, tuple[str, ...]] | None = None

    shape: tuple[int, int] = field(init=False, repr=False)
    """Number of rows and columns."""
    sparse: bool = field(init=False, repr=False)
    """Whether batches are compressed rows (scipy's CSR)."""
    ready: bool = field(init=False, repr=False)
    """Whether the whole of X is one batch that needs no copy."""

    def __post_init__(self) -> None:
        # Found once: a call of one row asks for each of them several times.
        matrix = self.matrix
        n_rows, n_columns = matrix.shape
        sparse = hasattr(matrix, "indptr")
        ready = sparse or (
            isinstance(matrix, np.ndarray)
            and matrix.dtype == self.dtype
            and matrix.flags.c_contiguous
            and matrix.flags.aligned
        )
        own = vars(self)  # frozen for others
        own["shape"] = (int(n_rows), int(n_columns))
        own["sparse"] = sparse
        own["ready"] = ready

    @property
    def batch_rows(self) -> int:
        """How many rows to convert at a time."""
        return max(1, self.shape[0]) if self.ready else self.dense_batch_rows

    @property
    def dense_batch_rows(self) -> int:
        """How many rows to copy at a time, as a dense array."""
        n_columns = self.shape[1]
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
        if self.ready and type(self.matrix) is np.ndarray:
            return self.matrix[start:stop]
        if isinstance(self.matrix, np.ndarray):
            return _convert(self.matrix[start:stop], self.dtype)
        return _frame_to_array(self.matrix[start:stop], self.dtype)


def read_rows(X: Any, dtype: Any) -> RowSource:
    """Recognise X: an array, a scipy sparse matrix, or a pandas, polars or pyarrow table."""
    dtype = np.dtype(dtype)
    if isinstance(X, np.ndarray):
        return RowSource(X, _check_array(X), dtype)
    if hasattr(X, "tocsr"):
        return RowSource(X, _compressed_rows(X), dtype)
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
    """Return X as a narwhals frame, None if it is no pandas, polars or pyarrow table."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_type(frame: Any) -> FrameType:
    """Return the library of a narwhals frame."""
    kind = frame.implementation
    return "pandas" if kind.is_pandas_like() else "polars" if kind.is_polars() else "pyarrow"


def frame_labels(frame: Any) -> Any:
    """Return the index of a pandas frame, None for others."""
    import narwhals.stable.v2 as nw

    return nw.maybe_get_index(frame)


def _check_array(array: AnyArray) -> AnyArray:
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional, rows by features; got shape {array.shape}. "
            "For a single row pass X.reshape(1, -1)."
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
            f"X must be a table of numbers whose rows have the same length; cannot read this "
            f"{type(X).__name__} as one: {error}. Pass an array, a sparse matrix or a data frame."
        ) from error


def _convert(array: AnyArray, dtype: np.dtype[Any], *, what: str = "X") -> AnyArray:
    try:
        # A value beyond float32 becomes inf, which the check of the values reports.
        with np.errstate(over="ignore"):
            return np.require(array, dtype, ["C", "A", "E"])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{what} must hold numbers; a value could not be converted to {dtype}: {error}. "
            "Encode it as the model's training data was encoded."
        ) from error


def _frame_to_array(frame: Any, dtype: np.dtype[Any]) -> AnyArray:
    if frame.implementation.is_pandas():
        native = frame.to_native()
        # Columns of NumPy's own numbers lie in few blocks, which pandas converts in one step each.
        if all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in native.dtypes):
            with np.errstate(over="ignore"):
                return np.require(native.to_numpy(dtype=dtype), dtype, ["C", "A", "E"])
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


def _compressed_rows(X: Any) -> Any:
    """Return a sparse matrix of any format as compressed rows (CSR)."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"a sparse X must be two-dimensional and numeric; got shape {X.shape} and dtype "
            f"{X.dtype}. Convert it, for example X.astype('float32')."
        )
    # SciPy converts and slices without a look at these arrays: wrong ones would end the process.
    if X.format == "coo":
        _check_positions(X.row, X.shape[0], of="rows")
        _check_positions(X.col, X.shape[1], of="columns")
    elif X.format in ("csr", "csc"):
        _check_compressed(X)
    elif X.format == "bsr":
        _check_compressed(X, X.blocksize)
    rows = X.tocsr()
    arrays = (rows.data, rows.indices, rows.indptr)
    if not all(array.flags.c_contiguous for array in arrays):
        rows = rows.copy()  # without gaps, as the kernels read them
    if not len(rows.data) == len(rows.indices) == rows.indptr[-1]:
        rows = rows.copy()  # without the room behind its last entry, which may hold anything
        rows.prune()
    return rows


def _check_compressed(X: Any, block: tuple[int, int] = (1, 1)) -> None:
    n_rows, n_columns = X.shape[0] // block[0], X.shape[1] // block[1]
    n, limit, of = (
        (n_columns, n_rows, "rows") if X.format == "csc" else (n_rows, n_columns, "columns")
    )
    indptr = X.indptr
    if (
        indptr.shape != (n + 1,)
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or indptr[-1] > min(len(X.indices), len(X.data))
    ):
        raise ValueError(
            "the indptr of a sparse X must rise from 0 to at most the number of stored values; got "
            "another sequence. Build X with scipy.sparse."
        )
    _check_positions(X.indices[: indptr[-1]], limit, of=of)


def _check_positions(indices: AnyArray, limit: int, *, of: str) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= limit):
        raise ValueError(
            f"the indices of a sparse X must lie within its {limit} {of}; got {indices.min()} to "
            f"{indices.max()}. Build X with scipy.sparse."
        )


@dataclass(frozen=True)
class RowRules:
    """What X may contain.

    Parameters
    ----------
    finite : bool
        ±inf is an error; otherwise it is routed like any number.
    missing, sparse_missing : bool
        NaN may occur in dense, in sparse X; where it may, the splits decide.
    """

    finite: bool = False
    missing: bool = True
    sparse_missing: bool = True


def check_batch(batch: Any, rules: RowRules, *, refused: Callable[[], BoolArray]) -> None:
    """Refuse what the rules or the splits refuse in a batch that holds infinity or NaN.

    `refused()` says for each feature whether some split on it knows no way for a missing value; it
    is asked only when there are missing values.
    """
    sparse = hasattr(batch, "indptr")
    values = batch.data if sparse else batch
    if rules.finite and np.isinf(values).any():
        raise ValueError(
            f"X must be finite; it contains infinity or a value too large for {values.dtype}. "
            "Remove or clip such values, or explain as_forest(model), which routes them."
        )
    missing = np.isnan(values)
    if not missing.any():
        return
    if not (rules.sparse_missing if sparse else rules.missing):
        raise ValueError(
            "X must not contain missing values (NaN), because this model does not allow them in "
            f"{'sparse' if sparse else 'dense'} data. Impute them as for the model's predict."
        )
    columns = batch.indices[missing] if sparse else np.flatnonzero(missing.any(axis=0))
    bad = columns[refused()[columns]]
    if bad.size:
        raise ValueError(
            f"feature {int(bad[0])} must not be missing (NaN): a split on it has no way for "
            "missing values. Impute it, or use a model trained with missing values."
        )


class ColumnRule(IntFlag):
    """What happens to the values of a feature before a forest routes them; rules add up.

    Examples
    --------
    >>> ColumnRule.ZERO_IS_MISSING | ColumnRule.TRUNCATE
    <ColumnRule.ZERO_IS_MISSING|TRUNCATE: 3>
    """

    ZERO_IS_MISSING = 1
    """|x| ≤ 1e-35 counts as missing (LightGBM's ``zero_as_missing``)."""
    TRUNCATE = 2
    """x loses its fraction: 2.7 is the category 2, -0.5 the category 0 (LightGBM)."""
    ABSENT_IS_MISSING = 4
    """What a sparse X does not store is missing, not zero (XGBoost)."""
    FLOOR = 8
    """x is rounded down: 2.7 is the category 2, -0.5 is none (XGBoost)."""


def has_effect(rules: NDArray[np.uint8], *, sparse: bool) -> bool:
    """Whether the rules can change rows that are stored so."""
    return bool(rules.any() if sparse else (rules & ~np.uint8(ColumnRule.ABSENT_IS_MISSING)).any())


def apply_column_rules(batch: Any, rules: NDArray[np.uint8]) -> AnyArray:
    """Return a batch of rows as the rules make it, always dense; the batch itself is not changed.

    Examples
    --------
    >>> apply_column_rules(np.array([[0.0, 2.7]]), np.array([1, 2], dtype=np.uint8))
    array([[nan,  2.]])
    """
    rows: AnyArray
    if hasattr(batch, "indptr"):
        rows = batch.toarray()
        absent = _has(rules, ColumnRule.ABSENT_IS_MISSING)
        if absent.any():
            stored = type(batch)(
                (np.ones(len(batch.data), dtype=np.int8), batch.indices, batch.indptr),
                shape=batch.shape,
            )
            rows[(stored.toarray() == 0) & absent] = np.nan
    else:
        rows = batch.copy()
    for column in np.flatnonzero(_has(rules, ColumnRule.ZERO_IS_MISSING)):
        rows[np.abs(rows[:, column]) <= _NEARLY_ZERO, column] = np.nan
    for rule, rounded in ((ColumnRule.TRUNCATE, np.trunc), (ColumnRule.FLOOR, np.floor)):
        for column in np.flatnonzero(_has(rules, rule)):
            rounded(rows[:, column], out=rows[:, column])
    return rows


def _has(rules: NDArray[np.uint8], rule: ColumnRule) -> BoolArray:
    has: BoolArray = (rules & rule) != 0
    return has
