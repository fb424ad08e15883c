"""`write_report`: check the arguments, put the page together, write it."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._atomic import write_atomically
from localmdi._criteria import unit_of
from localmdi._text import clean, count
from localmdi.report.charts import bar_chart, beeswarm_chart
from localmdi.report.page import render
from localmdi.report.row_data import collect_rows, list_items, sample_rows
from localmdi.report.sections import (
    Whole,
    check_additivity,
    facts,
    find_negative,
    find_noise,
    how_to_read,
    importance_lines,
    negative_lines,
    suspicious_columns,
)
from localmdi.results import GlobalImportance, LocalImportance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import ArrayLike, IntArray, Measure

__all__ = ["Whole", "write_report", "write_sample"]

_TITLE = "What each feature told, row by row"
_LIBRARIES = ("jinja2", "altair", "vl_convert")
_CHARTED = 20
_LISTED_NEGATIVE = 12


def write_report(
    result: LocalImportance,
    path: str | os.PathLike[str],
    *,
    global_importance: GlobalImportance | None = None,
    prediction: ArrayLike | Sequence[object] | None = None,
    target: ArrayLike | Sequence[object] | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
    max_shape: tuple[int, int] = (1000, 100),
) -> Path:
    """Write one HTML file that shows a result; it needs no network and no other file.

    The page has the global importances, a beeswarm, a table of rows to search and sort, each row's
    way from root to leaf, the rows in which a feature raised the uncertainty, and a check that
    everything adds up. For measures whose values do not add up to a total per row (`baseline` is
    None) it shows the values alone.

    Parameters
    ----------
    result : LocalImportance
        What to show. Its `data` are the rows' own values, if it kept them.
    path : str or path-like
        The file; an existing one is replaced once the new one is complete. Its folder must exist.
    global_importance : GlobalImportance, optional
        The forest's global importances, from `global_mdi` or `honest_global_mdi`; default: the
        mean over the rows. Features of honest importances that cannot be told from noise are grey.
    prediction, target : sequence of length n_rows, optional
        What the model predicts for every row and what is true: numbers or labels. A result of
        ``local_mdi(..., direction=True)`` knows its prediction, and the page shows which way each
        feature pushed it.
    title : str, optional
        The page's title.
    notes : iterable of str, optional
        Lines on what was explained and how.
    max_shape : tuple of two ints, default=(1000, 100)
        The most rows and features that the page shows: rows spread evenly over all of them, and
        the most important features. Means and checks are always of all. The defaults keep the file
        below 2 MB.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
    ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(result, pathlib.Path(folder) / "report.html", title="One row")
    ...     "<title>One row</title>" in path.read_text(encoding="utf-8")
    True
    """
    return _write(
        path,
        _Request(
            result,
            global_importance,
            {"prediction": prediction, "target": target},
            title,
            notes,
            max_shape,
        ),
    )


def write_sample(
    result: LocalImportance,
    path: str | os.PathLike[str],
    *,
    whole: Whole,
    global_importance: GlobalImportance | None = None,
    prediction: ArrayLike | Sequence[object] | None = None,
    target: ArrayLike | Sequence[object] | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> Path:
    """Write the page of a sample of the explained rows; it says so, and checks the whole."""
    beside = {"prediction": prediction, "target": target}
    request = _Request(result, global_importance, beside, title, notes, whole=whole)
    return _write(path, request)


@dataclass(frozen=True, eq=False)
class _Request:
    """What `write_report` was given; `whole` if the result is a sample."""

    result: LocalImportance
    overall: GlobalImportance | None
    beside: Mapping[str, Any]
    title: str | None
    notes: Any
    max_shape: Any = (1000, 100)
    whole: Whole | None = None


def _write(path: str | os.PathLike[str], request: _Request) -> Path:
    result = request.result
    _check_result(result)
    _check_global(request.overall, result)
    beside = dict(request.beside)
    if beside["prediction"] is None:
        beside["prediction"] = result.prediction
    known = {
        name: _check_column(name, values, n_rows=len(result)) for name, values in beside.items()
    }
    limits = _check_shape(request.max_shape)
    heading = _check_strings("title", [_TITLE if request.title is None else request.title])[0]
    lines = _check_strings("notes", request.notes)
    _check_folder(path)
    _check_libraries()
    content = {"title": clean(heading), "notes": [clean(line) for line in lines]}
    with write_atomically(path) as temporary:
        page = _compose(request, known=known, limits=limits, content=content)
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def _compose(
    request: _Request,
    *,
    known: dict[str, Any],
    limits: tuple[int, int],
    content: dict[str, Any],
) -> str:
    result, overall = request.result, request.overall
    whole = request.whole or Whole.of(result)
    shown = replace(result.mean(), values=whole.mean) if overall is None else overall
    negative = find_negative(result, min(_LISTED_NEGATIVE, limits[0]))
    rows = sample_rows(len(result), limits[0], keep=negative.rows)
    # Honest values below zero are noise.
    strength = shown.values if shown.honest else np.abs(shown.values)
    features = np.argsort(-strength, kind="stable")[: limits[1]]
    data = collect_rows(result, rows, features=features, **known)
    lines = importance_lines(result, shown, features=features)
    unit = unit_of(result.unit)
    notices = _notices(result, rows, features=features, n_rows=whole.n_rows)
    notices += suspicious_columns(result)
    if result.note is not None:
        notices.insert(0, clean(f"{result.note[:1].upper()}{result.note[1:]}"))
    content |= {
        "symbol": clean(unit.symbol),
        "quantity": unit.quantity,
        "has_levels": result.baseline is not None,
        "facts": facts(result, whole.n_rows),
        "reading": how_to_read(result),
        "notices": [*notices, *data.notices()],
        "importances": lines,
        "has_errors": any(line.error for line in lines),
        "has_noise": any(line.is_noise for line in lines),
        "has_grey_bars": any(line.is_noise for line in lines[:_CHARTED]),
        "over_trees": shown.error == "trees",
        "honest": result.honest,
        "is_gain": shown.honest and shown.measure == "gain",
        "is_mean_of_rows": overall is None,
        "n_charted": min(_CHARTED, len(features)),
        "n_features": result.shape[1],
        "negative": negative_lines(result, negative, **known),
        "n_negative": negative.n_rows,
        "is_sample": len(result) < whole.n_rows,
        "additivity": check_additivity(result, overall, whole=whole),
    }
    charts = _charts(result, shown, features=features[:_CHARTED], names=data.content["names"])
    return render(content, charts=charts, rows=data.content)


def _charts(
    result: LocalImportance, shown: GlobalImportance, *, features: IntArray, names: list[str]
) -> dict[str, Any]:
    unit = unit_of(result.unit)
    measure: Measure = "gain" if result.baseline is None else "drop"
    errors = None if shown.standard_error is None else shown.standard_error[features]
    return {
        "bar": bar_chart(
            names[:_CHARTED],
            shown.values[features],
            errors=errors,
            noise=find_noise(shown)[features],
            title=_axis_title(shown),
        ),
        "beeswarm": beeswarm_chart(
            names[:_CHARTED],
            title=clean(unit.value_label(measure, honest=result.honest)),
        ),
    }


def _axis_title(shown: GlobalImportance) -> str:
    unit = unit_of(shown.unit)
    if shown.honest:
        return clean(unit.value_label(shown.measure, honest=True))
    return f"global importance ({clean(unit.symbol or unit.quantity)})"


def _notices(
    result: LocalImportance, rows: IntArray, *, features: IntArray, n_rows: int
) -> list[str]:
    """Return sentences on the rows and features that are left out."""
    n_features = result.shape[1]
    lines = []
    if len(rows) < n_rows:
        how = ", spread evenly over their order" if len(result) == n_rows else ", drawn at random"
        lines.append(
            f"The page shows a sample of {len(rows):,} of {count(n_rows, 'row')}{how}; the "
            "importances are of all rows."
        )
    if len(features) < n_features:
        most = "" if len(features) == 1 else f"{len(features):,} "
        lines.append(
            f"The page shows the {most}most important of {count(n_features, 'feature')}; the "
            "others appear as one sum where a row is shown in detail."
        )
    return lines


def _check_libraries() -> None:
    absent = [name for name in _LIBRARIES if find_spec(name) is None]
    if absent:
        raise ImportError(f'a report needs {", ".join(absent)}: pip install "localmdi[app]"')


def _check_result(result: object) -> None:
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


def _check_global(given: object, result: LocalImportance) -> None:
    if given is None:
        return
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
            "global_importance must have the features of result, in the same order; got "
            f"{reprlib.repr(given.feature_names)} for {reprlib.repr(result.feature_names)}. "
            f"{advice}"
        )


def _check_column(field: str, values: Any, *, n_rows: int) -> list[Any] | None:
    """Return one value per row as a list, or None."""
    if values is None:
        return None
    shape = getattr(values, "shape", None)
    if isinstance(values, str | bytes) or (shape is not None and len(shape) != 1):
        given = type(values).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(
            f"{field} must be one-dimensional, one number or label per row; got {given}. "
            f"Pass the {field} of each row as a list or a column."
        )
    listed = list_items(values)
    if len(listed) != n_rows:
        raise ValueError(
            f"{field} must have one entry per row; got {len(listed):,} for "
            f"{count(n_rows, 'row')}. Pass the {field} of exactly these rows."
        )
    return listed


def _check_shape(value: Any) -> tuple[int, int]:
    listed = list(value) if isinstance(value, tuple | list) else []
    if len(listed) != 2 or not all(_is_positive_integer(length) for length in listed):
        raise ValueError(
            "max_shape must be two positive integers, rows and features; got "
            f"{reprlib.repr(value)}. Pass a tuple such as (1000, 100)."
        )
    return int(listed[0]), int(listed[1])


def _is_positive_integer(value: Any) -> bool:
    is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_int and int(value) >= 1


def _check_strings(field: str, lines: Any) -> list[str]:
    """Return lines of text; a single string is one line."""
    listed = [lines] if isinstance(lines, str) or not isinstance(lines, Iterable) else list(lines)
    wrong = [line for line in listed if not isinstance(line, str)]
    if wrong:
        raise TypeError(
            f"{field} must be text; got {reprlib.repr(wrong[0])}. Convert it with str()."
        )
    return listed


def _check_folder(path: str | os.PathLike[str]) -> None:
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"the folder of the report must exist; got {folder!r}. Create it first."
        )
