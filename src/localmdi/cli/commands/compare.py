"""``localmdi compare``: how far two explanations of the same rows tell the same story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._text import cell_number, clean, count, number_text, quote_names
from localmdi.cli.commands.options import (
    CommonSettings,
    common_options,
    file_option,
    output_option,
    safe_csv_option,
)
from localmdi.cli.console import Console, named_files, show_files
from localmdi.cli.output import check_outputs, page_origin, write_table
from localmdi.cli.saved_results import load_result

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from localmdi.results import Comparison, LocalImportance


@dataclass(frozen=True, kw_only=True)
class CompareSettings(CommonSettings):
    """Options of ``localmdi compare``."""

    first: Path
    second: Path
    names: tuple[str, str] | None
    output: Path | None
    safe_csv: bool
    report: Path | None
    show: int


def command() -> click.Command:
    """Return ``localmdi compare``."""
    import pathlib

    import click

    file = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)
    return click.Command(
        "compare",
        params=[
            click.Argument(["first"], type=file),
            click.Argument(["second"], type=file),
            click.Option(
                ["--names"],
                nargs=2,
                metavar="FIRST SECOND",
                help="What to call the two.  [default: the names of the files]",
            ),
            output_option(),
            safe_csv_option(),
            file_option("--report", "Write a page that shows the comparison, one .html file."),
            click.Option(
                ["--show-rows", "show"],
                type=click.IntRange(0),
                metavar="N",
                default=5,
                show_default=True,
                help="Number of rows to list, those that changed most.",
            ),
            *common_options(),
        ],
        short_help="Compare two explanations of the same rows.",
        help="Compare two explanations of the same rows: of two models, or of last year's version "
        "and this year's.\n\n"
        "FIRST and SECOND are files that `localmdi explain DATA -o FILE.parquet` wrote, or results "
        "that LocalImportance.save wrote. Rows are matched by their numbers, features by name.",
    )


def run(**values: Any) -> None:
    """Compare two files of importances."""
    from localmdi.results import compare

    settings = CompareSettings(**values)
    check_outputs(
        {"-o": settings.output, "--report": settings.report},
        inputs=[settings.first, settings.second],
    )
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        results = [load_result(path) for path in (settings.first, settings.second)]
        first, second = _same_rows(*results, console=console)
        comparison = compare(first, second, names=_names(settings))
        if settings.output is not None:
            write_table(_features(comparison), settings.output, safe_csv=settings.safe_csv)
        if settings.report is not None:
            _write_report(comparison, settings, console=console)
    files = named_files(output=settings.output, report=settings.report)
    document = {"command": "compare", **_describe(comparison, settings), "files": files}
    lines = [*_show(comparison, settings.show), *show_files(files)]
    console.finish(document, lines=lines)


def _names(settings: CompareSettings) -> tuple[str, str]:
    """Return what the two are called: their files' names, if these tell them apart."""
    import click

    if settings.names is not None:
        first, second = (clean(name) for name in settings.names)
        taken = {"row", "change", "rank_correlation", "feature"}
        if not first or not second or first == second or {first, second} & taken:
            raise click.UsageError(
                "--names must be two different names, and none of "
                f"{quote_names(sorted(taken))}; got {quote_names(settings.names)}."
            )
        return first, second
    first, second = clean(settings.first.stem), clean(settings.second.stem)
    usable = first and second and first != second
    return (first, second) if usable else ("first", "second")


def _same_rows(
    first: LocalImportance, second: LocalImportance, *, console: Console
) -> tuple[LocalImportance, LocalImportance]:
    """Return the rows that both have, in the order of the first."""
    import numpy as np

    labels = [np.asarray(result.row_labels).tolist() for result in (first, second)]
    place = {label: i for i, label in enumerate(labels[1])}
    for known, which in zip(labels, ("first", "second"), strict=True):
        if len(set(known)) < len(known):
            raise ValueError(
                f"rows are matched by number, and each must occur once; the {which} file has some "
                "twice. Explain the rows again."
            )
    kept = [i for i, label in enumerate(labels[0]) if label in place]
    if not kept:
        raise ValueError(
            "the two files must have rows in common, which are matched by number; they have none. "
            "Explain the same table with both models."
        )
    left_out = len(first) + len(second) - 2 * len(kept)
    if left_out:
        console.note(
            f"{count(left_out, 'row')} that only one of the files has "
            f"{'is' if left_out == 1 else 'are'} not compared."
        )
    return first[kept], second[[place[labels[0][i]] for i in kept]]


def _features(comparison: Comparison) -> Any:
    import pyarrow as pa

    frame = comparison.to_frame()
    return frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame)


def _describe(comparison: Comparison, settings: CompareSettings) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    import numpy as np

    correlation = comparison.mean_row_correlation
    return {
        "first": str(settings.first),
        "second": str(settings.second),
        "names": comparison.names,
        "rows": len(comparison),
        "unit": comparison.unit,
        "mean_row_correlation": correlation if np.isfinite(correlation) else None,
        "same_largest_feature": comparison.same_top_fraction,
        "features": _features(comparison).to_pylist(),
        "changed_rows": comparison.rows(settings.show).to_pylist() if settings.show else [],
        "only_first": comparison.only_first,
        "only_second": comparison.only_second,
    }


def _show(comparison: Comparison, n_rows: int) -> list[str]:
    lines = repr(comparison).split("\n")
    if comparison.unit is None or n_rows == 0:
        return lines
    # The table below says more about the row that changed most.
    lines = [line for line in lines if " changed most, by " not in line]
    lines += ["", "Rows that changed most, and in which feature"]
    first, second = comparison.names
    for row in comparison.rows(n_rows).to_pylist():
        moved = " → ".join(number_text(row[name]) for name in (first, second))
        label = row["row"]
        said = cell_number(label) if isinstance(label, float) else clean(label)
        lines.append(
            f"  row {said}: {number_text(row['change'])} in all; {clean(row['feature'])} {moved}"
        )
    return lines


def _write_report(comparison: Comparison, settings: CompareSettings, *, console: Console) -> None:
    from localmdi.report.write import write_comparison

    assert settings.report is not None
    write_comparison(
        comparison,
        settings.report,
        title=f"{comparison.names[0]} and {comparison.names[1]}",
        notes=[f"{settings.first.name} and {settings.second.name}.", *console.notes],
        origin=page_origin(),
    )
