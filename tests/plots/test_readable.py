"""What a person reads in a picture: signs, colours, numbers, labels that do not collide."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import rgb_to_hsv, to_rgb

import localmdi.report
from localmdi.plots import (
    BarDisplay,
    DependenceDisplay,
    HeatmapDisplay,
    WaterfallDisplay,
)
from localmdi.plots.style import ADDED, REMOVED, diverging
from localmdi.results import LocalImportance

STYLE = (Path(localmdi.report.__file__).parent / "assets" / "style.css").read_text()


def make(values, baseline=None, *, unit="bits", **fields):
    values = np.atleast_2d(np.asarray(values, dtype=float))
    left = np.maximum(0.0, -values.sum(axis=1)) + 0.25 * np.abs(values).max()
    baseline = left + values.sum(axis=1) if baseline is None else baseline
    names = tuple(f"feature {i}" for i in range(values.shape[1]))
    settings = {"feature_names": names, "n_trees": 10, "unit": unit}
    return LocalImportance(
        values, baseline, residual=baseline - values.sum(axis=1), **(settings | fields)
    )


def hue(colour):
    return float(rgb_to_hsv(to_rgb(colour))[0])


def grey(colour):
    return float(np.dot(to_rgb(colour)[:3], [0.299, 0.587, 0.114]))


@pytest.mark.parametrize(("name", "ours"), [("removed", REMOVED), ("raised", ADDED)])
def test_pictures_and_the_report_have_the_same_colours(name, ours):
    in_report = re.search(rf"--{name}: (#\w+);", STYLE)[1]
    assert abs(hue(ours) - hue(in_report)) < 0.05


def test_colour_maps_go_from_raised_to_removed():
    low, middle, high = diverging()([0.1, 0.5, 0.9])[:, :3]
    assert abs(hue(low) - hue(ADDED)) < 0.06
    assert abs(hue(high) - hue(REMOVED)) < 0.06
    assert min(middle) > 0.9
    assert abs(grey(low) - grey(high)) > 0.15  # they differ in grey print


def test_the_waterfall_writes_the_values_of_the_result():
    display = WaterfallDisplay.from_result(make([0.5, -0.25], baseline=1.0))
    numbers = [text.get_text() for text in display.ax_.texts]
    assert numbers[1:-1] == ["0.500", "\N{MINUS SIGN}0.250"]


def test_a_waterfall_stays_above_zero():
    result = make([0.9, 0.8, -0.6, -0.5], baseline=1.0)
    display = WaterfallDisplay.from_result(result)
    assert display.levels.min() >= 0
    assert display.levels[-1] == pytest.approx(result.residual[0])
    assert sorted(display.step_names) == sorted(result.feature_names)


def test_the_title_of_a_row_says_how_much_was_removed():
    display = WaterfallDisplay.from_result(make([0.5, 0.25], baseline=1.0))
    title = display.ax_.get_title(loc="left")
    assert title == "row 0: 0.75 of 1 bit removed"


def test_large_numbers_have_thousands_and_powers():
    for result in (
        make([[7.79e9, 1e9]], unit="variance"),
        make([[59300.0, 12.0]], unit="variance"),
    ):
        display = WaterfallDisplay.from_result(result)
        display.figure_.canvas.draw()
        texts = [text.get_text() for text in display.ax_.texts]
        ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
        assert not any("e+" in text for text in [*texts, *ticks])
        assert display.ax_.xaxis.get_offset_text().get_text() == ""
        bars = BarDisplay.from_result(result)
        bars.figure_.canvas.draw()
        assert bars.ax_.xaxis.get_offset_text().get_text() == ""
    assert "59,300" in texts
    assert "60,000" in ticks


def overlap(labels, renderer):
    boxes = sorted(
        (label.get_window_extent(renderer) for label in labels if label.get_text()),
        key=lambda box: box.x0,
    )
    return any(a.x1 > b.x0 + 0.5 for a, b in itertools.pairwise(boxes))


@pytest.mark.parametrize(
    "column",
    [
        [f"eleven lett{i}" for i in range(6)] * 3,
        [f"a rather long category {i}" for i in range(4)] * 4 + ["b"] * 2,
        [*np.linspace(0.0, 100.0, 17), np.nan],
        [*np.linspace(0.0, 1e-9, 17), np.nan],
        [*np.linspace(0.0, 7.79e9, 17), np.nan],
    ],
    ids=["six", "four", "missing", "tiny", "huge"],
)
@pytest.mark.parametrize("width", [5.6, 2.5])
def test_labels_of_the_dependence_do_not_collide(column, width):
    data = pd.DataFrame({"feature 0": column})
    figure, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    result = make(np.linspace(0.1, 0.5, 18)[:, None], data=data)
    DependenceDisplay.from_result(result, feature=0, ax=ax)
    figure.canvas.draw()
    labels = ax.get_xticklabels()
    assert len([label for label in labels if label.get_text()]) > 1
    assert not overlap(labels, figure.canvas.get_renderer())


def test_one_dominant_feature_does_not_blank_the_heatmap():
    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 1.0, (50, 8)) * np.array([50.0, 1, 1, 1, 1, 1, 1, 1])
    display = HeatmapDisplay.from_result(make(values))
    _, end = display.mappable_.get_clim()
    assert end <= 4.0
    assert "feature 0" in display.ax_.get_xlabel()


def test_an_even_heatmap_shows_all_its_values():
    rng = np.random.default_rng(0)
    display = HeatmapDisplay.from_result(make(rng.uniform(0.5, 1.0, (50, 8))))
    assert display.mappable_.get_clim()[1] > 0.9
    assert "darkest" not in display.ax_.get_xlabel()
