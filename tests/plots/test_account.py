"""Accounts are drawn: rows that every tree has seen, rows made worse, boosted trees' intercepts."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import localmdi as lm
from localmdi import plots
from localmdi.plots.style import ADDED, REMOVED
from plots import cases
from plots.test_any_input import DRAW

NAMES = ("age", "dose", "sex", "weight", "visits")


@pytest.fixture(scope="module")
def noise():
    """Few trees and labels that are noise: some rows are in every bag, most accounts lose."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.random((60, 5)), columns=NAMES), rng.integers(0, 2, 60)
    model = RandomForestClassifier(5, criterion="entropy", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="8 rows of 60"):
        return lm.honest_mdi(model, X, y, measure="loss")


@pytest.fixture(scope="module")
def boosted():
    rng = np.random.default_rng(0)
    X = rng.random((210, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=210) > 0.5
    model = GradientBoostingClassifier(random_state=0).fit(X[:150], y[:150])
    return lm.honest_mdi(model, X[150:], y[150:], held_out=True, measure="loss")


def unknown(result):
    return np.isnan(result.residual)


def words(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_the_results_are_as_awkward_as_these_tests_need(noise, boosted):
    assert 0 < unknown(noise).sum() < 20
    assert (noise.residual > noise.baseline).sum() > 10
    assert len(set(noise.baseline[~unknown(noise)])) > 1
    assert boosted.feature_names[-1] == "(intercept)"


@pytest.mark.parametrize("name", sorted(set(DRAW) - {"waterfall", "image", "interaction"}))
@pytest.mark.parametrize("case", ["noise", "boosted"])
def test_displays_of_many_rows_draw_accounts(name, case, request):
    DRAW[name](request.getfixturevalue(case), None).figure_.canvas.draw()


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_every_tree_has_seen_are_left_out_and_said_so(noise, sparse):
    known = np.flatnonzero(~unknown(noise))
    result = replace(noise, values=csr_array(noise.values)) if sparse else noise
    swarm = plots.BeeswarmDisplay.from_result(result)
    strength = np.abs(noise.values[known]).mean(axis=0)
    order = np.argsort(-strength)
    assert swarm.feature_names == tuple(NAMES[i] for i in order)
    np.testing.assert_array_equal(swarm.values, noise.values[known][:, order])
    heatmap = plots.HeatmapDisplay.from_result(result)
    assert sorted(heatmap.rows) == known.tolist()
    one_feature = plots.DependenceDisplay.from_result(result, feature="sex")
    np.testing.assert_array_equal(one_feature.position, noise.data["sex"].to_numpy()[known])
    for display in (swarm, heatmap, one_feature):
        assert f"{len(known)} of 60 rows" in display.ax_.get_xlabel().replace("\n", " ")


def test_orders_and_labels_leave_them_out_too(noise):
    chosen = plots.HeatmapDisplay.from_result(noise, order=np.arange(59, -1, -1))
    assert chosen.rows.tolist() == np.flatnonzero(~unknown(noise))[::-1].tolist()
    by = np.where(unknown(noise), "in every bag", cases.labels())
    grouped = plots.HeatmapDisplay.from_result(noise, by=by)
    assert [name for name, _ in grouped.groups] == ["ill", "well"]
    dots = plots.DependenceDisplay.from_result(noise, feature=0, by=by)
    assert len(dots.groups.code) == (~unknown(noise)).sum()


def test_rows_without_values_cannot_be_drawn_alone(noise):
    row = int(unknown(noise).argmax())
    nothing = noise[unknown(noise)]
    wide = replace(
        noise, values=np.tile(noise.values, 2)[:, :7], feature_names=tuple("abcdefg"), data=None
    )
    for draw in (
        lambda: plots.WaterfallDisplay.from_result(noise, row=row),
        lambda: plots.ImageDisplay.from_result(noise, row=row, shape=(1, 5)),
        lambda: plots.SegmentDisplay.from_result(wide, row=row),
        lambda: plots.BeeswarmDisplay.from_result(nothing),
        lambda: plots.HeatmapDisplay.from_result(nothing),
        lambda: plots.HeatmapDisplay.from_result(noise, order=[row]),
        lambda: plots.DependenceDisplay.from_result(nothing, feature=0),
    ):
        with pytest.raises(ValueError, match="NaN"):
            draw()
    assert not plt.get_fignums()
    for mean in (
        plots.ImageDisplay.from_result(noise, shape=(1, 5)),
        plots.SegmentDisplay.from_result(wide),
    ):
        assert np.isfinite(mean.values).all()


def test_a_waterfall_may_end_above_its_start(noise):
    row = int(np.nanargmax(noise.residual - noise.baseline))
    display = plots.WaterfallDisplay.from_result(noise, row=row)
    assert display.baseline == noise.baseline[row]
    assert display.levels[-1] == pytest.approx(noise.residual[row])
    added = f"{noise.residual[row] - noise.baseline[row]:.2f}"
    title = display.ax_.get_title(loc="left")
    assert title == f"row {row}: {added} added to {noise.baseline[row]:.3g} bits"
    low, high = display.ax_.get_xlim()
    assert low <= 0 < noise.residual[row] < high
    first, *_, last = sorted(display.ax_.patches, key=lambda bar: bar.get_y())
    assert first.get_width() == pytest.approx(display.baseline)
    assert last.get_width() == pytest.approx(display.residual)
    said = words(display.ax_.yaxis)
    assert (said[0], said[-1]) == ("surprise when nothing is known", "left to the forest")
    assert display.ax_.get_xlabel().startswith("surprise (bits)")


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("bits", "surprise removed on unseen rows (bits)"),
        ("gini", "Brier score removed on unseen rows"),
        ("variance", "squared error removed on unseen rows"),
    ],
)
def test_axes_name_the_loss(noise, unit, said):
    result = replace(noise, unit=unit)
    assert plots.BarDisplay.from_result(result).ax_.get_xlabel() == said
    assert plots.DependenceDisplay.from_result(result, feature=0).ax_.get_ylabel() == said


def test_bars_show_what_helped_and_what_cost_by_size():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.random((200, 5)), columns=NAMES), rng.integers(0, 2, 200)
    model = RandomForestClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    importance = lm.honest_global_mdi(model, X, y, measure="loss")
    assert (importance.values < 0).any()
    display = plots.BarDisplay.from_result(importance)
    sizes = np.abs(display.values[0])
    assert (sizes[:-1] >= sizes[1:]).all()
    assert display.noise is None  # whether the forest profits is another question
    for bar, value in zip(display.ax_.patches, display.values[0], strict=True):
        assert bar.get_facecolor()[:3] == to_rgb(ADDED if value < 0 else REMOVED)
    assert "interval given the trees" in display.ax_.get_xlabel().replace("\n", " ")


def test_the_intercept_has_a_step_and_no_value_of_the_row(boosted):
    said = words(plots.WaterfallDisplay.from_result(boosted, row=3).ax_.yaxis)
    assert "(intercept)" in said
    for j in range(3):
        assert f"x{j} = {boosted.data[3, j]:.4g}" in said


def test_the_intercept_is_grey_in_a_beeswarm(boosted):
    display = plots.BeeswarmDisplay.from_result(boosted)
    grey = np.isnan(display.level).all(axis=0)
    assert [name for name, is_grey in zip(display.feature_names, grey, strict=True) if is_grey] == [
        "(intercept)"
    ]
    lines = [c for c in display.ax_.collections if isinstance(c, PathCollection)]
    assert [len(line.get_offsets()) for line in lines] == [60] * 4


def test_the_intercept_has_no_dependence(boosted):
    display = plots.DependenceDisplay.from_result(boosted, feature="x1")
    np.testing.assert_array_equal(display.position, boosted.data[:, 1])
    with pytest.raises(ValueError, match=r"\(intercept\)"):
        plots.DependenceDisplay.from_result(boosted, feature="(intercept)")
