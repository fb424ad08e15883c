"""``localmdi explain``: the importances of every row of a table."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from localmdi._progress import progress_bar
from localmdi._text import clean, count, quote_names
from localmdi.cli.commands.options import (
    CommonSettings,
    common_options,
    engine_option,
    file_option,
    fit_options,
    honest_options,
    model_options,
    output_option,
    refuse_addresses,
    report_options,
    rows_option,
    safe_csv_option,
    table_options,
    task_option,
    with_addresses,
)
from localmdi.cli.console import Console, named_files, show_summary
from localmdi.cli.explained import MOST_CLASSES, Explained, Summary
from localmdi.cli.held_out import FEWEST_ROWS, Trust, fit_folds, too_few, use_out_of_bag
from localmdi.cli.models import load_model
from localmdi.cli.output import (
    REPORT_ROWS,
    check_outputs,
    global_importance_of,
    open_writer,
    write_page,
)
from localmdi.cli.table_model import TableModel
from localmdi.tables.columns import convert_columns
from localmdi.tables.model_columns import ModelColumns, UnseenCategories, match_columns
from localmdi.tables.node_statistics import measure_on_table, needs_table
from localmdi.tables.open import columns_of, from_standard_input
from localmdi.tables.row_selection import ALL_ROWS, RowSelection, read_rows
from localmdi.tables.settings import FitSettings, TableSettings, read_table
from localmdi.tables.training import (
    choose_features,
    fit_forest,
    read_training_data,
    target_like,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import click

    from localmdi.cli.held_out import HeldOutModel
    from localmdi.honest.api import HonestMeasure
    from localmdi.tables.columns import TypedTable
    from localmdi.typing import Measure


# A batch has about this many values, however wide the table.
_BATCH_VALUES = 1 << 21
_FEWEST_ROWS = 64
# By so many rows a table that may be larger than memory is understood.
_LOOK_ROWS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class ExplainSettings(CommonSettings, FitSettings, TableSettings):
    """Options of ``localmdi explain``."""

    data: Path
    rows: RowSelection | None
    model: Path | None
    allow_pickle: bool
    output: Path | None
    safe_csv: bool
    report: Path | None
    show: int
    predict: bool
    save_model: Path | None
    measure: Literal["loss", "gain", "drop"] | None
    plain: bool
    by_class: bool
    engine: str

    @property
    def honest_measure(self) -> HonestMeasure:
        """What honest values are."""
        return "gain" if self.measure == "gain" else "loss"

    @property
    def plain_measure(self) -> Measure:
        """What plain values are, also where honest ones turn out to be impossible."""
        return "gain" if self.measure == "gain" else "drop"


def command() -> click.Command:
    """Return ``localmdi explain``."""
    import click

    return click.Command(
        "explain",
        params=[
            *with_addresses(table_options()),
            task_option(),
            rows_option("--rows"),
            *model_options(),
            *with_addresses([output_option()]),
            safe_csv_option(),
            engine_option(),
            *report_options(),
            click.Option(
                ["--predict/--no-predict"], default=True, help="Whether to predict each row too."
            ),
            click.Option(
                ["--by-class"],
                is_flag=True,
                help="Say for each class of --target what the features told about its rows.",
            ),
            file_option("--save-model", "Save a forest fitted to all rows, for --model."),
            *honest_options(),
            *fit_options(),
            *common_options(),
        ],
        short_help="Explain the rows of a table.",
        help="Explain the rows of a table: text (.csv, .tsv, .txt, also .gz), a workbook, Parquet, "
        "Feather, lines of JSON, a folder of Parquet files, or - for the standard input.\n\n"
        "Without --model, a forest is fitted to --target, and every row is explained by trees that "
        "have not seen it. With --model, rows are read and explained in batches, so a table may be "
        "larger than memory.",
    )


def run(**values: Any) -> None:
    """Explain the rows of a table."""
    if values["engine"] == "spark":
        from localmdi.cli.on_spark import explain_on_spark

        explain_on_spark(values, Console(quiet=values["quiet"], as_json=values["as_json"]))
        return
    refuse_addresses(values)
    settings = ExplainSettings(**values)
    _check_measure(settings)
    _check_folds(settings)
    check_outputs(
        {"-o": settings.output, "--report": settings.report, "--save-model": settings.save_model},
        inputs=[settings.data, settings.model],
    )
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings(), from_standard_input(settings.data) as path:
        settings = replace(settings, data=path)
        if settings.model is None:
            table = read_table(path, settings, listener=console)
            model, about = _fit_model(settings, table, console=console)
        else:
            model, table, about = _load_model(settings.model, settings, console=console)
        if settings.predict and model.why_no_direction() is not None:
            console.note(str(model.why_no_direction()))
        summary = _explain_table(model, table, settings=settings, console=console)
        if settings.report is not None:
            _write_report(summary, settings.report, model=model, settings=settings, console=console)
    if settings.by_class and summary.by_class is None:
        console.note(
            f"--by-class: there are no 2 to {MOST_CLASSES} classes of a --target to compare."
        )
    about = {"data": str(values["data"]), **about}
    about |= {"trees": model.n_trees, "criterion": model.forest.criterion}
    files = named_files(output=settings.output, report=settings.report, model=settings.save_model)
    trust = Trust.of(model, summary.quality)
    document = {"command": "explain", **about, **summary.describe(), **trust.describe()}
    document |= {"files": files}
    lines = show_summary(summary, about=about, files=files, trust=trust, by_class=settings.by_class)
    console.finish(document, lines=lines)


def _check_measure(settings: ExplainSettings) -> None:
    import click

    untold = settings.model is not None and settings.target is None
    if settings.measure == "loss" and (settings.plain or untold):
        why = "leave out --plain" if settings.plain else "name the --target"
        raise click.UsageError(
            "--measure loss needs the answers of rows that the trees have not seen: "
            f"{why}, or use --measure drop."
        )
    if settings.measure == "drop" and not (settings.plain or untold):
        raise click.UsageError(
            "--measure drop is measured on the rows that the trees learned from: add --plain, or "
            "use --measure loss or gain."
        )


def _check_folds(settings: ExplainSettings) -> None:
    import click

    held = settings.groups or settings.time
    if held and (settings.model is not None or settings.plain):
        raise click.UsageError(
            "--groups and --time hold rows out of a forest that is fitted here: leave out "
            f"{'--plain' if settings.plain else '--model'}."
        )
    if settings.groups and settings.time:
        raise click.UsageError("use either --groups or --time; got both.")


def _fit_model(
    settings: ExplainSettings, table: TypedTable, *, console: Console
) -> tuple[TableModel | HeldOutModel, dict[str, Any]]:
    """Return a forest fitted to the table, and its description."""
    from localmdi._explainer import Explainer

    features = choose_features(table, settings, console=console)
    training = read_training_data(table, features, settings=settings, console=console)
    about = training.describe()
    honest = not settings.plain
    if honest and training.frame.num_rows < FEWEST_ROWS:
        honest = False
        console.note(too_few(training.frame.num_rows))
    forest = None
    if not honest or settings.save_model is not None:
        fitted = fit_forest(training, settings, console=console, keep_forest=True)
        forest = fitted.forest_
    if forest is not None and settings.save_model is not None:
        forest.save(settings.save_model)
    if honest or forest is None:
        about["held_out"] = "groups" if settings.groups else "time" if settings.time else "halves"
        return fit_folds(
            training,
            settings,
            console=console,
            measure=settings.honest_measure,
            predict=settings.predict,
        ), about
    model = TableModel(
        forest,
        ModelColumns(tuple(training.kinds), training.kinds),
        explainer=Explainer(forest, measure=settings.plain_measure),
        jobs=settings.jobs,
        predict=settings.predict,
    )
    return model, about


def _load_model(
    path: Path, settings: ExplainSettings, *, console: Console
) -> tuple[TableModel | HeldOutModel, TypedTable, dict[str, Any]]:
    """Return the model of a file, the table as it wants it, and what was done."""
    import click

    from localmdi._explainer import Explainer
    from localmdi.adapters import adapt

    if settings.save_model is not None:
        raise click.UsageError(
            "--save-model saves a fitted forest; it cannot be used with --model."
        )
    table = read_table(settings.data, settings, listener=console, most_rows=_LOOK_ROWS)
    names, _ = columns_of(table)
    if settings.target is not None and settings.target not in names:
        raise click.UsageError(
            f"--target: no column {quote_names([settings.target])}; {table.path.name!r} has "
            f"{quote_names(names)}. With --model, --target is optional."
        )
    loaded = load_model(path, allow_pickle=settings.allow_pickle)
    adapted = adapt(loaded, values=settings.plain_measure == "gain")
    columns, table = match_columns(adapted, table, settings=settings, console=console)
    from_table = needs_table(adapted.forest, settings.target, plain=settings.plain)
    if from_table:
        adapted = measure_on_table(
            adapted, table, columns=columns, settings=settings, console=console
        )
    model = TableModel(
        loaded,
        columns,
        explainer=Explainer(adapted, measure=settings.plain_measure),
        jobs=settings.jobs,
        predict=settings.predict,
        from_table=from_table,
    )
    if model.predictions_are is not None:
        console.note(model.predictions_are)
    about = {"model": str(path), "target": settings.target}
    if settings.target is None or settings.plain or from_table:
        return model, table, about
    honest = use_out_of_bag(
        model,
        table,
        settings=settings,
        measure=settings.honest_measure,
        predict=settings.predict,
        console=console,
    )
    return honest or model, table, about


def _explain_table(
    model: TableModel | HeldOutModel,
    table: TypedTable,
    *,
    settings: ExplainSettings,
    console: Console,
) -> Summary:
    sample = REPORT_ROWS if settings.report is not None else 0
    summary = Summary(
        show=settings.show, sample=sample, seed=settings.seed, direct=model.with_direction
    )
    summary.judge(is_classifier=model.forest.classes is not None)
    unseen = UnseenCategories(model.forest, model.columns)
    with ExitStack() as stack:
        writer = None
        if settings.output is not None:
            writer = stack.enter_context(open_writer(settings.output, safe_csv=settings.safe_csv))
        total = table.n_rows or 0
        advance = stack.enter_context(progress_bar(console.progress, total, unit="row"))
        for part in _explain_batches(
            model, table, settings=settings, unseen=unseen, advance=advance
        ):
            summary.add(part)
            if part.result.caveat is not None:
                console.note(part.result.caveat)
            if writer is not None:
                writer.write(part)
    for text in table.file.notes:
        console.note(text)
    unseen.report(console)
    if summary.n_expected:
        n = summary.n_expected
        console.note(
            f"{count(n, 'row')} of unknown {quote_names([str(settings.target)])}, or that "
            f"{'was' if n == 1 else 'were'} not learned from: {'its' if n == 1 else 'their'} "
            "values are expectations."
        )
    return summary


def _explain_batches(
    model: TableModel | HeldOutModel,
    table: TypedTable,
    *,
    settings: ExplainSettings,
    unseen: UnseenCategories,
    advance: Callable[[int], object],
) -> Iterator[Explained]:
    target = settings.target
    features = list(model.columns.names)
    names = features if target is None else [*features, target]
    for rows, batch in read_rows(
        table,
        names,
        selection=settings.rows or ALL_ROWS,
        batch_rows=max(_FEWEST_ROWS, _BATCH_VALUES // max(32, len(names))),
        advance=advance,
    ):
        frame = convert_columns(batch.select(features), model.columns.kinds)
        unseen.see(frame)
        part = model.explain(frame, rows)
        if target is not None:
            part = part.with_target(target_like(batch[target], part.prediction, name=target))
        yield part


def _write_report(
    summary: Summary,
    path: Path,
    *,
    model: TableModel | HeldOutModel,
    settings: ExplainSettings,
    console: Console,
) -> None:
    sample = summary.sample()
    n_rows, data, trust = summary.n_rows, settings.data.name, Trust.of(model, summary.quality)
    if len(sample.rows) < n_rows:
        console.note(
            f"the report shows {count(len(sample.rows), 'row')} drawn at random from {n_rows:,}."
        )
    origin = f"the model {settings.model.name}" if settings.model else "a forest fitted to it"
    if settings.model is None and sample.result.honest:
        origin = "two forests, each fitted to one half of the rows and applied to the other"
        if settings.groups or settings.time:
            what = "some groups" if settings.groups else "a block of time"
            origin = f"forests that were each fitted without {what} and applied to it"
    write_page(
        sample,
        path,
        whole=summary.whole,
        global_importance=trust.importance or global_importance_of(model.forest, sample.result),
        title=f"{clean(settings.target)} in {data}" if settings.target else data,
        notes=[
            f"{count(n_rows, 'row')} of {data} explained with {origin}: "
            f"{count(model.n_trees, 'tree')}, {model.forest.criterion}.",
            *console.notes,
        ],
        seed=settings.seed,
        quality=trust.quality,
    )
