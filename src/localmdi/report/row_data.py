"""The rows of a page: which ones it shows, and all that its script needs to know about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from localmdi._criteria import unit_of
from localmdi._text import clean, count, cut
from localmdi.report.json_columns import (
    MAX_TEXT,
    FittedColumns,
    encode_errors,
    encode_values,
    fit_columns,
    pack,
)
from localmdi.results.fields import dense, predicts_classes
from localmdi.results.own_data import take_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.results import LocalImportance
    from localmdi.typing import FloatArray, IntArray


_NAME_LIMIT = 120
_SEED = 0
_LARGEST = np.iinfo(np.uint32).max


def sample_rows(n_rows: int, max_rows: int, *, keep: IntArray) -> IntArray:
    """Return at most `max_rows` row positions in order: those to keep, and others spread evenly.

    The rows that need not be kept are cut into blocks of equal length, and one row is drawn from
    each, always with the same seed: the same result gives the same page.

    Examples
    --------
    >>> rows = sample_rows(1000, 5, keep=np.array([7]))
    >>> len(rows), 7 in rows
    (5, True)
    """
    if n_rows <= max_rows:
        return np.arange(n_rows)
    kept = np.unique(keep[:max_rows])
    n_blocks = max_rows - len(kept)
    if n_blocks == 0:
        return kept
    others = np.setdiff1d(np.arange(n_rows), kept, assume_unique=True)
    edges = np.arange(n_blocks + 1) * len(others) // n_blocks
    draw = np.random.default_rng(_SEED).random(n_blocks)
    chosen = edges[:-1] + (draw * np.diff(edges)).astype(np.int64)
    return np.sort(np.concatenate([kept, others[chosen]]))


@dataclass(frozen=True)
class RowData:
    """The rows of a page as JSON values, and what had to be left out of them.

    Parameters
    ----------
    content : dict
        JSON values without NaN.
    fitted : FittedColumns
        Labels, prediction, target and the rows' own values, as far as there was room.
    has_own_values : bool
        Whether the result keeps the explained values.
    has_table : bool
        Whether it keeps the rows as they were before a Pipeline made features of them.
    """

    content: dict[str, Any]
    fitted: FittedColumns
    has_own_values: bool
    has_table: bool = False

    def notices(self) -> list[str]:
        """Return sentences on what is not shown."""
        lines = []
        if not self.has_own_values:
            why = (
                "the model's features are not the columns of the table"
                if self.has_table
                else "the result does not hold them"
            )
            lines.append(f"The rows' own values are not shown: {why}.")
        if self.fitted.text_limit < MAX_TEXT:
            lines.append(f"Long text is cut to {self.fitted.text_limit} characters.")
        if self.fitted.n_dropped:
            dropped = count(self.fitted.n_dropped, "least important feature")
            lines.append(
                f"To keep the page small, the rows' own values of the {dropped} are not shown."
            )
        return lines


def collect_rows(
    result: LocalImportance,
    rows: IntArray,
    *,
    features: IntArray,
    prediction: list[Any] | None,
    target: list[Any] | None,
    beside: Mapping[str, Any],
) -> RowData:
    """Return what the page shows of these rows and features, and of `beside`, JSON values."""
    values = dense(result.values[rows][:, features])
    cells = own_values(result, rows, columns=features)
    about = [row_labels(result, rows)]
    about += [[given[row] for row in rows] for given in (prediction, target) if given is not None]
    beside = {**beside, "direction": _directions(result, rows, features=features)}
    fitted = fit_columns([*about, *(cells or [])], beside=beside)
    shown = iter(fitted.columns)
    unit = unit_of(result.unit)
    hidden = result.values[rows].sum(axis=1) - values.sum(axis=1)
    content = {
        "symbol": clean(unit.symbol),
        "quantity": unit.quantity_of(result.measure),
        "measure": result.measure,
        "names": short_names(result, features),
        "position": pack(row_numbers(result, rows).astype(np.uint32)),
        "label": next(shown),
        "prediction": None if prediction is None else next(shown),
        "target": None if target is None else next(shown),
        "cells": None if cells is None else list(shown),
        "values": encode_values(values),
        "errors": _errors(result, rows, features=features),
        "of_classes": predicts_classes(result),
        "n_hidden": result.shape[1] - len(features),
        "hidden": pack_floats(hidden) if len(features) < result.shape[1] else None,
        "baseline": _levels_of(result.baseline, rows, n_rows=len(result)),
        "residual": _levels_of(result.residual, rows, n_rows=len(result)),
        **beside,
    }
    return RowData(
        content,
        fitted,
        has_own_values=cells is not None,
        has_table=result.data is not None,
    )


def pack_floats(numbers: FloatArray) -> dict[str, str]:
    """Return numbers, packed, with the seven digits that a page needs."""
    return pack(np.asarray(numbers).astype(np.float32))


def list_items(values: Any) -> list[Any]:
    """Return the entries of any array-like as Python values, a missing date as None."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return [None if np.isnat(value) else str(value).replace("T", " ") for value in values]
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def row_labels(result: LocalImportance, rows: IntArray) -> list[Any]:
    """Return the labels of some rows: those of the explained frame, or the rows' positions."""
    labels = result.row_labels
    return list_items(rows if labels is None else labels[rows])


def row_numbers(result: LocalImportance, rows: IntArray) -> IntArray:
    """Return the numbers of some rows in addresses: their labels if these are numbers.

    Labels that occur twice, or that are text, cannot name a row; then its position does.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits", n_trees=1,
    ...                          feature_names=("a", "b"), row_labels=np.array([70, 71]))
    >>> row_numbers(result, np.array([1]))
    array([71])
    """
    labels = None if result.row_labels is None else np.asarray(result.row_labels)
    if labels is None or labels.dtype.kind not in "iu" or not len(labels):
        return rows
    usable = (
        labels.min() >= 0 and labels.max() <= _LARGEST and len(np.unique(labels)) == len(labels)
    )
    return labels[rows].astype(np.int64) if usable else rows


def own_values(
    result: LocalImportance, rows: IntArray, *, columns: IntArray
) -> list[list[Any]] | None:
    """Return what some rows hold, one list per feature; None if the result cannot tell."""
    part = take_own(result, rows, columns=columns)
    if part is None:
        return None
    if issparse(part):
        part = part.toarray()
    if isinstance(part, np.ndarray):
        return [list_items(column) for column in part.T]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(part, eager_only=True)
    return [list_items(column.to_list()) for column in frame.iter_columns()]


def short_names(result: LocalImportance, features: IntArray) -> list[str]:
    """Return clean feature names, long ones cut."""
    return [cut(clean(result.feature_names[i]), _NAME_LIMIT) or "(no name)" for i in features]


def _errors(
    result: LocalImportance, rows: IntArray, *, features: IntArray
) -> dict[str, Any] | None:
    if result.standard_error is None:
        return None
    return encode_errors(dense(result.standard_error[rows][:, features]))


def _directions(
    result: LocalImportance, rows: IntArray, *, features: IntArray
) -> dict[str, str] | None:
    """Return which way each feature pushed, feature by feature: 0 away, 1 neither, 2 towards.

    Four of them are in a byte, the first in its lowest bits.
    """
    if result.direction is None:
        return None
    moves = np.sign(np.nan_to_num(dense(result.direction[rows][:, features]))) + 1
    codes = np.zeros((-(-moves.size // 4), 4), dtype=np.uint8)
    codes.ravel()[: moves.size] = moves.T.ravel()
    return pack((codes << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=1, dtype=np.uint8))


def _levels_of(
    level: float | FloatArray | None, rows: IntArray, *, n_rows: int
) -> dict[str, str] | None:
    return None if level is None else pack_floats(np.broadcast_to(level, n_rows)[rows])
