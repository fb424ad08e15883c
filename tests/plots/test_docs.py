"""The code on the page of pictures runs, and shows every display."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import matplotlib.pyplot as plt

from localmdi import plots

PAGE = Path(__file__).parents[2] / "docs" / "plots.md"
BLOCK = re.compile(r"^\.\. plot::\n(.*?)```", re.DOTALL | re.MULTILINE)


def test_the_page_of_pictures():
    blocks = [dedent(block) for block in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
    names = {}
    for block in blocks:
        options, code = block.split("\n\n", 1)
        exec(compile(code, PAGE.name, "exec"), names)
        n_expected = 0 if ":nofigs:" in options else 1
        assert len(plt.get_fignums()) == n_expected, code
        plt.close("all")
    text = "".join(blocks)
    assert [name for name in plots.__all__ if f"lm.plots.{name}" not in text] == []
