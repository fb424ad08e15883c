"""Results whose values do not telescope are drawn without levels at the root and the leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localmdi.plots import WaterfallDisplay
from plots import cases
from plots.test_any_input import DRAW


def gains(**sizes):
    return replace(cases.local(**sizes), baseline=None, residual=None)


@pytest.mark.parametrize("name", DRAW)
def test_every_display_draws_them(name):
    DRAW[name](gains(), None).figure_.canvas.draw()


def test_waterfall_bars_start_at_zero():
    result = gains()
    display = WaterfallDisplay.from_result(result, row=35)
    assert (display.baseline, display.residual, display.levels) == (None, None, None)
    order = np.argsort(-np.abs(result.values[35]), kind="stable")
    bars = sorted(display.ax_.patches, key=lambda patch: patch.get_y())
    assert [bar.get_x() for bar in bars] == [0.0] * 8
    np.testing.assert_allclose([bar.get_width() for bar in bars], result.values[35, order])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [label.partition(" = ")[0] for label in labels] == [
        result.feature_names[i] for i in order
    ]
    assert display.ax_.get_xlabel() == "uncertainty removed (bits)"


def test_waterfall_numbers_are_the_values():
    display = WaterfallDisplay.from_result(gains(n_rows=1, n_features=1))
    (number,) = display.ax_.texts
    assert number.get_text() == f"{display.values[0]:.3f}"


def test_waterfall_sums_only_what_is_there():
    display = WaterfallDisplay.from_result(gains()[:, :4], max_features=2)
    assert display.step_names[2:] == ("2 other features",)
