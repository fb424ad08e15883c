"""Which values a model allows in X: infinities and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.typing import BoolArray

__all__ = ["RowRules", "check_batch"]


@dataclass(frozen=True)
class RowRules:
    """What X may contain.

    Parameters
    ----------
    finite : bool
        ±inf is an error; otherwise it is routed like any number.
    missing, sparse_missing : bool
        NaN may occur in dense, in sparse X; where it may, the splits decide.

    Examples
    --------
    >>> RowRules()
    RowRules(finite=False, missing=True, sparse_missing=True)
    """

    finite: bool = False
    missing: bool = True
    sparse_missing: bool = True


def check_batch(batch: Any, rules: RowRules, *, refused: Callable[[], BoolArray]) -> None:
    """Refuse what the rules or the splits refuse.

    `refused()` says for each feature whether some split on it knows no way for a missing value; it
    is asked only when there are missing values.

    Examples
    --------
    >>> check_batch(np.array([[np.inf]]), RowRules(finite=True), refused=lambda: np.array([False]))
    Traceback (most recent call last):
        ...
    ValueError: X must be finite; it contains infinity or a value too large for float64. ...
    """
    sparse = hasattr(batch, "indptr")
    values = batch.data if sparse else batch
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass over memory decides the usual case; a sum that overflows only asks for a look.
        if np.isfinite(values.sum(dtype=values.dtype)):
            return
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
