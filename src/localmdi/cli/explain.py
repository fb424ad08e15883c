"""``localmdi explain``: a table goes in, every row's importances come out."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from localmdi._progress import progress_bar
from localmdi.cli.console import Console
from localmdi.cli.engine import Engine
from localmdi.cli.fitting import fit_forest
from localmdi.cli.kinds import convert_columns
from localmdi.cli.lessons import choose_features, describe_columns, read_lesson
from localmdi.cli.outputs import check_outputs, open_writer, whole_file
from localmdi.cli.pages import REPORT_ROWS, importance_of, write_page
from localmdi.cli.plan import Plan, plan_columns
from localmdi.cli.selection import RowSelection
from localmdi.cli.settings import ExplainSettings
from localmdi.cli.summary import Explained, Summary
from localmdi.cli.tables import columns_of, open_table
from localmdi.cli.targets import target_like
from localmdi.cli.text import clean, count
from localmdi.cli.unseen import UnseenCounter
from localmdi.cli.words import describe, show_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from localmdi.cli.tables import TableFile

__all__ = ["run"]

# A batch has about this many values, however wide the table.
_BATCH_VALUES = 1 << 21
_FEWEST_ROWS = 64


def run(**values: Any) -> None:
    r"""Explain the rows of a table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sick\n31,no\n47,yes\n")
    ...     main(["explain", str(path), "--target", "sick", "--trees", "10"])
    /.../a.csv: 2 rows, 1 feature; 10 trees fitted on 2 rows
      sick is the target of a classification (texts)
      age: number
    ...
    0
    """
    settings = ExplainSettings(**values)
    check_outputs(
        {"-o": settings.output, "--report": settings.report, "--save-model": settings.save_model},
        inputs=[settings.path, settings.model],
        table=settings.output,
    )
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        table = open_table(settings)
        engine, plan, about = _load(settings, table, console=console)
        summary = _explain_stream(engine, plan, table=table, settings=settings, console=console)
        if settings.report is not None:
            _write_report(summary, engine, about=about, settings=settings, console=console)
        if settings.save_model is not None:
            with whole_file(settings.save_model) as temporary:
                engine.forest.save(temporary)
    files = {
        name: str(path)
        for name, path in (
            ("output", settings.output),
            ("report", settings.report),
            ("model", settings.save_model),
        )
        if path is not None
    }
    document = {"command": "explain", **about, **describe(summary), "files": files}
    console.finish(document, text=show_summary(summary, about=about, files=files))


def _load(
    settings: ExplainSettings, table: TableFile, *, console: Console
) -> tuple[Engine, Plan, dict[str, Any]]:
    """Return the model of a file, or a forest fitted to the table; ready, and described."""
    import click

    about: dict[str, Any] = {"data": str(settings.data)}
    if settings.model is not None:
        from localmdi.cli.models import load_model

        if settings.save_model is not None:
            raise click.UsageError("--save-model must not be given with --model: it has a file.")
        model = load_model(settings.model, allow_pickle=settings.allow_pickle)
        engine = Engine(model, jobs=settings.jobs, predict=settings.predict)
        plan = plan_columns(engine.adapted, table, settings=settings, console=console)
        _check_target(settings, table)
        about |= {"model": str(settings.model), "target": settings.target}
    else:
        features = choose_features(table, settings, console=console)
        lesson = read_lesson(table, features, settings=settings, console=console)
        model = fit_forest(lesson, settings, console=console, keep_forest=True).forest_
        engine = Engine(model, jobs=settings.jobs, predict=settings.predict)
        plan = Plan(tuple(features), lesson.kinds)
        about |= {
            "target": lesson.target.name,
            "task": lesson.target.task,
            "task_reason": lesson.target.reason,
            "columns": describe_columns(lesson),
            "fitted_rows": lesson.frame.num_rows,
        }
    about |= {"trees": engine.forest.n_trees, "criterion": engine.forest.criterion}
    return engine, plan, about


def _check_target(settings: ExplainSettings, table: TableFile) -> None:
    import click

    if settings.target is not None and settings.target not in columns_of(table)[0]:
        raise click.UsageError(
            f"--target must name a column of {table.path.name!r}; {settings.target!r:.80} is none. "
            "With --model it can be left out."
        )


def _explain_stream(
    engine: Engine,
    plan: Plan,
    *,
    table: TableFile,
    settings: ExplainSettings,
    console: Console,
) -> Summary:
    sample = REPORT_ROWS if settings.report is not None else 0
    summary = Summary(show=settings.show, sample=sample, seed=settings.seed)
    unseen = UnseenCounter(engine.forest, plan)
    with ExitStack() as stack:
        writer = None
        if settings.output is not None:
            writer = stack.enter_context(open_writer(settings.output))
        total = table.n_rows or 0
        advance = stack.enter_context(progress_bar(console.progress, total, unit="row"))
        for rows, batch in _batches(table, plan, settings=settings, advance=advance):
            frame = convert_columns(batch.select(list(plan.columns)), plan.kinds)
            unseen.see(frame)
            result, prediction = engine(frame, plan)
            target = None
            if settings.target is not None:
                cells = batch[settings.target]
                target = target_like(cells, prediction, name=settings.target)
            part = Explained(result, rows, prediction, target)
            summary.add(part)
            if writer is not None:
                writer.write(result, rows, prediction=prediction)
    unseen.tell(console)
    return summary


def _batches(
    table: TableFile,
    plan: Plan,
    *,
    settings: ExplainSettings,
    advance: Callable[[int], object],
) -> Iterator[tuple[Any, Any]]:
    """Yield the rows asked for: their numbers in the file, and their cells."""
    selection = settings.rows or RowSelection(((0, None),))
    names = list(plan.columns) + ([settings.target] if settings.target is not None else [])
    n_rows = n_found = 0
    batch_rows = max(_FEWEST_ROWS, _BATCH_VALUES // max(32, len(names)))
    for batch in table.batches(names, batch_rows):
        chosen = selection.positions(n_rows, batch.num_rows)
        if len(chosen):
            some = batch if len(chosen) == batch.num_rows else batch.take(chosen)
            yield n_rows + chosen, some
        n_rows += batch.num_rows
        n_found += len(chosen)
        advance(batch.num_rows)
        if selection.end is not None and n_rows >= selection.end:
            break
    if n_rows == 0:
        raise ValueError(f"{table.path.name!r} must have rows; it has column names only.")
    selection.check(n_rows, n_found)


def _write_report(
    summary: Summary,
    engine: Engine,
    *,
    about: dict[str, Any],
    settings: ExplainSettings,
    console: Console,
) -> None:
    rows = summary.sample()
    if len(rows.rows) < summary.n_rows:
        console.note(
            f"the report shows {count(len(rows.rows), 'row')} drawn at random from "
            f"{summary.n_rows:,}."
        )
    origin = f"the model {settings.model.name}" if settings.model else "a forest fitted to it"
    notes = [
        f"{count(summary.n_rows, 'row')} of {settings.path.name} explained with {origin}: "
        f"{count(about['trees'], 'tree')}, {about['criterion']}.",
        *console.notes,
    ]
    what = f"{clean(settings.target)} in {settings.path.name}" if settings.target else None
    write_page(
        rows,
        settings.report,
        global_importance=importance_of(engine.forest, rows.result),
        title=what or settings.path.name,
        notes=notes,
    )
