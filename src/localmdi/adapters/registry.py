"""Adapters of third parties, by the class of the model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.forest import Forest

__all__ = ["find_adapter", "register_adapter"]

# One registry per process by nature: a model says nothing about who can read it.
_ADAPTERS: dict[str | type, Callable[[Any], Forest]] = {}


def register_adapter(model_class: type | str, function: Callable[[Any], Forest] | None) -> None:
    """Say how models of a class become a forest, everywhere in this process.

    A class that you write yourself needs no registration: give it a ``__to_forest__()`` method.

    Parameters
    ----------
    model_class : type or str
        The class, or its name as one imports it ("package.Class"), so that the package need not be
        imported now. Subclasses are read alike, unless they are registered themselves.
    function : callable or None
        Takes a fitted model, returns a `Forest` (see `build_forest`). Replaces the function that
        was registered before; None removes it.

    Examples
    --------
    >>> from localmdi.adapters import adapt
    >>> from localmdi.forest import build_forest
    >>> class Constant:
    ...     "Predicts the same for every row, from three columns."
    >>> def constant_to_forest(model):
    ...     return build_forest(n_features=3, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                         threshold=[0.0], child_offset=[0, 0], child=[], impurity=[0.5])
    >>> register_adapter(Constant, constant_to_forest)
    >>> adapt(Constant()).forest.n_features
    3
    >>> register_adapter(Constant, None)
    """
    if not isinstance(model_class, type | str):
        raise TypeError(
            "model_class must be a class or its name, but "
            f"{model_class!r} was given. Pass a class or 'package.Class'."
        )
    if function is None:
        _ADAPTERS.pop(model_class, None)
    elif callable(function):
        _ADAPTERS[model_class] = function
    else:
        raise TypeError(
            f"function must be callable or None, but {function!r} was given. "
            "Pass a function that takes a model and returns a Forest."
        )


def find_adapter(model: Any) -> Callable[[Any], Forest] | None:
    """Return the function registered for the class of a model, or its nearest base.

    Examples
    --------
    >>> find_adapter(1.5) is None
    True
    """
    functions = {_resolve(name): function for name, function in list(_ADAPTERS.items())}
    for base in type(model).__mro__:
        if base in functions:
            return functions[base]
    return None


def _resolve(name: str | type) -> type | None:
    """Return the class of this name if its package is loaded; no model exists before it is."""
    if isinstance(name, type):
        return name
    package, _, attribute = name.rpartition(".")
    found = getattr(sys.modules.get(package), attribute, None)
    return found if isinstance(found, type) else None
