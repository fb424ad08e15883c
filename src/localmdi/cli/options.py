"""The options that commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmdi.cli.selection import RowSelection, parse_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

__all__ = [
    "checked",
    "common_options",
    "forest_options",
    "model_options",
    "output_options",
    "read_bins",
    "rows_option",
    "table_options",
    "task_option",
]

# A desktop's worth: whoever shares a large machine does not want all of it taken unasked.
_JOBS = min(4, os.cpu_count() or 1)
_PICKLE = (
    "Load .pkl and .joblib files too. Loading one runs whatever code it holds, so do this only "
    "with files that you made yourself or whose maker you trust."
)


def common_options() -> list[click.Parameter]:
    """Return the options of every command.

    Examples
    --------
    >>> [option.name for option in common_options()]
    ['jobs', 'seed', 'as_json', 'quiet', 'debug']
    """
    import click

    return [
        click.Option(
            ["--jobs"],
            type=click.INT,
            metavar="N",
            default=_JOBS,
            show_default=True,
            callback=checked(_jobs),
            help="Threads; -1: all processors. The result does not depend on it.",
        ),
        click.Option(
            ["--seed"],
            type=click.IntRange(0, 2**32 - 1),
            metavar="N",
            default=0,
            show_default=True,
            help="Of everything random.",
        ),
        click.Option(
            ["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text."
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="No notes and no progress bar."),
        click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."),
    ]


def forest_options() -> list[click.Parameter]:
    """Return the options of commands that grow a forest.

    Examples
    --------
    >>> [option.name for option in forest_options()]
    ['trees', 'max_features']
    """
    import click

    return [
        click.Option(
            ["--trees"],
            type=click.IntRange(1),
            metavar="N",
            help="Number of trees.  [default: 1000, or fewer for many rows]",
        ),
        click.Option(
            ["--max-features"],
            metavar="K",
            default="1",
            show_default=True,
            callback=checked(_max_features),
            help="Features drawn for a split, of which the best is taken: a number, a share such "
            "as 0.3, sqrt, log2 or all. With 1 the trees are totally randomized.",
        ),
    ]


def table_options(*, required: bool = True) -> list[click.Parameter]:
    """Return the argument and the options that say which table is read, and how.

    Examples
    --------
    >>> [option.name for option in table_options()]
    ['data', 'target', 'drop', 'categorical', 'fit_rows', 'separator', 'encoding']
    """
    import click

    return [
        click.Argument(["data"], type=_file(exists=True), required=required),
        click.Option(["--target"], metavar="NAME", help="The column to learn."),
        click.Option(["--drop"], metavar="NAME", multiple=True, help="Do not use this column."),
        click.Option(
            ["--categorical"],
            metavar="NAME",
            multiple=True,
            help="Take this column's values as categories, not as numbers.",
        ),
        click.Option(
            ["--fit-rows"],
            type=click.IntRange(2),
            metavar="N",
            default=100_000,
            show_default=True,
            help="Learn from at most so many rows, drawn at random.",
        ),
        click.Option(
            ["--separator"], metavar="CHAR", callback=checked(_separator), help="Of a CSV file."
        ),
        click.Option(
            ["--encoding"],
            metavar="NAME",
            default="utf8",
            show_default=True,
            callback=checked(_encoding),
            help="Of a CSV file, such as latin1.",
        ),
    ]


def task_option() -> click.Parameter:
    """Return the option that overrules what the target looks like.

    Examples
    --------
    >>> task_option().name
    'task'
    """
    import click

    choice = click.Choice(["classification", "regression"])
    return click.Option(["--task"], type=choice, help="Instead of what the target looks like.")


def model_options() -> list[click.Parameter]:
    """Return the options that name a fitted model.

    Examples
    --------
    >>> [option.name for option in model_options()]
    ['model', 'allow_pickle']
    """
    import click

    return [
        click.Option(
            ["--model"],
            type=_file(exists=True),
            metavar="FILE",
            help="A fitted model: a .skops file, or a Forest that was saved.",
        ),
        click.Option(["--allow-pickle"], is_flag=True, help=_PICKLE),
    ]


def output_options(*, report: bool = True) -> list[click.Parameter]:
    """Return the options that say where results go.

    Examples
    --------
    >>> [option.name for option in output_options()]
    ['output', 'report', 'show']
    """
    import click

    options: list[click.Parameter] = [
        click.Option(
            ["-o", "--output"],
            type=_file(),
            metavar="FILE",
            help="Write the importances to a .parquet, .csv or .tsv file (the latter also .gz).",
        ),
        click.Option(
            ["--report"], type=_file(), metavar="FILE", help="Write a report, one .html file."
        ),
        click.Option(
            ["--show"],
            type=click.IntRange(0),
            metavar="N",
            default=1,
            show_default=True,
            help="Tell the story of so many rows.",
        ),
    ]
    return options if report else options[:1]


def rows_option(name: str, help_text: str) -> click.Parameter:
    """Return the option that selects rows.

    Examples
    --------
    >>> rows_option("--rows", "Which.").name
    'rows'
    """
    import click

    return click.Option([name], metavar="ROWS", callback=checked(_rows), help=help_text)


def read_bins(values: tuple[str, ...]) -> int | dict[str, int] | None:
    """Return how numbers are cut: all measured ones, or single columns.

    Examples
    --------
    >>> read_bins(("4",)), read_bins(("age=4", "dose=3"))
    (4, {'age': 4, 'dose': 3})
    """
    parts = [value.rpartition("=") for value in values]
    named = {name: _bin_count(number) for name, equals, number in parts if equals}
    plain = [_bin_count(number) for _, equals, number in parts if not equals]
    if len(plain) + bool(named) > 1:
        raise ValueError("it must be one number for all columns, or one NAME=N for each.")
    return plain[0] if plain else named or None


def checked(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a click callback that makes a wrong value wrong use.

    Examples
    --------
    >>> checked(int)(None, None, "5")
    5
    """
    return lambda context, option, value: _read(read, value, option=option, context=context)


def _file(*, exists: bool = False) -> Any:
    import click

    return click.Path(exists=exists, dir_okay=False, path_type=Path)


def _read(
    read: Callable[[Any], Any], value: Any, *, option: click.Parameter, context: click.Context
) -> Any:
    import click

    try:
        return read(value)
    except (ValueError, LookupError) as error:
        raise click.BadParameter(str(error), context, option) from error


def _jobs(value: int) -> int:
    if value == 0:
        raise ValueError("it must be a number of threads, or -1 for all processors; got 0.")
    return value


def _rows(value: str | None) -> RowSelection | None:
    return None if value is None else parse_rows(value)


def _bin_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(
            f"a number of bins must be a whole number of at least 1; got {text!r:.40}."
        )
    return int(text)


def _max_features(value: str) -> Any:
    if value in ("sqrt", "log2"):
        return value
    if value == "all":
        return None
    number = float(value) if "." in value else int(value)
    if number <= 0 or (isinstance(number, float) and number > 1):
        raise ValueError(
            f"it must be a whole number of at least 1, a share in (0, 1], sqrt, log2 or all; "
            f"got {value}."
        )
    return number


def _separator(value: str | None) -> str | None:
    value = "\t" if value in ("\\t", "tab") else value
    if value is not None and (len(value) != 1 or value in '"\r\n' or not value.isascii()):
        raise ValueError(f"it must be one ASCII character or tab; got {value!r:.20}.")
    return value


def _encoding(value: str) -> str:
    import codecs

    return "utf8" if codecs.lookup(value).name == "utf-8" else value
