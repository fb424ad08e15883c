"""top(k): the largest absolute values of each row, dense and sparse alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array

from localmdi.results.frames import top_of_rows


def test_by_hand(local):
    top = local.top(2)
    np.testing.assert_array_equal(top.indices, [[0, 2], [1, 2], [0, 1]])
    np.testing.assert_array_equal(top.values, [[0.5, 0.25], [0.5, -0.125], [1.0, 0.0]])
    assert top.indices.dtype == np.int64
    assert top.names.tolist() == [["age", "dose"], ["sex_f", "dose"], ["age", "sex_f"]]
    assert len(top) == 3


def test_k_is_cut_to_the_number_of_features(local):
    np.testing.assert_array_equal(local.top(10).indices[1], [1, 2, 0, 3])


@pytest.mark.parametrize("k", [0, -1, 2.0, True, None])
def test_wrong_k(local, k):
    with pytest.raises((TypeError, ValueError), match=r"k must be .*; got .*\. Pass"):
        local.top(k)


VALUES = npst.arrays(
    np.float64,
    npst.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=7),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 1e-300]),
)


@given(VALUES, st.integers(1, 8))
@settings(max_examples=150, deadline=None)
def test_dense_and_sparse_equal_sorting_in_python(values, k):
    for matrix in (values, csr_array(values)):
        indices, top = top_of_rows(matrix, k)
        for row, chosen, signed in zip(values.tolist(), indices, top, strict=True):
            order = sorted(range(len(row)), key=lambda j, row=row: (-abs(row[j]), j))[:k]
            assert chosen.tolist() == order
            assert signed.tolist() == [row[j] for j in order]


def test_stored_zeros_count_as_zeros():
    stored = csr_array((np.array([0.0, 0.0]), np.array([2, 3]), np.array([0, 2])), shape=(1, 4))
    np.testing.assert_array_equal(top_of_rows(stored, 3)[0], [[0, 1, 2]])


def test_blocks_of_rows_do_not_matter(monkeypatch):
    values = np.random.default_rng(0).normal(size=(7, 5))
    whole = top_of_rows(values, 3)
    monkeypatch.setattr("localmdi.results.frames._BLOCK", 10)
    for got, expected in zip(top_of_rows(values, 3), whole, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_wide_sparse_values_are_not_made_dense():
    wide = csr_array((np.ones(2), np.array([5, 10**9]), np.array([0, 1, 2])), shape=(2, 2 * 10**9))
    np.testing.assert_array_equal(top_of_rows(wide, 2)[0], [[5, 0], [10**9, 0]])


def test_long_frame(make_local):
    frame = make_local(row_labels=pd.Index(["x", "y", "z"]), frame_type="pandas").top(2).to_frame()
    assert frame.columns.tolist() == ["row", "rank", "feature", "value"]
    assert frame.iloc[3].tolist() == ["y", 2, "dose", -0.125]
    assert len(frame) == 6


@pytest.mark.parametrize("frame_type", ["polars", "pyarrow"])
def test_long_frame_of_other_types(make_local, frame_type):
    frame = make_local(frame_type=frame_type).top(2).to_frame()
    rows = frame.rows(named=True) if isinstance(frame, pl.DataFrame) else frame.to_pylist()
    assert rows[3] == {"row": 1, "rank": 2, "feature": "dose", "value": -0.125}


@pytest.mark.parametrize(
    "labels",
    [
        pd.date_range("2026-01-01", periods=3, tz="Europe/Brussels"),
        pd.MultiIndex.from_product([["a"], [1, 2, 3]]),
        np.array([7, 8, 9]),
    ],
)
def test_long_frame_keeps_labels_of_any_type(make_local, labels):
    frame = make_local(row_labels=labels).top(1).to_frame()
    assert frame["row"].tolist() == labels.tolist()
    frame.loc[0, "value"] = 9.0


def test_repr_is_short(make_local):
    text = repr(make_local()[[0, 1] * 4].top(2)).splitlines()
    assert text[:2] == ["TopFeatures: 8 rows, 2 of 4 features", "  age 0.5, dose 0.25"]
    assert len(text) == 7
