"""The command line: a table and a question go in, bits of uncertainty come out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        The words after ``localmdi``; None: those of this process.

    Returns
    -------
    int
        0; 1: it failed; 2: wrong use; 130: interrupted.

    Examples
    --------
    >>> main(["--version"])
    localmdi 0.1.0
    0
    """
    try:
        import click  # noqa: F401 - the first to miss it should be this sentence
    except ImportError:
        print(
            "localmdi: the command line needs click, which is not installed; "
            'install it with pip install "localmdi[app]".',
            file=sys.stderr,
        )
        return 1
    from localmdi.cli.errors import run_group
    from localmdi.cli.group import build_group

    return run_group(build_group(), arguments)
