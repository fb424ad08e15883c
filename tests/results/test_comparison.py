"""Two explanations of the same rows: what agrees, what changed, and what cannot be compared."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import spearmanr

import localmdi as lm
from localmdi.results import LocalImportance


def make(values, names=("age", "dose", "sex"), **changes):
    fields = {"unit": "bits", "feature_names": names, "n_trees": 10, **changes}
    return LocalImportance(np.asarray(values, dtype=float), **fields)


@pytest.fixture
def two():
    rng = np.random.default_rng(0)
    return make(rng.normal(size=(20, 3))), make(rng.normal(size=(20, 3)))


def test_correlations_are_those_of_scipy(two):
    first, second = two
    comparison = lm.compare(first, second)
    for i in range(20):
        expected = spearmanr(first.values[i], second.values[i]).statistic
        assert comparison.row_correlation[i] == pytest.approx(expected)
    for j in range(3):
        expected = spearmanr(first.values[:, j], second.values[:, j]).statistic
        assert comparison.feature_correlation[j] == pytest.approx(expected)


def test_a_result_agrees_with_itself(local):
    comparison = lm.compare(local, local)
    assert (comparison.row_change == 0).all()
    assert comparison.same_top_fraction == 1
    known = comparison.row_correlation
    np.testing.assert_allclose(known[np.isfinite(known)], 1)
    assert len(comparison.to_frame()) == 4


def test_features_are_matched_by_name(two):
    first, second = two
    turned = second[:, ["sex", "age", "dose"]]
    np.testing.assert_array_equal(
        lm.compare(first, turned).difference, lm.compare(first, second).difference
    )


def test_features_of_one_side_are_named(two):
    first, second = two
    second = dataclasses.replace(second, feature_names=("age", "dose", "income"))
    comparison = lm.compare(first, second, names=("old", "new"))
    assert comparison.feature_names == ("age", "dose")
    assert (comparison.only_first, comparison.only_second) == (("sex",), ("income",))
    assert "only in old: 'sex'" in repr(comparison)
    assert "only in new: 'income'" in repr(comparison)


def test_rows_that_changed_most(two):
    first, _ = two
    values = np.array(first.values)
    values[7, 1] += 9.0
    values[3] += [0.5, -0.5, 0.0]
    labels = np.array([f"patient {i}" for i in range(20)])
    first = dataclasses.replace(first, row_labels=labels)
    comparison = lm.compare(first, dataclasses.replace(first, values=values))
    assert comparison.order[:2].tolist() == [7, 3]
    frame = comparison.rows(2)
    assert frame["row"].tolist() == ["patient 7", "patient 3"]
    assert frame["change"].tolist() == pytest.approx([9.0, 1.0])
    assert frame["feature"].iloc[0] == "dose"
    assert frame["second"].iloc[0] - frame["first"].iloc[0] == pytest.approx(9.0)
    assert "row patient 7 changed most, by 9 bits" in repr(comparison)


def test_means_are_weighed():
    weight = np.array([1.0, 3.0])
    first = make([[1.0], [0.0]], ("age",), row_weight=weight)
    frame = lm.compare(first, make([[0.0], [0.0]], ("age",))).to_frame()
    assert frame["mean_first"].tolist() == [0.25]
    assert frame["difference"].tolist() == [-0.25]


def test_different_units_compare_orders_only(two):
    first, second = two
    comparison = lm.compare(first, dataclasses.replace(second, unit="gini"))
    assert comparison.unit is None
    assert "in bits and gini, so that only orders are compared" in repr(comparison)
    assert "difference" not in comparison.to_frame()
    assert list(comparison.rows(3)) == ["row", "rank_correlation"]
    lowest = np.argsort(comparison.row_correlation, kind="stable")
    np.testing.assert_array_equal(comparison.order, lowest)


def test_frames_are_of_the_explained_type(two):
    first, second = (dataclasses.replace(result, frame_type="polars") for result in two)
    comparison = lm.compare(first, second)
    assert isinstance(comparison.to_frame(), pl.DataFrame)
    assert isinstance(comparison.rows(3), pl.DataFrame)


def test_labels_of_pandas(two):
    first, second = (dataclasses.replace(r, row_labels=pd.RangeIndex(20)) for r in two)
    assert len(lm.compare(first, second).rows(30)) == 20
    with pytest.raises(ValueError, match="the labels at position 0 are 0 and 19"):
        lm.compare(first, second[::-1])


def test_one_feature_and_no_rows():
    one = lm.compare(make([[1.0], [2.0]], ("a",)), make([[1.0], [3.0]], ("a",)))
    assert "rank correlation" not in repr(one)
    assert "row 1 changed most, by 1 bit in all" in repr(one)
    empty = make(np.zeros((0, 1)), ("a",))
    assert repr(lm.compare(empty, empty)) == "Comparison: 0 rows, 1 shared feature, in bits"


@pytest.mark.parametrize(
    ("other", "error", "match"),
    [
        (make(np.zeros((19, 3))), ValueError, "got 20 and 19 rows"),
        (make(np.zeros((20, 1)), ("height",)), ValueError, "share features"),
        (make(np.zeros((20, 2)), ("age", "age")), ValueError, "several 'age'"),
        (np.zeros((20, 3)), TypeError, "got ndarray"),
    ],
    ids=["rows", "features", "double", "array"],
)
def test_what_cannot_be_compared(two, other, error, match):
    with pytest.raises(error, match=match):
        lm.compare(two[0], other)


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "a"), ("a", ""), ("row", "b")])
def test_wrong_names(two, names):
    with pytest.raises(ValueError, match="names must"):
        lm.compare(*two, names=names)


def test_no_rows_asked_for(two):
    with pytest.raises(ValueError, match="k must be at least 1"):
        lm.compare(*two).rows(0)


def test_picture(two):
    comparison = lm.compare(*two, names=("old", "new"))
    display = lm.plots.AgreementDisplay.from_result(comparison, method="spearman")
    assert display.names == ("old", "new")
    np.testing.assert_allclose(display.correlation[0, 1], comparison.row_correlation)
    plt.close(display.figure_)


def test_the_module_of_errors_is_still_found():
    assert "exceptions" not in lm.__all__
    assert issubclass(lm.exceptions.UnsupportedModelError, Exception)


def test_means_side_by_side(two):
    comparison = lm.compare(*two, names=("old", "new"))
    display = lm.plots.BarDisplay.from_result(comparison)
    assert display.labels == ("old", "new")
    for label, result in zip(("old", "new"), two, strict=True):
        drawn = display.values[display.labels.index(label)]
        expected = [
            result.mean().values[result.feature_names.index(n)] for n in display.feature_names
        ]
        np.testing.assert_allclose(drawn, expected)
    legend = display.ax_.get_legend() or display.figure_.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["old", "new"]
    plt.close(display.figure_)
    mixed = lm.compare(two[0], dataclasses.replace(two[1], honest=True))
    display = lm.plots.BarDisplay.from_result(mixed)
    assert "unseen" not in display.ax_.get_xlabel()
    plt.close(display.figure_)
    with pytest.raises(ValueError, match="the same unit"):
        lm.plots.BarDisplay.from_result(
            lm.compare(two[0], dataclasses.replace(two[1], unit="gini"))
        )
