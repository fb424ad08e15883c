"""Saabas: how the prediction moves along the same path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from localmdi._validation import RowRules, RowSource
    from localmdi.forest.packing import Packing
    from localmdi.typing import FloatArray

__all__ = ["prediction_paths"]


def prediction_paths(
    packing: Packing, rows: RowSource, *, rules: RowRules, n_threads: int
) -> FloatArray:
    """Return the changes of value by split feature, shape (n_rows, n_features, n_values).

    Examples
    --------
    >>> from localmdi._validation import RowRules, read_rows
    >>> from localmdi.forest import build_forest
    >>> from localmdi.forest.packing import Packing
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     value=[[3.0], [1.0], [4.0]])
    >>> prediction_paths(Packing(forest), read_rows([[0.0]], "float64"),
    ...                  rules=RowRules(), n_threads=1)
    array([[[-2.]]])
    """
    forest = packing.forest
    value = forest.statistic("value")
    out = np.empty((rows.shape[0], forest.n_features, value.shape[1]))
    for start, stop, batch in packing.batches(rows, rules):
        packing.kernel.saabas(
            packing.rows(batch), value, forest.tree_scale, out[start:stop], n_threads
        )
    return out
