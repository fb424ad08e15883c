"""The page: every claim of the paper, our result, and whether it is reproduced."""

from __future__ import annotations

import platform
import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper.output import svg_text
from paper.piece import EXACT, INTERVAL, NOT_REPRODUCED
from paper.printed import MISPRINTS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from paper.piece import Picture, Piece
    from paper.settings import Settings

__all__ = ["notation", "render", "versions"]

_PACKAGES = (
    *("localmdi", "scikit-learn", "shap", "treeinterpreter", "sage-importance"),
    *("numpy", "scipy", "matplotlib"),
)


def render(pieces: Sequence[Piece], settings: Settings, *, command: str) -> str:
    """Return the page as one HTML text that needs no other file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["notation"] = notation
    environment.filters["svg"] = inline_svg
    claims = [(piece, claim) for piece in pieces for claim in piece.claims]
    return environment.get_template("page.html").render(
        pieces=pieces,
        settings=settings,
        command=command,
        counts=Counter(claim.verdict for _, claim in claims),
        verdicts=(EXACT, INTERVAL, NOT_REPRODUCED),
        missed=[(piece, claim) for piece, claim in claims if claim.verdict == NOT_REPRODUCED],
        misprints=MISPRINTS,
        versions=versions(),
        python=platform.python_version(),
    )


def versions() -> list[tuple[str, str, str]]:
    """Return package, the version here, and the paper's version.

    Examples
    --------
    >>> [theirs for name, ours, theirs in versions() if name == "shap"]
    ['0.38.2']
    """
    return [(name, _version(name), VERSIONS.get(name, "")) for name in _PACKAGES]


def notation(text: Any) -> Markup:
    """Escape a text and set its indices low and its exponents high.

    Examples
    --------
    >>> print(notation("X_1 < Imp^{K=2}"))
    X<sub>1</sub> &lt; Imp<sup>K=2</sup>
    """
    from markupsafe import Markup, escape

    html = str(escape(text))
    html = re.sub(r"(?<=[A-Z])_(\w+)", r"<sub>\1</sub>", html)
    html = re.sub(r"\^\{([^}]*)\}", r"<sup>\1</sup>", html)
    return Markup(html)


def inline_svg(picture: Picture) -> Markup:
    """Return the drawing as an element of the page, without the head of an XML file."""
    from markupsafe import Markup, escape

    svg = svg_text(picture)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    # A hundredth of a point cannot be seen; glyphs' scales stand elsewhere.
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)
    label = f'<svg role="img" aria-label="{escape(picture.caption)}"'
    return Markup(svg.replace("<svg", label, 1))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
