"""Maps, matrices and curves: images, segments, interactions, agreement."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import pearsonr, spearmanr

import localmdi as lm
from localmdi.plots import AgreementDisplay, ImageDisplay, InteractionDisplay, SegmentDisplay
from plots import cases


class TestImage:
    def test_rows_and_their_mean(self):
        result = cases.local(n_features=12)
        one = ImageDisplay.from_result(result, row=7, shape=(3, 4))
        np.testing.assert_array_equal(one.values.ravel(), result.values[7])
        assert one.title == "row 7"
        mean = ImageDisplay.from_result(result, shape=(3, 4))
        np.testing.assert_array_equal(mean.values.ravel(), result.mean().values)
        same = ImageDisplay.from_result(result.mean(), shape=(3, 4))
        np.testing.assert_array_equal(mean.values, same.values)

    def test_the_scale_is_centred_on_zero(self):
        display = ImageDisplay.from_result(cases.local(n_features=64), row=0)
        low, high = display.mappable_.get_clim()
        assert -low == high == np.abs(display.values).max()

    def test_a_shared_scale_gives_equal_values_equal_colours(self):
        axes = Figure().subplots(1, 2)
        maps = (
            ImageDisplay(np.array([[0.1, end]]), unit="bits").plot(ax, vmax=2, colorbar=False)
            for ax, end in zip(axes, (0.2, 2.0), strict=True)
        )
        colours = [display.mappable_.to_rgba(display.values)[0, 0] for display in maps]
        np.testing.assert_array_equal(*colours)
        assert len(axes[0].figure.axes) == 2

    def test_all_zero(self):
        assert ImageDisplay(np.zeros((2, 2)), unit="bits").plot().mappable_.get_clim() == (-1, 1)


class TestSegments:
    def test_a_one_is_lit_on_the_right(self):
        display = SegmentDisplay.from_result(cases.led(), row=1)
        widths = np.array(display.mappable_.get_linewidth())
        assert (widths > 1).tolist() == [0, 0, 1, 0, 0, 1, 0]
        corners = [path.vertices for path in display.mappable_.get_paths()]
        right = [c[:, 0].min() > 0.5 for c in corners]
        assert [bool(x) for x in right] == [False, False, True, False, False, True, False]
        height = [round(c[:-1, 1].mean(), 2) for c in corners]
        assert height == [2.0, 1.5, 1.5, 1.0, 0.5, 0.5, 0.0]

    def test_values_are_written_on_the_segments(self):
        display = SegmentDisplay.from_result(cases.led(), row=6)
        assert [text.get_text() for text in display.ax_.texts] == [
            f"{value:.2f}" for value in cases.led().values[6]
        ]

    def test_no_letters_where_they_could_not_be_read(self):
        ax = Figure(figsize=(0.8, 0.8)).subplots()
        assert not SegmentDisplay.from_result(cases.led(), row=6, colorbar=False, ax=ax).ax_.texts

    def test_further_features_are_not_segments(self):
        result = cases.local(n_features=9)
        np.testing.assert_array_equal(
            SegmentDisplay.from_result(result, row=0).values, result.values[0, :7]
        )


class TestInteraction:
    def test_pairs_on_the_paths_of_a_forest(self):
        X, y = lm.datasets.make_led()
        forest = lm.RandomizedForestClassifier(50, random_state=0).fit(X, y)
        result = lm.local_interactions(forest, X, pairs="all")
        display = InteractionDisplay.from_result(result)
        np.testing.assert_array_equal(display.values, result.matrix())
        one = InteractionDisplay.from_result(result, row=6, max_features=3)
        assert one.values.shape == (3, 3)
        assert one.title == "row 6"
        assert "after" in one.key
        index = lm.local_interactions(forest, X, index="SII", training=X, pairs="all")
        assert InteractionDisplay.from_result(index).key == "redundancy < 0 < synergy"

    def test_rows_and_their_mean(self):
        result = cases.pairs()
        np.testing.assert_array_equal(InteractionDisplay.from_result(result).values, result.mean())
        one = InteractionDisplay.from_result(result, row=6)
        np.testing.assert_array_equal(one.values, result.values[6])
        assert one.mappable_.get_array().mask.diagonal().all()

    def test_the_strongest_features_keep_their_order(self):
        result = cases.pairs()
        display = InteractionDisplay.from_result(result, max_features=3)
        strength = np.nansum(np.abs(result.mean()), axis=1)
        kept = np.sort(np.argsort(-strength, kind="stable")[:3])
        assert display.feature_names == tuple(result.feature_names[i] for i in kept)
        np.testing.assert_array_equal(display.values, result.mean()[np.ix_(kept, kept)])
        assert "3 of 7 features" in display.ax_.get_title()

    def test_numbers_stand_in_their_cells(self):
        display = InteractionDisplay.from_result(cases.pairs())
        for text in display.ax_.texts:
            j, i = text.get_position()
            written = float(text.get_text().replace("\N{MINUS SIGN}", "-"))
            assert written == pytest.approx(display.values[i, j], abs=0.0051)
        assert len(display.ax_.texts) == 42


class TestAgreement:
    @pytest.mark.parametrize(("method", "judge"), [("pearson", pearsonr), ("spearman", spearmanr)])
    def test_correlations_are_scipy_s(self, method, judge):
        measures = cases.measures(25)
        display = AgreementDisplay.from_result(measures, method=method)
        ours, other = measures["local MDI"].values, measures["turned"]
        expected = [judge(a, b).statistic for a, b in zip(ours, other, strict=True)]
        np.testing.assert_allclose(display.correlation[0, 2], expected, atol=1e-12)
        np.testing.assert_allclose(display.matrix[0, 2], np.mean(expected))
        np.testing.assert_allclose(display.matrix, display.matrix.T)
        np.testing.assert_allclose(display.matrix.diagonal(), 1)

    def test_curves_rise(self):
        display = AgreementDisplay.from_result(cases.measures())
        curves = [line for line in display.ax_[0].lines if len(line.get_ydata()) > 2]
        assert [line.get_label() for line in curves] == ["doubled", "turned"]
        for line, i in zip(curves, (1, 2), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), np.sort(display.correlation[0, i]))

    def test_absolute_values(self):
        ours = cases.local().values
        display = AgreementDisplay.from_result({"a": ours, "b": -ours}, absolute=True)
        np.testing.assert_allclose(display.correlation, 1)
        assert "of absolute values" in display.ax_[0].get_ylabel()

    def test_rows_without_a_correlation_are_left_out(self):
        ours = cases.local().values
        other = ours.copy()
        other[:10] = 0.1  # not a power of two: the mean of equal numbers is rounded
        display = AgreementDisplay.from_result({"a": ours, "b": other})
        assert np.isnan(display.correlation[0, 1]).sum() == 10
        assert display.matrix[0, 1] == pytest.approx(1)
        (curve,) = (line for line in display.ax_[0].lines if len(line.get_ydata()) > 2)
        assert len(curve.get_ydata()) == 50

    def test_a_measure_that_never_varies(self):
        ours = cases.local().values
        display = AgreementDisplay.from_result({"a": ours, "b": np.zeros_like(ours)})
        assert np.isnan(display.matrix[0, 1])
        assert "none" in [text.get_text() for text in display.ax_[1].texts]

    def test_scale_does_not_matter(self):
        ours = cases.local().values
        display = AgreementDisplay.from_result({"a": ours, "b": ours * 1e-200, "c": ours * 1e200})
        np.testing.assert_allclose(display.correlation, 1)
