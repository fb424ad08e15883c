"""What comes beside X: feature names, targets, weights, the number of threads."""

from __future__ import annotations

import os
import warnings
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from localmdi._text import quote_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from localmdi.typing import AnyArray, FloatArray, Measure


# Each thread has tables of its own: beyond this many, more cost memory and gain nothing.
_MOST = max(256, os.cpu_count() or 1)


def default_names(n_features: int) -> tuple[str, ...]:
    """Return scikit-learn's names for unnamed features."""
    return tuple(f"x{i}" for i in range(n_features))


def names_of(columns: list[Any]) -> tuple[str, ...] | None:
    """Return the column names of a frame; None if they are not strings, as in scikit-learn."""
    strings = [isinstance(name, str) for name in columns]
    if all(strings):
        return tuple(columns)
    if any(strings):
        raise TypeError(
            "the column names must be all strings or none; got a mixture. "
            "Rename them, for example X.columns = X.columns.astype(str)."
        )
    return None


def check_keywords(function: str, given: Iterable[str], *, known: Collection[str]) -> None:
    """Refuse keywords that a function does not have, in its own name and not a helper's.

    Examples
    --------
    >>> check_keywords("forest_gap", ["bins", "n_job"], known=("bins", "n_jobs"))
    Traceback (most recent call last):
    TypeError: forest_gap() got an unexpected keyword argument 'n_job'; it takes bins and n_jobs.
    """
    for name in given:
        if name not in known:
            *most, last = known
            listed = f"{', '.join(most)} and {last}" if most else last
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}; it takes {listed}."
            )


def check_measure(measure: Any) -> Measure:
    """Return the name of a local measure."""
    if isinstance(measure, str) and measure in ("drop", "gain"):
        return cast("Measure", measure)
    raise ValueError(
        f"measure must be 'drop' or 'gain'; got {measure!r}. Use 'drop' for Definition 1."
    )


def check_flags(**flags: Any) -> None:
    """Refuse options that are neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool):
            raise TypeError(f"{name} must be True or False; got {value!r:.60}. Pass a bool.")


def check_names(given: tuple[str, ...] | None, expected: tuple[str, ...] | None) -> None:
    """Compare the names of X with the model's: other names raise, missing ones warn."""
    if given is not None and expected is not None:
        if given != expected:
            raise ValueError(_difference(given, expected))
    elif given is not None:
        _warn("X has feature names, but the model was fitted without feature names")
    elif expected is not None:
        _warn("X does not have feature names, but the model was fitted with feature names")


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)


def _difference(given: tuple[str, ...], expected: tuple[str, ...]) -> str:
    unseen = [name for name in given if name not in set(expected)]
    missing = [name for name in expected if name not in set(given)]
    if not unseen and not missing:
        return (
            "the columns of X must be in the order of the model's features; "
            "they are in another order. Use X[model.feature_names_in_]."
        )
    parts = [
        f"{what}: {quote_names(names, most=5)}"
        for what, names in (("not the model's", unseen), ("missing", missing))
        if names
    ]
    return (
        f"the columns of X must be the model's features; {'; '.join(parts)}. "
        "Pass the columns that the model was fitted with."
    )


def check_target(y: Any, n_rows: int) -> AnyArray:
    """Return y as an array of one value, or one row of values, per row of X."""
    target = np.asarray(y)
    if target.ndim not in (1, 2) or len(target) != n_rows:
        raise ValueError(
            f"y must have one entry per row of X ({n_rows}); got shape {target.shape}. "
            "Pass the target of the rows in X."
        )
    return target


def check_sample_weight(
    sample_weight: Any, n_rows: int, *, all_zero: bool = False, any_sum: bool = False
) -> FloatArray:
    """Return finite, non-negative weights; None gives ones.

    They may be `all_zero`, or have `any_sum`, if the caller can do with that.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    given = np.asarray(sample_weight)
    try:
        numbers = given.dtype.kind in "biuf" or (given.dtype.kind == "O" and _are_numbers(given))
        weight = given.astype(np.float64) if numbers else None
    except (TypeError, ValueError):
        weight = None
    if weight is None:
        raise TypeError(
            f"sample_weight must be numbers; got {given.dtype}. Pass a float for every row."
        )
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one entry per row of X ({n_rows}); got shape {weight.shape}. "
            "Pass the weights of the rows in X."
        )
    known = np.isfinite(weight).all() and not (weight < 0).any()
    if not known or not (all_zero or weight.any()):
        raise ValueError(
            "sample_weight must be finite, non-negative and not all zero. "
            "Remove or correct the entries that are not."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not any_sum and not np.isfinite(total):
        raise ValueError(
            "sample_weight must have a finite sum; got weights that add up to infinity. Divide "
            "them by the largest."
        )
    return weight


def _are_numbers(objects: AnyArray) -> bool:
    # A NumPy duration calls itself an integer.
    return all(
        isinstance(entry, Number) and not isinstance(entry, np.timedelta64)
        for entry in objects.ravel().tolist()
    )


def count_threads(n_jobs: Any, *, n_rows: int | None = None) -> int:
    """Return the threads that ``n_jobs`` asks for, as scikit-learn and joblib count them.

    A single row has work for one, so that joblib, which takes its time, need not be asked.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0; got {n_jobs!r}. "
            "Use None for one thread, -1 for all processors."
        )
    if n_rows == 1:
        return 1
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), _MOST)
