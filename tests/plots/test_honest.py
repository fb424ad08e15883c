"""Displays say when values are honest, and draw noise grey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from localmdi.plots import (
    BarDisplay,
    BeeswarmDisplay,
    DependenceDisplay,
    HeatmapDisplay,
    ImageDisplay,
    WaterfallDisplay,
)
from localmdi.plots.style import MISSING, REMOVED
from localmdi.results import GlobalImportance
from plots import cases


def honest_local(**changes):
    result = cases.local(n_features=4)
    baseline = np.broadcast_to(result.baseline, len(result)).copy()
    return replace(result, baseline=baseline, honest=True, **changes)


def honest_gains():
    result = replace(cases.local(n_features=4), baseline=None, residual=None)
    return replace(result, measure="gain", honest=True)


def importance(**changes):
    found = GlobalImportance(
        np.array([-0.02, 0.5, 0.01, 0.2]),
        unit="bits",
        feature_names=("a", "b", "c", "d"),
        n_trees=10,
        standard_error=np.array([0.01, 0.02, 0.02, 0.02]),
        error_kind="sample",
        measure="gain",
        honest=True,
    )
    return replace(found, **changes)


def test_noise_is_grey_and_last():
    display = BarDisplay.from_result(importance())
    assert display.feature_names == ("b", "d", "c", "a")
    assert display.noise.tolist() == [False, False, True, True]
    colours = [to_hex(bar.get_facecolor()) for bar in display.ax_.patches]
    assert colours == [to_hex(REMOVED)] * 2 + [to_hex(MISSING)] * 2
    label = display.ax_.get_xlabel().replace("\n", " ")
    assert label.startswith("gain on unseen rows (bits), 95\N{NO-BREAK SPACE}% interval given the")
    assert "grey: not distinguishable from noise" in label


@pytest.mark.parametrize("changes", [{"honest": False}, {"error_kind": "trees"}])
def test_what_was_not_tested_is_not_grey(changes):
    display = BarDisplay.from_result(importance(**changes))
    assert display.noise is None
    assert "grey" not in display.ax_.get_xlabel()


def test_the_waterfall_ends_with_what_is_really_left():
    display = WaterfallDisplay.from_result(honest_local())
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert (labels[0], labels[-1]) == ("uncertainty at the root", "really left")
    assert "rows that the trees have not seen" in display.ax_.get_xlabel().replace("\n", " ")
    gains = WaterfallDisplay.from_result(honest_gains())
    assert gains.ax_.get_xlabel() == "gain on unseen rows (bits)"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (honest_local(), "uncertainty removed on unseen rows (bits)"),
        (honest_gains(), "gain on unseen rows (bits)"),
        (replace(honest_gains(), honest=False), "gain (bits)"),
        (cases.local(n_features=4), "uncertainty removed (bits)"),
    ],
)
def test_axes_say_what_is_measured(result, said):
    swarm = BeeswarmDisplay.from_result(result)
    assert swarm.ax_.get_xlabel() == said
    assert (swarm.measure, swarm.honest) == (result.measure, result.honest)
    assert DependenceDisplay.from_result(result, feature=0).ax_.get_ylabel() == said
    for display in (
        HeatmapDisplay.from_result(result),
        ImageDisplay.from_result(result, shape=(2, 2)),
    ):
        assert display.figure_.axes[-1].get_ylabel() == said
