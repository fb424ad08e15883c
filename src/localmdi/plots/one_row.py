"""The values of one row, or of the mean over rows, for the maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.plots.choose import check_rows, row_position
from localmdi.plots.labels import row_title
from localmdi.results import GlobalImportance, LocalImportance
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from localmdi.typing import FloatArray

__all__ = ["one_row"]


def one_row(result: Any, row: Any, *, display: str) -> tuple[FloatArray, str, int | None]:
    """Return the values of a row or of the mean, their title, and the row's position.

    Examples
    --------
    >>> result = GlobalImportance(np.ones(1), unit="bits", feature_names=("a",), n_trees=1)
    >>> one_row(result, None, display="ImageDisplay")
    (array([1.]), 'mean over rows', None)
    """
    if isinstance(result, GlobalImportance):
        check_rows(1, len(result))
        if row is not None:
            raise ValueError(
                f"row must be None for a GlobalImportance, which has no rows; got {row!r}. "
                "Pass the LocalImportance to see one of its rows."
            )
        return result.values, "mean over rows", None
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"{display} shows a LocalImportance or a GlobalImportance; got "
            f"{type(result).__name__}. Pass what local_mdi or global_mdi returned; for an array "
            f"call {display}(values, unit=…).plot()."
        )
    check_rows(*result.shape)
    if row is None:
        return result.mean().values, "mean over rows", None
    position = row_position(row, len(result))
    values = np.asarray(dense(result.values[[position]])[0])
    return values, row_title(result, position), position
