"""``python -m paper``: make every figure, table and the page of claims."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from paper.pieces import PIECES
from paper.program import Program
from paper.settings import Settings
from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROGRAM = Program(
    "paper",
    "Reproduce the figures, tables and claims of Sutera et al. (NeurIPS 2021).",
    PIECES,
    quick="minutes: fewer rows for TreeSHAP",
    full="the paper's settings: hours; continues if interrupted",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, make the pieces, write the page."""
    options = PROGRAM.options(arguments)
    settings = (Settings.full if options.full else Settings.quick)(options.output)
    names = options.only or list(PIECES)
    return PROGRAM.run(lambda: _make(settings, names, docs=options.docs))


def _make(settings: Settings, names: Sequence[str], *, docs: bool) -> Path:
    from paper.document import write_documents
    from paper.output import claims_table, write_table
    from paper.page import render

    pieces = list(PROGRAM.make(settings, names))
    command = PROGRAM.command(settings, names)
    claims = [claim for piece in pieces for claim in piece.claims]
    write_table(claims_table(claims, f"Made by `{command}`."), settings.folder / "tables")
    page = settings.folder / "index.html"
    html = render(pieces, settings, command=command)
    write_whole(page, html)
    if docs:
        write_documents(pieces, html)
    return page


if __name__ == "__main__":
    sys.exit(main())
