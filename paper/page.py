"""The page: every claim of the paper, our result, and whether it is reproduced."""

from __future__ import annotations

import base64
import platform
import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper.output import png_bytes, svg_text
from paper.piece import NOT_REPRODUCED, VERDICTS
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
    environment.filters["inline"] = inline_picture
    claims = [(piece, claim) for piece in pieces for claim in piece.claims]
    html = environment.get_template("page.html").render(
        pieces=pieces,
        settings=settings,
        command=command,
        counts=Counter(claim.verdict for _, claim in claims),
        verdicts=VERDICTS,
        missed=[(piece, claim) for piece, claim in claims if claim.verdict == NOT_REPRODUCED],
        misprints=MISPRINTS,
        versions=versions(),
        python=platform.python_version(),
    )
    return drop_repeated_glyphs(html)


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


def inline_picture(picture: Picture) -> Markup:
    """Return the drawing as an element of the page: lines, or pixels if it is a raster."""
    from markupsafe import Markup, escape

    if not picture.raster:
        return _inline_svg(picture)
    data = base64.b64encode(png_bytes(picture)).decode()
    return Markup(f'<img alt="{escape(picture.caption)}" src="data:image/png;base64,{data}">')


def slim_svg(svg: str) -> str:
    r"""Leave out what cannot be seen: comments, names that nothing refers to, far decimals.

    Examples
    --------
    >>> slim_svg('<g id="text_1"> <!-- 7 -->\n<use xlink:href="#DejaVuSans-14" x="1.23456"/></g>')
    '<g><use href="#DejaVuSans-14" x="1.23"/></g>'
    """
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r' id="(?:\w+_\d+|matplotlib\.axis_\d+)"', "", svg)
    svg = svg.replace("xlink:href", "href").replace(
        ' xmlns:xlink="http://www.w3.org/1999/xlink"', ""
    )
    # A hundredth of a point cannot be seen; the scales of glyphs need their digits.
    places = r' (?:d|x|y|points)="[^"]*"|translate\([^)]*\)'
    return re.sub(places, lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), svg)


def drop_repeated_glyphs(html: str) -> str:
    """Keep the first of the outlines with the same name: every drawing brings its own letters.

    Their names, which stand at every letter, become short.

    Examples
    --------
    >>> letter = '<path id="DejaVuSans-14" d="M 0 0" transform="scale(0.015625)"/>'
    >>> drop_repeated_glyphs(f"<defs>{letter}</defs><defs>{letter}</defs>")
    '<defs><path id="A14" d="M 0 0" transform="scale(0.015625)"/></defs><defs></defs>'
    """
    seen: set[str] = set()

    def keep_first(found: re.Match[str]) -> str:
        repeated = found[0] in seen
        seen.add(found[0])
        return "" if repeated else found[0]

    html = re.sub(r'<path id="DejaVu[^"]*" d="[^"]*" transform="[^"]*"/>', keep_first, html)
    fonts = dict.fromkeys(re.findall(r'"#?(DejaVu\w+(?:-[A-Z]\w+)?)-\w+"', html))
    for font, short in zip(fonts, "ABCDEFGH", strict=False):
        html = re.sub(rf'("#?){font}-(?=\w+")', rf"\g<1>{short}", html)
    return html


def _inline_svg(picture: Picture) -> Markup:
    from markupsafe import Markup, escape

    svg = svg_text(picture)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = slim_svg(svg)
    label = f'<svg role="img" aria-label="{escape(picture.caption)}"'
    return Markup(svg.replace("<svg", label, 1))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
