"""What stands on a page, and the one HTML file of text, numbers, style and script."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count
from localmdi.report.charts import bar_chart, beeswarm_chart, dependence_chart, forecast_picture
from localmdi.report.group_cards import column_table, segment_table
from localmdi.report.json_columns import pack
from localmdi.report.listings import (
    class_table,
    find_negative,
    find_uncertain,
    negative_lines,
    pair_table,
    rows_by_class,
    uncertain_lines,
)
from localmdi.report.row_data import collect_rows, pack_floats, sample_rows
from localmdi.report.sections import (
    Whole,
    check_additivity,
    facts,
    find_noise,
    how_to_read,
    importance_lines,
    origin,
    quality_figures,
    quality_source,
    suspicious_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.report.listings import ClassTable
    from localmdi.report.write import Request
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import IntArray


_TITLE = "What each feature told, row by row"
_CHARTED = 20
_LISTED_ROWS = 12
_ROOM = __name__.rpartition(".")[0]
# One script: later files use the names of earlier ones.
_SCRIPTS = (
    "dom.js",
    "unpack.js",
    "charts.js",
    "dependence.js",
    "similar.js",
    "row_detail.js",
    "table.js",
    "address.js",
    "events.js",
)
# As JSON these are the same characters, and HTML sees no tag and no end of a script in them.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def compose(request: Request) -> str:
    """Return the page of a checked request."""
    result, overall = request.result, request.global_importance
    known = {"prediction": request.prediction, "target": request.target}
    whole = request.whole or Whole.of(result)
    shown = replace(result.mean(), values=whole.mean) if overall is None else overall
    n_listed = max(1, min(_LISTED_ROWS, request.max_shape[0] // 2))
    negative = find_negative(result, n_listed)
    uncertain = find_uncertain(result, request.sure, k=n_listed)
    keep = np.concatenate([negative.rows, uncertain.rows])
    rows = sample_rows(len(result), request.max_shape[0], keep=keep)
    # Honest values below zero are noise.
    strength = shown.values if shown.honest else np.abs(shown.values)
    features = np.argsort(-strength, kind="stable")[: request.max_shape[1]]
    classes = _by_class(request, whole, features=features)
    pairs = None if request.pairs is None else pair_table(request.pairs, rows)
    segments = segment_table(result, rows, features=features)
    beside = {
        "sure": None if request.sure is None else pack_floats(request.sure[rows]),
        "classes": classes
        and {
            "labels": classes.labels,
            "values": classes.values,
            "measures": [_axis_title(shown), _value_label(result)],
        },
        "expected": None if request.expected is None else pack(request.expected[rows].astype("u1")),
        "pairs": pairs and pairs.content,
        "segments": segments and segments.content,
    }
    data = collect_rows(result, rows, features=features, beside=beside, **known)
    notices = _notices(result, rows, features=features, n_rows=whole.n_rows)
    notices += [*suspicious_columns(result), *data.notices()]
    content = {
        "title": clean(_TITLE if request.title is None else request.title),
        "notes": [clean(line) for line in request.notes],
        "notices": notices,
        **_model_content(request),
        **_importance_content(request, shown, features=features, n_rows=whole.n_rows),
        "classes": classes,
        "pairs": pairs,
        "columns": column_table(result, shown),
        "segments": segments,
        "negative": negative_lines(result, negative, **known),
        "n_negative": negative.n_rows,
        "uncertain": uncertain_lines(result, uncertain, **known),
        "by_forecast": uncertain.by_forecast,
        "is_sample": len(result) < whole.n_rows,
        "additivity": check_additivity(result, overall, whole=whole),
    }
    # Bars of one class and those of all may be of two measures: a line above them says which.
    mixed = classes is not None and shown.measure != result.measure
    charts = _charts(
        result,
        shown,
        features=features[:_CHARTED],
        names=data.content["names"],
        bar_title=clean(unit_of(result.unit).symbol) if mixed else _axis_title(shown),
    )
    return render(content, charts=charts, rows=data.content)


def _model_content(request: Request) -> dict[str, Any]:
    """Return how good the model is, and how the page was made."""
    quality = request.quality
    return {
        "quality": None
        if quality is None
        else {
            "figures": quality_figures(quality),
            "source": quality_source(quality),
            "unseen": quality.unseen,
            "of_classes": quality.of_classes,
            "picture": forecast_picture(quality),
        },
        "origin": origin(request.result, request.origin),
    }


def _importance_content(
    request: Request, shown: GlobalImportance, *, features: IntArray, n_rows: int
) -> dict[str, Any]:
    """Return what was explained, how to read it, and the global importances."""
    result = request.result
    unit = unit_of(result.unit)
    lines = importance_lines(result, shown, features=features)
    return {
        "symbol": clean(unit.symbol),
        "quantity": unit.quantity_of(result.measure),
        "is_loss": result.measure == "loss",
        "value_label": _value_label(result),
        "has_levels": result.baseline is not None,
        "of_classes": result.unit in ("bits", "gini"),
        "facts": facts(result, n_rows, quality=request.quality),
        "reading": how_to_read(result, request.quality),
        "importances": lines,
        "has_errors": any(line.error for line in lines),
        "has_noise": any(line.is_noise for line in lines),
        "has_grey_bars": any(line.is_noise for line in lines[:_CHARTED]),
        "over_trees": shown.error_kind == "trees",
        "honest": result.honest,
        "is_gain": shown.honest and shown.measure == "gain",
        "is_mean_of_rows": request.global_importance is None,
        "n_charted": min(_CHARTED, len(features)),
        "n_features": result.shape[1],
    }


def _by_class(request: Request, whole: Whole, *, features: IntArray) -> ClassTable | None:
    found: Any = request.by_class or whole.by_class
    if found is None and len(request.result) == whole.n_rows:
        found = rows_by_class(request.result, request.target)
    if found is None:
        return None
    return class_table(request.result, found, features=features[:_CHARTED])


def _charts(
    result: LocalImportance,
    shown: GlobalImportance,
    *,
    features: IntArray,
    names: list[str],
    bar_title: str,
) -> dict[str, Any]:
    errors = None if shown.standard_error is None else shown.standard_error[features]
    value_label = _value_label(result)
    return {
        "bar": bar_chart(
            names[:_CHARTED],
            shown.values[features],
            errors=errors,
            noise=find_noise(shown)[features],
            title=bar_title,
        ),
        "beeswarm": beeswarm_chart(names[:_CHARTED], title=value_label),
        "numbers": dependence_chart(title=value_label, is_text=False),
        "texts": dependence_chart(title=value_label, is_text=True),
    }


def _value_label(result: LocalImportance) -> str:
    return clean(unit_of(result.unit).value_label(result.measure, honest=result.honest))


def _axis_title(shown: GlobalImportance) -> str:
    unit = unit_of(shown.unit)
    if shown.honest:
        return clean(unit.value_label(shown.measure, honest=True))
    return f"global importance ({clean(unit.symbol or unit.quantity)})"


def _notices(
    result: LocalImportance, rows: IntArray, *, features: IntArray, n_rows: int
) -> list[str]:
    """Return sentences on what must be known, and on the rows and features that are left out."""
    n_features = result.shape[1]
    lines = (
        [] if result.caveat is None else [clean(f"{result.caveat[:1].upper()}{result.caveat[1:]}")]
    )
    if len(rows) < n_rows:
        how = ", spread evenly over their order" if len(result) == n_rows else ", drawn at random"
        lines.append(
            f"The page shows a sample of {len(rows):,} of {count(n_rows, 'row')}{how}; the "
            "importances are of all rows."
        )
    if len(features) < n_features:
        most = "" if len(features) == 1 else f"{len(features):,} "
        lines.append(
            f"The page shows the {most}most important of {count(n_features, 'feature')}; the "
            "others appear as one sum where a row is shown in detail."
        )
    return lines


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
    from markupsafe import Markup

    library = _vega()
    script = _script_text("\n".join(['"use strict";', *map(_asset, _SCRIPTS)]))
    return render_static(
        "page.html.jinja",
        content,
        library=Markup(library),
        script=Markup(script),
        data=Markup(as_json({"charts": charts, "rows": rows})),
        hashes=[_hash(library), _hash(script)],
    )


def render_static(template: str, content: Mapping[str, Any], **scripts: Any) -> str:
    """Return a template filled with `content`, the style sheet, and `scripts` if it has any."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_asset(template)).render(
        **content,
        **scripts,
        style=Markup(_asset("style.css")),
        version=version(_ROOM.partition(".")[0]),
    )


@cache
def _vega() -> str:
    """Return the chart library: kept, because putting it together takes a second or two."""
    import vl_convert

    return _script_text(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _asset(name: str) -> str:
    """Return the text of a file without indentation, and scripts without comments."""
    text = (files(_ROOM) / "assets" / name).read_text(encoding="utf-8")
    lines = map(str.strip, text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _script_text(source: str) -> str:
    """Return a script that no part of itself can end; in a string both spellings are the same."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def _hash(script: str) -> str:
    """Return what a content security policy calls this script, so that no other one may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
