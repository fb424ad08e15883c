"""``python -m paper``: make every figure, table and the page of claims."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from paper.pieces import PIECES, find
from paper.settings import Settings
from paper.store import Store
from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paper.piece import Piece


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, make the pieces, write the page."""
    options = _parser().parse_args(arguments)
    settings = (Settings.full if options.full else Settings.quick)(options.output)
    store = Store(settings.folder, n_processes=settings.n_processes, progress=True)
    try:
        page = _make(settings, store, names=options.only or list(PIECES))
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on where it was.", file=sys.stderr)
        return 130
    except OSError as error:
        complaint = f"{error.strerror}: {error.filename}" if error.filename else error
        print(f"\npython -m paper: {complaint}", file=sys.stderr)
        return 1
    print(f"Open {page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paper",
        description="Reproduce the figures, tables and claims of Sutera et al. (NeurIPS 2021).",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--quick", action="store_true", help="minutes: fewer rows for TreeSHAP (the default)"
    )
    mode.add_argument(
        "--full", action="store_true", help="the paper's settings: hours; goes on if interrupted"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("paper-output"),
        metavar="FOLDER",
        help="where everything goes (default: %(default)s)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(PIECES),
        metavar="PIECE",
        help=f"make only these pieces: {', '.join(PIECES)}",
    )
    return parser


def _make(settings: Settings, store: Store, *, names: Sequence[str]) -> Path:
    from paper.output import claims_table, write_piece, write_table
    from paper.page import render

    pieces: list[Piece] = []
    for i, name in enumerate(names, 1):
        print(f"[{i}/{len(names)}] {name}", file=sys.stderr, flush=True)
        pieces.append(find(name)(settings, store))
        write_piece(pieces[-1], settings.folder)
    command = _command(settings, names)
    claims = [claim for piece in pieces for claim in piece.claims]
    write_table(claims_table(claims, f"Made by `{command}`."), settings.folder / "tables")
    page = settings.folder / "index.html"
    write_whole(page, render(pieces, settings, command=command))
    return page


def _command(settings: Settings, names: Sequence[str]) -> str:
    only = "" if len(names) == len(PIECES) else f" --only {' '.join(names)}"
    return f"python -m paper --{settings.name}{only}"


if __name__ == "__main__":
    sys.exit(main())
