"""`write_report`: check what is asked for, and write the page."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._atomic import write_atomically
from localmdi._quality import Quality, RunningQuality, quality_of
from localmdi._text import count, quote_names
from localmdi._validation import is_missing
from localmdi.report.comparison_page import compose_comparison
from localmdi.report.page import compose
from localmdi.report.row_data import list_items
from localmdi.results import (
    ClassImportance,
    Comparison,
    GlobalImportance,
    LocalImportance,
    PairImportance,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.report.sections import Whole
    from localmdi.typing import ArrayLike, BoolArray, FloatArray


_LIBRARIES = ("jinja2", "altair", "vl_convert")


def write_report(
    result: LocalImportance
    | Comparison
    | Sequence[LocalImportance | ClassImportance | PairImportance],
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

    The page says how good the predictions are and which features matter, overall, for each class
    and from row to row. It has a table of rows to search and sort, each row's way from root to leaf
    with the rows most like it, the rows that stay uncertain, and a check that everything adds up.
    For measures whose values do not add up to a total per row (`baseline` is None) it shows the
    values alone.

    Parameters
    ----------
    result : LocalImportance, Comparison, or list of results of the same rows
        What to show; a comparison (`localmdi.compare`) has a page of its own. The `data` of a
        result are the rows' own values, if it kept them. In a list, a ClassImportance
        (``local_mdi_by_class(model, X)``) adds the importances by class, and a PairImportance
        (`local_interactions`) those of pairs of features.
    path : str or path-like
        The file; an existing one is replaced once the new one is complete. Its folder must exist.
    global_importance : GlobalImportance, optional
        The forest's global importances, from `global_mdi` or `honest_global_mdi`; default: the
        mean over the rows. Features of honest importances that cannot be told from noise are grey.
    prediction, target : sequence of length n_rows, optional
        What the model predicts for every row and what is true: numbers or labels. With both the
        page says how good the predictions are: pass those of rows that the model has not seen.
        `prediction` may also hold the chances of the classes, of shape (n_rows, n_classes): a frame
        whose columns are the classes, or an array with the classes of `target` in sorted order.
        A result of ``local_mdi(..., direction=True)`` knows its prediction, and the page shows
        which way each feature pushed it.
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
    if isinstance(result, Comparison):
        _refuse_beside(global_importance, prediction, target)
        return write_comparison(result, path, title=title, notes=notes)
    request = Request(
        **_read_results(result),
        global_importance=global_importance,
        prediction=prediction,
        target=target,
        title=title,
        notes=notes,
        max_shape=max_shape,
    )
    return write_page(request, path)


def write_comparison(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    notes: Iterable[str] = (),
    origin: Mapping[str, str] | None = None,
) -> Path:
    """Write the page of a comparison; `origin` says how to make it again."""
    heading = None if title is None else _check_strings("title", [title])[0]
    lines = _check_strings("notes", notes)
    if not len(comparison):
        raise ValueError("a report needs at least one row; got none. Compare some rows.")
    _check_folder(path)
    _check_libraries()
    page = compose_comparison(comparison, title=heading, notes=lines, origin=origin or {})
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def _refuse_beside(*given: object) -> None:
    if any(one is not None for one in given):
        raise TypeError(
            "the report of a comparison takes no global_importance, prediction or target; got "
            "one of them. Leave them out."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What a page is to show.

    The first fields are those of `write_report`. The command line knows more: `sure` is the share
    of the predicted class in each row, `whole` describes all rows if the result is a sample,
    `quality` judges the predictions of all of them, `expected` says of which rows the answer is not
    known, and `origin` how to make the page again.
    """

    result: LocalImportance
    global_importance: GlobalImportance | None = None
    prediction: Any = None
    target: Any = None
    title: Any = None
    notes: Any = ()
    max_shape: Any = (1000, 100)
    by_class: ClassImportance | None = None
    pairs: PairImportance | None = None
    sure: FloatArray | None = None
    whole: Whole | None = None
    quality: Quality | None = None
    expected: BoolArray | None = None
    origin: Mapping[str, str] = field(default_factory=dict)


def write_page(request: Request, path: str | os.PathLike[str]) -> Path:
    """Write the page that is asked for."""
    request = _check_request(request)
    _check_folder(path)
    _check_libraries()
    with write_atomically(path) as temporary:
        temporary.write_text(compose(request), encoding="utf-8", newline="\n")
    return Path(path)


def _read_results(given: Any) -> dict[str, Any]:
    """Return a result, or several of the same rows, under the names that a `Request` has."""
    listed = list(given) if isinstance(given, list | tuple) else [given]
    kinds = {"result": LocalImportance, "by_class": ClassImportance, "pairs": PairImportance}
    found: dict[str, Any] = {}
    for one in listed:
        name = next((name for name, kind in kinds.items() if isinstance(one, kind)), None)
        if name is None or name in found:
            what = "two of one kind" if name else type(one).__name__
            raise TypeError(
                f"result must be a LocalImportance; got {what}. Pass what local_mdi returned, or a "
                "list of it and at most one ClassImportance and one PairImportance."
            )
        found[name] = one
    if "result" not in found and "by_class" in found:
        found["result"] = found["by_class"].total()
    if "result" not in found:
        raise TypeError(
            "result must be a LocalImportance; got none in the list. Put what local_mdi returned "
            "before the others."
        )
    return found


def _check_request(request: Request) -> Request:
    """Return the request with checked fields: lists for columns, and the quality if it is known."""
    result = request.result
    if 0 in result.shape:
        raise ValueError(
            f"a report needs at least one row and one feature; got shape {result.shape}. "
            "Explain some rows first."
        )
    if result.measure == "saabas":
        raise ValueError(
            "a report tells how much each feature told, not how it moved the prediction; got a "
            "result of saabas. Pass local_mdi(model, X, direction=True), whose report shows both."
        )
    _check_global(request.global_importance, result)
    for also in (request.by_class, request.pairs):
        if also is not None:
            _check_also(also, result)
    target = _check_column("target", request.target, n_rows=len(result))
    said = result.prediction if request.prediction is None else request.prediction
    known: dict[str, Any] = {"target": target}
    if _is_table(said):
        known |= _read_chances(said, target, n_rows=len(result))
    else:
        known["prediction"] = _check_column("prediction", said, n_rows=len(result))
        known["quality"] = _judge(result, prediction=known["prediction"], target=target)
    if request.quality is not None:
        known["quality"] = request.quality
    elif result.scores is not None:
        known["quality"] = result.quality()
        if request.prediction is None and known["quality"].of_classes:
            known.setdefault("sure", result.scores.get("forecast"))
    return replace(
        request,
        **known,
        max_shape=_check_shape(request.max_shape),
        title=None if request.title is None else _check_strings("title", [request.title])[0],
        notes=_check_strings("notes", request.notes),
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


def _check_also(also: ClassImportance | PairImportance, result: LocalImportance) -> None:
    """Refuse values by class or by pairs that are of other rows, features or units."""
    name = type(also).__name__
    advice = "Pass results of the same model and the same rows."
    if also.values.shape[0] != len(result):
        raise ValueError(
            f"a {name} must have the rows of the LocalImportance beside it; got "
            f"{also.values.shape[0]:,} for {count(len(result), 'row')}. {advice}"
        )
    if also.feature_names != result.feature_names or also.unit != result.unit:
        raise ValueError(
            f"a {name} must have the features and the unit of the LocalImportance beside it; got "
            f"{reprlib.repr(also.feature_names)} in {also.unit} for "
            f"{reprlib.repr(result.feature_names)} in {result.unit}. {advice}"
        )


def _is_table(values: Any) -> bool:
    shape = getattr(values, "shape", None)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def _read_chances(chances: Any, target: list[Any] | None, *, n_rows: int) -> dict[str, Any]:
    """Return the predicted classes, how sure each is, and how good they are."""
    columns = getattr(chances, "columns", None)
    table = np.asarray(chances, dtype=np.float64)
    if len(table) != n_rows:
        raise ValueError(
            f"prediction must have one line per row; got {len(table):,} for "
            f"{count(n_rows, 'row')}. Pass the prediction of exactly these rows."
        )
    true = [] if target is None else [label for label in target if not is_missing(label)]
    if columns is not None:
        labels = list_items(columns)
    elif target is not None:
        labels = np.unique(np.array(true)).tolist()
    else:
        labels = []
    if len(labels) != table.shape[1]:
        raise ValueError(
            "prediction must be one-dimensional, or have one column of chances for each class in "
            f"the target; got an array of shape {table.shape} for the classes "
            f"{quote_names(labels) or 'of no target'}. Pass a frame whose columns are the classes."
        )
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    known = np.isfinite(table).all(axis=1)
    best = np.where(known, np.nan_to_num(table).argmax(axis=1), -1)
    found: dict[str, Any] = {
        "prediction": [None if i < 0 else labels[i] for i in best.tolist()],
        "sure": np.where(known, table.max(axis=1), np.nan),
    }
    if target is not None:
        judged = known & np.array([not is_missing(label) for label in target])
        truth = np.empty(n_rows, dtype=object)
        truth[:] = target
        if judged.any():
            codes = {label: i for i, label in enumerate(labels)}
            code = np.array([codes.get(label, -1) for label in truth[judged]])
            found["quality"] = quality_of(code, table[judged], classes=np.arange(len(labels)))
    return found


def _judge(
    result: LocalImportance, *, prediction: list[Any] | None, target: list[Any] | None
) -> Quality | None:
    """Return how good predictions are; None if they and the target cannot be compared."""
    if prediction is None or target is None:
        return None
    pairs = [
        (said, true)
        for said, true in zip(prediction, target, strict=True)
        if not (is_missing(said) or is_missing(true))
    ]
    if not pairs:
        return None
    said, true = zip(*pairs, strict=True)
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (*said, *true))
    if numbers and result.unit not in ("bits", "gini"):
        y = np.array(true, dtype=np.float64)
        if y.var() == 0:
            return None
        return quality_of(y, np.array(said, dtype=np.float64)[:, None], classes=None)
    if not set(said) & set(true):
        return None
    running = RunningQuality(is_classifier=True)
    columns = [np.empty(len(pairs), dtype=object) for _ in range(2)]
    columns[0][:], columns[1][:] = said, true
    running.add(*columns)
    return running.result()


def _check_column(field_name: str, values: Any, *, n_rows: int) -> list[Any] | None:
    """Return one value per row as a list, or None."""
    if values is None:
        return None
    shape = getattr(values, "shape", None)
    if isinstance(values, str | bytes) or (shape is not None and len(shape) != 1):
        given = type(values).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(
            f"{field_name} must be one-dimensional, one number or label per row; got {given}. "
            f"Pass the {field_name} of each row as a list or a column."
        )
    listed = list_items(values)
    if len(listed) != n_rows:
        raise ValueError(
            f"{field_name} must have one entry per row; got {len(listed):,} for "
            f"{count(n_rows, 'row')}. Pass the {field_name} of exactly these rows."
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


def _check_strings(field_name: str, lines: Any) -> list[str]:
    """Return lines of text; a single string is one line."""
    listed = [lines] if isinstance(lines, str) or not isinstance(lines, Iterable) else list(lines)
    wrong = [line for line in listed if not isinstance(line, str)]
    if wrong:
        raise TypeError(
            f"{field_name} must be text; got {reprlib.repr(wrong[0])}. Convert it with str()."
        )
    return listed


def _check_libraries() -> None:
    absent = [name for name in _LIBRARIES if find_spec(name) is None]
    if absent:
        raise ImportError(f'a report needs {", ".join(absent)}: pip install "localmdi[app]"')


def _check_folder(path: str | os.PathLike[str]) -> None:
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"the folder of the report must exist; got {folder!r}. Create it first."
        )
