"""Colours of the page: readable by WCAG's AA in the light and in the dark."""

import re
from importlib.resources import files

import pytest

STYLE = (files("localmdi.report") / "assets" / "style.css").read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in STYLE.split("@media")[:2])


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks(theme):
    for ground in ("card", "paper", "wash"):
        for text in ("ink", "muted", "removed", "raised"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    for mark in ("low", "high", "none"):
        assert contrast(theme[mark], theme["card"]) >= 3, mark
    assert contrast(theme["card"], theme["ink"]) >= 4.5
