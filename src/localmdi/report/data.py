"""Everything that the page's script needs to know about the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.report.budget import FittedColumns, fit_columns
from localmdi.report.cells import row_labels, table_columns
from localmdi.report.encode import MAX_TEXT, encode_errors, encode_values, pack
from localmdi.report.text import clean, cut
from localmdi.report.words import quantity
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import FloatArray, IntArray

__all__ = ["RowData", "collect_rows", "short_names"]

_NAME_LIMIT = 120


class RowData:
    """The rows of a page as JSON values, and what had to be left out of them.

    Parameters
    ----------
    content : dict
        JSON values without NaN.
    fitted : FittedColumns
        Labels, prediction, target and explained values, as far as there was room.
    has_values : bool
        Whether the result knows the explained values.

    Examples
    --------
    >>> RowData({}, FittedColumns((), text_limit=80), has_values=False).notices()
    ["The rows' own values are not shown: the result does not hold them."]
    """

    def __init__(self, content: dict[str, Any], fitted: FittedColumns, *, has_values: bool) -> None:
        self.content = content
        self.fitted = fitted
        self.has_values = has_values

    def notices(self) -> list[str]:
        """Return sentences on what is not shown."""
        lines = []
        if not self.has_values:
            lines.append("The rows' own values are not shown: the result does not hold them.")
        if self.fitted.text_limit < MAX_TEXT:
            lines.append(f"Long texts are cut to {self.fitted.text_limit} characters.")
        if self.fitted.n_dropped:
            lines.append(
                f"The rows' own values of the {self.fitted.n_dropped} least important features "
                "are not shown, to keep the page small."
            )
        return lines


def collect_rows(
    result: LocalImportance,
    rows: IntArray,
    *,
    features: IntArray,
    prediction: list[Any] | None,
    target: list[Any] | None,
) -> RowData:
    """Return what the page shows of these rows and features.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> data = collect_rows(result, np.arange(2), features=np.array([1, 0]), prediction=None,
    ...                     target=["x", "y"])
    >>> data.content["names"]
    ['b', 'a']
    """
    values = dense(result.values[rows][:, features])
    cells = table_columns(result, rows, columns=features)
    about = [row_labels(result, rows)]
    about += [[given[row] for row in rows] for given in (prediction, target) if given is not None]
    fitted = fit_columns([*about, *(cells or [])])
    shown = iter(fitted.columns)
    content = {
        "unit": clean(result.unit),
        "quantity": quantity(result.unit),
        "names": short_names(result, features),
        "position": pack(rows.astype(np.uint32)),
        "label": next(shown),
        "prediction": None if prediction is None else next(shown),
        "target": None if target is None else next(shown),
        "cells": None if cells is None else list(shown),
        "values": encode_values(values),
        "errors": _errors(result, rows, features=features),
        "n_hidden": result.shape[1] - len(features),
        "hidden": _packed(result.values[rows].sum(axis=1) - values.sum(axis=1))
        if len(features) < result.shape[1]
        else None,
        "baseline": _packed(np.broadcast_to(result.baseline, len(result))[rows]),
        "residual": _packed(result.residual[rows]),
    }
    return RowData(content, fitted, has_values=cells is not None)


def short_names(result: LocalImportance, features: IntArray) -> list[str]:
    """Return clean feature names, the longest ones cut.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b" * 200), n_trees=1)
    >>> [len(name) for name in short_names(result, np.array([1, 0]))]
    [120, 1]
    """
    return [cut(clean(result.feature_names[i]), _NAME_LIMIT) or "(no name)" for i in features]


def _errors(
    result: LocalImportance, rows: IntArray, *, features: IntArray
) -> dict[str, Any] | None:
    if result.standard_error is None:
        return None
    return encode_errors(dense(result.standard_error[rows][:, features]))


def _packed(numbers: FloatArray) -> dict[str, str]:
    return pack(np.asarray(numbers).astype(np.float32))
