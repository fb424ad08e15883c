"""result[rows, features]: all ways of selecting agree with NumPy's, dense and sparse alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

ROWS = {
    "int": (1, [1]),
    "negative": (-1, [2]),
    "numpy int": (np.int64(2), [2]),
    "slice": (slice(1, None), [1, 2]),
    "backwards": (slice(None, None, -1), [2, 1, 0]),
    "list": ([2, 0, 0], [2, 0, 0]),
    "mask": ([True, False, True], [0, 2]),
    "empty": ([], []),
    "no row": (np.zeros(3, dtype=bool), []),
    "unsigned": (np.array([1], dtype=np.uint8), [1]),
    "series": (pd.Series([True, False, True], index=[5, 6, 7]), [0, 2]),
    "nullable mask": (pd.array([True, None, True], dtype="boolean").fillna(False), [0, 2]),
    "objects": (np.array([True, False, True], dtype=object), [0, 2]),
    "nullable ints": (pd.array([2, 1], dtype="Int64"), [2, 1]),
    "polars": (pl.Series([False, True, False]), [1]),
    "pyarrow": (pa.array([False, True, False]), [1]),
}


@pytest.mark.parametrize(("key", "expected"), ROWS.values(), ids=ROWS.keys())
def test_rows(local, as_dense, key, expected):
    chosen = local[key]
    np.testing.assert_array_equal(as_dense(chosen.values), as_dense(local.values)[expected])
    np.testing.assert_array_equal(chosen.residual, local.residual[expected])
    assert chosen.shape == (len(expected), 4)
    assert type(chosen.values) is type(local.values)
    assert chosen.baseline == 1.0


FEATURES = {
    "name": ("dose", [2]),
    "names": (["sex_m", "age"], [3, 0]),
    "index": (pd.Index(["sex_m", "age"]), [3, 0]),
    "array": (np.array(["dose"]), [2]),
    "slice": (slice(None, 2), [0, 1]),
    "position": (-1, [3]),
    "positions": ([3, 1], [3, 1]),
    "mask": (np.array([True, False, False, True]), [0, 3]),
    "none": ([], []),
}


@pytest.mark.parametrize(("key", "expected"), FEATURES.values(), ids=FEATURES.keys())
def test_features(local, as_dense, key, expected):
    chosen = local[[2, 0], key]
    np.testing.assert_array_equal(
        as_dense(chosen.values), as_dense(local.values)[[2, 0]][:, expected]
    )
    assert chosen.feature_names == tuple(local.feature_names[i] for i in expected)


def test_without_some_features_root_and_leaf_stay_what_they_are(local):
    chosen = local[:, ["age", "dose"]]
    assert chosen.baseline == local.baseline
    np.testing.assert_array_equal(chosen.residual, local.residual)
    assert chosen.additivity_error() == 0.5


@pytest.mark.parametrize("key", [3, -4, [0, 3], [True, False], np.array([10**6])])
def test_out_of_range(local, key):
    with pytest.raises(IndexError, match="; got "):
        local[key]


@pytest.mark.parametrize("key", ["age", 1.0, None, [0.5], [[0]], ["age"], (0, 1, 2), [None]])
def test_not_a_row(local, key):
    with pytest.raises(TypeError, match=r"write result\[:, names\]"):
        local[key]


@pytest.mark.parametrize("key", [None, 1.5, ["age", 1], [None]])
def test_not_a_feature(local, key):
    with pytest.raises(TypeError, match="chosen by"):
        local[:, key]


def test_unknown_and_ambiguous_features(make_local):
    with pytest.raises(KeyError, match="'weight' is not among"):
        make_local()[:, ["age", "weight"]]
    twice = make_local(feature_names=("a", "a", "b", "c"))
    with pytest.raises(KeyError, match="'a' occurs more than once"):
        twice[:, "a"]
    assert twice[:, "b"].shape == (3, 1)
    assert twice[:, 1].feature_names == ("a",)


def test_slices_are_views(make_local):
    result = make_local()
    assert np.shares_memory(result[1:].values, result.values)


def test_iteration_gives_one_row_results(local):
    assert [row.shape for row in local] == [(1, 4)] * 3


def test_everything_that_belongs_to_rows_is_selected(make_local):
    error = np.arange(12.0).reshape(3, 4)
    result = make_local(
        baseline=np.array([1.0, 2.0, 3.0]),
        row_weight=np.array([1.0, 2.0, 3.0]),
        standard_error=error,
        mean_standard_error=np.arange(4.0),
        row_labels=pd.Index(["x", "y", "z"]),
        data=error * 10,
    )
    chosen = result[[2], ["dose", "age"]]
    np.testing.assert_array_equal(chosen.baseline, [3.0])
    np.testing.assert_array_equal(chosen.row_weight, [3.0])
    np.testing.assert_array_equal(chosen.standard_error, [[10.0, 8.0]])
    np.testing.assert_array_equal(chosen.data, [[100.0, 80.0]])
    assert list(chosen.row_labels) == ["z"]
    assert chosen.mean_standard_error is None
    kept = result[:, ["dose", "age"]].mean_standard_error
    np.testing.assert_array_equal(kept, [2.0, 0.0])


PLAIN = np.arange(12.0).reshape(3, 4)
NAMES = ["age", "sex_f", "dose", "sex_m"]
TABLES = {
    "array": np.asarray,
    "csr": csr_array,
    "csc": csc_array,
    "coo": coo_array,
    "pandas": pd.DataFrame,
    "polars": lambda x: pl.DataFrame(x, schema=NAMES),
    "pyarrow": lambda x: pa.table(dict(zip(NAMES, x.T, strict=True))),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize(
    "rows", [[2, 0], slice(None, None, 2), slice(None), []], ids=["list", "step", "all", "empty"]
)
def test_data_of_every_type(make_local, table, rows):
    def plain(data):
        if hasattr(data, "toarray"):
            return data.toarray()
        return data.to_pandas().to_numpy() if isinstance(data, pa.Table) else np.asarray(data)

    result = make_local(data=table(PLAIN))
    np.testing.assert_array_equal(plain(result[rows].data), PLAIN[rows])
    np.testing.assert_array_equal(plain(result[rows, [3, 1]].data), PLAIN[rows][:, [3, 1]])


def test_data_with_other_columns_is_dropped_with_features_only(make_local):
    result = make_local(data=PLAIN[:, :2])
    np.testing.assert_array_equal(result[1:].data, PLAIN[1:, :2])
    assert result[:, "age"].data is None
