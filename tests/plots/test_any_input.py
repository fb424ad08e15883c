"""Names, sizes and errors: what users have must be drawn, or refused in clear words."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from localmdi import plots
from localmdi.plots.style import cell_text, elide, feature_labels, format_value, plain
from localmdi.results import InteractionImportance
from plots import cases

BY = cases.labels()


def pairs_of(result):
    n_features = result.shape[1]
    values = np.tile(np.where(np.eye(n_features), np.nan, 0.5), (len(result), 1, 1))
    return InteractionImportance(values, result.feature_names, unit="bits", index="SII")


# Every display, from one local result.
DRAW = {
    "bar": lambda r, ax: plots.BarDisplay.from_result(r, ax=ax),
    "bar_by": lambda r, ax: plots.BarDisplay.from_result(r.mean(by=BY[: len(r)]), ax=ax),
    "beeswarm": lambda r, ax: plots.BeeswarmDisplay.from_result(r, ax=ax),
    "waterfall": lambda r, ax: plots.WaterfallDisplay.from_result(r, ax=ax),
    "heatmap": lambda r, ax: plots.HeatmapDisplay.from_result(r, by=BY[: len(r)], ax=ax),
    "image": lambda r, ax: plots.ImageDisplay.from_result(r, row=0, shape=(1, r.shape[1]), ax=ax),
    "dependence": lambda r, ax: plots.DependenceDisplay.from_result(r, feature=0, ax=ax),
    "interaction": lambda r, ax: plots.InteractionDisplay.from_result(pairs_of(r), ax=ax),
}
WITH_NAMES = sorted(set(DRAW) - {"image", "dependence"})


def draw(figure):
    figure.canvas.draw()
    return figure.canvas.get_renderer()


@pytest.mark.parametrize("name", DRAW)
class TestEveryDisplay:
    def test_new_figure_or_the_user_s(self, name):
        display = DRAW[name](cases.local(), None)
        assert plt.get_fignums() == [display.figure_.number]
        ax = Figure().subplots()
        mine = DRAW[name](cases.local(), ax)
        assert mine.ax_ is ax
        assert mine.figure_ is ax.figure
        assert len(plt.get_fignums()) == 1

    def test_drawn_again_elsewhere(self, name):
        display = DRAW[name](cases.local(), Figure().subplots())
        ax = Figure().subplots()
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax
        assert ax.has_data()

    def test_a_single_row_and_feature(self, name):
        display = DRAW[name](cases.local(1, 1), None)
        draw(display.figure_)

    def test_nothing_but_zeros(self, name):
        result = cases.local()
        zeros = np.zeros_like(result.values)
        flat = replace(result, values=zeros, baseline=0.0, residual=np.zeros(60), data=zeros)
        draw(DRAW[name](flat, None).figure_)

    @pytest.mark.parametrize("scale", [1e-12, 1e12])
    def test_tiny_and_huge_values(self, name, scale):
        result = cases.local()
        scaled = replace(
            result,
            values=result.values * scale,
            baseline=result.baseline * scale,
            residual=result.residual * scale,
            standard_error=None,
        )
        draw(DRAW[name](scaled, None).figure_)

    def test_hostile_names(self, name):
        draw(DRAW[name](cases.hostile(), None).figure_)

    def test_in_the_corner_of_a_figure(self, name):
        figure = plt.figure(figsize=(3, 2), layout="constrained")
        DRAW[name](cases.local(), figure.subplots(2, 2)[1, 1])
        draw(figure)

    def test_letters_and_lines_are_seen_on_a_dark_style(self, name):
        with plt.style.context("dark_background"):
            figure = DRAW[name](cases.local(), None).figure_
            lines = figure.axes[0].lines
        assert all(to_hex(line.get_color()) != "#000000" for line in lines)

    def test_wrong_axes(self, name):
        with pytest.raises(TypeError, match=r"ax must be matplotlib axes or None; got tuple\. P"):
            DRAW[name](cases.local(), (1, 2))

    def test_without_matplotlib(self, name, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r'pip install "localmdi\[app\]"'):
            DRAW[name](cases.local(), None)


@pytest.mark.parametrize("name", sorted(set(DRAW) - {"bar_by"}))
@pytest.mark.parametrize("empty", ["rows", "features"])
def test_nothing_to_draw(name, empty):
    result = cases.local()[:0] if empty == "rows" else cases.local()[:, []]
    with pytest.raises(ValueError, match=r"at least one row and one feature; got .*\. [A-Z]"):
        DRAW[name](result, None)
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", WITH_NAMES)
@pytest.mark.parametrize("size", [None, (3.2, 2.4)])
def test_names_do_not_overlap_and_stay_inside(name, size):
    if size is None:
        display = DRAW[name](cases.hostile(), None)
    else:
        display = DRAW[name](cases.hostile(), plt.subplots(figsize=size, layout="constrained")[1])
    renderer = draw(display.figure_)
    frame = display.figure_.bbox
    boxes = [
        label.get_window_extent(renderer)
        for label in display.ax_.get_yticklabels()
        if label.get_text()
    ]
    assert len(boxes) > 5
    for upper, lower in pairwise(sorted(boxes, key=lambda box: -box.y0)):
        assert lower.y1 <= upper.y0 + 1.5  # the empty room above capitals may touch
    assert all(box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1 for box in boxes)
    # The names leave room for the picture itself.
    assert display.ax_.get_window_extent(renderer).width > 0.2 * frame.width


class TestLabels:
    @given(st.text())
    def test_plain_text_is_one_line_without_formulas(self, text):
        line = plain(text)
        assert line.isprintable()
        assert "$" not in line.replace(r"\$", "")

    @given(st.text(st.characters(categories=["L", "N", "Z"])), st.integers(3, 30))
    def test_elided_in_the_middle(self, text, width):
        line = elide(text, width)
        whole = " ".join(text.split())
        assert len(line) <= width
        if len(whole) <= width:
            assert line == whole
        else:
            start, end = line.split("…")
            assert whole.startswith(start)
            assert whole.endswith(end)
            assert abs(len(start) - len(end)) <= 1

    @given(st.lists(st.text("ab", max_size=12), max_size=8), st.integers(8, 12))
    def test_labels_differ(self, names, width):
        labels = feature_labels(names, width)
        assert len(set(labels)) == len(names)
        assert all(len(label) <= width for label in labels)

    def test_names_that_look_alike_keep_what_tells_them_apart(self):
        names = [f"measurement number {i} of the long questionnaire" for i in (3, 14, 15)]
        labels = feature_labels([*names, "age"], 24)
        assert labels[:3] == [f"measurement number {i}…" for i in (3, 14, 15)]
        assert labels[3] == "age"
        assert feature_labels(names[1:], 14) == ["measurement…4…", "measurement…5…"]
        twins = feature_labels([names[0], names[0]], 24)
        assert [twin[-3:] for twin in twins] == [" #1", " #2"]

    def test_words_for_values(self):
        assert cell_text(-5) == "\N{MINUS SIGN}5"
        assert cell_text(10**12) == "1 \N{MULTIPLICATION SIGN} 10¹²"
        assert cell_text(True) == "True"
        assert cell_text(None) == "missing"
        assert cell_text("a very long category") == "a very …tegory"

    def test_shares(self):
        display = plots.BarDisplay.from_result(cases.global_().normalized())
        assert display.ax_.get_xlabel() == "share of the total removed"

    def test_numbers(self):
        assert format_value(-0.0001, 1.0) == "0.00"
        assert format_value(0.0, 0.0) == "0"
        assert format_value(1234567.0, 9e6) == "1,234,567"


LOCAL = cases.local()
WRONG = [
    (lambda: plots.BarDisplay.from_result([1.0]), TypeError, "BarDisplay shows"),
    (lambda: plots.BarDisplay.from_result({}), TypeError, "BarDisplay shows"),
    (lambda: plots.BarDisplay.from_result({"a": LOCAL}), TypeError, "BarDisplay shows"),
    (
        lambda: plots.BarDisplay.from_result(
            {"a": cases.global_(), "b": cases.global_(unit="gini")}
        ),
        ValueError,
        "the same unit",
    ),
    (lambda: plots.BarDisplay.from_result(LOCAL, max_features=0), ValueError, "max_features must"),
    (lambda: plots.BarDisplay.from_result(LOCAL, max_features=2.0), ValueError, "max_features"),
    (lambda: plots.BeeswarmDisplay.from_result(LOCAL.mean()), TypeError, "a LocalImportance"),
    (lambda: plots.BeeswarmDisplay.from_result(LOCAL, max_rows=0), ValueError, "max_rows must"),
    (lambda: plots.WaterfallDisplay.from_result(LOCAL, row=60), IndexError, r"\[-60, 60\)"),
    (lambda: plots.WaterfallDisplay.from_result(LOCAL, row="a"), TypeError, "row must be the"),
    (lambda: plots.WaterfallDisplay.from_result(LOCAL, row=True), TypeError, "row must be the"),
    (lambda: plots.HeatmapDisplay.from_result(LOCAL, order="size"), ValueError, "order must be"),
    (lambda: plots.HeatmapDisplay.from_result(LOCAL, order=[[1]]), ValueError, "order must be"),
    (lambda: plots.HeatmapDisplay.from_result(LOCAL, order=[99]), IndexError, "positions in order"),
    (lambda: plots.HeatmapDisplay.from_result(LOCAL, by=[1, 2]), ValueError, "by must have one"),
    (lambda: plots.ImageDisplay.from_result(LOCAL), ValueError, "number of features, 8; got"),
    (lambda: plots.ImageDisplay.from_result(LOCAL, shape=8), ValueError, "shape must be"),
    (lambda: plots.ImageDisplay.from_result(LOCAL.mean(), row=0), ValueError, "has no rows"),
    (lambda: plots.ImageDisplay.from_result(LOCAL.values), TypeError, "ImageDisplay shows"),
    (
        lambda: plots.ImageDisplay.from_result(LOCAL, shape=(2, 4), vmax=0),
        ValueError,
        "vmax must be a positive number or None; got 0",
    ),
    (lambda: plots.ImageDisplay(np.zeros(4), unit="bits"), ValueError, "height by width"),
    (lambda: plots.SegmentDisplay.from_result(LOCAL[:, :6]), ValueError, "seven values"),
    (lambda: plots.DependenceDisplay.from_result(LOCAL, feature="x"), KeyError, "'x' is not among"),
    (lambda: plots.DependenceDisplay.from_result(LOCAL, feature=[0, 1]), ValueError, "one name"),
    (
        lambda: plots.DependenceDisplay.from_result(replace(LOCAL, data=None), feature=0),
        ValueError,
        "must keep the data",
    ),
    (
        lambda: plots.DependenceDisplay.from_result(
            replace(LOCAL, data=np.array([[f"{i}"] * 8 for i in range(60)])), feature=0
        ),
        ValueError,
        "at most 50 categories",
    ),
    (lambda: plots.InteractionDisplay.from_result(LOCAL), TypeError, "InteractionImportance"),
    (lambda: plots.AgreementDisplay.from_result({"a": LOCAL}), TypeError, "two or more measures"),
    (
        lambda: plots.AgreementDisplay.from_result({"a": LOCAL, "b": np.zeros((60, 8, 2))}),
        ValueError,
        "'b' has shape",
    ),
    (
        lambda: plots.AgreementDisplay.from_result({"a": LOCAL, "b": np.zeros((60, 7))}),
        ValueError,
        "same rows and features",
    ),
    (
        lambda: plots.AgreementDisplay.from_result(cases.measures(), method="kendall"),
        ValueError,
        "'pearson' or 'spearman'",
    ),
    (
        lambda: plots.AgreementDisplay.from_result(cases.measures(), ax=Figure().subplots()),
        ValueError,
        "ax must be two axes",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_wrong_use_is_refused_before_a_figure_is_made(call, error, words):
    with pytest.raises(error, match=rf"{words}[\s\S]*\. [A-Z]"):
        call()
    assert not plt.get_fignums()
