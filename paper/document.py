"""The reproduction in the documentation: the page itself, and pictures for ``docs/paper.md``."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from paper.output import png_bytes
from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paper.piece import Piece

__all__ = ["DOCS", "PICTURES", "write_documents"]

DOCS = Path(__file__).parents[1] / "docs"

# Figure → its file among the images of the documentation.
PICTURES = MappingProxyType(
    {
        "figure-1": "paper_figure_1.png",
        "figure-2": "paper_figure_2.png",
        "figure-3-led": "paper_figure_3_led.png",
        "figure-3-digits": "paper_figure_3_digits.png",
        "correlation-curves": "paper_correlations.png",
        "times": "paper_times.png",
    }
)
_DPI = 200


def write_documents(pieces: Sequence[Piece], html: str, *, folder: Path = DOCS) -> Path:
    """Write the page and the pictures into the documentation; return where the page is."""
    for subfolder in ("paper", "images"):
        (folder / subfolder).mkdir(exist_ok=True)
    page = folder / "paper" / "reproduction.html"
    write_whole(page, html)
    for picture in (picture for piece in pieces for picture in piece.figures):
        if picture.name in PICTURES:
            file = folder / "images" / PICTURES[picture.name]
            write_whole(file, png_bytes(picture, dpi=_DPI))
    return page
