"""Results that come straight from a kernel: nothing in them needs a second look."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from localmdi.results.local import LocalImportance

__all__ = ["trusted_result"]

# What a field is if it is not given.
_DEFAULTS = {
    field.name: field.default for field in fields(LocalImportance) if field.default is not MISSING
}


def trusted_result(known: dict[str, Any], **fields: Any) -> LocalImportance:
    """Return a result whose fields a kernel and its packing made, without looking at them again.

    For rows that are explained one at a time, where the checks would take as long as a forest of
    100 trees. Arrays become read-only views, as in any result.

    Parameters
    ----------
    known : dict
        Fields that many results share.
    **fields
        The others, which come before them.

    Examples
    --------
    >>> import numpy as np
    >>> known = {"baseline": 1.0, "unit": "bits", "feature_names": ("age",), "n_trees": 10}
    >>> trusted_result(known, values=np.zeros((3, 1)), residual=np.ones(3)).shape
    (3, 1)
    """
    result = object.__new__(LocalImportance)
    own = vars(result)
    own.update(_DEFAULTS)
    own.update(known)
    own.update(fields)
    for name in ("values", "residual", "standard_error"):
        array = own[name]
        if array is not None:
            own[name] = view = array.view()
            view.setflags(write=False)
    return result
