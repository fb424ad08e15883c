"""``localmdi infinite``: a table of categories, explained without growing a tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.cli.console import Console
from localmdi.cli.kinds import convert_columns
from localmdi.cli.lessons import choose_features, read_lesson
from localmdi.cli.outputs import check_outputs, open_writer
from localmdi.cli.pages import REPORT_ROWS, write_page
from localmdi.cli.settings import InfiniteSettings
from localmdi.cli.summary import Explained, Summary
from localmdi.cli.tables import open_table
from localmdi.cli.text import clean, count
from localmdi.cli.words import describe, show_summary
from localmdi.infinite import infinite_mdi

if TYPE_CHECKING:
    from localmdi.cli.lessons import Lesson
    from localmdi.cli.tables import TableFile
    from localmdi.typing import IntArray

__all__ = ["run"]


def run(**values: Any) -> None:
    r"""Explain rows as infinitely many totally randomized trees would.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("a,b,either\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n")
    ...     main(["infinite", str(path), "--target", "either", "--show", "0"])
    /.../a.csv: 4 rows, 2 features; infinitely many trees, exact (block search)
      a: 2 categories
      b: 2 categories
    ...
    0
    """
    settings = InfiniteSettings(**values)
    check_outputs(
        {"-o": settings.output, "--report": settings.report},
        inputs=[settings.data],
        table=settings.output,
    )
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        table = open_table(settings)
        features = choose_features(table, settings, console=console)
        lesson = read_lesson(table, features, settings=settings, console=console)
        explained, bins = _explain(lesson, table, settings=settings, console=console)
        summary = Summary(show=settings.show, sample=REPORT_ROWS, seed=settings.seed)
        summary.add(explained)
        if settings.output is not None:
            with open_writer(settings.output) as writer:
                writer.write(explained.result, explained.rows, prediction=None)
        _write_report(summary, explained, settings=settings, console=console)
    named = {"output": settings.output, "report": settings.report}
    files = {name: str(path) for name, path in named.items() if path is not None}
    about = {
        "data": str(settings.data),
        "target": lesson.target.name,
        "columns": _describe_columns(lesson, bins),
        "method": explained.result.method,
    }
    document = {"command": "infinite", **about, **describe(summary), "files": files}
    console.finish(document, text=show_summary(summary, about=about, files=files))


def _explain(
    lesson: Lesson, table: TableFile, *, settings: InfiniteSettings, console: Console
) -> tuple[Explained, dict[str, Any]]:
    criterion = settings.criterion
    if criterion is None:
        criterion = "entropy" if lesson.target.task == "classification" else "variance"
    targets = lesson.target.values
    if criterion == "variance" and targets.dtype.kind not in "iuf":
        raise ValueError(
            "the criterion variance needs a target of numbers; this one holds texts. "
            "Use --criterion entropy or gini."
        )
    frame, rows = lesson.frame, lesson.rows
    at = None
    if settings.at is not None:
        at, rows = _rows_at(lesson, table, settings=settings)
    options: dict[str, Any] = {
        "method": settings.method,
        "criterion": criterion,
        "bins": settings.bins,
        "missing": settings.missing,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
        "progress": console.progress,
    }
    try:
        result = infinite_mdi(frame, targets, at, **options)
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    explained = Explained(result.plain(), rows, None, targets if at is None else None)
    return explained, dict(result.bins or {})


def _describe_columns(lesson: Lesson, bins: dict[str, Any]) -> dict[str, str]:
    told = {}
    for name in lesson.kinds:
        present = lesson.frame[name].drop_null()
        told[name] = count(len(present.unique()), "category")
        if name in bins:
            told[name] = f"numbers cut into {count(len(bins[name]) + 1, 'bin')}"
    return told


def _in_options(message: str) -> str:
    """Return advice about parameters as advice about options."""
    message = re.sub(r"\b(missing|method)='(\w+)'", r"--\1 \2", message).replace("at=", "--at")
    return re.sub(r"Pass bins=4 (.*), bins=.*, or convert it", r"Pass --bins 4 \1", message)


def _rows_at(
    lesson: Lesson, table: TableFile, *, settings: InfiniteSettings
) -> tuple[Any, IntArray]:
    """Return the rows of the file that are asked for, as the lesson's rows were read."""
    import pyarrow as pa

    parts, rows, n_rows = [], [np.empty(0, dtype=np.int64)], 0
    for batch in table.batches(list(lesson.kinds), 1 << 16):
        chosen = settings.at.positions(n_rows, batch.num_rows)
        if len(chosen):
            parts.append(batch.take(chosen))
            rows.append(n_rows + chosen)
        n_rows += batch.num_rows
    settings.at.check(n_rows, len(parts))
    return convert_columns(pa.concat_tables(parts), lesson.kinds), np.concatenate(rows)


def _write_report(
    summary: Summary, explained: Explained, *, settings: InfiniteSettings, console: Console
) -> None:
    target = clean(settings.target)
    write_page(
        summary.sample(),
        settings.report,
        global_importance=explained.result.mean(),
        title=f"{target} in {settings.path.name}",
        notes=[
            f"Infinitely many totally randomized trees on {settings.path.name}, "
            f"{explained.result.method}.",
            *console.notes,
        ],
    )
