"""The options that commands share, and the settings that they become.

An option is declared in a function below and arrives in the dataclass beside it, under its name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmdi.tables.row_selection import RowSelection, parse_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import click

    from localmdi.typing import MaxFeatures


# As much as a desktop has: whoever shares a large machine does not want all of it taken unasked.
_JOBS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """What `common_options` set."""

    jobs: int
    seed: int
    as_json: bool
    quiet: bool


def common_options() -> list[click.Parameter]:
    """Return the options of every command; ``--debug`` is read in ``app.py``."""
    import click

    return [
        click.Option(
            ["--jobs"],
            type=click.INT,
            metavar="N",
            default=_JOBS,
            show_default=True,
            callback=checked(_jobs),
            help="Number of threads; -1 uses all processors. The result does not depend on it.",
        ),
        click.Option(
            ["--seed"],
            type=click.IntRange(0, 2**32 - 1),
            metavar="N",
            default=0,
            show_default=True,
            help="Seed of the random numbers.",
        ),
        click.Option(
            ["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text."
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print no notes and no progress bar."),
        click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."),
    ]


def fit_options() -> list[click.Parameter]:
    """Return the options of commands that grow a forest."""
    import click

    return [
        click.Option(
            ["--trees"],
            type=click.IntRange(1, 2**31 - 1),
            metavar="N",
            help="Number of trees.  [default: 1000, or fewer for many rows]",
        ),
        click.Option(
            ["--max-features"],
            metavar="K",
            default="1",
            show_default=True,
            callback=checked(_max_features),
            help="Number of features drawn for each split, of which the best is taken: a number, "
            "a fraction such as 0.3, sqrt, log2 or all. With 1 the trees are totally randomized.",
        ),
    ]


def table_options(*, required: bool = True) -> list[click.Parameter]:
    """Return the argument ``data`` and the options that say how the table is read."""
    import click

    return [
        click.Argument(
            ["data"],
            type=click.Path(exists=True, allow_dash=True, path_type=Path),
            required=required,
        ),
        click.Option(["--target"], metavar="NAME", help="Column to predict."),
        click.Option(
            ["--exclude"],
            metavar="NAME",
            multiple=True,
            help="Column to leave out; repeat for more.",
        ),
        click.Option(
            ["--categorical"],
            metavar="NAME",
            multiple=True,
            help="Column whose numbers are categories; repeat for more.",
        ),
        click.Option(
            ["--keep"],
            metavar="NAME",
            multiple=True,
            help="Column to learn from although it looks like an identifier; repeat for more.",
        ),
        click.Option(
            ["--groups"],
            metavar="NAME",
            help="Column that says which rows belong together, such as the patient: each row is "
            "explained by trees that have seen none of its group. Not learned from.",
        ),
        click.Option(
            ["--time"],
            metavar="NAME",
            help="Column by which rows follow each other: blocks of time are held out.",
        ),
        click.Option(
            ["--max-fit-rows"],
            type=click.IntRange(2),
            metavar="N",
            default=100_000,
            show_default=True,
            help="Learn from at most N rows, drawn at random.",
        ),
        click.Option(
            ["--separator"],
            metavar="CHAR",
            callback=checked(_separator),
            help="Delimiter of a text file.  [default: found out]",
        ),
        click.Option(
            ["--encoding"],
            metavar="NAME",
            callback=checked(_encoding),
            help="Encoding of a text file, such as latin1.  [default: found out]",
        ),
        click.Option(
            ["--decimal"],
            type=click.Choice([".", ","]),
            help="Decimal mark, where the numbers leave it open.  [default: that of the others]",
        ),
        click.Option(
            ["--day-first/--month-first"],
            default=None,
            help="Which of two comes first in dates that leave it open.  [default: the day]",
        ),
        click.Option(
            ["--header-row"],
            type=click.IntRange(1),
            metavar="N",
            help="Line of the column names, from 1.  [default: found out]",
        ),
        click.Option(
            ["--sheet"], metavar="NAME", help="Sheet of a workbook.  [default: the first table]"
        ),
    ]


def task_option() -> click.Parameter:
    """Return the option that overrules what the target looks like."""
    import click

    choice = click.Choice(["classification", "regression"])
    return click.Option(
        ["--task"], type=choice, help="What to learn.  [default: depends on the target]"
    )


def rows_option(name: str) -> click.Parameter:
    """Return the option that selects rows; its value is a `RowSelection` or None."""
    import click

    return click.Option(
        [name],
        metavar="ROWS",
        callback=checked(_rows),
        help="Rows to explain, counted from 0: 5 or 1,7,9 or 0:1000.  [default: all]",
    )


def model_options() -> list[click.Parameter]:
    """Return the options that name a fitted model: ``model`` and ``allow_pickle``."""
    import click

    return [
        click.Option(
            ["--model"],
            type=click.Path(exists=True, path_type=Path),
            metavar="FILE",
            help="Fitted model: a .skops file, a saved Forest, or a file of LightGBM, XGBoost, "
            "CatBoost or ydf (a directory).",
        ),
        click.Option(
            ["--allow-pickle"],
            is_flag=True,
            help="Load .pkl and .joblib files too. Loading one can run any code, so use this only "
            "with files from people you trust.",
        ),
    ]


def output_option() -> click.Parameter:
    """Return the option that says where the importances go: ``output``."""
    import click

    return click.Option(
        ["-o", "--output"],
        type=_file(),
        metavar="FILE",
        help="Write the importances to a .parquet, .csv, .tsv, .csv.gz or .tsv.gz file.",
    )


def safe_csv_option() -> click.Parameter:
    """Return the option that makes text files harmless to spreadsheets: ``safe_csv``."""
    import click

    return click.Option(
        ["--safe-csv"],
        is_flag=True,
        help="Put a ' before names and predictions in a .csv or .tsv file that a spreadsheet "
        "program would take for a formula.",
    )


def report_options() -> list[click.Parameter]:
    """Return the options that say what else is shown of the rows: ``report`` and ``show``."""
    import click

    return [
        file_option("--report", "Write a report, one .html file."),
        click.Option(
            ["--show-rows", "show"],
            type=click.IntRange(0),
            metavar="N",
            default=1,
            show_default=True,
            help="Number of rows to describe.",
        ),
    ]


def engine_option() -> click.Parameter:
    """Return the option that says where the rows are explained."""
    import click

    return click.Option(
        ["--engine"],
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="Where to explain the rows. With spark, DATA and -o are Parquet folders, or addresses "
        "such as hdfs://…, and --model is needed.",
    )


def with_addresses(parameters: list[click.Parameter]) -> list[click.Parameter]:
    """Let those parameters that are paths be folders and addresses, too."""
    import click

    class AddressOrPath(click.Path):
        def convert(self, value: Any, *context: Any) -> Any:
            return value if "://" in str(value) else super().convert(value, *context)

    for parameter in parameters:
        if isinstance(parameter.type, click.Path):
            parameter.type = AddressOrPath(
                exists=parameter.type.exists,
                allow_dash=parameter.type.allow_dash,
                path_type=Path,
            )
    return parameters


def refuse_addresses(values: Mapping[str, Any]) -> None:
    """Refuse addresses of rows that are to be explained on this machine."""
    import click

    for name, option in (("data", "DATA"), ("output", "-o")):
        if isinstance(values[name], str):
            raise click.UsageError(
                f"{option} must be a file; got the address {values[name]!r}. Use --engine spark to "
                "let Spark read and write it."
            )


def honest_options() -> list[click.Parameter]:
    """Return the options that say what is measured, and on which rows: ``measure``, ``plain``."""
    import click

    return [
        click.Option(
            ["--measure"],
            type=click.Choice(["loss", "gain", "drop"]),
            help="What a row's values are. loss: how much of the surprise about the row's answer "
            "each feature took away; gain: ranks features better; drop, with --plain: the decrease "
            "of the impurity.  [default: loss; with --plain: drop]",
        ),
        plain_option(),
    ]


def plain_option() -> click.Parameter:
    """Return the option that gives up honest values: ``plain``."""
    import click

    return click.Option(
        ["--plain"],
        is_flag=True,
        help="Measure on the rows that the trees learned from, which overstates what is "
        "known.  [default: on rows that they have not seen]",
    )


def file_option(name: str, help_text: str) -> click.Parameter:
    """Return an option whose value is a file to write."""
    import click

    return click.Option([name], type=_file(), metavar="FILE", help=help_text)


def checked(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a click callback that reads a value; its errors are wrong use of the option."""
    return lambda context, option, value: _read(read, value, option=option, context=context)


def _read(
    read: Callable[[Any], Any], value: Any, *, option: click.Parameter, context: click.Context
) -> Any:
    import click

    try:
        return read(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from error


def _file(*, exists: bool = False, folder: bool = False) -> Any:
    import click

    return click.Path(exists=exists, dir_okay=folder, path_type=Path)


def _jobs(value: int) -> int:
    if value == 0:
        raise ValueError("must be a number of threads, or -1 for all processors; got 0.")
    return value


def _rows(value: str | None) -> RowSelection | None:
    return None if value is None else parse_rows(value)


def _max_features(value: str) -> MaxFeatures:
    named: dict[str, MaxFeatures] = {"sqrt": "sqrt", "log2": "log2", "all": None}
    if value in named:
        return named[value]
    try:
        number = float(value) if "." in value else int(value)
    except ValueError:
        number = 0
    if number <= 0 or (isinstance(number, float) and number > 1):
        raise ValueError(
            "must be an integer of at least 1, a fraction in (0, 1], sqrt, log2 or all; "
            f"got {value!r:.40}."
        )
    return number


def _separator(value: str | None) -> str | None:
    value = "\t" if value in ("\\t", "tab") else value
    if value is not None and (len(value) != 1 or value in '"\r\n' or not value.isascii()):
        raise ValueError(f"must be one ASCII character or tab; got {value!r:.20}.")
    return value


def _encoding(value: str | None) -> str | None:
    import codecs

    if value is None:
        return None
    try:
        name = codecs.lookup(value).name
        "a,b".encode(value)  # some codecs, such as zip, know bytes only
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"no encoding {value!r:.40}; common ones are utf8 and latin1.") from error
    return "utf-8" if name == "utf-8" else value
