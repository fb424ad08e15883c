"""Rows of a forest that knows categories: values become the codes that its splits compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation.categories import Categories, find_missing
from localmdi._validation.columns import Columns, read_columns
from localmdi._validation.rows import RowSource, read_rows

if TYPE_CHECKING:
    from localmdi.typing import AnyArray

__all__ = ["as_labels", "encode_columns", "from_labels", "read_encoded_rows"]


def as_labels(categories: Categories) -> AnyArray:
    """Return the category of each code as one array; a missing one is NaN or None at the end.

    Examples
    --------
    >>> as_labels(Categories(np.array(["no", "yes"]), has_missing=True))
    array(['no', 'yes', None], dtype=object)
    """
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
    """Return the categories that `as_labels` described.

    Examples
    --------
    >>> from_labels(np.array([2.0, np.nan]))
    Categories(values=array([2.]), has_missing=True)
    """
    has_missing = len(labels) > 0 and bool(find_missing(labels[-1:])[0])
    return Categories(labels[:-1] if has_missing else labels, has_missing)


def encode_columns(
    columns: Columns, categories: tuple[Categories | None, ...], *, dtype: Any
) -> AnyArray:
    """Return the rows as numbers: codes where a column has categories, −1 for unknown ones.

    Examples
    --------
    >>> columns = read_columns(np.array([["b", 5], ["?", 6]], dtype=object))
    >>> encode_columns(columns, (Categories(np.array(["a", "b"])), None), dtype="float32")
    array([[ 1.,  5.],
           [-1.,  6.]], dtype=float32)
    """
    out = np.empty(columns.shape, dtype=dtype)
    for j, (column, known) in enumerate(zip(columns.arrays, categories, strict=True)):
        if known is not None:
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

    Examples
    --------
    >>> rows = read_encoded_rows([["b"], ["?"]], "float32", categories=(np.array(["a", "b"]),))
    >>> rows.batch(0, 2).tolist()
    [[1.0], [-1.0]]
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
