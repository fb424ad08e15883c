"""`write_report`: from a result to a page."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmdi.report.charts import bar_chart, beeswarm_chart
from localmdi.report.checks import (
    check_global,
    check_libraries,
    check_lines,
    check_path,
    check_result,
    check_rows,
    check_shape,
)
from localmdi.report.data import collect_rows
from localmdi.report.ledger import check_ledger
from localmdi.report.overview import facts, importances, raise_lines
from localmdi.report.page import render
from localmdi.report.raises import largest_raises
from localmdi.report.sample import largest_features, spread_rows
from localmdi.report.text import clean
from localmdi.report.words import quantity, reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import IntArray

__all__ = ["write_report"]

_TITLE = "What each feature told, row by row"
_CHARTED = 20
_LISTED_RAISES = 12


def write_report(
    result: LocalImportance,
    path: str | os.PathLike[str],
    *,
    global_importance: GlobalImportance | None = None,
    prediction: Any = None,
    target: Any = None,
    title: str | None = None,
    notes: Iterable[str] = (),
    max_shape: tuple[int, int] = (1000, 100),
) -> Path:
    """Write one HTML file that shows a result: it needs no network and no other file.

    The page has the global importances, a beeswarm, a table of rows to search and sort, each row's
    story from root to leaf, the rows in which a feature raised the uncertainty, and the check that
    everything adds up.

    Parameters
    ----------
    result : LocalImportance
        What to show. Its `data` are the rows' own values, if it kept them.
    path : str or path-like
        The file; an existing one is replaced once the new one is complete. Its folder must exist.
    global_importance : GlobalImportance, optional
        The forest's global importances, from `global_mdi`; default: the mean over the rows.
    prediction, target : sequence of length n_rows, optional
        What the model says of every row and what is true: numbers or labels.
    title : str, optional
        The page's title.
    notes : iterable of str, optional
        Lines on what was explained and how.
    max_shape : tuple of two ints, default=(1000, 100)
        The page shows at most so many rows and features: rows spread evenly over all of them, and
        the most important features. Means and checks are always of all. The defaults keep it below
        2 MB.

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
    result = check_result(result)
    overall = check_global(global_importance, result)
    known = {
        "prediction": check_rows("prediction", prediction, n_rows=len(result)),
        "target": check_rows("target", target, n_rows=len(result)),
    }
    limits = check_shape(max_shape)
    heading = check_lines("title", [_TITLE if title is None else title])[0]
    lines = check_lines("notes", notes)
    file = check_path(path)
    check_libraries()
    content = {"title": clean(heading), "notes": [clean(line) for line in lines]}
    _write(file, _page(result, overall, known=known, limits=limits, content=content))
    return Path(path)


def _page(
    result: LocalImportance,
    overall: GlobalImportance | None,
    *,
    known: dict[str, Any],
    limits: tuple[int, int],
    content: dict[str, Any],
) -> str:
    shown = result.mean() if overall is None else overall
    raises = largest_raises(result, min(_LISTED_RAISES, limits[0]))
    rows = spread_rows(len(result), limits[0], keep=raises.rows)
    features = largest_features(shown.values, limits[1])
    data = collect_rows(result, rows, features=features, **known)
    lines = importances(result, shown, features=features)
    top = features[:_CHARTED]
    names, unit = data.content["names"][:_CHARTED], data.content["unit"]
    errors = None if shown.standard_error is None else shown.standard_error[top]
    content |= {
        "unit": unit,
        "quantity": quantity(result.unit),
        "facts": facts(result),
        "reading": reading(result),
        "notices": [*_sampling(result, rows, features=features), *data.notices()],
        "importances": lines,
        "has_errors": any(line.error for line in lines),
        "is_mean_of_rows": overall is None,
        "n_charted": len(top),
        "n_features": result.shape[1],
        "raises": raise_lines(result, raises, **known),
        "n_raises": raises.n_rows,
        "ledger": check_ledger(result, overall),
    }
    charts = {
        "bar": bar_chart(names, shown.values[top], errors=errors, unit=unit),
        "beeswarm": beeswarm_chart(names, unit),
    }
    return render(content, charts=charts, rows=data.content)


def _sampling(result: LocalImportance, rows: IntArray, *, features: IntArray) -> list[str]:
    n_rows, n_features = result.shape
    lines = []
    if len(rows) < n_rows:
        lines.append(
            f"The page shows a sample of {len(rows):,} of {n_rows:,} rows, spread evenly over "
            "their order; the importances and the checks are of all rows."
        )
    if len(features) < n_features:
        lines.append(
            f"The page shows the {len(features):,} most important of {n_features:,} features; "
            "the others appear in a row's story as one sum."
        )
    return lines


def _write(file: str, page: str) -> None:
    temporary = os.path.join(os.path.dirname(file), f".localmdi-{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        os.replace(temporary, file)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
