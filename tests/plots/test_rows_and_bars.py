"""What bars, beeswarms, heatmaps and scatters show is what the result holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from scipy.sparse import csr_array

from localmdi.plots import BarDisplay, BeeswarmDisplay, DependenceDisplay, HeatmapDisplay
from localmdi.plots.rows import swarm
from plots import cases


def dots(display):
    return [c for c in display.ax_.collections if isinstance(c, PathCollection)]


def tick_words(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


class TestBar:
    def test_one_bar_per_feature_strongest_first(self):
        result = cases.global_()
        display = BarDisplay.from_result(result, max_features=3)
        widths = [patch.get_width() for patch in display.ax_.patches]
        assert widths == [1.0, 0.5, pytest.approx(1 / 3)]
        assert tick_words(display.ax_.yaxis) == ["feature 0", "feature 1", "feature 2"]
        assert display.n_others == 5
        assert display.others == pytest.approx(result.values[3:].sum())
        assert "5 other features together" in display.ax_.get_xlabel()

    def test_whiskers_are_95_percent_intervals(self):
        display = BarDisplay.from_result(cases.global_())
        (whiskers,) = (c for c in display.ax_.containers if hasattr(c, "has_xerr"))
        (lines,) = whiskers.lines[2]
        low, high = lines.get_segments()[0][:, 0]
        assert (low, high) == pytest.approx((1 - 0.196, 1 + 0.196))
        assert "95\N{NO-BREAK SPACE}% interval over trees" in display.ax_.get_xlabel()

    def test_one_tree_has_no_whiskers(self):
        result = cases.global_(standard_error=np.full(8, np.nan), n_trees=1)
        assert "interval" not in BarDisplay.from_result(result).ax_.get_xlabel()

    def test_colours_tell_the_sign(self):
        display = BarDisplay.from_result(cases.global_())
        colours = [to_hex(patch.get_facecolor()) for patch in display.ax_.patches]
        assert len(set(colours[:-1])) == 1
        assert colours[-1] != colours[0]

    def test_local_results_are_drawn_as_their_mean(self):
        result = cases.local()
        display = BarDisplay.from_result(result)
        expected = np.sort(np.abs(result.mean().values))[::-1]
        np.testing.assert_allclose(np.abs(display.values[0]), expected)

    def test_by_label(self):
        result = cases.local()
        means = result.mean(by=cases.labels())
        display = BarDisplay.from_result(means, max_features=4)
        assert display.labels == ("ill", "well")
        assert display.values.shape == (2, 4)
        assert len(display.ax_.patches) == 8
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["ill", "well"]
        # What is not shown is weighed by the rows, as the mean of all rows is.
        shown = [result.feature_names.index(name) for name in display.feature_names]
        rest = np.delete(result.mean().values, shown).sum()
        assert display.others == pytest.approx(rest)


class TestBeeswarm:
    def test_one_dot_per_row_and_feature(self):
        result = cases.local(50)
        display = BeeswarmDisplay.from_result(result, max_features=5)
        assert [len(line.get_offsets()) for line in dots(display)] == [50] * 5
        strength = np.abs(result.values).mean(axis=0)
        order = [result.feature_names.index(name) for name in display.feature_names]
        assert order == np.argsort(-strength)[:5].tolist()
        for j, line in zip(order, dots(display), strict=True):
            np.testing.assert_array_equal(line.get_offsets()[:, 0], result.values[:, j])

    def test_many_rows_are_thinned_and_said_so(self):
        display = BeeswarmDisplay.from_result(cases.local(500), max_rows=100)
        assert display.values.shape[0] == 100
        assert "100 of 500 rows" in display.ax_.get_xlabel()

    def test_levels_run_from_low_to_high(self):
        display = BeeswarmDisplay.from_result(cases.mixed())
        levels = dict(zip(display.feature_names, display.level.T, strict=True))
        assert np.isnan(levels["region"]).all()
        assert np.isnan(levels["smoker"]).all()
        dose = levels["dose"]
        assert np.isnan(dose[2::7]).all()
        known = dose[~np.isnan(dose)]
        assert (known[0], known[-1]) == (0.0, 1.0)
        assert (np.diff(known) >= 0).all()
        assert not np.isnan(levels["visits"][[0, 1, 2]]).any()

    def test_constant_and_extreme_columns(self):
        data = np.ones((60, 8))
        data[:, 1] = np.where(np.arange(60) % 2, 1e308, -1e308)
        data[:, 2] = np.inf
        data[::2, 3] = np.nan
        data[0, 4] = 5.0
        display = BeeswarmDisplay.from_result(cases.local(data=data))
        levels = dict(zip(display.feature_names, display.level.T, strict=True))
        assert set(levels["feature 0"]) == {0.5}
        assert set(levels["feature 1"]) == {0.0, 1.0}
        assert np.isnan(levels["feature 2"]).all()
        assert set(levels["feature 3"][1::2]) == {0.5}
        assert set(levels["feature 4"]) == {0.0, 1.0}

    def test_without_data_all_dots_are_grey_and_there_is_no_key(self):
        display = BeeswarmDisplay.from_result(cases.local(data=None))
        assert display.level is None
        assert len(display.figure_.axes) == 1

    @given(st.lists(st.floats(-1, 1), min_size=1, max_size=200))
    def test_dots_of_a_line_do_not_hide_each_other(self, values):
        values = np.round(np.array(values), 1)
        offset = swarm(values, (values.min(), values.max()))
        assert np.abs(offset).max() <= 0.45
        assert len(np.unique(np.stack([values, offset]), axis=1).T) == len(values)


class TestHeatmap:
    def test_rows_are_permuted_and_features_sorted(self):
        result = cases.local()
        display = HeatmapDisplay.from_result(result, max_features=3)
        assert sorted(display.rows) == list(range(60))
        columns = [result.feature_names.index(name) for name in display.feature_names]
        np.testing.assert_array_equal(display.values, result.values[display.rows][:, columns])
        np.testing.assert_array_equal(display.mappable_.get_array(), display.values.T)

    def test_similar_rows_are_neighbours(self):
        # Two kinds of rows in turn: sorted, the kind changes once.
        values = np.where(np.arange(20)[:, None] % 2, 1.0, 5.0) + np.arange(20)[:, None] / 1000
        result = cases.local(20, 1)
        display = HeatmapDisplay.from_result(replace(result, values=values))
        assert np.count_nonzero(np.diff(display.rows % 2)) == 1

    def test_groups_stand_together_in_order(self):
        display = HeatmapDisplay.from_result(cases.local(), by=cases.labels())
        assert display.groups == (("ill", 20), ("well", 40))
        assert list(cases.labels()[display.rows]) == ["ill"] * 20 + ["well"] * 40
        assert [text.get_text() for text in display.ax_.texts] == ["ill", "well"]

    def test_given_orders(self):
        result = cases.local()
        assert HeatmapDisplay.from_result(result, order="given").rows.tolist() == list(range(60))
        chosen = HeatmapDisplay.from_result(result, order=[5, 3, 9])
        assert chosen.rows.tolist() == [5, 3, 9]
        assert "3 of 60 rows" in chosen.ax_.get_xlabel()

    def test_a_list_of_labels_and_no_key(self):
        display = HeatmapDisplay.from_result(cases.local(), by=cases.labels().tolist())
        assert display.groups == (("ill", 20), ("well", 40))
        n_axes = len(display.figure_.axes)
        figure = display.plot(vmax=0.1, colorbar=False).figure_
        assert (n_axes, len(figure.axes)) == (2, 1)
        assert display.mappable_.get_clim() == (-0.1, 0.1)

    def test_missing_labels_come_last(self):
        by = pd.Series(cases.labels(), dtype=object)
        by[4] = None
        groups = HeatmapDisplay.from_result(cases.local(), by=by).groups
        assert groups == (("ill", 20), ("well", 39), ("missing", 1))


class TestDependence:
    def test_orange_is_what_raised_the_uncertainty(self):
        from matplotlib.colors import to_rgb

        from localmdi.plots.style import ADDED, REMOVED

        display = DependenceDisplay.from_result(cases.mixed(), feature="dose")
        colours = display.ax_.collections[0].get_facecolors()[:, :3]
        assert (display.values < 0).any()
        for colour, value in zip(colours, display.values, strict=True):
            np.testing.assert_allclose(colour, to_rgb(ADDED if value < 0 else REMOVED))

    def test_numbers_against_importance(self):
        result = cases.local()
        display = DependenceDisplay.from_result(result, feature=2)
        (drawn,) = dots(display)
        np.testing.assert_array_equal(drawn.get_offsets()[:, 0], result.data[:, 2])
        np.testing.assert_array_equal(drawn.get_offsets()[:, 1], result.values[:, 2])

    def test_missing_numbers_have_a_place_of_their_own(self):
        display = DependenceDisplay.from_result(cases.mixed(), feature="dose")
        (drawn,) = dots(display)
        x = drawn.get_offsets()[:, 0]
        missing = np.isnan(display.position)
        assert missing.sum() == 9
        assert x[missing].min() > x[~missing].max()
        assert tick_words(display.ax_.xaxis)[-1] == "missing"

    def test_categories_stand_beside_each_other(self):
        display = DependenceDisplay.from_result(cases.mixed(), feature="region")
        (drawn,) = dots(display)
        x = drawn.get_offsets()[:, 0]
        words = tick_words(display.ax_.xaxis)
        assert words == ["east", "north", "south", "missing"]
        column = cases.mixed().data["region"].astype(object).fillna("missing")
        assert [words[round(place)] for place in x] == column.tolist()

    def test_groups_are_told_apart_by_colour_and_marker(self):
        display = DependenceDisplay.from_result(cases.local(), feature=0, by=cases.labels())
        ill, well = dots(display)
        assert (len(ill.get_offsets()), len(well.get_offsets())) == (20, 40)
        assert not np.array_equal(ill.get_facecolor(), well.get_facecolor())
        assert len(ill.get_paths()[0].vertices) != len(well.get_paths()[0].vertices)

    def test_many_rows_are_thinned_and_said_so(self):
        display = DependenceDisplay.from_result(
            cases.local(), feature=0, by=cases.labels(), max_rows=7
        )
        assert len(display.values) == len(display.groups.code) == 7
        assert "7 of 60 rows" in display.ax_.get_xlabel()

    def test_nothing_but_missing_values(self):
        result = cases.local(data=np.full((60, 8), np.nan))
        display = DependenceDisplay.from_result(result, feature=0)
        assert tick_words(display.ax_.xaxis) == ["missing"]


@pytest.mark.parametrize("display", [BarDisplay, BeeswarmDisplay, HeatmapDisplay])
def test_sparse_values(display):
    result = cases.local()
    one = display.from_result(result)
    two = display.from_result(replace(result, values=csr_array(result.values)))
    np.testing.assert_allclose(one.values, two.values, rtol=1e-15)
    assert one.feature_names == two.feature_names


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csr", "coo", "list of objects"])
def test_data_of_any_type(kind):
    import polars
    import pyarrow
    import scipy.sparse

    result = cases.local()
    frame = pd.DataFrame(result.data, columns=result.feature_names)
    data = {
        "pandas": frame,
        "polars": polars.from_pandas(frame),
        "pyarrow": pyarrow.Table.from_pandas(frame),
        "csr": scipy.sparse.csr_array(result.data),
        "coo": scipy.sparse.coo_matrix(result.data),
        "list of objects": result.data.astype(object),
    }[kind]
    other = replace(result, data=data)
    one, two = (BeeswarmDisplay.from_result(r, max_features=3) for r in (result, other))
    np.testing.assert_array_equal(one.level, two.level)
    one, two = (DependenceDisplay.from_result(r, feature=1) for r in (result, other))
    np.testing.assert_array_equal(one.position, two.position)
