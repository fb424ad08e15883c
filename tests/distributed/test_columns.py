"""Which columns are chosen, and what is said when they do not fit; no engine is needed."""

import pickle
from dataclasses import replace
from itertools import pairwise

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import localmdi
from localmdi import as_forest, distributed
from localmdi.adapters import adapt
from localmdi.distributed.feature_columns import FeatureColumns, choose_features
from localmdi.distributed.shipping import restore_forest, ship_forest, shipped_explainer
from localmdi.distributed.worker import RowWork, regroup


@pytest.fixture
def rows(table):
    return dd.from_pandas(table, npartitions=2, sort=False)


@pytest.fixture
def unnamed(model):
    return replace(as_forest(model), feature_names=None)


def test_other_frames_are_refused(model, table):
    with pytest.raises(TypeError, match=r"a Dask Array; got pandas\.DataFrame\. For rows in"):
        distributed.local_mdi(model, table)


def test_features_are_needed_without_names(unnamed, rows):
    with pytest.raises(ValueError, match="the model was fitted without feature names"):
        distributed.local_mdi(unnamed, rows)


def test_names_beat_positions(model, rows, features):
    turned = distributed.local_mdi(model, rows, features=features[::-1])
    assert list(turned.columns[-4:]) == features


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["age"], "must be the names that the model was fitted with, 'age', 'dose'"),
        (["age", "weight"], "no column 'weight', it has 'age'"),
        (["age", "key"], "'height.cm', 'smoker'; got 'age', 'key'. Rename the columns"),
    ],
)
def test_other_names(model, rows, features, message):
    with pytest.raises(ValueError, match=message):
        distributed.local_mdi(model, rows, features=features)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["age"], "must name the model's 4 features; got 1"),
        (["age", "age", "dose", "key"], "features must not repeat"),
        (["age", "dose", "key", "city"], "must hold numbers; column 'city' does not"),
    ],
)
def test_other_columns_of_a_model_without_names(unnamed, rows, features, message):
    with pytest.raises(ValueError, match=message):
        distributed.local_mdi(unnamed, rows, features=features)


def test_vectors_among_columns(unnamed):
    kinds = {"age": "number", "all": "vector"}
    with pytest.raises(ValueError, match="got both: 'all' among 2 columns"):
        choose_features(adapt(unnamed), kinds, features=["age", "all"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output": "table"}, "output must be one of 'columns', 'array', 'top'; got 'table'"),
        ({"k": 3}, "k must be a positive whole number, and needs output='top'"),
        ({"k": 0, "output": "top"}, "k must be a positive whole number"),
        ({"keep": ["weight"]}, "keep must name columns of the frame, each once; got 'weight'"),
        ({"keep": ["dose"]}, "'dose' would appear twice"),
    ],
)
def test_other_arguments(model, rows, arguments, message):
    with pytest.raises(ValueError, match=message):
        distributed.local_mdi(model, rows, **arguments)


def test_by_is_one_column(model, rows):
    with pytest.raises(ValueError, match="by must be the name of one column"):
        distributed.mean_mdi(model, rows, by=["city", "ill"])


@pytest.mark.parametrize("n_rows", [1, 7, 100, 1000])
def test_batches_of_any_size(n_rows):
    values = pa.array(np.arange(250))
    cuts = [0, 0, 3, 100, 101, 250]
    batches = [
        pa.record_batch({"a": values.slice(start, stop - start)}) for start, stop in pairwise(cuts)
    ]
    tables = list(regroup(batches, n_rows))
    assert np.concatenate([table["a"].to_numpy() for table in tables]).tolist() == [*range(250)]
    assert all(table.num_rows == n_rows for table in tables[:-1])


@pytest.mark.parametrize("output", ["columns", "array", "top"])
def test_arrow_batches(table, features, model, output):
    explainer = shipped_explainer(adapt(model), tuple(features))
    columns = FeatureColumns(tuple(features), tuple(features), 4)
    work = RowWork(columns, tuple(features), ("key",), output, 2)
    rows = pa.Table.from_pandas(table[["key", *features]])
    # As Spark has them: the kept columns first, under names that mean nothing.
    batches = rows.rename_columns([f"_{i}" for i in range(5)]).to_batches(70)
    found = pa.Table.from_batches(work.explain_batches(explainer, batches))
    expected = localmdi.local_mdi(model, table[features])
    assert found["key"].to_pylist() == table["key"].tolist()
    if output == "columns":
        np.testing.assert_array_equal(found.select(features).to_pandas(), expected.to_frame())
    else:
        values = expected.values if output == "array" else expected.top(2).values
        np.testing.assert_array_equal(np.array(found["importance"].to_pylist()), values)
    if output == "top":
        assert found["feature"].to_pylist() == expected.top(2).names.tolist()


def test_wide_rows_are_explained_in_smaller_batches():
    columns = FeatureColumns(("v",), None, 100_000, True)
    assert RowWork(columns, tuple(map(str, range(100_000)))).batch_rows == 64


def test_vectors_of_other_lengths():
    columns = FeatureColumns(("v",), None, 2, True)
    short = pa.table({"v": pa.array([[1.0, 2.0], [3.0]])})
    with pytest.raises(ValueError, match="must have the model's 2 features; one has 1"):
        columns.rows_of(short)
    with pytest.raises(ValueError, match="must have a vector in every row; some are null"):
        columns.rows_of(pa.table({"v": pa.array([[1.0, 2.0], None])}))
    whole = pa.table({"v": pa.array([[1, 2], [None, 4]])})
    np.testing.assert_array_equal(columns.rows_of(whole), [[1, 2], [np.nan, 4]])
    # A slice of vectors does not begin at the first number.
    np.testing.assert_array_equal(columns.rows_of(whole.slice(1)), [[np.nan, 4]])


def test_the_shipped_forest_is_smaller_and_the_same(table, model):
    city = table[["city", "age"]]
    ours = localmdi.RandomizedForestClassifier(8, random_state=0).fit(city, table["ill"])
    for forest in (as_forest(model), ours.forest_):
        assert restore_forest(ship_forest(forest)) == forest
    names = ("age", "dose", "height.cm", "smoker")
    explainer = shipped_explainer(adapt(model), names)
    payload = pickle.dumps(explainer)
    rows = table[list(names)]
    again = pickle.loads(payload)(rows)
    np.testing.assert_array_equal(again.values, localmdi.local_mdi(model, rows).values)


def test_the_shipped_model_is_smaller_than_the_packed_one(table):
    from sklearn.ensemble import RandomForestRegressor

    names = ["age", "dose"]
    large = RandomForestRegressor(50, random_state=0).fit(table[names], table["key"])
    adapted = adapt(large, values=False)
    # A packed node of float32 rows has 24 bytes, and 8 more for half of them and 4 for its source.
    packed = 32 * adapted.forest.n_nodes
    assert len(pickle.dumps(shipped_explainer(adapted, tuple(names)))) < 1.2 * packed


def test_pandas_rows_without_names(table, unnamed, features):
    frame = dd.from_pandas(table, npartitions=1, sort=False)
    found = distributed.local_mdi(unnamed, frame, features=features, keep=[]).compute(
        scheduler="synchronous"
    )
    expected = localmdi.local_mdi(unnamed, table[features].to_numpy(dtype=float))
    np.testing.assert_array_equal(found.to_numpy(), expected.values)
    assert isinstance(found, pd.DataFrame)
