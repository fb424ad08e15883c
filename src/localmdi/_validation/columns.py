"""X as named columns of its own values, and their codes where columns hold categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation.arguments import names_of
from localmdi._validation.categories import Categories, find_missing
from localmdi._validation.rows import (
    FrameType,
    RowSource,
    frame_labels,
    frame_type,
    read_frame,
    read_rows,
)

if TYPE_CHECKING:
    from localmdi.typing import AnyArray


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of X; made by `read_columns`.

    Parameters
    ----------
    data : object
        X as it was given; a list of rows as an array.
    arrays : tuple of 1-D ndarray
        The values of every column, all of one length.
    is_categorical : tuple of bool
        Whether the dtype says so: strings, objects, booleans, pandas and polars categories.
    n_rows : int
        Number of rows, also when there are no columns.
    names : tuple of str or None
        The column names of a frame; None if there are none.
    frame_type, row_labels
        The library of a frame, and its index if it is pandas'.
    """

    data: Any
    arrays: tuple[AnyArray, ...]
    is_categorical: tuple[bool, ...]
    n_rows: int
    names: tuple[str, ...] | None = None
    frame_type: FrameType | None = None
    row_labels: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, len(self.arrays)


def read_columns(X: Any) -> Columns:
    """Recognise X: an array, a list of rows, or a pandas, polars or pyarrow table.

    Categorical columns come back as the values they stand for, never as codes.
    """
    if hasattr(X, "tocsr"):
        raise ValueError(
            "X must be a dense array or a data frame, because its values are read as categories; "
            "got a sparse matrix. Pass X.toarray()."
        )
    frame = None if isinstance(X, np.ndarray) else read_frame(X)
    if frame is None:
        array = _as_table(X)
        flag = array.dtype.kind in "OUSbT"
        return Columns(array, tuple(array.T), (flag,) * array.shape[1], len(array))
    kind = frame_type(frame)
    columns = list(frame.iter_columns())
    return Columns(
        X,
        tuple(_values(column) for column in columns),
        tuple(_is_category(column) for column in columns),
        int(frame.shape[0]),
        names=names_of(list(X.columns) if kind == "pandas" else frame.columns),
        frame_type=kind,
        row_labels=frame_labels(frame),
    )


def _as_table(X: Any) -> AnyArray:
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # NumPy would turn the numbers of a mixed list into strings.
            array = np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"X must be a table whose rows have the same length; cannot read this "
            f"{type(X).__name__} as one: {error}. Pass an array or a data frame."
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional, rows by features; got shape {array.shape}. "
            "For a single row pass it as a list of one row."
        )
    if array.dtype.kind not in "biufOUSTmM":
        raise ValueError(
            f"X must hold numbers, booleans, strings or dates; got dtype {array.dtype}. "
            "Convert it, for example to strings."
        )
    # NumPy's variable-width strings have missing values, as objects do.
    return array.astype(object) if array.dtype.kind == "T" else array


def _is_category(column: Any) -> bool:
    import narwhals.stable.v2 as nw

    return column.dtype in (
        nw.String,
        nw.Categorical,
        nw.Enum,
        nw.Boolean,
        nw.Object,
        nw.Unknown,
        nw.Binary,
    )


def _values(column: Any) -> AnyArray:
    import narwhals.stable.v2 as nw

    dtype = column.dtype
    if dtype.is_nested():
        raise ValueError(
            f"the columns of X must hold single values; column {column.name!r} has type {dtype}. "
            "Spread its parts over columns of their own, or convert them to strings."
        )
    if dtype in (nw.Categorical, nw.Enum):
        return _category_values(column.to_native())
    # Integers with nulls become floats with NaN; without nulls they stay exact.
    if dtype.is_numeric() and (dtype.is_decimal() or column.null_count() > 0):
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def _category_values(native: Any) -> AnyArray:
    """Return what the categories stand for: `to_numpy` of pyarrow's dictionaries is not defined."""
    value_type = getattr(getattr(native, "type", None), "value_type", None)
    return np.asarray((native if value_type is None else native.cast(value_type)).to_numpy())


def as_labels(categories: Categories) -> AnyArray:
    """Return the category of each code as one array; a missing one is NaN or None at the end."""
    values = categories.values
    if not categories.has_missing:
        return values
    if values.dtype.kind == "f":
        return np.append(values, np.nan)
    if values.dtype.kind in "mM":
        return np.append(values, np.array("NaT", dtype=values.dtype))
    labels = np.empty(len(values) + 1, dtype=object)
    labels[:-1] = values
    return labels


def from_labels(labels: AnyArray) -> Categories:
    """Return the categories that `as_labels` described."""
    has_missing = len(labels) > 0 and bool(find_missing(labels[-1:])[0])
    return Categories(labels[:-1] if has_missing else labels, has_missing)


def encode_columns(
    columns: Columns, categories: tuple[Categories | None, ...], *, dtype: Any
) -> AnyArray:
    """Return the rows as numbers: codes where a column has categories, −1 for unknown ones."""
    out = np.empty(columns.shape, dtype=dtype)
    for j, (column, known) in enumerate(zip(columns.arrays, categories, strict=True)):
        if known is not None and not (columns.frame_type is None and _are_codes(column, known)):
            out[:, j] = known.encode(column)
            continue
        try:
            if column.dtype.kind not in "biufO":
                raise TypeError(f"it has type {column.dtype}")
            missing = find_missing(column)
            # A value beyond float32 becomes inf, which the check of the values reports.
            with np.errstate(over="ignore"):
                out[:, j] = np.where(missing, np.nan, column) if missing.any() else column
        except (TypeError, ValueError) as error:
            name = j if columns.names is None else repr(columns.names[j])
            raise ValueError(
                f"a column without categories must hold numbers; column {name} does not: {error}. "
                "Pass the kind of values that the model was fitted with."
            ) from error
    return out


def _are_codes(column: AnyArray, known: Categories) -> bool:
    """Whether a column of an array of numbers can only hold codes: its categories are strings."""
    strings = [isinstance(value, str) for value in known.values]
    return column.dtype.kind in "iuf" and len(strings) > 0 and all(strings)


def read_encoded_rows(
    X: Any, dtype: Any, *, categories: tuple[AnyArray | None, ...] | None
) -> RowSource:
    """Recognise X as `read_rows` does; columns with categories may hold anything.

    Parameters
    ----------
    X : array, scipy sparse matrix, or pandas, polars or pyarrow table
        The rows; sparse only if the forest has no categories.
    dtype : dtype
        The type in which the forest compares.
    categories : tuple or None
        The forest's: for each feature None or the category of each code.
    """
    if categories is None or all(labels is None for labels in categories):
        return read_rows(X, dtype)
    columns = read_columns(X)
    if columns.shape[1] != len(categories):
        raise ValueError(
            f"X must have the model's {len(categories)} features; got {columns.shape[1]}. "
            "Pass the columns that the model was fitted with."
        )
    known = tuple(None if labels is None else from_labels(labels) for labels in categories)
    return RowSource(
        X if hasattr(X, "shape") else np.array(X, dtype=object),
        encode_columns(columns, known, dtype=dtype),
        np.dtype(dtype),
        names=columns.names,
        frame_type=columns.frame_type,
        row_labels=columns.row_labels,
    )
