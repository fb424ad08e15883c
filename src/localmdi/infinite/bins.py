"""Measured numbers as categories: quantiles of the sample, or edges that the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, Names

__all__ = ["apply_edges", "bins_by_column", "find_edges"]


def bins_by_column(bins: Any, names: Names) -> dict[int, Any]:
    """Return what `bins` says about single columns, by position.

    Parameters
    ----------
    bins : int, sequence of float, dict or None
        A dict goes from column names (or positions) to a number of bins or to edges; anything
        else speaks about all measured columns and gives an empty result here.
    names : sequence of str
        The columns.

    Examples
    --------
    >>> bins_by_column({"age": 3}, ("sex", "age"))
    {1: 3}
    """
    if not isinstance(bins, Mapping):
        return {}
    position = {name: j for j, name in enumerate(names)} | {j: j for j in range(len(names))}
    unknown = [key for key in bins if key not in position]
    if unknown:
        raise ValueError(
            f"the keys of bins must be columns of X; got {unknown[0]!r}. "
            f"Use names such as {names[0] if names else 'x0'!r}, or positions."
        )
    return {position[key]: rule for key, rule in bins.items()}


def find_edges(values: AnyArray, rule: Any, *, name: str) -> FloatArray:
    """Return rising edges: bin i holds the values from edge i − 1 (included) up to edge i.

    Parameters
    ----------
    values : ndarray
        The column, without missing values.
    rule : int or sequence of float
        A number of bins with equally many rows (fewer where values repeat), or the edges.
    name : str
        The column's name, for messages.

    Examples
    --------
    >>> find_edges(np.array([0.5, 1.5, 2.5, 3.5]), 2, name="age")
    array([2.])
    >>> find_edges(np.array([0.5]), [18, 65], name="age")
    array([18., 65.])
    """
    if isinstance(rule, Integral) and not isinstance(rule, bool) and int(rule) >= 1:
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return np.empty(0)
        return np.unique(np.quantile(finite, np.arange(1, int(rule)) / int(rule)))
    try:
        edges = np.asarray(rule, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.empty((0, 0))
    if edges.ndim != 1 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(
            f"bins of column {name!r} must be a number of bins, at least 1, or finite edges in "
            f"rising order; got {rule!r:.80}. Pass bins=4, or bins={{{name!r}: [1, 2]}}."
        )
    return edges


def apply_edges(values: AnyArray, edges: FloatArray) -> FloatArray:
    """Return the number of each value's bin; missing stays missing.

    Examples
    --------
    >>> apply_edges(np.array([1.0, 2.0, np.nan]), np.array([2.0]))
    array([ 0.,  1., nan])
    """
    numbers = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(numbers), np.nan, np.searchsorted(edges, numbers, side="right"))
