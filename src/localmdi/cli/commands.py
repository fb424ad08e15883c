"""The commands and their options; what a command does is imported when it runs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmdi.cli.errors import PROGRAM, guarded
from localmdi.cli.options import (
    checked,
    common_options,
    forest_options,
    model_options,
    output_options,
    read_bins,
    rows_option,
    table_options,
    task_option,
)

if TYPE_CHECKING:
    import click

__all__ = [
    "completion_command",
    "demo_command",
    "explain_command",
    "global_command",
    "infinite_command",
]


def demo_command() -> click.Command:
    """Return ``localmdi demo``.

    Examples
    --------
    >>> demo_command().name
    'demo'
    """
    import click

    report = click.Option(
        ["--report"],
        type=click.Path(dir_okay=False, path_type=Path),
        default=Path(f"{PROGRAM}-demo.html"),
        show_default=True,
        help="Where to write the report.",
    )
    return _command(
        "demo",
        [report, *forest_options()],
        short="See it on handwritten digits.",
        text="Explain every handwritten digit of scikit-learn's digits with 1000 totally "
        "randomized trees, and write a report to look at.",
    )


def explain_command() -> click.Command:
    """Return ``localmdi explain``.

    Examples
    --------
    >>> explain_command().name
    'explain'
    """
    import click

    predict = click.Option(
        ["--predict/--no-predict"], default=True, help="Whether to predict each row as well."
    )
    save = click.Option(
        ["--save-model"],
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Keep the forest that was fitted, for --model.",
    )
    return _command(
        "explain",
        [
            *table_options(),
            task_option(),
            rows_option("--rows", "Explain these rows, counted from 0: 5 or 1,7,9 or 0:1000."),
            *model_options(),
            *output_options(),
            predict,
            save,
            *forest_options(),
        ],
        short="Explain the rows of a table.",
        text="Explain the rows of a table: CSV, TSV (also .gz), Parquet or Feather.\n\n"
        "Without --model a forest is fitted to --target; with one the rows stream through it, "
        "however many there are.",
    )


def global_command() -> click.Command:
    """Return ``localmdi global``.

    Examples
    --------
    >>> global_command().name
    'global'
    """
    return _command(
        "global",
        [
            *table_options(required=False),
            task_option(),
            *model_options(),
            *output_options(report=False),
            *forest_options(),
        ],
        short="Rank the features.",
        text="Rank the features by global MDI, with standard errors over the trees: of --model, "
        "or of a forest fitted to --target of a table.",
    )


def infinite_command() -> click.Command:
    """Return ``localmdi infinite``.

    Examples
    --------
    >>> infinite_command().name
    'infinite'
    """
    import click

    criterion = click.Choice(["entropy", "gini", "variance"])
    options: list[click.Parameter] = [
        click.Option(["--criterion"], type=criterion, help="The impurity; entropy is in bits."),
        click.Option(
            ["--method"],
            type=click.Choice(["auto", "exact", "sampled"]),
            default="auto",
            show_default=True,
        ),
        click.Option(
            ["--bins"],
            metavar="N or NAME=N",
            multiple=True,
            callback=checked(read_bins),
            help="Cut measured numbers, or this column, into N bins with equally many rows.",
        ),
        click.Option(
            ["--missing"],
            type=click.Choice(["error", "category"]),
            default="error",
            show_default=True,
            help="What a missing value is.",
        ),
    ]
    at = rows_option("--at", "Explain these rows, counted from 0: 5 or 1,7,9 or 0:1000.")
    return _command(
        "infinite",
        [*table_options(), at, *options, *output_options()],
        short="Explain a table of categories by the infinite forest.",
        text="Explain the rows of a table of categories as infinitely many totally randomized "
        "trees would, without growing one.",
    )


def completion_command() -> click.Command:
    """Return ``localmdi completion``.

    Examples
    --------
    >>> completion_command().name
    'completion'
    """
    import click

    return click.Command(
        "completion",
        params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
        callback=_print_completion,
        short_help="Print the completion script of a shell.",
        help="Print the script that completes commands and options in a shell. For bash:\n\n"
        f'    eval "$({PROGRAM} completion bash)"',
    )


def _command(name: str, params: list[click.Parameter], *, short: str, text: str) -> click.Command:
    import click

    def run(**values: Any) -> None:
        module = "global_" if name == "global" else name
        import_module(f"{__package__}.{module}").run(**values)

    return click.Command(
        name,
        params=[*params, *common_options()],
        callback=guarded(run),
        short_help=short,
        help=text,
    )


def _print_completion(shell: str) -> None:
    import click
    from click.shell_completion import get_completion_class

    group = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}.")
    variable = f"_{PROGRAM.upper()}_COMPLETE"
    # Not `source()`, which first asks the installed shell for its version.
    completion = kind(group, {}, PROGRAM, variable)
    click.echo(completion.source_template % completion.source_vars())
