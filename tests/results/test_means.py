"""mean and group: sums over rows and over features."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from localmdi.results import LocalImportance


def test_mean_by_hand(local):
    mean = local.mean()
    np.testing.assert_allclose(mean.values, [0.5, 1 / 6, 0.125 / 3, 0.0], rtol=1e-15)
    assert (mean.unit, mean.n_trees, mean.feature_names) == ("bits", 10, local.feature_names)
    assert (mean.weight, mean.baseline, mean.standard_error) == (3.0, 1.0, None)


@pytest.mark.parametrize("sparse", [False, True])
def test_weighted_mean_by_hand(make_local, sparse):
    weight = np.array([1.0, 2.0, 0.0])
    mean = make_local(row_weight=weight, baseline=np.array([1.0, 4.0, 9.0]), sparse=sparse).mean()
    np.testing.assert_allclose(mean.values, [0.5 / 3, 1 / 3, 0.0, 0.0], atol=1e-16)
    assert mean.weight == 3.0
    assert mean.baseline == pytest.approx(3.0)


def test_mean_carries_the_error_of_its_pass_only(make_local):
    result = make_local(mean_standard_error=np.arange(4.0))
    np.testing.assert_array_equal(result.mean().standard_error, np.arange(4.0))
    assert result[1:].mean().standard_error is None
    assert result.mean(by=[0, 0, 0])[0].standard_error is None


def test_mean_needs_weight(make_local):
    with pytest.raises(ValueError, match="got a result of no rows"):
        make_local()[:0].mean()
    with pytest.raises(ValueError, match=r"sum to 0\.0"):
        make_local(row_weight=np.zeros(3)).mean()
    with pytest.raises(ValueError, match="of label 'a' that sum to"):
        make_local(row_weight=np.array([0.0, 1.0, 0.0])).mean(by=["a", "b", "a"])


LABELS = {
    "list": ["b", "a", "b"],
    "array": np.array(["b", "a", "b"]),
    "objects": np.array(["b", "a", "b"], dtype=object),
    "series": pd.Series(["b", "a", "b"], index=[7, 8, 9]),
    "string": pd.Series(["b", "a", "b"], dtype="string"),
    "categorical": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]),
    "index": pd.Index(["b", "a", "b"]),
    "polars": pl.Series(["b", "a", "b"]),
    "pyarrow": pa.array(["b", "a", "b"]),
    "chunked": pa.chunked_array([["b"], ["a", "b"]]),
    "tuple": ("b", "a", "b"),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_mean_by_label(local, labels):
    means = local.mean(by=labels)
    assert list(means) == ["a", "b"]
    np.testing.assert_array_equal(means["a"].values, [0.0, 0.5, -0.125, 0.0])
    np.testing.assert_array_equal(means["b"].values, [0.75, 0.0, 0.125, 0.0])
    assert [mean.weight for mean in means.values()] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (pd.array([2, 1, 2], dtype="Int64"), [1, 2]),
        (np.array([2, 1, 2]), [1, 2]),
        (np.array([True, False, True]), [False, True]),
        (["x", 3, "x"], ["x", 3]),
        ([np.float64(2.0), np.float64(1.0), 2], [1.0, 2.0]),
        (
            np.array(["2026-01-02", "2026-01-01", "2026-01-02"], dtype="M8[ns]"),
            [np.datetime64("2026-01-01"), np.datetime64("2026-01-02")],
        ),
        ([datetime.date(2026, 1, 2)] * 3, [datetime.date(2026, 1, 2)]),
    ],
)
def test_labels_of_other_types(local, labels, keys):
    assert list(local.mean(by=labels)) == keys


@pytest.mark.parametrize("labels", [[3, 1, 2, "x"], [5, 4, "x", 1], ["b", "a", 1, "b"]])
def test_labels_that_cannot_be_sorted_keep_their_rows_and_their_order(labels):
    values = np.arange(4.0)
    result = LocalImportance(
        values[:, None], unit="bits", feature_names=("age",), n_trees=1, measure="gain"
    )
    means = result.mean(by=labels)
    assert list(means) == list(dict.fromkeys(labels))
    for label, mean in means.items():
        assert mean.values[0] == np.mean(
            [v for v, x in zip(values, labels, strict=True) if x == label]
        )


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b"],
        [1.0, np.nan, 1.0],
        np.array([1.0, np.nan, 1.0]),
        pd.Series(["a", None, "b"]),
        pd.array([1, None, 1], dtype="Int64"),
        pd.Categorical(["a", None, "b"]),
        pd.to_datetime(["2026-01-01", None, "2026-01-01"]),
        np.array(["2026-01-01", "NaT", "2026-01-01"], dtype="M8[D]"),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
    ],
)
def test_missing_labels_are_an_error(local, labels):
    with pytest.raises(ValueError, match="every row must have a label"):
        local.mean(by=labels)


def test_wrong_labels(local):
    for labels in (["a", "b"], "sex", "abc"):
        with pytest.raises(ValueError, match="one entry per row"):
            local.mean(by=labels)
    with pytest.raises(TypeError, match="hashable"):
        local.mean(by=[["a"], ["b"], ["c"]])
    assert local[:0].mean(by=[]) == {}


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_means_by_label_are_the_means_of_the_selected_rows(seed, n, n_labels, weighted):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.5)
    labels = rng.integers(0, n_labels, size=n)
    weight = rng.random(n) + 0.1 if weighted else None
    for matrix in (values, csr_array(values)):
        result = LocalImportance(
            matrix, rng.random(n), residual=np.zeros(n), unit="gini",
            feature_names=("a", "b", "c"), n_trees=1, row_weight=weight,
        )  # fmt: skip
        means = result.mean(by=labels)
        for label, mean in means.items():
            alone = result[labels == label].mean()
            np.testing.assert_allclose(mean.values, alone.values, atol=1e-14)
            assert mean.weight == pytest.approx(alone.weight)
            assert mean.baseline == pytest.approx(alone.baseline)
        np.testing.assert_allclose(
            sum(m.values * m.weight for m in means.values())
            / sum(m.weight for m in means.values()),
            result.mean().values,
            atol=1e-14,
        )


def test_group_by_hand(local, as_dense):
    grouped = local.group({"sex": ["sex_m", "sex_f"]})
    assert grouped.feature_names == ("age", "sex", "dose")
    np.testing.assert_array_equal(
        as_dense(grouped.values), [[0.5, 0.0, 0.25], [0.0, 0.5, -0.125], [1.0, 0.0, 0.0]]
    )
    assert issparse(grouped.values) == issparse(local.values)
    assert grouped.additivity_error() == 0.0


def test_a_renamed_feature_keeps_its_error_and_its_data(make_local):
    result = make_local(
        standard_error=np.ones((3, 4)), mean_standard_error=np.ones(4), data=np.zeros((3, 4))
    ).group({"a": ["age"]})
    assert result.feature_names == ("a", "sex_f", "dose", "sex_m")
    assert (result.standard_error == 1).all()
    assert (result.mean_standard_error == 1).all()
    assert (result.data == 0).all()


def test_groups_may_take_the_name_of_a_member_and_of_a_member_elsewhere(local, as_dense):
    grouped = local.group({"dose": ["age", "dose"], "age": ["sex_f", "sex_m"]})
    assert grouped.feature_names == ("dose", "age")
    np.testing.assert_array_equal(
        as_dense(grouped.values), [[0.75, 0.0], [-0.125, 0.5], [1.0, 0.0]]
    )


def test_group_of_a_repeated_name_takes_all_its_columns(make_local):
    twice = make_local(feature_names=("a", "a", "b", "c"))
    np.testing.assert_array_equal(twice.group({"g": ["a"]}).values[:, 0], [0.5, 0.5, 1.0])
    assert twice.group({"g": ["b"]}).feature_names == ("a", "a", "g", "c")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"g": ["age", "height"]}, "'height' in 'g': an unknown feature"),
        ({"g": ["age"], "h": ["age"]}, "'age' in 'h': twice"),
        ({"g": ["age", "age"]}, "'age' in 'g': twice"),
        ({"g": "age"}, "a list of at least one feature"),
        ({"g": []}, "a list of at least one feature"),
        ({"g": 3}, "a list of at least one feature"),
        ({3: ["age"]}, "a list of at least one feature"),
        ({"age": "g"}, "a list of at least one feature"),
        ({"dose": ["age", "sex_f"]}, "'dose'. Rename the group"),
        (["age"], "dict of group name"),
    ],
)
def test_wrong_mappings(local, mapping, message):
    with pytest.raises((TypeError, ValueError), match=message):
        local.group(mapping)
    with pytest.raises((TypeError, ValueError), match=message):
        local.mean().group(mapping)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_group_then_mean_is_mean_then_group(groups, seed):
    p = len(groups)
    names = [f"x{i}" for i in range(p)]
    mapping = {f"g{g}": [names[i] for i in range(p) if groups[i] == g] for g in set(groups)}
    values = np.random.default_rng(seed).normal(size=(5, p))
    for matrix in (values, csr_array(values)):
        result = LocalImportance(
            matrix, 0.0, residual=-values.sum(axis=1), unit="bits", feature_names=names, n_trees=1
        )
        one, two = result.group(mapping).mean(), result.mean().group(mapping)
        assert one.feature_names == two.feature_names
        np.testing.assert_allclose(one.values, two.values, atol=1e-14)
        assert result.group(mapping).additivity_error() < 1e-14
