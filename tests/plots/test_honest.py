"""Displays say when values are honest, and draw noise grey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
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
    return replace(result, baseline=baseline, honest=True, measure="loss", **changes)


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


def test_the_waterfall_ends_with_what_is_left_to_the_forest():
    display = WaterfallDisplay.from_result(honest_local())
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert (labels[0], labels[-1]) == ("surprise when nothing is known", "left to the forest")
    assert "trees that have not seen the row" in display.ax_.get_xlabel().replace("\n", " ")
    gains = WaterfallDisplay.from_result(honest_gains())
    assert gains.ax_.get_xlabel() == "gain on unseen rows (bits)"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (honest_local(), "surprise removed on unseen rows (bits)"),
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


@pytest.fixture(scope="module")
def account():
    """Labels of chance: many rows end above where they start, and some were in every bag."""
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 4)), rng.integers(0, 2, 90)
    model = RandomForestClassifier(5, criterion="entropy", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="every tree"):
        found = lm.honest_mdi(model, X, y, measure="loss")
    unknown = np.isnan(found.residual)
    assert 3 < unknown.sum() < 30
    assert (found.residual > found.baseline).sum() > 20
    return found.attach_data(X)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (BarDisplay, {}),
        (BeeswarmDisplay, {}),
        (HeatmapDisplay, {}),
        (DependenceDisplay, {"feature": 0}),
        (ImageDisplay, {"shape": (2, 2)}),
    ],
)
def test_pictures_of_accounts(account, kind, options):
    display = kind.from_result(account, **options)
    display.figure_.canvas.draw()
    if kind is ImageDisplay:
        np.testing.assert_allclose(display.values.ravel(), account.mean().values)


def test_the_waterfall_of_a_row_that_is_more_surprising(account):
    row = int(np.nanargmax(account.residual - account.baseline))
    display = WaterfallDisplay.from_result(account, row=row)
    assert display.levels[-1] == pytest.approx(account.residual[row])
    assert display.levels.min() >= -1e-9
    assert " added to " in display.title
    gone = int(np.flatnonzero(np.isnan(account.residual))[0])
    with pytest.raises(ValueError, match="has NaN"):
        WaterfallDisplay.from_result(account, row=gone)


def test_questions_to_accounts(account):
    known = np.isfinite(account.residual)
    found = account.most_uncertain(len(account))
    assert len(found) == known.sum()
    assert (np.diff(found.residual) <= 0).all()
    assert " before)" in repr(found)
    row = int(found.positions[0])
    told = account.explain_uncertainty(row)
    assert told.rank == (account.residual[known] < account.residual[row]).mean()
    assert all(np.isfinite(one.residual) for one in told.neighbours)
    with pytest.raises(ValueError, match=str(int(np.flatnonzero(~known)[0]))):
        account.explain_uncertainty(int(np.flatnonzero(~known)[0]))
    assert "nan" not in repr(account.subgroups()).lower()
    same = lm.compare(account, account)
    assert np.nanmin(same.row_correlation) == pytest.approx(1.0)
    assert "nan" not in repr(same)
    assert "nan" not in repr(account)
    assert "nan" not in account._repr_html_()
