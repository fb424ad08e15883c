"""Every display looks as it did when it was last looked at."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from localmdi import plots
from plots import cases
from plots.baseline import DPI, FOLDER, TOLERANCE, assert_like_baseline, distance, render


def small_panels():
    figure, axes = plt.subplots(2, 2, figsize=(6, 4.4))
    result = cases.local()
    plots.BarDisplay.from_result(result.mean(by=cases.labels()), max_features=5, ax=axes[0, 0])
    plots.BeeswarmDisplay.from_result(result, ax=axes[0, 1])
    plots.WaterfallDisplay.from_result(result, ax=axes[1, 0])
    plots.HeatmapDisplay.from_result(result, order="given", ax=axes[1, 1])
    return figure


def shared_scale():
    figure, axes = plt.subplots(1, 3, figsize=(6, 2), layout="constrained")
    for row, ax in enumerate(axes):
        display = plots.ImageDisplay.from_result(
            cases.local(n_features=64), row=20 * row, vmax=0.6, colorbar=False, ax=ax
        )
    figure.colorbar(display.mappable_, ax=axes)
    return figure


PICTURES = {
    "bar": lambda: plots.BarDisplay.from_result(cases.global_()),
    "bar_by_label": lambda: plots.BarDisplay.from_result(cases.local().mean(by=cases.labels())),
    "bar_many_labels": lambda: plots.BarDisplay.from_result(
        cases.local().mean(by=np.arange(60) % 10), max_features=3
    ),
    "beeswarm": lambda: plots.BeeswarmDisplay.from_result(cases.local(200)),
    "beeswarm_mixed": lambda: plots.BeeswarmDisplay.from_result(cases.mixed()),
    "waterfall": lambda: plots.WaterfallDisplay.from_result(cases.local(n_features=20), row=2),
    "waterfall_raising": lambda: plots.WaterfallDisplay.from_result(cases.local(), row=35),
    "heatmap": lambda: plots.HeatmapDisplay.from_result(cases.local(), order="given"),
    "heatmap_by_label": lambda: plots.HeatmapDisplay.from_result(
        cases.local(), by=cases.labels(), order="given"
    ),
    "image": lambda: plots.ImageDisplay.from_result(cases.local(n_features=64), row=3),
    "segments": lambda: plots.SegmentDisplay.from_result(cases.led(), row=4),
    "segments_mean": lambda: plots.SegmentDisplay.from_result(cases.led()),
    "dependence": lambda: plots.DependenceDisplay.from_result(cases.mixed(), feature="dose"),
    "dependence_category": lambda: plots.DependenceDisplay.from_result(
        cases.mixed(), feature="region", by=cases.labels()
    ),
    "interaction": lambda: plots.InteractionDisplay.from_result(cases.pairs()),
    "agreement": lambda: plots.AgreementDisplay.from_result(cases.measures()),
    "small_panels": small_panels,
    "shared_scale": shared_scale,
}


@pytest.mark.parametrize("name", PICTURES)
def test_like_its_baseline(name):
    drawn = PICTURES[name]()
    assert_like_baseline(getattr(drawn, "figure_", drawn), name)


def test_no_baseline_is_left_over():
    assert {path.stem for path in FOLDER.iterdir()} == set(PICTURES)


def test_a_changed_value_is_seen():
    # The comparison must be able to fail: one bar of eight grows by a third.
    result = cases.global_()
    values = result.values.copy()
    values[2] *= 4 / 3
    one, two = (
        render(plots.BarDisplay.from_result(r).figure_)[0]
        for r in (result, replace(result, values=values))
    )
    assert distance(one, two) > TOLERANCE


def test_a_shifted_edge_is_not():
    # Half a pixel at the edges, as another version of matplotlib may round.
    figure, ax = plt.subplots(figsize=(4, 3))
    bars = ax.barh(np.arange(5), np.arange(1, 6))
    one = render(figure)[0]
    per_pixel = np.ptp(ax.get_xlim()) / (ax.get_position().width * 4 * DPI)
    for bar in bars:
        bar.set_width(bar.get_width() + per_pixel / 2)
    assert 0 < distance(one, render(figure)[0]) < TOLERANCE
