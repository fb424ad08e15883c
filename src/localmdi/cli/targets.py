"""The column to learn: classes or numbers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.cli.kinds import Kind, as_kind
from localmdi.cli.text import count

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, BoolArray

__all__ = ["Target", "read_target", "target_like"]

# Whole numbers with at most so many values are taken for classes.
_FEW = 20


@dataclass(frozen=True, eq=False)
class Target:
    """A target ready to be learned.

    Parameters
    ----------
    name : str
        Its column.
    task : {"classification", "regression"}
        What it is.
    known : ndarray of bool
        Which rows have a value.
    values : ndarray
        The values of these rows: texts, whole numbers, or numbers.
    reason : str
        Why it is that task, for the user.

    Examples
    --------
    >>> import pyarrow as pa
    >>> target = read_target(pa.chunked_array([["1", "2", None]]), Kind.NUMBER, name="y")
    >>> target.task, target.values.tolist(), target.reason
    ('classification', [1, 2], 'whole numbers with 2 values')
    """

    name: str
    task: str
    known: BoolArray
    values: AnyArray
    reason: str


def read_target(column: Any, kind: Kind, *, name: str, task: str | None = None) -> Target:
    """Return the target in a column, and decide what it is unless `task` says.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_target(pa.chunked_array([["a", "a"]]), Kind.CATEGORY, name="y")
    Traceback (most recent call last):
    ValueError: the target 'y' must have at least two different values; got one. ...
    """
    if kind in (Kind.DATE, Kind.OTHER):
        raise ValueError(
            f"the target {name!r:.80} must hold classes or numbers; it holds {kind.value}s. "
            "Choose another column, or make numbers of it."
        )
    is_number = kind == Kind.NUMBER
    if task == "regression" and not is_number:
        raise ValueError(
            f"the target {name!r:.80} of a regression must hold numbers; it holds texts. "
            "Correct it, or use --task classification."
        )
    read = as_kind(column, kind, name=f"{name}")
    known = np.asarray(read.is_valid().to_numpy())
    values = np.asarray(read.drop_null().to_numpy())
    if is_number:
        known[known] = finite = ~np.isnan(values)
        values = values[finite]
    _check_values(values, name)
    if not is_number:
        return Target(name, "classification", known, values, "texts")
    whole = bool((values == np.rint(values)).all()) and bool((np.abs(values) < 2**53).all())
    n_values = len(np.unique(values))
    looks = "classification" if whole and n_values <= _FEW else "regression"
    reason = f"whole numbers with {count(n_values, 'value')}" if whole else "measured numbers"
    if task == "classification" and not whole:
        values = np.array([f"{value:g}" for value in values.tolist()], dtype=object)
    elif whole and (task or looks) == "classification":
        values = values.astype(np.int64)
    return Target(name, task or looks, known, values, reason)


def target_like(column: Any, prediction: AnyArray | None, *, name: str) -> AnyArray:
    """Return a column of targets in the type of the predictions that stand beside it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> target_like(pa.chunked_array([["1", None]]), np.array([0, 1]), name="y").tolist()
    [1, None]
    """
    cells = column.to_pylist()
    if prediction is not None and prediction.dtype.kind in "iuf":
        with suppress(ValueError):
            cells = as_kind(column, Kind.NUMBER, name=name).to_pylist()
            if prediction.dtype.kind in "iu":
                whole = all(cell is None or cell.is_integer() for cell in cells)
                cells = [int(cell) if whole and cell is not None else cell for cell in cells]
    elif prediction is not None and prediction.dtype.kind != "b":
        cells = as_kind(column, Kind.CATEGORY, name=name).to_pylist()
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return values


def _check_values(values: AnyArray, name: str) -> None:
    n_different = len(set(values[:1000].tolist()))
    if n_different < 2:
        n_different = len(set(values.tolist()))
    if n_different < 2:
        raise ValueError(
            f"the target {name!r:.80} must have at least two different values; got "
            f"{'one' if n_different else 'none'}. There is nothing to explain; choose another "
            "column or more rows."
        )
