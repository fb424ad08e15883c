"""Figures and tables as files: SVG and PNG, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from paper.piece import Claim, Picture, Piece, Table

__all__ = [
    "claims_table",
    "csv_text",
    "markdown_text",
    "png_bytes",
    "svg_text",
    "write_piece",
    "write_table",
]

_PAGE_DPI = 100  # 690 pixels for the width of a page
_PAGE_COLOURS = 128


def write_piece(piece: Piece, folder: Path) -> None:
    """Write a piece's figures and tables into ``figures`` and ``tables`` of `folder`."""
    for subfolder in ("figures", "tables"):
        (folder / subfolder).mkdir(parents=True, exist_ok=True)
    for picture in piece.figures:
        path = folder / "figures" / picture.name
        write_whole(path.with_suffix(".svg"), svg_text(picture))
        drawn = io.BytesIO()
        picture.figure.savefig(
            drawn, format="png", dpi=200, facecolor="white", metadata={"Software": None}
        )
        write_whole(path.with_suffix(".png"), drawn.getvalue())
    for table in piece.tables:
        write_table(table, folder / "tables")


def write_table(table: Table, folder: Path) -> None:
    """Write a table as CSV and Markdown."""
    write_whole(folder / f"{table.name}.csv", csv_text(table))
    write_whole(folder / f"{table.name}.md", markdown_text(table))


def claims_table(claims: Iterable[Claim], caption: str) -> Table:
    """Return all claims as one table."""
    from paper.piece import Table

    rows = tuple((c.source, c.text, c.printed, c.reading, c.ours, c.label) for c in claims)
    columns = ("source", "claim", "printed", "read as", "ours", "verdict")
    return Table("claims", caption, columns, rows)


def svg_text(picture: Picture) -> str:
    """Return the drawing as SVG: the same text for the same drawing, without a date."""
    from matplotlib import rc_context

    file = io.StringIO()
    # The salt makes the ids inside the drawing its own: many drawings share the page.
    with rc_context({"svg.hashsalt": picture.name, "svg.fonttype": "path"}):
        picture.figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def png_bytes(picture: Picture, *, dpi: int = _PAGE_DPI) -> bytes:
    """Return the drawing as a small PNG of few colours."""
    from PIL import Image

    file, small = io.BytesIO(), io.BytesIO()
    picture.figure.savefig(file, format="png", dpi=dpi, facecolor="white")
    with Image.open(file) as image:
        few = image.convert("RGB").quantize(_PAGE_COLOURS, kmeans=2, dither=Image.Dither.NONE)
        few.save(small, format="png", optimize=True)
    return small.getvalue()


def csv_text(table: Table) -> str:
    r"""Return the table as CSV, one header line.

    Examples
    --------
    >>> from paper.piece import Table
    >>> csv_text(Table("t", "A table.", ("a", "b"), ((1, "x,y"),)))
    'a,b\n1,"x,y"\n'
    """
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([table.columns, *table.rows])
    return file.getvalue()


def markdown_text(table: Table) -> str:
    r"""Return the table as Markdown with its caption above.

    Examples
    --------
    >>> from paper.piece import Table
    >>> print(markdown_text(Table("t", "A table.", ("a",), (("I(Y;X|Z)",),))).strip())
    A table.
    <BLANKLINE>
    | a |
    |---|
    | I(Y;X\|Z) |
    """
    lines = [table.columns, *table.rows]
    cells = [[str(cell).replace("|", "\\|") for cell in line] for line in lines]
    head, *body = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([table.caption, "", head, "|" + "---|" * len(table.columns), *body, ""])
