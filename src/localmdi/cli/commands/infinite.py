"""``localmdi infinite``: a table, explained without growing a tree."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from localmdi._criteria import criterion_names, find_criterion
from localmdi._text import clean, count, quote_names
from localmdi.cli.commands.options import (
    CommonSettings,
    checked,
    common_options,
    output_option,
    report_options,
    rows_option,
    safe_csv_option,
    table_options,
)
from localmdi.cli.console import Console, named_files, show_summary
from localmdi.cli.explained import Explained, Summary
from localmdi.cli.output import REPORT_ROWS, check_outputs, open_writer, write_page
from localmdi.tables.columns import convert_columns
from localmdi.tables.open import from_standard_input
from localmdi.tables.row_selection import RowSelection, read_rows
from localmdi.tables.settings import TableSettings, read_table
from localmdi.tables.training import TrainingData, choose_features, read_training_data

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import click

    from localmdi.tables.columns import TypedTable
    from localmdi.typing import IntArray


_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class InfiniteSettings(CommonSettings, TableSettings):
    """Options of ``localmdi infinite``."""

    data: Path
    at: RowSelection | None
    criterion: str | None
    method: Literal["auto", "exact", "sampled"]
    bins: int | dict[str, int] | None
    missing: Literal["error", "category"]
    output: Path | None
    safe_csv: bool
    report: Path | None
    show: int


def command() -> click.Command:
    """Return ``localmdi infinite``."""
    import click

    return click.Command(
        "infinite",
        params=[
            *table_options(),
            rows_option("--at"),
            click.Option(
                ["--criterion"],
                type=click.Choice(criterion_names(computed=True)),
                help="Impurity; entropy is in bits.  [default: entropy, or variance for numbers]",
            ),
            click.Option(
                ["--method"],
                type=click.Choice(["auto", "exact", "sampled"]),
                default="auto",
                show_default=True,
                help="How to compute; auto is exact where that is feasible.",
            ),
            click.Option(
                ["--bins"],
                metavar="N or NAME=N",
                multiple=True,
                callback=checked(_read_bins),
                help="Cut numeric columns, or the column NAME, into N bins with equally many rows.",
            ),
            click.Option(
                ["--missing"],
                type=click.Choice(["error", "category"]),
                default="error",
                show_default=True,
                help="Whether a missing value is an error or a category of its own.",
            ),
            output_option(),
            safe_csv_option(),
            *report_options(),
            *common_options(),
        ],
        short_help="Explain a table by the infinite forest.",
        help="Explain the rows of a table as infinitely many totally randomized trees would, "
        "without growing one. Columns with fractions are numbers, all others categories.",
    )


def run(**values: Any) -> None:
    """Explain rows as infinitely many totally randomized trees would."""
    import click

    settings = InfiniteSettings(**values)
    if settings.groups or settings.time:
        raise click.UsageError(
            "--groups and --time hold rows out; the infinite forest describes the rows that it has."
        )
    check_outputs({"-o": settings.output, "--report": settings.report}, inputs=[settings.data])
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings(), from_standard_input(settings.data) as path:
        settings = replace(settings, data=path)
        table = read_table(settings.data, settings, listener=console)
        features = choose_features(table, settings, console=console)
        training = read_training_data(table, features, settings=settings, console=console)
        explained, about = _explain(training, table, settings=settings, console=console)
        summary = Summary(show=settings.show, sample=REPORT_ROWS, seed=settings.seed)
        summary.add(explained)
        if settings.output is not None:
            with open_writer(settings.output, safe_csv=settings.safe_csv) as writer:
                writer.write(explained)
        if settings.report is not None:
            data = settings.data.name
            write_page(
                summary.sample(),
                settings.report,
                whole=summary.whole,
                global_importance=explained.result.mean(),
                title=f"{clean(settings.target)} in {data}",
                seed=settings.seed,
                notes=[
                    f"Infinitely many totally randomized trees on {data}, {about['method']}.",
                    *console.notes,
                ],
            )
    about = {"data": str(values["data"]), **about}
    files = named_files(output=settings.output, report=settings.report)
    document = {"command": "infinite", **about, **summary.describe(), "files": files}
    console.finish(document, lines=show_summary(summary, about=about, files=files))


def _explain(
    training: TrainingData, table: TypedTable, *, settings: InfiniteSettings, console: Console
) -> tuple[Explained, dict[str, Any]]:
    """Return the explained rows, and the description of what was done."""
    from localmdi.infinite import infinite_mdi

    target = training.target
    at, rows = None, training.rows
    if settings.at is not None:
        at, rows = _rows_at(settings.at, table, training=training)
    try:
        with warnings.catch_warnings(record=True) as said:
            result = infinite_mdi(
                training.frame,
                target.values,
                at,
                criterion=_criterion(training, settings),
                method=settings.method,
                bins=settings.bins,
                missing=settings.missing,
                n_jobs=settings.jobs,
                random_state=settings.seed,
                progress=console.progress,
            )
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    for warning in said:
        console.note(_in_options(str(warning.message)))
    about = {
        "target": target.name,
        "columns": _describe_columns(training, result.bins or {}),
        "method": result.method,
    }
    return Explained(result.plain(), rows, target=target.values if at is None else None), about


def _criterion(training: TrainingData, settings: InfiniteSettings) -> str:
    target = training.target
    if settings.criterion is None:
        return "entropy" if target.task == "classification" else "variance"
    criterion = find_criterion(settings.criterion)
    if criterion.target == "numbers" and target.values.dtype.kind not in "iuf":
        others = ", ".join(criterion_names(target="classes", computed=True))
        raise ValueError(
            f"--criterion {settings.criterion} needs a numeric target; {quote_names([target.name])}"
            f" holds strings. Use one of {others}."
        )
    return criterion.name


def _describe_columns(training: TrainingData, bins: Mapping[str, Any]) -> dict[str, str]:
    import numpy as np

    columns = {}
    for name in training.kinds:
        present = training.frame[name].drop_null()
        columns[name] = count(len(present.unique()), "category")
        values = np.asarray(present)
        if values.dtype.kind == "f" and (values != np.floor(values)).any():
            columns[name] = "numbers"
        if name in bins:
            columns[name] = f"numbers cut into {count(len(bins[name]) + 1, 'bin')}"
    return columns


def _in_options(message: str) -> str:
    """Return advice about parameters as advice about options.

    Examples
    --------
    >>> _in_options("Pass bins=4 for quarters, bins={'age': [1, 2]} for cuts, or missing='error'.")
    'Pass --bins 4 for quarters, or --missing error.'
    >>> _in_options("To cut it as well pass bins={'age': 4}.")
    'To cut it as well pass --bins age=4.'
    """
    message = re.sub(r"\bbins=\{'([^']*)': (\d+)\}", r"--bins \1=\2", message)
    # Cuts at given numbers are for Python only.
    message = re.sub(r",? bins=\{[^}]*\[[^}]*\}[^,.;]*", "", message)
    message = re.sub(r"\b(bins|missing|method|criterion)='?(\w+)'?", r"--\1 \2", message)
    return re.sub(r"\bat=(?=\W)", "--at", message)


def _rows_at(
    selection: RowSelection, table: TypedTable, *, training: TrainingData
) -> tuple[Any, IntArray]:
    """Return the selected rows of the file, read as the training data were."""
    import numpy as np
    import pyarrow as pa

    found = list(
        read_rows(table, list(training.kinds), selection=selection, batch_rows=_BATCH_ROWS)
    )
    frame = pa.concat_tables([batch for _, batch in found])
    return convert_columns(frame, training.kinds), np.concatenate([rows for rows, _ in found])


def _read_bins(values: tuple[str, ...]) -> int | dict[str, int] | None:
    """Return the number of bins of all numeric columns, or of single columns.

    Examples
    --------
    >>> _read_bins(("4",)), _read_bins(("age=4", "dose=3"))
    (4, {'age': 4, 'dose': 3})
    """
    parts = [value.rpartition("=") for value in values]
    named = {name: _bin_count(number) for name, equals, number in parts if equals}
    plain = [_bin_count(number) for _, equals, number in parts if not equals]
    if len(plain) + bool(named) > 1:
        raise ValueError("must be one number for all columns, or NAME=N for each.")
    return plain[0] if plain else named or None


def _bin_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 2:
        raise ValueError(f"a number of bins must be an integer of at least 2; got {text!r:.40}.")
    return int(text)
