"""``python -m evaluation``: ask every measure about problems whose answer is known."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from evaluation.sections import SECTIONS
from evaluation.settings import Settings
from paper.program import Program
from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROGRAM = Program(
    "evaluation",
    "Compare importance measures on problems whose answer is known.",
    SECTIONS,
    quick="minutes",
    full="less than an hour; continues if interrupted",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, make the sections, write the page."""
    options = PROGRAM.options(arguments)
    settings = (Settings.full if options.full else Settings.quick)(options.output)
    names = options.only or list(SECTIONS)
    return PROGRAM.run(lambda: _make(settings, names, docs=options.docs))


def _make(settings: Settings, names: Sequence[str], *, docs: bool) -> Path:
    from evaluation.document import write_documents
    from evaluation.page import render, results

    pieces = list(PROGRAM.make(settings, names))
    command = PROGRAM.command(settings, names)
    found = results(pieces, settings, command=command)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    write_whole(settings.folder / "results.json", text)
    page = settings.folder / "index.html"
    write_whole(page, render(pieces, settings, command=command))
    if docs:
        write_documents(pieces, settings, command=command)
    return page


if __name__ == "__main__":
    sys.exit(main())
