"""How a command ends: one sentence on stderr and an exit code, never a traceback unasked."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from localmdi.cli.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import click

__all__ = ["PROGRAM", "guarded", "run_group", "sentence"]

# The program has the name of the package.
PROGRAM = __name__.partition(".")[0]

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
_LONGEST = 700


def run_group(group: click.Group, arguments: Sequence[str] | None) -> int:
    """Run the commands of a group and return the exit code.

    Examples
    --------
    >>> import click
    >>> run_group(click.Group("empty"), ["--help"])
    Usage: localmdi ...
    0
    """
    import click

    for stream in (sys.stdout, sys.stderr):
        # A feature may have any name; a terminal that cannot show it must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    words = None if arguments is None else list(arguments)
    try:
        code = group.main(args=words, prog_name=PROGRAM, standalone_mode=False)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        _complain(f"{error.format_message()} See {command} --help.")
        return WRONG_USE
    except click.ClickException as error:
        _complain(error.format_message())
        return FAILED
    except click.Abort:
        return _interrupted()
    return code if isinstance(code, int) else 0


def guarded(run: Callable[..., None]) -> Callable[..., int]:
    """Return a click callback that runs a command and returns its exit code.

    Examples
    --------
    >>> guarded(lambda: None)(debug=False)
    0
    """
    import click

    def callback(*, debug: bool, **values: Any) -> int:
        try:
            run(**values)
            sys.stdout.flush()
        except KeyboardInterrupt:
            return _interrupted()
        except BrokenPipeError:
            # Whoever read the output has left, as `head` does; Python must not flush into it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except click.UsageError:
            raise
        except Exception as error:
            if debug:
                raise
            _complain(sentence(error))
            return FAILED
        return 0

    return callback


def sentence(error: Exception) -> str:
    r"""Return what went wrong in one line.

    Examples
    --------
    >>> sentence(ValueError("a must be\n positive; got -1."))
    'a must be positive; got -1.'
    >>> sentence(FileNotFoundError(2, "No such file or directory", "model.skops"))
    "No such file or directory: 'model.skops'."
    """
    text = " ".join(str(error).split())
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        text = (
            f"this needs {error.name}, which is not installed; "
            f'install it with pip install "{PROGRAM}[app]".'
        )
    elif isinstance(error, MemoryError):
        text = "there must be enough memory; it ran out. Use smaller --fit-rows or --trees."
    elif isinstance(error, OSError) and error.strerror:
        place = f": {str(error.filename)!r}" if error.filename else ""
        text = f"{error.strerror}{place}."
    elif not isinstance(error, (ValueError, ImportError, OSError)) and not _is_ours(error):
        text = (
            f"unexpected {type(error).__name__}: {text}. "
            "Run it again with --debug to see where, and please report it."
        )
    return text


def _is_ours(error: Exception) -> bool:
    from localmdi.exceptions import LocalMDIError

    return isinstance(error, LocalMDIError)


def _complain(text: str) -> None:
    print(f"{PROGRAM}: {one_line(text)}", file=sys.stderr)


def _interrupted() -> int:
    _complain("interrupted; every file is either complete or as it was.")
    return INTERRUPTED
