"""The waterfall adds up: from the root to the leaves, whatever is folded or left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.sparse import csr_array

from localmdi.plots import WaterfallDisplay
from localmdi.results import LocalImportance
from plots import cases


def bars(display):
    """Left and right end of every bar, from top to bottom."""
    boxes = sorted((patch.get_bbox() for patch in display.ax_.patches), key=lambda b: b.y0)
    return [(min(box.x0, box.x1), max(box.x0, box.x1)) for box in boxes]


def words(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


@st.composite
def rows(draw):
    values = draw(st.lists(st.floats(-3, 3), min_size=1, max_size=15))
    residual = draw(st.floats(0, 3))
    return LocalImportance(
        np.array([values]),
        residual + float(np.sum(values)),
        residual=np.array([residual]),
        unit="bits",
        feature_names=tuple(f"x{i}" for i in range(len(values))),
        n_trees=1,
    )


@settings(max_examples=40)
@given(rows(), st.integers(1, 20))
def test_steps_lead_from_root_to_leaves(result, max_features):
    ax = Figure().subplots()
    display = WaterfallDisplay.from_result(result, max_features=max_features, ax=ax)
    scale = np.abs(result.values).sum() + abs(result.baseline) + 1
    assert display.levels[0] == result.baseline
    assert display.levels[-1] == pytest.approx(result.residual[0], abs=1e-12 * scale)
    assert display.values.sum() == pytest.approx(
        result.baseline - result.residual[0], abs=1e-12 * scale
    )
    n_own = len(display.values) - display.n_more
    assert n_own + 1 == len(display.values) or n_own == result.shape[1]
    own = np.abs(display.values[:n_own])
    assert (own[:-1] >= own[1:]).all()


def test_drawn_bars_join_end_to_end():
    display = WaterfallDisplay.from_result(cases.local(n_features=20), row=7, max_features=5)
    first, *steps, last = bars(display)
    assert first == (0.0, pytest.approx(display.baseline))
    assert last == (0.0, pytest.approx(display.residual))
    for (low, high), before, after in zip(
        steps, display.levels[:-1], display.levels[1:], strict=True
    ):
        assert (low, high) == pytest.approx((min(before, after), max(before, after)))


def test_words_beside_the_bars():
    display = WaterfallDisplay.from_result(cases.mixed(), row=0)
    assert words(display)[0] == "uncertainty at the root"
    assert words(display)[-1] == "left at the leaves"
    assert "region = missing" in words(display)
    assert "smoker = True" in words(display)
    assert "dose = 0" in words(display)
    assert display.ax_.get_xlabel() == "uncertainty (bits)"


@pytest.mark.parametrize(
    ("unit", "root", "axis"),
    [
        ("gini", "Gini impurity at the root", "Gini impurity"),
        ("variance", "variance at the root", "variance"),
        ("mae", "absolute error at the root", "absolute error"),
        ("poisson", "Poisson deviance at the root", "Poisson deviance"),
        ("watts", "impurity at the root", "impurity (watts)"),
    ],
)
def test_words_for_other_units(unit, root, axis):
    display = WaterfallDisplay.from_result(cases.local(unit=unit))
    assert words(display)[0] == root
    assert display.ax_.get_xlabel() == axis


def test_numbers_are_the_values_of_the_result():
    display = WaterfallDisplay.from_result(
        LocalImportance(
            np.array([[0.5, -0.25]]),
            1.0,
            residual=np.array([0.75]),
            unit="bits",
            feature_names=("a", "b"),
            n_trees=1,
        )
    )
    numbers = [text.get_text() for text in display.ax_.texts]
    assert numbers == ["1.000", "0.500", "\N{MINUS SIGN}0.250", "0.750"]


def test_a_single_other_feature_keeps_its_name():
    result = cases.local(n_features=4)
    assert WaterfallDisplay.from_result(result, max_features=3).n_more == 0
    assert WaterfallDisplay.from_result(result, max_features=2).step_names[-1] == "2 other features"


def test_left_out_features_get_a_step():
    result = cases.local()[:, ["feature 3", "feature 5"]]
    display = WaterfallDisplay.from_result(result)
    assert display.step_names[-1] == "features left out"
    assert display.levels[-1] == pytest.approx(result.residual[0])


def test_rows_and_their_baselines():
    result = cases.local()
    result = replace(result, baseline=np.arange(60.0), residual=np.arange(60.0))
    display = WaterfallDisplay.from_result(result, row=-1)
    assert (display.baseline, display.residual, display.title.partition(":")[0]) == (
        59.0,
        59.0,
        "row 59",
    )
    labelled = replace(result, row_labels=np.array([f"patient {i}" for i in range(60)]))
    title = WaterfallDisplay.from_result(labelled, row=np.int64(3)).title
    assert title == "row patient 3: 0 of 3 bits removed"


def test_sparse_values():
    result = cases.local()
    one = WaterfallDisplay.from_result(result, row=5)
    two = WaterfallDisplay.from_result(replace(result, values=csr_array(result.values)), row=5)
    np.testing.assert_array_equal(one.values, two.values)
    assert one.step_names == two.step_names
