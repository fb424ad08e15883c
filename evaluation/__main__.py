"""``python -m evaluation``: ask every measure about problems whose answer is known."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.sections import SECTIONS, find
from evaluation.settings import Settings
from paper.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paper.piece import Piece


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, make the sections, write the page."""
    options = _parser().parse_args(arguments)
    settings = (Settings.full if options.full else Settings.quick)(options.output)
    store = Store(settings.folder, n_processes=settings.n_processes, progress=True)
    names = options.only or list(SECTIONS)
    try:
        pieces = _pieces(settings, store, names=names)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command continues where it stopped.", file=sys.stderr)
        return 130
    _write(pieces, settings, names=names)
    if options.docs:
        from evaluation.document import write_documents

        write_documents(pieces, settings, command=_command(settings, names))
    print(f"Open {settings.folder / 'index.html'}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation",
        description="Compare importance measures on problems whose answer is known.",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true", help="minutes (the default)")
    mode.add_argument("--full", action="store_true", help="hours; continues if interrupted")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("evaluation-output"),
        metavar="FOLDER",
        help="where everything goes (default: %(default)s)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(SECTIONS),
        metavar="SECTION",
        help=f"make only these sections: {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--docs", action="store_true", help="also write docs/evaluation.md from the results"
    )
    return parser


def _pieces(settings: Settings, store: Store, *, names: Sequence[str]) -> list[Piece]:
    pieces = []
    for i, name in enumerate(names, 1):
        print(f"[{i}/{len(names)}] {name}", file=sys.stderr, flush=True)
        pieces.append(find(name)(settings, store))
    return pieces


def _write(pieces: Sequence[Piece], settings: Settings, *, names: Sequence[str]) -> None:
    from evaluation.page import render, results
    from paper.output import write_piece

    command = _command(settings, names)
    for piece in pieces:
        write_piece(piece, settings.folder)
    found = results(pieces, settings, command=command)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (settings.folder / "results.json").write_text(text, encoding="utf-8")
    page = render(pieces, settings, command=command)
    (settings.folder / "index.html").write_text(page, encoding="utf-8")


def _command(settings: Settings, names: Sequence[str]) -> str:
    only = "" if len(names) == len(SECTIONS) else f" --only {' '.join(names)}"
    return f"python -m evaluation --{settings.name}{only}"


if __name__ == "__main__":
    sys.exit(main())
