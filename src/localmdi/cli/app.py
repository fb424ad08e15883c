"""The program: its commands, its exit codes, and one sentence when a command fails.

What the command line does is in ``commands/``, one file per command. No file under ``cli/``
imports click, NumPy or the rest of the package before a function needs it, so that ``--help``
answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from localmdi._text import one_line
from localmdi.io.child_process import Stopped, run_in_child, stopped_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import click


# The program has the name of the package.
PROGRAM = __name__.partition(".")[0]
# Command → its file in commands/, in the order of --help. Each has a function command().
_COMMANDS = {
    "demo": "demo",
    "explain": "explain",
    "global": "global_",
    "infinite": "infinite",
    "compare": "compare",
}

FAILED, WRONG_USE = 1, 2
_LONGEST = 700

_HELP = """How many bits of uncertainty did each feature remove for this row?

Each tree starts at its root with the uncertainty of the target and ends at a leaf with what is
left. Every split on a row's path credits the change to its feature (local MDI). Start with

    localmdi demo
"""


def program() -> int:
    """Run the command of this process in a child, and return the exit code.

    Returns
    -------
    int
        As of `main`; 1 too if a file made a reader crash, and 128 plus the number of a signal that
        ended the command, such as 143 for SIGTERM.
    """
    _open_streams()
    return run_in_child(main, stopped=_interrupted, complain=_complain)


def _open_streams() -> None:
    """Open what the caller has closed, lest a file of ours take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command in this process and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        The arguments after ``localmdi``; None: those of this process.

    Returns
    -------
    int
        0: success; 1: failure; 2: wrong use; 130: interrupted.

    Examples
    --------
    >>> main(["--version"])
    localmdi 0.1.0
    0
    """
    try:
        import click
    except ImportError as error:
        _complain(sentence(ModuleNotFoundError(str(error), name="click")))
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        # A feature may have any name; a terminal that cannot show it must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = build_group().main(
            # The command as it was typed, for the report.
            args=given,
            prog_name=PROGRAM,
            standalone_mode=False,
            obj=[PROGRAM, *given],
        )
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        _complain(f"{error.format_message()} See {command} --help.")
        return WRONG_USE
    except click.ClickException as error:
        _complain(error.format_message())
        return FAILED
    except click.Abort as error:
        return _interrupted(error.__cause__)
    return code if isinstance(code, int) else 0


def build_group() -> click.Group:
    """Return the click group of all commands; a command's file is imported when it is needed."""
    import click

    class LazyGroup(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return [*_COMMANDS, "completion"]

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name == "completion":
                return _completion_command()
            return _load_command(cmd_name) if cmd_name in _COMMANDS else None

    version = click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=lambda context, option, wanted: _print_version(context, wanted),
        help="Print the version.",
    )
    return LazyGroup(
        PROGRAM,
        params=[version],
        callback=_print_help,
        invoke_without_command=True,
        help=_HELP,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _load_command(name: str) -> click.Command:
    module = import_module(f"{__package__}.commands.{_COMMANDS[name]}")
    command: click.Command = module.command()
    command.callback = _guarded(module.run)
    return command


def _guarded(run: Callable[..., None]) -> Callable[..., int]:
    """Return a click callback that runs a command and returns its exit code."""
    import click

    from localmdi.cli.console import in_options
    from localmdi.exceptions import TableError

    def callback(*, debug: bool, **values: Any) -> int:
        try:
            run(**values)
            sys.stdout.flush()
        except (KeyboardInterrupt, Stopped) as error:
            return _interrupted(error)
        except BrokenPipeError:
            # Whoever read the output has left, as `head` does.
            _give_up_stdout()
            return FAILED
        except click.UsageError:
            raise
        except TableError as error:
            option = "--" + error.parameter.replace("_", "-")
            colon = "" if error.message.startswith("must") else ":"
            raise click.UsageError(in_options(f"{option}{colon} {error.message}")) from error
        except Exception as error:
            asked = stopped_by()
            if asked is not None:
                return _interrupted(Stopped(asked))
            if debug:
                raise
            _complain(sentence(error))
            _give_up_stdout()
            return FAILED
        return 0

    return callback


def _give_up_stdout() -> None:
    """Print nothing more; Python would flush what is left when it ends, and fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def sentence(error: Exception) -> str:
    r"""Return what went wrong in one line.

    Examples
    --------
    >>> sentence(ValueError("a must be\n positive; got -1."))
    'a must be positive; got -1.'
    >>> sentence(FileNotFoundError(2, "No such file or directory", "model.skops"))
    "No such file or directory: 'model.skops'."
    """
    from localmdi.cli.console import in_options
    from localmdi.exceptions import LocalMDIError

    text = in_options(" ".join(str(error).split()))
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (
            f"this needs {error.name.partition('.')[0]}, which is not installed; install it with "
            f'pip install "{PROGRAM}[app]".'
        )
    if isinstance(error, MemoryError):
        return "out of memory. Use a smaller --max-fit-rows or --trees."
    if isinstance(error, OSError) and error.strerror:
        place = f": {str(error.filename)!r}" if error.filename else ""
        return f"{error.strerror}{place}."
    if isinstance(error, (ValueError, ImportError, OSError, LocalMDIError)):
        return text
    return (
        f"unexpected {type(error).__name__}: {text}. "
        "Run it again with --debug to see where, and please report it."
    )


def _complain(text: str) -> None:
    print(f"{PROGRAM}: {one_line(text)}", file=sys.stderr)


def _interrupted(error: BaseException | None) -> int:
    number = error.number if isinstance(error, Stopped) else signal.SIGINT
    how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    _complain(f"{how}; every file is either complete or unchanged.")
    return 128 + number


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


def _completion_command() -> click.Command:
    import click

    return click.Command(
        "completion",
        params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
        callback=_print_completion,
        short_help="Print the completion script of a shell.",
        help="Print the script that completes commands and options in a shell. For bash:\n\n"
        f'    eval "$({PROGRAM} completion bash)"',
    )


def _print_completion(shell: str) -> None:
    import click
    from click.shell_completion import get_completion_class

    group = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}.")
    # Not `source()`, which first asks the installed shell for its version.
    completion = kind(group, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())
