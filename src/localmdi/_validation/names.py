"""Feature names: where they come from, and whether they are the model's."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["check_names", "default_names", "names_of"]


def default_names(n_features: int) -> tuple[str, ...]:
    """Return scikit-learn's names for unnamed features.

    Examples
    --------
    >>> default_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{i}" for i in range(n_features))


def names_of(columns: list[Any]) -> tuple[str, ...] | None:
    """Return the columns of a frame as names; None if they are not strings, as scikit-learn does.

    Examples
    --------
    >>> names_of(["age", "dose"]), names_of([0, 1])
    (('age', 'dose'), None)
    """
    strings = [isinstance(name, str) for name in columns]
    if all(strings):
        return tuple(columns)
    if any(strings):
        raise TypeError(
            "the column names must be all strings or none; got a mixture. "
            "Rename them, for example X.columns = X.columns.astype(str)."
        )
    return None


def check_names(given: tuple[str, ...] | None, expected: tuple[str, ...] | None) -> None:
    """Compare the names of X with the model's: other names raise, missing ones warn.

    Examples
    --------
    >>> check_names(("dose", "age"), ("age", "dose"))
    Traceback (most recent call last):
        ...
    ValueError: the columns of X must be in the order of the model's features; ...
    """
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
        f"{what}: {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
        for what, names in (("not the model's", unseen), ("missing", missing))
        if names
    ]
    return (
        f"the columns of X must be the model's features; {'; '.join(parts)}. "
        "Pass the columns that the model was fitted with."
    )
