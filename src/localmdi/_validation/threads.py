"""The number of threads behind ``n_jobs``."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

__all__ = ["count_threads"]

# Each thread has tables of its own: beyond this many, more cost memory and gain nothing.
_MOST = max(256, os.cpu_count() or 1)


def count_threads(n_jobs: Any) -> int:
    """Return the threads that ``n_jobs`` asks for, as scikit-learn and joblib count them.

    Examples
    --------
    >>> count_threads(None), count_threads(2)
    (1, 2)
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0; got {n_jobs!r}. "
            "Use None for one thread, -1 for all processors."
        )
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), _MOST)
