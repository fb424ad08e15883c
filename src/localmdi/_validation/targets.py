"""Targets and sample weights that belong to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["check_sample_weight", "check_target"]


def check_target(y: Any, n_rows: int) -> AnyArray:
    """Return y as an array of one value, or one row of values, per row of X.

    Examples
    --------
    >>> check_target([0, 1], 2)
    array([0, 1])
    """
    target = np.asarray(y)
    if target.ndim not in (1, 2) or len(target) != n_rows:
        raise ValueError(
            f"y must have one entry per row of X ({n_rows}); got shape {target.shape}. "
            "Pass the target of the rows in X."
        )
    return target


def check_sample_weight(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return finite, non-negative weights with a positive sum; None gives ones.

    Examples
    --------
    >>> check_sample_weight(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one entry per row of X ({n_rows}); got shape {weight.shape}. "
            "Pass the weights of the rows in X."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(
            "sample_weight must be finite, non-negative and not all zero. "
            "Remove or correct the entries that are not."
        )
    return weight
