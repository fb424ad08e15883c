"""Which samples are read as categories, and what is said about those that are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from infinite.samples import draw_sample
from localmdi._validation import Categories, learn_categories, read_columns
from localmdi.infinite import (
    InfiniteImportance,
    infinite_interactions,
    infinite_mdi,
    local_relevance,
)
from localmdi.infinite.categorical_sample import read_samples
from localmdi.results import LocalImportance, load_importance

Y = [0, 1, 1, 0]
PLAIN = infinite_mdi([[0, 0], [0, 1], [1, 0], [1, 1]], Y).values
COLUMNS = {"a": ["u", "u", "v", "v"], "b": ["p", "q", "p", "q"]}


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype("category"),
        pd.DataFrame({"a": [True, True, False, False], "b": [3.0, 4.0, 3.0, 4.0]}),
        pl.DataFrame(COLUMNS, schema={"a": pl.Categorical, "b": pl.Enum(["q", "p"])}),
        pa.table({name: pa.array(column).dictionary_encode() for name, column in COLUMNS.items()}),
        np.array(list(zip(*COLUMNS.values(), strict=True))),
        [["u", 1], ["u", 2], ["v", 1], ["v", 2]],
    ],
    ids=["text", "pandas categories", "bool and float", "polars", "pyarrow", "array", "list"],
)
def test_all_kinds_of_categories(X):
    result = infinite_mdi(X, Y)
    assert_array_equal(result.values, PLAIN)
    assert_array_equal(infinite_mdi(X, Y, X).values, PLAIN)


def test_categories_are_matched_by_value():
    X = pd.DataFrame({"a": pd.Categorical(["u", "v", "u"], categories=["v", "u"])})
    at = pd.DataFrame({"a": pd.Categorical(["u", "w"], categories=["u", "w"])})
    result = infinite_mdi(X, [0, 1, 0], at)
    assert result.support.tolist() == [1.0, 0.0]
    assert list(result.to_frame().columns) == ["a"]


def test_bins_cut_measured_numbers():
    X, y = np.array([[0.5, 1], [1.5, 0], [2.5, 1], [3.5, 0]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"'x0' holds measured numbers, such as 0.5. .*bins"):
        infinite_interactions(X, y)
    for bins in (2, [2.0], {"x0": 2}, {0: [2.0]}):
        result = infinite_mdi(X, y, [[1.9, 1], [2.0, 0]], bins=bins)
        assert result.bins == {"x0": (2.0,)}
        assert_array_equal(result.values[:, 0] > 0.4, [True, True])
    assert infinite_mdi([[0], [1]], [0, 1]).bins is None
    with pytest.raises(ValueError, match="keys of bins"):
        infinite_mdi(X, y, bins={"z": 2})
    for bins in ([2, 1], 1, 2**24 + 1, 10**400):
        with pytest.raises(ValueError, match=r"from 2 to 16,777,216, or finite edges in rising"):
            infinite_mdi(X, y, bins=bins)
    with pytest.raises(ValueError, match="must hold numbers"):
        infinite_mdi([["a"], ["b"]], [0, 1], bins={0: 2})


@pytest.mark.parametrize("bins", [2, 3, 4])
def test_bins_that_merge_are_reported_and_leave_no_column_constant(bins):
    dose = np.concatenate([np.zeros(80), np.linspace(0.5, 1.5, 20)])
    y = (dose > 0).astype(int)
    if bins == 2:
        result = infinite_mdi(dose[:, np.newaxis], y, bins=bins)
    else:
        with pytest.warns(UserWarning, match=rf"'x0' has 2 instead of {bins}\."):
            result = infinite_mdi(dose[:, np.newaxis], y, bins=bins)
    assert result.bins == {"x0": (0.25,)}
    assert result.mean().values[0] == pytest.approx(result.baseline)


def test_every_bin_of_a_number_of_bins_holds_values():
    values = np.array([0.0, 0.0, 10.0, 10.5])[:, np.newaxis]
    with pytest.warns(UserWarning, match="'x0' has 3 instead of 4"):
        result = infinite_mdi(values, [0, 0, 1, 1], bins=4)
    assert set(np.searchsorted(result.bins["x0"], values[:, 0], side="right")) == {0, 1, 2}
    infinity = np.array([[-np.inf], [-np.inf], [np.inf]])
    assert infinite_mdi(infinity, [0, 0, 1], bins=2).bins == {"x0": (0.0,)}


def test_whole_numbers_that_are_not_binned_are_named():
    X = pd.DataFrame({"age": np.arange(20), "sex": [0, 1] * 10, "dose": np.arange(20) / 7})
    with pytest.warns(UserWarning, match=r"'age' \(20 values\).*bins={'age': 2}"):
        result = infinite_mdi(X, X["age"] % 2, bins=2)
    assert set(result.bins) == {"dose"}
    assert set(infinite_mdi(X, X["age"] % 2, bins={"age": 2, "dose": 2}).bins) == {"age", "dose"}


def test_edges_that_leave_a_column_constant_are_refused():
    X = np.array([[0.5], [1.5]])
    with pytest.raises(ValueError, match=r"from 0\.5 to 1\.5, fall into one bin"):
        infinite_mdi(X, [0, 1], bins=[18, 65])
    with pytest.raises(ValueError, match="from 2 to"):
        infinite_mdi(X, [0, 1], bins=1)


def test_missing_values():
    X = pd.DataFrame({"a": ["u", None, "u", None], "b": [1.0, np.nan, np.nan, 1.0]})
    with pytest.raises(ValueError, match="missing='category'"):
        infinite_mdi(X, Y)
    assert_array_equal(infinite_mdi(X, [0, 0, 1, 1], missing="category").values.round(6), PLAIN)
    with pytest.raises(ValueError, match="missing must be"):
        infinite_mdi(X, Y, missing="other")


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.zeros((0, 2)), [], {}, "at least one row"),
        (np.zeros((2, 0)), [0, 1], {}, "at least one row"),
        ([0, 1], [0, 1], {}, "two-dimensional"),
        ([[0], [1]], [0], {}, "one entry per row"),
        ([[0], [1]], np.zeros((2, 0)), {}, "at least one output"),
        ([[0], [1]], np.zeros((2, 1, 1)), {}, "one entry per row"),
        ([[0], [1]], [[0, 0.5], [1, 1]], {}, "must hold classes"),
        ([[0], [1]], [["a", None], ["b", "c"]], {}, "missing values"),
        ([[0], [1]], [0.5, 1], {}, "must hold classes"),
        ([[0], [1]], ["a", "b"], {"criterion": "variance"}, "finite numbers"),
        ([[0], [1]], [0, np.inf], {"criterion": "variance"}, "finite numbers"),
        ([[0], [1]], [1e300, -1e300], {"criterion": "variance"}, "Rescale y"),
        ([[0], [1]], [0, None], {}, "missing values"),
        ([[0], [1]], [0, 1], {"criterion": "mae"}, "criterion must be"),
        ([[0], [1]], [0, 1], {"criterion": "poisson"}, "criterion must be one of 'entropy'"),
        ([[0], [1]], [0, 1], {"method": "fast"}, "method must be"),
        ([[0], [1]], [0, 1], {"unseen": "guess"}, "unseen must be"),
        ([[0], [1]], [0, 1], {"at": [[0, 1]]}, "columns of X"),
        ([[0], [1]], [0, 1], {"sample_weight": [0, 0]}, "not all zero"),
        ([[[]], [[1]]], [0, 1], {}, "X must"),
        ([[{}], [{}]], [0, 1], {}, "hash"),
        (np.array([["2020"], ["2021"]], dtype="M8[Y]"), [0, 1], {}, "dates"),
        ([[0], [1]], [0, 1], {"method": "sampled", "profile": True}, "profile=True"),
    ],
)
def test_refusals(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        infinite_mdi(X, y, **options)


@pytest.fixture
def count_encoded(monkeypatch):
    """Run a call and count the columns that were turned into codes, y among them."""
    encode = Categories.encode

    def run(call):
        seen = []

        def counting(self, column):
            seen.append(len(column))
            return encode(self, column)

        with monkeypatch.context() as patch:
            patch.setattr(Categories, "encode", counting)
            call()
        return len(seen)

    return run


def test_the_sample_is_encoded_once(count_encoded):
    X, at = [[0, 0.5], [0, 1.5], [1, 2.5], [1, 3.5]], [[1, 2.0]]
    once, n_columns = 3, 2  # two columns and y
    assert count_encoded(lambda: infinite_mdi(X, Y, bins=2)) == once
    assert count_encoded(lambda: infinite_mdi(X, Y, bins=2, profile=True)) == once
    assert count_encoded(lambda: infinite_mdi(X, Y, bins=2, sample_weight=[1, 2, 0, 1])) == once
    assert count_encoded(lambda: infinite_interactions(X, Y, bins=2)) == once
    assert count_encoded(lambda: infinite_mdi(X, Y, at, bins=2)) == once + n_columns
    assert count_encoded(lambda: local_relevance(X, Y, at, bins=2)) == once + n_columns


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=8, max_size=8))
def test_the_rows_of_the_sample_are_found_as_any_others_are(seed, weight):
    # X is not encoded again to be explained, so its rows must be found as those of any table are;
    # rows of weight zero do not belong to the sample, but are explained like unseen ones.
    X, y, _ = draw_sample(seed, n_rows=8, n_features=3)
    (sample,) = read_samples(X, y, sample_weight=weight if any(weight) else None)
    given_rows, found = sample.rows_at(None), sample.rows_at(X)
    assert_array_equal(given_rows.codes, found.codes)
    assert_array_equal(given_rows.row, found.row)
    assert_array_equal(given_rows.inverse, found.inverse)
    known = given_rows.row >= 0
    assert_array_equal(sample.codes[given_rows.row[known]], given_rows.codes[known])


def test_scikit_learn_s_names_and_huge_weights():
    X, y = [[0], [0], [1]], [0, 1, 1]
    for ours, theirs in (
        ("entropy", "log_loss"),
        ("variance", "squared_error"),
        ("variance", "friedman_mse"),
    ):
        result = infinite_mdi(X, y, criterion=theirs)
        assert_array_equal(result.values, infinite_mdi(X, y, criterion=ours).values)
    heavy = infinite_mdi(X, y, sample_weight=[1e308, 1e308, 1e308])
    assert_array_equal(heavy.values.round(12), infinite_mdi(X, y).values.round(12))


def test_the_result_can_be_cut_joined_and_saved(tmp_path):
    X = pd.DataFrame(COLUMNS, index=[5, 6, 7, 8])
    result = infinite_mdi(X, Y, profile=True)
    assert result[1:3].profile.shape == (2, 2, 2)
    assert result[0].support.tolist() == [1.0]
    assert result[:, "a"].profile is None
    assert InfiniteImportance.concat([result, result]).shape == (8, 2)
    with pytest.raises(ValueError, match=r"InfiniteImportance.concat"):
        LocalImportance.concat([result, result])
    result.save(tmp_path / "result.lmdi")
    assert_array_equal(load_importance(tmp_path / "result.lmdi").values, result.values)
    assert list(result.to_frame().index) == [5, 6, 7, 8]
    assert repr(result).startswith("InfiniteImportance: 4 rows, 2 features, in bits\n")
    with pytest.raises(ValueError, match="profile=True"):
        infinite_mdi(X, Y).mean_profile()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.none(),
            st.integers(-3, 3),
            st.floats(width=16),
            st.text("ab", max_size=1),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_encode_finds_every_learned_value(values):
    column = np.fromiter(values, dtype=object, count=len(values))
    learned = learn_categories(column)
    codes = learned.encode(column)
    assert (codes >= 0).all()
    missing = [value is None or value != value for value in values]
    assert_array_equal(codes[missing], len(learned.values))
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    assert [learned.values[c] for c in codes[~np.array(missing, dtype=bool)]] == present


def test_columns_of_frames():
    frame = pl.DataFrame({"n": [1, None], "s": ["x", None], "b": [True, None]})
    columns = read_columns(frame)
    assert columns.is_categorical == (False, True, True)
    assert columns.names == ("n", "s", "b")
    assert columns.arrays[0].dtype == np.float64
    with pytest.raises(ValueError, match="single values"):
        read_columns(pl.DataFrame({"l": [[1]]}))
    with pytest.raises(ValueError, match="sparse"):
        read_columns(csr_array((2, 2)))
