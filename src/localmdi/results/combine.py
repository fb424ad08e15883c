"""Join results of different rows into one."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from localmdi.results.rows import join_labels, join_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localmdi.typing import FloatArray

__all__ = ["check_same", "join_fields"]

Result = TypeVar("Result")


def check_same(
    parts: Iterable[Result], kind: type[Result], *, attributes: Sequence[str]
) -> list[Result]:
    """Return the parts as a list, if they are of one kind and agree in some attributes.

    Examples
    --------
    >>> check_same([1, 2], int, attributes=["real"])
    Traceback (most recent call last):
    ValueError: all parts must have the same real; got 1 and 2. Join results of one model only.
    """
    parts = list(parts)
    if not parts or not all(isinstance(part, kind) for part in parts):
        given = sorted({type(part).__name__ for part in parts}) or "none"
        raise TypeError(
            f"parts must be one or more {kind.__name__}; got {given}. Pass a list of them."
        )
    for attribute in attributes:
        first = getattr(parts[0], attribute)
        for part in parts:
            other = getattr(part, attribute)
            if other != first:
                raise ValueError(
                    f"all parts must have the same {attribute}; got {reprlib.repr(first)} and "
                    f"{reprlib.repr(other)}. Join results of one model only."
                )
    return parts


def join_fields(parts: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that change when the rows of local results are joined.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> part = LocalImportance(np.ones((1, 1)), 2.0, residual=np.ones(1), unit="bits",
    ...                        feature_names=("a",), n_trees=1)
    >>> join_fields([part, part])["residual"]
    array([1., 1.])
    """
    _check_alike("values", [issparse(part.values) for part in parts], no="dense", yes="sparse")
    methods = {part.method for part in parts}
    return {
        "values": join_tables([part.values for part in parts]),
        "baseline": _join_baselines([part.baseline for part in parts]),
        "residual": np.concatenate([part.residual for part in parts]),
        "data": join_tables([part.data for part in parts]),
        "row_weight": _join_weights([part.row_weight for part in parts]),
        "standard_error": join_tables([part.standard_error for part in parts]),
        "mean_standard_error": None,
        "row_labels": join_labels([part.row_labels for part in parts]),
        "method": methods.pop() if len(methods) == 1 else None,
    }


def _check_alike(field: str, flags: list[bool], *, no: str, yes: str) -> None:
    if len(set(flags)) > 1:
        raise ValueError(
            f"{field} must be {no} in all parts or {yes} in all parts; got both. "
            "Make the parts with the same options."
        )


def _join_baselines(baselines: list[Any]) -> float | FloatArray:
    _check_alike(
        "baseline", [isinstance(b, float) for b in baselines], no="an array", yes="a float"
    )
    first = baselines[0]
    if not isinstance(first, float):
        return np.concatenate(baselines)
    if any(baseline != first for baseline in baselines):
        raise ValueError(
            f"float baselines must be equal; got {min(baselines)} and {max(baselines)}. "
            "Join results of one model only, or give every row its own baseline as an array."
        )
    return first


def _join_weights(weights: list[Any]) -> FloatArray | None:
    _check_alike("row_weight", [weight is None for weight in weights], no="an array", yes="None")
    return None if weights[0] is None else np.concatenate(weights)
