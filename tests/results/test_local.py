"""LocalImportance: what it accepts, keeps and shows; additivity; joining."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from localmdi.results import GlobalImportance, LocalImportance


def test_shape_len_and_array(local):
    assert local.shape == (3, 4)
    assert len(local) == 3
    np.testing.assert_array_equal(np.asarray(local)[1], [0.0, 0.5, -0.125, 0.0])
    assert np.asarray(local, dtype=np.float32).dtype == np.float32


def test_arrays_are_read_only_views_of_the_callers_own():
    values, residual, weight = np.zeros((2, 1)), np.zeros(2), np.ones(2)
    result = LocalImportance(
        values, 0.0, residual=residual, unit="bits", feature_names=["a"], n_trees=1,
        row_weight=weight, standard_error=np.zeros((2, 1)), mean_standard_error=np.zeros(1),
    )  # fmt: skip
    for name in ("values", "residual", "row_weight", "standard_error", "mean_standard_error"):
        assert not getattr(result, name).flags.writeable, name
    assert np.shares_memory(result.values, values)
    values[0, 0] = residual[0] = weight[0] = 3.0
    assert result.values[0, 0] == 3.0
    assert result.feature_names == ("a",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.unit = "gini"


def test_csr_is_shared_and_read_only_and_the_callers_stays_writeable(make_local):
    own = csr_array(make_local().values)
    result = make_local(values=own)
    assert np.shares_memory(result.values.data, own.data)
    assert not result.values.data.flags.writeable
    assert not result.values.indices.flags.writeable
    own.data[0] = 9.0
    assert result.values[0, 0] == 9.0


def test_csr_with_repeated_and_unsorted_entries_is_put_in_order(make_local):
    data, indices = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2])
    messy = csr_array((data, indices, np.array([0, 3, 3, 3])), shape=(3, 4))
    result = make_local(values=messy)
    np.testing.assert_array_equal(result.values.toarray()[0], [2.0, 0.0, 5.0, 0.0])
    assert result.values.has_canonical_format
    assert messy.nnz == 3


def test_csr_matrix_becomes_csr_array(make_local):
    assert isinstance(make_local(values=csr_matrix(make_local().values)).values, csr_array)


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([7, 0, 0], [0, 1, 2, 3]), ([-1, 0, 0], [0, 1, 2, 3]), ([0, 0, 0], [0, 100, 2, 3])],
)
def test_corrupt_csr_is_refused(make_local, indices, indptr):
    # SciPy's constructor looks at neither, and would read beyond the arrays later.
    broken = csr_array((np.ones(3), np.array(indices), np.array(indptr)), shape=(3, 4))
    with pytest.raises(ValueError, match=r"scipy\.sparse\.csr_array"):
        make_local(values=broken)


BAD = {
    "values": [
        np.zeros((3, 4), dtype=np.float32), np.zeros((3, 5)), np.zeros(4), [[0.0] * 4] * 3,
        csc_array(np.zeros((3, 4))), coo_array(np.zeros((3, 4))),
    ],
    "baseline": [np.zeros(2), "1", None, True],
    "residual": [np.zeros(2), np.zeros((3, 1)), [0.0] * 3, np.zeros(3, dtype=int)],
    "unit": ["", None, 3],
    "feature_names": ["abcd", ("a", "b", "c", 4), None],
    "n_trees": [-1, 2.0, True, None],
    "data": [np.zeros((2, 4)), [[0] * 4] * 3, 5],
    "row_weight": [np.ones(2), np.array([1.0, -1.0, 1.0]), np.array([1.0, np.nan, 1.0])],
    "standard_error": [np.zeros((3, 3)), np.zeros((2, 4))],
    "mean_standard_error": [np.zeros(3)],
    "row_labels": [["a", "b", "c"], np.arange(2), np.zeros((3, 1))],
    "frame_type": ["dask", 3],
    "method": ["", 5],
    "measure": ["entropy", "", None, 3, ["drop"]],
    "honest": [None, 1, "yes"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in BAD.items() for value in values]
)
def test_wrong_fields_are_refused_by_name(make_local, field, value):
    with pytest.raises((TypeError, ValueError), match=f"{field}.* must .*; got .*\\. [A-Z]"):
        make_local(**{field: value})


def test_wrong_arrays_are_described(make_local):
    with pytest.raises((TypeError, ValueError), match=r"got float32 of shape \(3, 5\)"):
        make_local(values=np.zeros((3, 5), dtype=np.float32))
    with pytest.raises((TypeError, ValueError), match=r"got csc float64 of shape \(3, 4\)"):
        make_local(values=csc_array(np.zeros((3, 4))))


def test_numpy_scalars_become_python_numbers(make_local):
    result = make_local(baseline=np.float64(1.0), n_trees=np.int64(10))
    assert (type(result.baseline), type(result.n_trees)) == (float, int)


def test_additivity(local, make_local):
    assert local.additivity_error() == 0.0
    rows = make_local(baseline=np.array([1.0, 1.0, 1.5]))
    assert rows.additivity_error() == 0.5
    assert local[:0].additivity_error() == 0.0


def test_repr_tells_the_largest_features(local, make_local):
    text = repr(local).splitlines()
    assert text[0] == "LocalImportance: 3 rows, 4 features, 10 trees, in bits"
    assert text[1] == "  baseline 1, mean residual 0.2917"
    assert [line.split() for line in text[3:]] == [
        ["age", "0.5"], ["sex_f", "0.1667"], ["dose", "0.04167"], ["..."],
    ]  # fmt: skip
    assert "mean baseline 2" in repr(make_local(baseline=np.array([1.0, 2.0, 3.0])))
    assert repr(local[:0]) == "LocalImportance: 0 rows, 4 features, 10 trees, in bits"


def test_repr_of_a_large_result_looks_at_some_rows(make_local, monkeypatch):
    monkeypatch.setattr("localmdi.results.shown._MAX_VALUES", 8)
    assert "of the first 2 rows" in repr(make_local())
    assert ["dose", "0.0625"] in [line.split() for line in repr(make_local()).splitlines()]


def test_pickle(local, as_dense):
    copy = pickle.loads(pickle.dumps(local))
    np.testing.assert_array_equal(as_dense(copy.values), as_dense(local.values))
    assert copy.feature_names == local.feature_names


def test_concat_undoes_slicing(local, as_dense):
    joined = LocalImportance.concat(part for part in (local[:1], local[1:1], local[1:]))
    np.testing.assert_array_equal(as_dense(joined.values), as_dense(local.values))
    np.testing.assert_array_equal(joined.residual, local.residual)
    assert joined.baseline == 1.0
    assert type(joined.values) is type(local.values)


@given(st.lists(st.integers(0, 6), max_size=5), st.booleans())
@settings(max_examples=30, deadline=None)
def test_concat_of_any_cuts(cuts, sparse):
    values = np.random.default_rng(0).normal(size=(6, 3)).round()
    whole = LocalImportance(
        csr_array(values) if sparse else values, values[:, 0].copy(), residual=np.arange(6.0),
        unit="bits", feature_names=("a", "b", "c"), n_trees=2, row_weight=np.arange(6.0),
        standard_error=np.abs(values), data=values, row_labels=np.arange(10, 16), method="exact",
    )  # fmt: skip
    edges = [0, *sorted(cuts), 6]
    parts = [whole[a:b] for a, b in pairwise(edges)]
    joined = LocalImportance.concat(parts)
    np.testing.assert_array_equal(np.asarray(joined), values)
    assert joined.method == "exact"
    for name in ("baseline", "residual", "row_weight", "standard_error", "data", "row_labels"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


def test_concat_keeps_what_all_parts_have(make_local):
    one = make_local(standard_error=np.ones((3, 4)), mean_standard_error=np.ones(4), method="a")
    two = make_local(data=np.zeros((3, 4)), method="b")
    joined = LocalImportance.concat([one, two])
    assert joined.standard_error is None
    assert joined.mean_standard_error is None
    assert joined.data is None
    assert joined.method is None
    assert LocalImportance.concat([one]) is one


def test_concat_of_pandas_labels_and_data(make_local):
    frame = pd.DataFrame(np.zeros((3, 4)), index=pd.Index(["x", "y", "z"], name="id"))
    part = make_local(data=frame, row_labels=frame.index, frame_type="pandas")
    joined = LocalImportance.concat([part, part])
    pd.testing.assert_index_equal(joined.row_labels, pd.Index([*"xyzxyz"], name="id"))
    pd.testing.assert_frame_equal(joined.data, pd.concat([frame, frame]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": "gini"}, "same unit"),
        ({"n_trees": 11}, "same n_trees"),
        ({"feature_names": ("age", "sex_f", "dose", "x")}, "same feature_names"),
        ({"frame_type": "polars"}, "same frame_type"),
        ({"baseline": 1.5}, "same baseline; got 1.0 and 1.5"),
        ({"baseline": np.ones(3)}, "baseline .*float and ndarray"),
        ({"row_weight": np.ones(3)}, "row_weight .*None and ndarray"),
        ({"sparse": True}, "values .*csr_array and ndarray"),
    ],
)
def test_concat_refuses_parts_that_differ(make_local, change, message):
    with pytest.raises(ValueError, match=message):
        LocalImportance.concat([make_local(), make_local(**change)])


def test_concat_refuses_other_objects(make_local):
    mean = make_local().mean()
    assert isinstance(mean, GlobalImportance)
    for parts in ([], [mean], [make_local(), mean]):
        with pytest.raises(TypeError, match="one or more LocalImportance"):
            LocalImportance.concat(parts)
