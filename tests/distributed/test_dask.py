"""On Dask: the same bits as locally, in threads and on two worker processes."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import localmdi
from localmdi import RandomizedForestClassifier, distributed

# One cluster for all: xdist gives the tests of a group to one process.
pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture
def frame(table):
    return dd.from_pandas(table, npartitions=3, sort=False)


@pytest.fixture
def here():
    """Run tasks in this process."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def expected(table, features, model):
    return localmdi.local_mdi(model, table[features])


def test_columns(here, frame, table, features, model, expected):
    explained = distributed.local_mdi(model, frame)
    assert list(explained.columns) == ["city", "key", "ill", *features]
    assert explained.npartitions == 3
    found = explained.compute()
    pd.testing.assert_index_equal(found.index, table.index)
    np.testing.assert_array_equal(found[features].to_numpy(), expected.values)
    assert found["city"].tolist() == table["city"].tolist()
    assert explained.dtypes.tolist() == found.dtypes.tolist()


def test_array_and_top(here, frame, model, expected):
    explained = distributed.local_mdi(model, frame, output="array", keep="key")
    found = explained.compute()
    assert list(found) == ["key", "importance"]
    np.testing.assert_array_equal(np.stack(found["importance"].tolist()), expected.values)
    assert explained.dtypes.tolist() == found.dtypes.tolist()
    found = distributed.local_mdi(model, frame, output="top", k=2).compute()
    assert np.array_equal(np.array(found["feature"].tolist()), expected.top(2).names)
    np.testing.assert_array_equal(np.stack(found["importance"].tolist()), expected.top(2).values)


def test_lists_as_features(here, frame, features, model, expected):
    arrays = distributed.local_mdi(model, frame, output="array")
    # Importances are as good as any other vectors of four numbers.
    again = distributed.local_mdi(model, arrays, features="importance", keep=[]).compute()
    values = pd.DataFrame(expected.values, columns=features)
    np.testing.assert_array_equal(again.to_numpy(), localmdi.local_mdi(model, values).values)


def test_categories(here, frame, table):
    names = ["city", "age"]
    model = RandomizedForestClassifier(8, random_state=0).fit(table[names], table["ill"])
    found = distributed.local_mdi(model, frame, keep=[]).compute()
    np.testing.assert_array_equal(found.to_numpy(), localmdi.local_mdi(model, table[names]).values)


def test_arrays(here, table, features, model, expected):
    values = table[features].to_numpy(dtype=float)
    rows = da.from_array(values, chunks=(70, 2))
    explained = distributed.local_mdi(model, rows)
    assert (explained.shape, explained.dtype) == ((300, 4), np.float64)
    np.testing.assert_array_equal(explained.compute(), expected.values)
    mean = distributed.mean_mdi(model, rows)
    np.testing.assert_allclose(mean.values, expected.mean().values, rtol=1e-12)
    assert mean.feature_names == tuple(features)


def test_pipeline_of_arrays(here, table, features, model, expected):
    pipeline = make_pipeline(FunctionTransformer(), RandomForestClassifier(4, random_state=0))
    pipeline.fit(table[features], table["ill"])
    rows = da.from_array(table[features].to_numpy(dtype=float), chunks=(70, 4))
    np.testing.assert_array_equal(
        distributed.local_mdi(pipeline, rows).compute(),
        localmdi.local_mdi(pipeline, table[features]).values,
    )


def test_arrays_have_no_columns(model):
    rows = da.zeros((10, 4))
    with pytest.raises(ValueError, match="output='top' needs a frame with columns"):
        distributed.local_mdi(model, rows, output="top")
    with pytest.raises(ValueError, match="a Dask Array does not have"):
        distributed.mean_mdi(model, rows, by="city")
    with pytest.raises(ValueError, match=r"the shape \(rows, 4\); got \(10, 3\)"):
        distributed.local_mdi(model, rows[:, :3])


def test_means(here, table, model, expected):
    # So many partitions that their means are merged in two steps.
    frame = dd.from_pandas(table, npartitions=40, sort=False)
    mean = distributed.mean_mdi(model, frame)
    np.testing.assert_allclose(mean.values, expected.mean().values, rtol=1e-12)
    assert (mean.weight, mean.baseline) == (300, expected.baseline)
    groups = distributed.mean_mdi(model, frame, by="city")
    assert list(groups) == ["Bath", "Lille", "Ulm"]
    for label, group in expected.mean(by=table["city"]).items():
        np.testing.assert_allclose(groups[label].values, group.values, rtol=1e-12)
        assert groups[label].weight == group.weight


def test_labels_that_cannot_be_sorted(here, table, model):
    mixed = table.assign(label=[1, "one"] * 150)
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(mixed, npartitions=3, sort=False)
        assert list(distributed.mean_mdi(model, frame, by="label")) == [1, "one"]


def test_no_rows(here, frame, model):
    nothing = frame[frame["key"] < 0]
    assert len(distributed.local_mdi(model, nothing).compute()) == 0
    with pytest.raises(ValueError, match="the frame has none"):
        distributed.mean_mdi(model, nothing)


def test_missing_values_are_named(here, table, features):
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(n_estimators=2).fit(table[features], table["ill"])
    broken = table.assign(dose=table["dose"].where(table["key"] != 77))
    explained = distributed.local_mdi(model, dd.from_pandas(broken, npartitions=3, sort=False))
    with pytest.raises(ValueError, match=r"predict\. Missing values are in column 'dose'"):
        explained.compute()


def test_on_two_workers(cluster, frame, features, model, expected):
    found = distributed.local_mdi(model, frame).compute()
    np.testing.assert_array_equal(found[features].to_numpy(), expected.values)
    assert distributed.mean_mdi(model, frame).weight == 300


def test_a_killed_worker_changes_nothing(cluster, frame, table, tmp_path):
    driver, marker = os.getpid(), str(tmp_path / "killed")

    def step(X):
        if os.getpid() != driver and (X["key"] == 150).any():
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return X
            os.kill(os.getpid(), signal.SIGKILL)
        return X

    names = ["age", "key"]
    model = make_pipeline(FunctionTransformer(step), RandomForestClassifier(4, random_state=0))
    model.fit(table[names], table["ill"])
    expected = localmdi.local_mdi(model, table[names])
    found = distributed.local_mdi(model, frame, output="array").compute()
    assert os.path.exists(marker)
    np.testing.assert_array_equal(np.stack(found["importance"].tolist()), expected.values)


def test_a_worker_gets_the_model_once(cluster, table, tmp_path):
    folder = str(tmp_path)

    class Step(FunctionTransformer):
        def __setstate__(self, state):
            import os
            import tempfile

            super().__setstate__(state)
            descriptor, _ = tempfile.mkstemp(prefix=f"{os.getpid()}-", dir=folder)
            os.close(descriptor)

    names = ["age", "key"]
    model = make_pipeline(Step(), RandomForestClassifier(4, random_state=0))
    model.fit(table[names], table["ill"])
    frame = dd.from_pandas(table, npartitions=24, sort=False)
    assert len(distributed.local_mdi(model, frame, output="array").compute()) == 300
    readers = [name.partition("-")[0] for name in os.listdir(folder)]
    workers = {str(pid) for pid in cluster.run(os.getpid).values()}
    assert 0 < sum(reader in workers for reader in readers) <= 4


def test_a_package_that_a_worker_lacks(cluster, frame, model):
    def hide():
        import sys

        class Absent:
            def __init__(self):
                ours = [name for name in sys.modules if is_ours(name)]
                self.hidden = {name: sys.modules.pop(name) for name in ours}

            def find_spec(self, name, path=None, target=None):
                if is_ours(name):
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Absent())

    def show():
        import sys

        sys.modules.update(sys.meta_path.pop(0).hidden)

    def is_ours(name):
        return name.partition(".")[0] == "localmdi"

    explained = distributed.local_mdi(model, frame)
    cluster.run(hide)
    try:
        with pytest.raises(RuntimeError, match="lacks a package: No module named 'localmdi"):
            explained.compute()
    finally:
        cluster.run(show)
