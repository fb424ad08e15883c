"""The charts: Vega-Lite specifications, and a small picture of forecasts that needs no script.

User text never becomes part of an expression or of a field's path: features are known by rank, and
their names stand in a parameter. Colours are parameters too, which the page's script sets from its
style sheet, so that charts follow light, dark and print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi._quality import Quality
    from localmdi.typing import BoolArray, FloatArray


_COLOURS = ("card", "ink", "muted", "line", "removed", "raised", "low", "high", "none")
_STEP = 26
_DEPENDENCE_HEIGHT = 300
# The picture of forecasts: a square with room for ticks and titles, in pixels.
_SQUARE, _LEFT, _TOP = 220, 64, 10
_LETTER = 6.5
# Numbers as people write them: thousands apart, powers of ten only for very large or small ones.
_POWER = "floor(log(abs(datum.value)) / LN10 + 1e-9)"
_DIGIT = "substring('⁰¹²³⁴⁵⁶⁷⁸⁹', {0}, {0} + 1)"
_TICK = (
    "datum.value === 0 ? '0' : abs(datum.value) >= 1e-4 && abs(datum.value) < 1e7 ? "
    f"format(datum.value, ',.6~f') : format(datum.value / pow(10, {_POWER}), '.3~g') + "
    "' \N{MULTIPLICATION SIGN} 10' + "
    f"({_POWER} < 0 ? '⁻' : '') + "
    f"(abs({_POWER}) > 9 ? {_DIGIT.format(f'floor(abs({_POWER}) / 10)')} : '') + "
    f"{_DIGIT.format(f'(abs({_POWER}) % 10)')}"
)
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


def bar_chart(
    names: Sequence[str],
    values: FloatArray,
    *,
    errors: FloatArray | None,
    noise: BoolArray,
    title: str,
) -> dict[str, Any]:
    """Return bars of global importances with two standard errors to each side; noise is grey."""
    alt = _altair()
    spread = np.zeros(len(values)) if errors is None else 2 * np.nan_to_num(errors)
    table = [
        {"rank": rank, "value": _digits(v), "low": _digits(v - e), "high": _digits(v + e)}
        for rank, (v, e) in enumerate(zip(values.tolist(), spread.tolist(), strict=True))
    ]
    for line, is_noise in zip(table, noise.tolist(), strict=True):
        line |= {"noise": True} if is_noise else {}
    base = alt.Chart(alt.NamedData("bars"))
    y = _feature_axis(alt, noise=np.flatnonzero(noise).tolist())
    sign = alt.condition("datum.value < 0", _colour(alt, "raised"), _colour(alt, "removed"))
    if noise.any():
        sign = alt.condition("datum.noise", _colour(alt, "none"), _colour(alt, "removed"))
    bars = base.mark_bar(height={"band": 0.62}, cornerRadiusEnd=2).encode(
        x=_amount_axis(alt, "value", title=title),
        y=y,
        color=sign,
        tooltip=alt.Tooltip("rank:Q"),
    )
    layers = [bars]
    if spread.any():
        for colour, width in (("card", 3.5), ("ink", 1.5)):  # the wide one is a halo on the bar
            whiskers = base.mark_rule(strokeWidth=width, color=alt.ExprRef(colour))
            layers.append(whiskers.encode(x="low:Q", x2="high:Q", y=y))
    chart = alt.layer(*layers).properties(
        description="Bars: the global importance of each feature. The table below says the same."
    )
    # Named, so that the page's script can show the bars of one class.
    return _finish(alt, chart, names=names) | {"datasets": {"bars": table}}


def beeswarm_chart(names: Sequence[str], *, title: str) -> dict[str, Any]:
    """Return one strip of dots per feature, one dot per row; the page's script adds the dots.

    The shade of a dot is a number in any case, negative where there is none: Vega leaves out dots
    with a missing one.
    """
    alt = _altair()
    colours = alt.Scale(domain=[0, 1], range=[alt.ExprRef("low"), alt.ExprRef("high")])
    dots = (
        alt.Chart(alt.NamedData("dots"))
        .mark_circle(size=14, opacity=0.75, cursor="pointer")
        .encode(
            x=_amount_axis(alt, "value", title=title),
            y=_feature_axis(alt, n=len(names)),
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1.15, 1.15])),
            color=alt.condition(
                "datum.shade >= 0",
                alt.Color("shade:Q", scale=colours, legend=None),
                _colour(alt, "none"),
            ),
            tooltip=alt.Tooltip("rank:Q"),
        )
    )
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color=alt.ExprRef("muted"))
    chart = alt.layer(zero.encode(x=alt.datum(0)), dots).properties(
        description="Dots: the value of every row, by feature. The table of rows says the same."
    )
    return _finish(alt, chart, names=names)


def dependence_chart(*, title: str, is_text: bool) -> dict[str, Any]:
    """Return a feature's own values against its importance; the page's script adds the dots.

    A line goes through the means of groups of rows. Texts have a tick each, and are known by
    number, as features are.
    """
    alt = _altair()
    y = _amount_axis(alt, "value", title=title, channel="Y")
    if is_text:
        axis = alt.Axis(
            labelExpr="names[datum.value]",
            labelLimit=110,
            labelAngle=-35,
            labelColor=alt.ExprRef("ink"),
            domain=False,
            ticks=False,
            title=None,
        )
        x = alt.X("own:O", axis=axis)
    else:
        x = _amount_axis(alt, "own", title="the feature's own value")
        x = x.scale(zero=False, nice=True)
    sign = alt.condition("datum.value < 0", _colour(alt, "raised"), _colour(alt, "removed"))
    dots = alt.Chart(alt.NamedData("dots")).mark_circle(size=22, opacity=0.5, cursor="pointer")
    dots = dots.encode(x=x, y=y, color=sign, tooltip=alt.Tooltip("row:Q"))
    means = alt.Chart(alt.NamedData("means"))
    line = means.mark_line(color=alt.ExprRef("ink"), strokeWidth=2).encode(x=x, y=y)
    if is_text:
        spread = alt.XOffset("offset:Q", scale=alt.Scale(domain=[-1.6, 1.6]))
        dots = dots.encode(xOffset=spread)
        line = means.mark_tick(color=alt.ExprRef("ink"), thickness=2.5, size=34)
        line = line.encode(x=x, y=y, xOffset=spread)
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color=alt.ExprRef("muted"))
    chart = alt.layer(zero.encode(y=alt.datum(0)), dots, line).properties(
        description="Dots: a feature's value and its importance, by row. The table says the same."
    )
    return _finish(alt, chart, names=(), height=_DEPENDENCE_HEIGHT)


def forecast_picture(quality: Quality) -> dict[str, Any] | None:
    """Return the points of forecasts against what came true, in pixels; None if not known.

    Points on the diagonal are forecasts that come true as often, or as much, as stated.
    """
    bins = quality.bins
    if not bins:
        return None
    edges = [b.said for b in bins] + [b.came + side * b.error for b in bins for side in (-2, 2)]
    low, high = min(edges), max(edges)
    if quality.of_classes:
        low, high = max(0.0, low), 1.0

    def text(value: float) -> str:
        return f"{value:.0%}" if quality.of_classes else number_text(value, 3)

    most = 5
    ticks = _round_ticks(low, high)
    longest = max(len(text(tick)) for tick in ticks)
    while most > 2 and longest * _LETTER * len(ticks) > _SQUARE + longest * _LETTER:
        most -= 1
        ticks = _round_ticks(low, high, most=most)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def along(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(_SQUARE * share, 1)

    return {
        "size": _SQUARE,
        "left": max(_LEFT, round(30 + _LETTER * longest)),
        "top": _TOP,
        "ticks": [(along(tick), text(tick)) for tick in ticks],
        "points": [
            {
                "x": along(b.said),
                "y": _SQUARE - along(b.came),
                "high": _SQUARE - along(b.came + 2 * b.error),
                "low": _SQUARE - along(b.came - 2 * b.error),
                "said": text(b.said),
                "came": text(b.came),
                "n_rows": f"{b.n_rows:,}",
            }
            for b in bins
        ],
        "titles": ("how sure the model was", "how often it was right")
        if quality.of_classes
        else ("predicted", "true, on average"),
    }


def _round_ticks(low: float, high: float, *, most: int = 5) -> list[float]:
    """Return a few round numbers between two others."""
    span = high - low or abs(high) or 1.0
    power = 10.0 ** np.floor(np.log10(span / most))
    step = next(power * f for f in (1, 2, 2.5, 5, 10, 20) if span / (power * f) <= most)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [float(i * step) for i in np.arange(first, last + 1)]


def _altair() -> Any:
    import altair

    return altair


def _feature_axis(alt: Any, *, n: int | None = None, noise: Sequence[int] = ()) -> Any:
    colour: Any = alt.ExprRef("ink")
    style: Any = alt.Undefined
    if noise:
        # A bar at zero has no colour to see: the name has one too.
        test = f"indexof({list(noise)}, datum.value) >= 0"
        colour = {"condition": {"test": test, "expr": "muted"}, "expr": "ink"}
        style = {"condition": {"test": test, "value": "italic"}, "value": "normal"}
    axis = alt.Axis(
        labelExpr="names[datum.value]",
        labelLimit=alt.ExprRef("limit"),
        labelOverlap=False,
        labelColor=colour,
        labelFontStyle=style,
        domain=False,
        ticks=False,
        labelPadding=7,
        title=None,
    )
    scale = alt.Undefined if n is None else alt.Scale(domain=list(range(n)))
    return alt.Y("rank:O", axis=axis, scale=scale)


def _amount_axis(alt: Any, field: str, *, title: str, channel: str = "X") -> Any:
    muted, line = alt.ExprRef("muted"), alt.ExprRef("line")
    axis = alt.Axis(
        title=title,
        labelColor=muted,
        titleColor=muted,
        gridColor=line,
        domainColor=line,
        tickColor=line,
        tickCount=5,
        labelExpr=_TICK,
        labelOverlap=True,
        labelSeparation=6,
    )
    return getattr(alt, channel)(f"{field}:Q", axis=axis)


def _colour(alt: Any, name: str) -> Any:
    return alt.value({"expr": name})


def _finish(
    alt: Any, chart: Any, *, names: Sequence[str], height: int | None = None
) -> dict[str, Any]:
    parameters = [alt.param(name=colour, value="gray") for colour in _COLOURS]
    parameters += [alt.param(name="names", value=list(names)), alt.param(name="limit", value=160)]
    finished = (
        chart.add_params(*parameters)
        .properties(width="container", height=height or _STEP * len(names))
        .configure(font=_FONT, background="transparent", autosize={"type": "fit-x"})
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    )
    spec: dict[str, Any] = finished.to_dict()
    # The page says what it is; a library of another version would only warn about the address.
    del spec["$schema"]
    return spec


def _digits(number: float) -> float | None:
    return float(f"{number:.6g}") if np.isfinite(number) else None
