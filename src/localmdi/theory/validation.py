"""Checks of what a `Distribution` is made from; every message names the entry that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.size import require_feasible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, ArrayLike, FloatArray

__all__ = ["check_categories", "check_classes", "check_masses", "check_sample", "check_y_values"]


def check_masses(masses: AnyArray, *, name: str) -> None:
    """Raise unless the array is a non-empty, finite, non-negative table with an output axis.

    Examples
    --------
    >>> check_masses(np.array([[0.5, -0.5]]), name="table")
    Traceback (most recent call last):
    ...
    ValueError: table must be non-negative, but entry (0, 1) is -0.5.
    """
    if masses.ndim < 2 or masses.size == 0:
        raise ValueError(
            f"{name} must have one axis per feature and the output's axis last, "
            f"shape (|X_1|, …, |X_p|, |Y|) with p >= 1, but has shape {masses.shape}."
        )
    require_feasible(masses.shape, what=name)
    bad = ~np.isfinite(masses) | (masses < 0)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        must = "non-negative" if np.isfinite(masses[where]) else "finite"
        raise ValueError(f"{name} must be {must}, but entry {where} is {masses[where]}.")


def check_y_values(y_values: ArrayLike | None, n_classes: int) -> FloatArray | None:
    """Return the output's numeric values as a read-only array, or None.

    Examples
    --------
    >>> check_y_values([0, 10], 2).tolist()
    [0.0, 10.0]
    """
    if y_values is None:
        return None
    values = np.array(y_values, dtype=np.float64)
    if values.shape != (n_classes,) or not np.isfinite(values).all():
        raise ValueError(
            f"y_values must be {n_classes} finite numbers, one per value of Y, but are {y_values}."
        )
    values.flags.writeable = False
    return values


def check_categories(
    categories: Sequence[Sequence[Any]] | None, arities: tuple[int, ...]
) -> tuple[tuple[Any, ...], ...]:
    """Return the features' values, by default 0, 1, … on each axis.

    Examples
    --------
    >>> check_categories(None, (2, 3))
    ((0, 1), (0, 1, 2))
    """
    if categories is None:
        return tuple(tuple(range(arity)) for arity in arities)
    sizes = tuple(len(set(values)) for values in categories)
    if sizes != arities or any(len(values) != len(set(values)) for values in categories):
        raise ValueError(
            f"categories must list {arities} distinct values per feature, but list {sizes}."
        )
    return tuple(tuple(values) for values in categories)


def check_classes(classes: Sequence[Any] | None, n_classes: int) -> tuple[Any, ...]:
    """Return the output's labels, by default 0, 1, ….

    Examples
    --------
    >>> check_classes(["no", "yes"], 2)
    ('no', 'yes')
    """
    if classes is None:
        return tuple(range(n_classes))
    if len(classes) != n_classes or len(set(classes)) != n_classes:
        raise ValueError(f"classes must be {n_classes} distinct labels, but are {tuple(classes)}.")
    return tuple(classes)


def check_sample(
    X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return X, y and the weights as arrays; whole weights come back as integers.

    Examples
    --------
    >>> X, y, weight = check_sample([[0], [1]], ["a", "b"], sample_weight=[1.0, 2.0])
    >>> weight.tolist()
    [1, 2]
    """
    rows, labels = np.asarray(X), np.asarray(y)
    if rows.ndim != 2 or rows.size == 0 or labels.shape != rows.shape[:1]:
        raise ValueError(
            "X must be (n_rows, p) and y (n_rows,), both non-empty, but they have shapes "
            f"{rows.shape} and {labels.shape}."
        )
    # Only a missing value differs from itself.
    if np.any(rows != rows) or np.any(labels != labels):
        raise ValueError("X and y must have no missing values: give the missing a category.")
    if sample_weight is None:
        return rows, labels, np.ones(len(rows), dtype=np.int64)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != labels.shape or not np.isfinite(weight).all():
        raise ValueError(
            f"sample_weight must be {len(rows)} finite numbers, but has shape {weight.shape}."
        )
    if np.any(weight < 0) or not weight.sum() > 0:
        raise ValueError("sample_weight must be non-negative, with a positive sum.")
    whole = np.array_equal(weight, np.floor(weight)) and weight.sum() < 2**53
    return rows, labels, weight.astype(np.int64) if whole else weight
