"""X as named columns of its own values, for the rooms that treat some of them as categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation.names import names_of
from localmdi._validation.rows import FrameType, frame_labels, frame_type, read_frame

if TYPE_CHECKING:
    from localmdi.typing import AnyArray

__all__ = ["Columns", "read_columns"]


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
        Whether the dtype says so: text, objects, booleans, pandas and polars categories.
    n_rows : int
        Number of rows, also when there are no columns.
    names : tuple of str or None
        The column names of a frame; None if there are none.
    frame_type, row_labels
        The library of a frame, and its index if it is pandas'.

    Examples
    --------
    >>> columns = read_columns(np.array([["a", 1], ["b", 2]], dtype=object))
    >>> columns.shape, columns.is_categorical
    ((2, 2), (True, True))
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

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": pd.Categorical(["f", "m"]), "age": [30, 40]})
    >>> columns = read_columns(frame)
    >>> columns.arrays[0].tolist(), columns.is_categorical
    (['f', 'm'], (True, False))
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
            # NumPy would turn the numbers of a mixed list into text.
            array = np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"X must be a table whose rows have one length; got a {type(X).__name__} that is none: "
            f"{error}. Pass an array or a data frame."
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional, rows by features; got {array.ndim} dimension(s), shape "
            f"{array.shape}. For a single row pass it as a list of one row."
        )
    if array.dtype.kind not in "biufOUSTmM":
        raise ValueError(
            f"X must hold numbers, booleans, text or dates; got dtype {array.dtype}. "
            "Convert it, for example to strings."
        )
    # NumPy's variable-width text knows missing values as objects do.
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
