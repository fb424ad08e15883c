"""Node statistics from the rows of a cluster: those of all rows at once."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from localmdi import RandomizedForestClassifier, as_forest, distributed

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(autouse=True)
def here():
    """Run Dask's tasks in this process."""
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(found, expected):
    np.testing.assert_array_equal(found.weight, expected.weight)
    np.testing.assert_allclose(found.impurity, expected.impurity, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12, atol=1e-15)
    assert found.criterion == expected.criterion
    assert str(found.classes) == str(expected.classes)


@pytest.mark.parametrize("n_partitions", [1, 3, 40])
def test_classes(table, features, model, n_partitions):
    forest = as_forest(model)
    frame = dd.from_pandas(table, npartitions=n_partitions, sort=False)
    found = distributed.with_statistics(forest, frame, target="ill", criterion="entropy")
    expected = forest.with_statistics(table[features], table["ill"], criterion="entropy")
    assert_same(found, expected)


def test_numbers_and_weights(table):
    names = ["age", "smoker"]
    model = RandomForestRegressor(4, random_state=0).fit(table[names][:100], table["dose"][:100])
    weighted = table.assign(weight=np.linspace(0.5, 2, 300))
    frame = dd.from_pandas(weighted, npartitions=3, sort=False)
    forest = as_forest(model)
    found = distributed.with_statistics(forest, frame, target="dose", weight="weight")
    expected = forest.with_statistics(table[names], table["dose"], sample_weight=weighted["weight"])
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-12)
    np.testing.assert_allclose(found.impurity, expected.impurity, rtol=1e-9, atol=1e-15)


def test_on_spark(spark, table):
    names = ["city", "age"]
    sample = table[:100]
    model = RandomizedForestClassifier(8, random_state=0).fit(sample[names], sample["ill"])
    records = spark.sparkContext.parallelize(table[[*names, "ill"]].to_dict("records"), 3)
    frame = spark.createDataFrame(records, schema="city string, age double, ill string")
    found = distributed.with_statistics(model.forest_, frame, target="ill")
    assert_same(found, model.forest_.with_statistics(table[names], table["ill"]))


def test_columns_that_do_not_fit(table, model):
    forest = as_forest(model)
    frame = dd.from_pandas(table, npartitions=1, sort=False)
    with pytest.raises(ValueError, match="no features; 'sick' is not"):
        distributed.with_statistics(forest, frame, target="sick")
    with pytest.raises(ValueError, match="no features; 'dose' is not"):
        distributed.with_statistics(forest, frame, target="ill", weight="dose")
    with pytest.raises(ValueError, match="got a Dask Array"):
        distributed.with_statistics(forest, da.zeros((3, 4)), target="ill")
    with pytest.raises(ValueError, match="statistics need rows"):
        distributed.with_statistics(forest, frame[frame["key"] < 0], target="ill")
    broken = table.assign(dose=table["dose"].where(table["key"] != 77))
    rows = dd.from_pandas(broken, npartitions=3, sort=False)
    with pytest.raises(ValueError, match="Missing values are in column 'dose'"):
        distributed.with_statistics(_strict(forest), rows, target="ill")


def _strict(forest):
    from dataclasses import replace

    return replace(forest, missing_child=np.full(forest.n_nodes, -1, dtype=np.int32))
