"""The page: one HTML file that needs no other; and the results as plain values."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.work import installed
from paper.page import inline_picture, notation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from evaluation.settings import Settings
    from paper.piece import Piece

__all__ = ["environment", "render", "results"]

_PACKAGES = (
    *("localmdi", "scikit-learn", "shap", "sage-importance", "imodels"),
    *("numpy", "scipy", "matplotlib"),
)


def results(pieces: Sequence[Piece], settings: Settings, *, command: str) -> dict[str, Any]:
    """Return everything the page says as values that JSON can hold: no drawings."""
    return {
        "command": command,
        "mode": settings.name,
        "tuning_seeds": list(settings.tuning_seeds),
        "seeds": list(settings.seeds),
        "versions": {name: installed(name) for name in _PACKAGES}
        | {"Python": platform.python_version()},
        "sections": [
            {
                "name": piece.name,
                "title": piece.title,
                "notes": list(piece.notes),
                "figures": [{"name": p.name, "caption": p.caption} for p in piece.figures],
                "tables": [
                    {
                        "name": table.name,
                        "caption": table.caption,
                        "columns": list(table.columns),
                        "rows": [[str(cell) for cell in row] for row in table.rows],
                    }
                    for table in piece.tables
                ],
            }
            for piece in pieces
        ],
    }


def render(pieces: Sequence[Piece], settings: Settings, *, command: str) -> str:
    """Return the page as one HTML text."""
    return (
        environment(escape=True)
        .get_template("page.html")
        .render(
            **results(pieces, settings, command=command),
            drawings={p.name: inline_picture(p) for piece in pieces for p in piece.figures},
        )
    )


def environment(*, escape: bool) -> Environment:
    """Return the templates of this folder."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["notation"] = notation
    return found
