"""What must hold for the arguments of `write_report`."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np

from localmdi.report.cells import items
from localmdi.results import GlobalImportance, LocalImportance

__all__ = [
    "check_global",
    "check_libraries",
    "check_lines",
    "check_path",
    "check_result",
    "check_rows",
    "check_shape",
]

_LIBRARIES = ("jinja2", "altair", "vl_convert")


def check_libraries(names: Iterable[str] = _LIBRARIES) -> None:
    """Raise an ImportError that says how to install what a report needs.

    Examples
    --------
    >>> check_libraries(["no_such_library"])
    Traceback (most recent call last):
    ImportError: a report needs no_such_library: pip install "localmdi[app]"
    """
    absent = [name for name in names if find_spec(name) is None]
    if absent:
        raise ImportError(f'a report needs {", ".join(absent)}: pip install "localmdi[app]"')


def check_result(result: Any) -> LocalImportance:
    """Return a local result that has rows and features.

    Examples
    --------
    >>> check_result(3)
    Traceback (most recent call last):
    TypeError: result must be a LocalImportance; got int. Pass what local_mdi returned.
    """
    if not isinstance(result, LocalImportance):
        raise TypeError(
            f"result must be a LocalImportance; got {type(result).__name__}. "
            "Pass what local_mdi returned."
        )
    if 0 in result.shape:
        raise ValueError(
            f"a report needs at least one row and one feature; got shape {result.shape}. "
            "Explain some rows first."
        )
    return result


def check_global(given: Any, result: LocalImportance) -> GlobalImportance | None:
    """Return a global result of the same features in the same unit, or None.

    Examples
    --------
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> check_global(result.mean().normalized(), result)
    Traceback (most recent call last):
    ValueError: global_importance must have the unit of result, 'bits'; got 'share'. Pass what
    global_mdi of the same model returned.
    """
    if given is None:
        return None
    if not isinstance(given, GlobalImportance):
        raise TypeError(
            f"global_importance must be a GlobalImportance or None; got {type(given).__name__}. "
            "Pass what global_mdi returned."
        )
    advice = "Pass what global_mdi of the same model returned."
    if given.unit != result.unit:
        raise ValueError(
            f"global_importance must have the unit of result, {result.unit!r}; "
            f"got {given.unit!r}. {advice}"
        )
    if given.feature_names != result.feature_names:
        raise ValueError(
            "global_importance must have the features of result, in their order; got "
            f"{reprlib.repr(given.feature_names)} for {reprlib.repr(result.feature_names)}. "
            f"{advice}"
        )
    return given


def check_rows(field: str, values: Any, *, n_rows: int) -> list[Any] | None:
    """Return one value per row as a list, or None.

    Examples
    --------
    >>> check_rows("target", np.array([1, 0]), n_rows=3)
    Traceback (most recent call last):
    ValueError: target must have one entry per row; got 2 for 3 rows. Pass the target of exactly
    these rows.
    """
    if values is None:
        return None
    shape = getattr(values, "shape", None)
    if isinstance(values, str | bytes) or (shape is not None and len(shape) != 1):
        given = type(values).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(
            f"{field} must be one-dimensional, one number or label per row; got {given}. "
            f"Pass the {field} of each row as a list or a column."
        )
    listed = items(values)
    if len(listed) != n_rows:
        raise ValueError(
            f"{field} must have one entry per row; got {len(listed)} for {n_rows} rows. "
            f"Pass the {field} of exactly these rows."
        )
    return listed


def check_shape(value: Any) -> tuple[int, int]:
    """Return how many rows and features a page may show.

    Examples
    --------
    >>> check_shape((0, 100))
    Traceback (most recent call last):
    ValueError: max_shape must be two positive integers, rows and features; got (0, 100).
    Pass a tuple such as (1000, 100).
    """
    listed = list(value) if isinstance(value, tuple | list) else []
    if len(listed) != 2 or not all(_is_count(length) for length in listed):
        raise ValueError(
            f"max_shape must be two positive integers, rows and features; got "
            f"{reprlib.repr(value)}. Pass a tuple such as (1000, 100)."
        )
    return int(listed[0]), int(listed[1])


def _is_count(value: Any) -> bool:
    is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_int and int(value) >= 1


def check_lines(field: str, lines: Any) -> list[str]:
    """Return lines of text; a single text is one line.

    Examples
    --------
    >>> check_lines("notes", "a forest of 10 trees")
    ['a forest of 10 trees']
    """
    listed = [lines] if isinstance(lines, str) or not isinstance(lines, Iterable) else list(lines)
    wrong = [line for line in listed if not isinstance(line, str)]
    if wrong:
        raise TypeError(
            f"{field} must be texts; got {reprlib.repr(wrong[0])}. Convert it with str()."
        )
    return listed


def check_path(path: Any) -> str:
    """Return the absolute name of a file that can be written.

    Examples
    --------
    >>> check_path("no/such/folder/report.html")
    Traceback (most recent call last):
    FileNotFoundError: the folder of the report must exist; got '...'. Create it first.
    """
    target: str = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"the folder of the report must exist; got {folder!r}. Create it first."
        )
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"the path must name a regular file; got {target!r}. Choose a file name.")
    return target
