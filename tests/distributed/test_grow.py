"""Trees grown in a cluster: those of one machine for the same samples and seeds."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from localmdi import (
    RandomizedForestClassifier,
    RandomizedForestRegressor,
    as_forest,
    distributed,
    local_mdi,
)
from localmdi.distributed.worker import RowDraws, tree_seed

pytestmark = pytest.mark.xdist_group("spark")

STRUCTURE = ("tree_offset", "feature", "split_kind", "threshold", "child_offset", "child")


@pytest.fixture(autouse=True)
def here():
    """Run Dask's tasks in this process."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def rows(table):
    return table.drop(columns="key").assign(rare=np.where(table["key"] < 3, "rare", "usual"))


def samples(parts, n_trees, share, seed=0):
    """Return the rows of each tree: drawn from every part, in the order of the parts."""
    drawn = [[] for _ in range(n_trees)]
    for partition, part in enumerate(parts):
        draws = RowDraws(seed, partition, n_trees=n_trees, share=share)
        trees, places = draws.take(0, len(part))
        for tree in range(n_trees):
            drawn[tree].append(part.iloc[places[trees == tree]])
    return [pd.concat(parts) for parts in drawn]


def same_tree(forest, tree, alone):
    """Whether a tree of a forest is the only tree of another one."""
    nodes = slice(forest.tree_offset[tree], forest.tree_offset[tree + 1])
    return all(
        np.array_equal(getattr(forest, field)[nodes], getattr(alone, field))
        for field in ("feature", "split_kind", "threshold")
    )


def test_draws_do_not_depend_on_batches():
    whole = RowDraws(1, 2, n_trees=3, share=0.1).take(0, 10_000)
    draws, parts = RowDraws(1, 2, n_trees=3, share=0.1), []
    for start, stop in [(0, 1), (1, 1), (1, 700), (700, 703), (703, 10_000)]:
        parts.append(draws.take(start, stop))
    trees, places = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((places, trees))
    np.testing.assert_array_equal(trees[order], whole[0])
    np.testing.assert_array_equal(places[order], whole[1])
    # 1000 rows are expected in each of the three samples; five standard deviations are 150.
    assert (np.abs(np.bincount(trees) - 1000) < 150).all()


def test_trees_are_those_of_one_machine(rows):
    frame = dd.from_pandas(rows, npartitions=3, sort=False)
    parts = [part.compute() for part in frame.partitions]
    forest = distributed.grow(
        frame, target="ill", n_trees=6, sample_rows=100, max_features=2, min_samples_leaf=2
    )
    assert forest.n_trees == 6
    X, y = rows.drop(columns="ill"), rows["ill"]
    for tree, sample in enumerate(samples(parts, 6, 1 / 3)):
        alone = RandomizedForestClassifier(
            1, max_features=2, min_samples_leaf=2, random_state=tree_seed(0, tree)
        ).fit(sample.drop(columns="ill"), sample["ill"])
        assert same_tree(forest, tree, alone.forest_)
        # Categories that this tree has not met have codes, too: rows go the same ways.
        measured = alone.forest_.with_statistics(X, y)
        nodes = slice(forest.tree_offset[tree], forest.tree_offset[tree + 1])
        np.testing.assert_array_equal(forest.weight[nodes], measured.weight)
        np.testing.assert_allclose(forest.impurity[nodes], measured.impurity, atol=1e-14)
    assert local_mdi(forest, X).additivity_error() < 1e-12


def test_numbers(rows):
    frame = dd.from_pandas(rows, npartitions=2, sort=False)
    forest = distributed.grow(
        frame,
        target="dose",
        n_trees=3,
        criterion="squared_error",
        sample_rows=1000,
        features=["age", "smoker"],
        random_state=7,
    )
    # The sample is everything.
    alone = RandomizedForestRegressor(1, random_state=tree_seed(7, 2))
    alone.fit(rows[["age", "smoker"]], rows["dose"])
    assert same_tree(forest, 2, as_forest(alone))


def test_spark_grows_what_dask_grows(spark, rows):
    frame = dd.from_pandas(rows, npartitions=3, sort=False)
    parts = [part.compute() for part in frame.partitions]
    schema = "age double, dose double, `height.cm` double, smoker boolean"
    schema = f"{schema}, city string, ill string, rare string"
    context = spark.sparkContext
    lists = context.parallelize([part.to_dict("records") for part in parts], 3)
    same = spark.createDataFrame(lists.flatMap(list), schema=schema)
    settings = {"target": "ill", "n_trees": 4, "sample_rows": 60}
    on_spark = distributed.grow(same, **settings)
    on_dask = distributed.grow(frame, **settings)
    for field in STRUCTURE:
        np.testing.assert_array_equal(getattr(on_spark, field), getattr(on_dask, field))
    np.testing.assert_array_equal(on_spark.weight, on_dask.weight)
    np.testing.assert_allclose(on_spark.impurity, on_dask.impurity, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bootstrap": True}, TypeError, "grow has no parameter 'bootstrap'"),
        ({"n_trees": 0}, ValueError, "n_trees must be a positive whole number; got 0"),
        ({"features": ["ill"]}, ValueError, "no features; 'ill' is not"),
        ({"features": ["size"]}, ValueError, "no column 'size'"),
        ({"criterion": "poisson"}, ValueError, "criterion"),
    ],
)
def test_wrong_arguments(rows, arguments, error, message):
    frame = dd.from_pandas(rows, npartitions=1, sort=False)
    with pytest.raises(error, match=message):
        distributed.grow(frame, **{"target": "ill", "n_trees": 2, **arguments})


def test_no_rows(rows):
    frame = dd.from_pandas(rows, npartitions=1, sort=False)
    with pytest.raises(ValueError, match="the frame has none"):
        distributed.grow(frame[frame["age"] > 1e9], target="ill", n_trees=2)
    with pytest.raises(ValueError, match="got a Dask Array"):
        distributed.grow(da.zeros((3, 4)), target="ill", n_trees=2)
