"""The page of the documentation: written from results that are kept beside it, never by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.page import environment, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.settings import Settings
    from paper.piece import Piece

__all__ = ["DOCS", "document", "write_documents"]

DOCS = Path(__file__).parents[1] / "docs"


def write_documents(
    pieces: Sequence[Piece], settings: Settings, *, command: str, folder: Path = DOCS
) -> Path:
    """Write ``evaluation.json``, ``evaluation.md`` and the pictures into the documentation."""
    found = results(pieces, settings, command=command)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (folder / "evaluation.json").write_text(text, encoding="utf-8")
    page = folder / "evaluation.md"
    page.write_text(document(found), encoding="utf-8")
    (folder / "images").mkdir(exist_ok=True)
    for piece in pieces:
        for picture in piece.figures:
            picture.figure.savefig(
                folder / "images" / f"evaluation-{picture.name}.png",
                dpi=150,
                facecolor="white",
                metadata={"Software": None},
            )
    return page


def document(found: dict[str, Any]) -> str:
    """Return the page of the documentation for results."""
    made = environment(escape=False)
    made.filters["cell"] = lambda text: str(text).replace("|", "\\|")
    return made.get_template("page.md").render(**found)
