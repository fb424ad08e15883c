"""The group of commands that ``localmdi --help`` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localmdi.cli.commands import (
    completion_command,
    demo_command,
    explain_command,
    global_command,
    infinite_command,
)
from localmdi.cli.errors import PROGRAM

if TYPE_CHECKING:
    import click

__all__ = ["build_group"]

_HELP = """How many bits of uncertainty did each feature remove for this row?

A forest starts at its roots with the uncertainty of the target and ends at the leaves with what is
left; every split's share is booked to its feature, row by row (local MDI). Begin with

    localmdi demo
"""


def build_group() -> click.Group:
    """Return the click group of all commands; nothing heavy is imported before one runs.

    Examples
    --------
    >>> sorted(build_group().commands)
    ['completion', 'demo', 'explain', 'global', 'infinite']
    """
    import click

    commands = (
        demo_command(),
        explain_command(),
        global_command(),
        infinite_command(),
        completion_command(),
    )
    return click.Group(
        PROGRAM,
        commands={str(command.name): command for command in commands},
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=lambda context, option, wanted: _print_version(context, wanted),
                help="Print the version.",
            )
        ],
        callback=_print_help,
        invoke_without_command=True,
        help=_HELP,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _print_version(context: click.Context, wanted: bool) -> None:
    import click

    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"{PROGRAM} {version(PROGRAM)}")
        context.exit()


def _print_help() -> None:
    import click

    context = click.get_current_context()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
