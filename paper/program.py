"""A program that makes pieces one after the other: the reproduction, and the evaluation."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paper.piece import Piece

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """What a program of pieces needs to know of itself.

    Attributes
    ----------
    name : str
        The package; the output folder is called after it.
    description : str
        For ``--help``.
    pieces : mapping of str to str
        Name on the command line → the module whose ``run(settings, store)`` makes the piece.
    quick, full : str
        How long the two modes take, for ``--help``.

    Examples
    --------
    >>> program = Program("paper", "…", {"examples": "paper.examples"}, quick="", full="")
    >>> program.parser().parse_args(["--only", "examples"]).only
    ['examples']
    """

    name: str
    description: str
    pieces: Mapping[str, str]
    quick: str
    full: str

    def parser(self) -> argparse.ArgumentParser:
        """Return the options that all programs have."""
        parser = argparse.ArgumentParser(
            prog=f"python -m {self.name}", description=self.description
        )
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument("--quick", action="store_true", help=f"{self.quick} (the default)")
        mode.add_argument("--full", action="store_true", help=self.full)
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            default=Path(f"{self.name}-output"),
            metavar="FOLDER",
            help="where everything goes (default: %(default)s)",
        )
        parser.add_argument(
            "--only",
            nargs="+",
            choices=list(self.pieces),
            metavar="PIECE",
            help=f"make only these pieces: {', '.join(self.pieces)}",
        )
        parser.add_argument(
            "--docs", action="store_true", help="also write the page of the documentation"
        )
        return parser

    def options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return the options of a command line; a part of the pieces makes no documentation."""
        parser = self.parser()
        options = parser.parse_args(arguments)
        if options.docs and options.only:
            parser.error("--docs writes a page of all pieces; leave out --only")
        return options

    def run(self, make: Callable[[], Path]) -> int:
        """Make a page and say where it is, or why there is none; return the exit code."""
        try:
            page = make()
        except KeyboardInterrupt:
            print("\nInterrupted. The same command continues where it stopped.", file=sys.stderr)
            return 130
        except OSError as error:
            complaint = f"{error.strerror}: {error.filename}" if error.filename else error
            print(f"\npython -m {self.name}: {complaint}", file=sys.stderr)
            return 1
        print(f"Open {page}")
        return 0

    def command(self, settings: Any, names: Sequence[str]) -> str:
        """Return the command that makes these pieces."""
        only = "" if len(names) == len(self.pieces) else f" --only {' '.join(names)}"
        return f"python -m {self.name} --{settings.name}{only}"

    def make(self, settings: Any, names: Sequence[str]) -> Iterator[Piece]:
        """Make pieces, and write their figures and tables; what is cached is not made again."""
        from paper.output import write_piece

        store = Store(settings.folder, n_processes=settings.n_processes, progress=True)
        for i, name in enumerate(names, 1):
            print(f"[{i}/{len(names)}] {name}", file=sys.stderr, flush=True)
            piece: Piece = import_module(self.pieces[name]).run(settings, store)
            write_piece(piece, settings.folder)
            yield piece
