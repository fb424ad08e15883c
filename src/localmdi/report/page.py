"""Put text, numbers, style and script into one HTML file that asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["as_json", "render"]

_ROOM = __name__.rpartition(".")[0]
# One script: later files use the names of earlier ones.
_SCRIPTS = ("dom.js", "unpack.js", "charts.js", "row_detail.js", "table.js", "events.js")
# As JSON these are the same characters, and HTML sees no tag and no end of a script in them.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def as_json(content: Any) -> str:
    r"""Return JSON that may stand inside a script element.

    Examples
    --------
    >>> as_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def render(content: Mapping[str, Any], *, charts: Mapping[str, Any], rows: Any) -> str:
    """Return the page: `content` for the template, Vega-Lite charts and rows for the script."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_asset("page.html.jinja"))
    library = _vega()
    script = _script_text("\n".join(['"use strict";', *map(_asset, _SCRIPTS)]))
    return template.render(
        **content,
        style=Markup(_asset("style.css")),
        library=Markup(library),
        script=Markup(script),
        data=Markup(as_json({"charts": charts, "rows": rows})),
        hashes=[_hash(library), _hash(script)],
        version=version(_ROOM.partition(".")[0]),
    )


@cache
def _vega() -> str:
    """Return the chart library: kept, because putting it together takes a second or two."""
    import vl_convert

    return _script_text(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _asset(name: str) -> str:
    return (files(_ROOM) / "assets" / name).read_text(encoding="utf-8")


def _script_text(source: str) -> str:
    """Return a script that no part of itself can end; in a string both spellings are the same."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def _hash(script: str) -> str:
    """Return what a content security policy calls this script, so that no other one may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
