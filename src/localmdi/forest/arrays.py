"""The arrays of a forest: converted where that loses nothing, checked, and frozen."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from localmdi.exceptions import InvalidForestError

if TYPE_CHECKING:
    from localmdi.typing import AnyArray

__all__ = ["convert", "describe", "fail", "freeze"]


def fail(must: str, given: str, *, do: str) -> NoReturn:
    """Raise the error that says what must hold, what was given, and what to do.

    Examples
    --------
    >>> fail("n_features must be positive", "0", do="Pass the number of features.")
    Traceback (most recent call last):
    localmdi.exceptions.InvalidForestError: n_features must be positive; got 0. Pass the number...
    """
    raise InvalidForestError(f"{must}; got {given}. {do}")


def describe(value: Any) -> str:
    """Return what a value is, in a few words.

    Examples
    --------
    >>> describe(np.zeros((2, 3))), describe("gini")
    ('float64 of shape (2, 3)', "'gini'")
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return reprlib.repr(value)


def convert(field: str, value: Any, *, dtype: np.dtype[Any]) -> AnyArray:
    """Return an array of this type in C order; `value` itself if it is one already.

    Integers change their width if every one fits; nothing is rounded.

    Examples
    --------
    >>> convert("feature", [0, -1, -1], dtype=np.dtype(np.int32))
    array([ 0, -1, -1], dtype=int32)
    >>> convert("feature", [0.5], dtype=np.dtype(np.int32))
    Traceback (most recent call last):
    localmdi.exceptions.InvalidForestError: feature must hold int32; got float64 of shape (1,)...
    """
    try:
        array = np.asarray(value)
    except ValueError:
        fail(f"{field} must be an array", describe(value), do="Pass a NumPy array.")
    # An empty list has no type of its own.
    if array.dtype != dtype and array.size:
        kinds = "iu" if dtype.kind in "iu" else "iuf"
        if array.dtype.kind not in kinds:
            fail(f"{field} must hold {dtype}", describe(array), do="Convert it with astype.")
        if dtype.kind in "iu":
            _check_range(field, array, info=np.iinfo(dtype))
    out = np.require(array.astype(dtype, copy=False), requirements=["C_CONTIGUOUS", "ALIGNED"])
    if out is not value and out.base is None:
        out.flags.writeable = False  # nobody else has it: no copy is needed to freeze it
    return out


def _check_range(field: str, array: AnyArray, *, info: np.iinfo[Any]) -> None:
    low, high = int(array.min()), int(array.max())
    if low < info.min or high > info.max:
        fail(
            f"{field} must hold {info.dtype}, which ends at {info.min} and {info.max}",
            f"values from {low} to {high}",
            do="Correct the values.",
        )


def freeze(
    field: str, value: Any, *, dtype: np.dtype[Any], shape: tuple[int | None, ...]
) -> AnyArray:
    """Return a read-only array of this type and shape; None is any length.

    An array that can be written to is copied: later writes of its owner must not reach the kernels,
    which trust what was checked.

    Examples
    --------
    >>> freeze("child", np.arange(3), dtype=np.dtype(np.int64), shape=(None,)).flags.writeable
    False
    """
    if not isinstance(value, np.ndarray) or value.dtype != dtype or not value.dtype.isnative:
        fail(f"{field} must be an array of {dtype}", describe(value), do="Convert it with astype.")
    if value.ndim != len(shape) or any(
        length not in (None, given) for length, given in zip(shape, value.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        fail(f"{field} must have the shape ({wanted})", describe(value), do="Correct its length.")
    frozen = np.require(value, requirements=["C_CONTIGUOUS", "ALIGNED"]).view(np.ndarray)
    if frozen.flags.writeable:
        frozen = frozen.copy()
        frozen.flags.writeable = False
    return frozen
