"""On a real Spark: the same bits as locally, whatever happens to the workers."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import localmdi
from localmdi import RandomizedForestClassifier, distributed

# One session for all: xdist gives the tests of a group to one process.
pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def frame(spark, table):
    # Rows of Spark's own, in three partitions and in their order.
    rows = spark.sparkContext.parallelize(table.to_dict("records"), 3)
    return spark.createDataFrame(rows, schema=_schema()).persist()


def _schema():
    numbers = "age double, dose double, `height.cm` double, smoker boolean"
    return f"{numbers}, city string, key long, ill string"


def collect(frame):
    """Return the rows of a small frame by column."""
    rows = frame.collect()
    return {name: [row[name] for row in rows] for name in frame.columns}


def matrix(found, names):
    return np.array([found[name] for name in names]).T


def fails(frame):
    from pyspark.errors import PythonException

    with pytest.raises(PythonException) as error:
        frame.collect()
    return str(error.value)


def test_columns(frame, table, features, model):
    explained = distributed.local_mdi(model, frame)
    found = collect(explained)
    assert explained.columns == ["city", "key", "ill", *features]
    assert found["key"] == list(range(300))
    assert found["city"] == list(table["city"])
    expected = localmdi.local_mdi(model, table[features])
    np.testing.assert_array_equal(matrix(found, features), expected.values)


def test_partitions_are_kept(frame, model):
    from pyspark.sql.functions import spark_partition_id

    place = ["key", spark_partition_id().alias("p")]
    before = frame.select(*place).collect()
    after = distributed.local_mdi(model, frame).select(*place)
    assert len({row.p for row in before}) == 3
    assert before == after.collect()


def test_nothing_runs_until_the_result_is_used(spark, frame, model):
    tracker = spark.sparkContext.statusTracker()
    before = tracker.getJobIdsForGroup(None)
    distributed.local_mdi(model, frame, output="array")
    assert tracker.getJobIdsForGroup(None) == before


def test_array_and_top(frame, table, features, model):
    expected = localmdi.local_mdi(model, table[features])
    found = collect(distributed.local_mdi(model, frame, output="array", keep="key"))
    assert list(found) == ["key", "importance"]
    np.testing.assert_array_equal(np.array(found["importance"]), expected.values)
    found = collect(distributed.local_mdi(model, frame, output="top", k=2, keep=[]))
    top = expected.top(2)
    np.testing.assert_array_equal(np.array(found["feature"]), top.names)
    np.testing.assert_array_equal(np.array(found["importance"]), top.values)


def test_vectors(frame, table, features):
    from pyspark.ml.feature import VectorAssembler

    names = ["age", "dose"]
    model = ExtraTreesRegressor(4, random_state=0).fit(table[names].to_numpy(), table["key"])
    vectors = VectorAssembler(inputCols=names, outputCol="both").transform(frame)
    explained = distributed.local_mdi(model, vectors, features="both", keep=["both", "key"])
    assert explained.columns == ["both", "key", "x0", "x1"]
    found = collect(explained)
    expected = localmdi.local_mdi(model, table[names].to_numpy()).values
    np.testing.assert_array_equal(matrix(found, ["x0", "x1"]), expected)
    assert found["both"][0].toArray().tolist() == table[names].iloc[0].tolist()


def test_categories(frame, table):
    names = ["city", "age"]
    model = RandomizedForestClassifier(8, random_state=0).fit(table[names], table["ill"])
    found = collect(distributed.local_mdi(model, frame, keep=[]))
    expected = localmdi.local_mdi(model, table[names]).values
    np.testing.assert_array_equal(matrix(found, names), expected)


def test_pipeline_with_a_function_of_the_notebook(frame, table):
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["city"]), remainder="passthrough"
    )
    names = ["city", "age"]
    model = make_pipeline(
        encoder, FunctionTransformer(lambda X: 2 * X), RandomForestClassifier(4, random_state=0)
    ).fit(table[names], table["ill"])
    found = collect(distributed.local_mdi(model, frame, output="array"))
    expected = localmdi.local_mdi(model, table[names]).values
    np.testing.assert_array_equal(np.array(found["importance"]), expected)


def test_means(frame, table, features, model):
    expected = localmdi.local_mdi(model, table[features])
    mean = distributed.mean_mdi(model, frame)
    np.testing.assert_allclose(mean.values, expected.mean().values, rtol=1e-12)
    assert (mean.weight, mean.n_trees, mean.baseline) == (300, 8, expected.baseline)
    groups = distributed.mean_mdi(model, frame, by="city")
    for label, group in expected.mean(by=table["city"]).items():
        np.testing.assert_allclose(groups[label].values, group.values, rtol=1e-12)
        assert groups[label].weight == group.weight
    assert list(groups) == ["Bath", "Lille", "Ulm"]


def test_no_rows(frame, model):
    assert distributed.local_mdi(model, frame.filter("key < 0")).collect() == []
    with pytest.raises(ValueError, match="the frame has none"):
        distributed.mean_mdi(model, frame.filter("key < 0"))


def failing(marker, n_times, *, kill):
    """Return a step that does nothing, but fails the first times on a worker."""
    driver = os.getpid()

    def step(X):
        import os
        import signal

        if os.getpid() != driver and (X["key"] == 150).any():
            for attempt in range(n_times):
                try:
                    os.close(os.open(f"{marker}{attempt}", os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                if kill:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError("the disk of this worker is full")
        return X

    return FunctionTransformer(step)


def with_step(step, table):
    names = ["age", "key"]
    forest = RandomForestClassifier(4, max_depth=5, random_state=0)
    return make_pipeline(step, forest).fit(table[names], table["ill"]), names


def test_a_killed_worker_changes_nothing(frame, table, tmp_path):
    model, names = with_step(failing(tmp_path / "killed", 1, kill=True), table)
    found = collect(distributed.local_mdi(model, frame, output="array", keep="ill"))
    assert (tmp_path / "killed0").exists()
    expected = localmdi.local_mdi(model, table[names]).values
    np.testing.assert_array_equal(np.array(found["importance"]), expected)
    assert found["ill"] == list(table["ill"])


def test_a_task_that_is_tried_again_counts_its_rows_once(frame, table, tmp_path):
    model, names = with_step(failing(tmp_path / "failed", 2, kill=False), table)
    mean = distributed.mean_mdi(model, frame)
    assert (tmp_path / "failed1").exists()
    assert mean.weight == 300
    expected = localmdi.local_mdi(model, table[names]).mean()
    np.testing.assert_allclose(mean.values, expected.values, rtol=1e-12)


def test_a_worker_reads_the_model_once(spark, frame, table, tmp_path):
    folder = str(tmp_path)

    class Step(FunctionTransformer):
        def __setstate__(self, state):
            import os
            import tempfile

            super().__setstate__(state)
            descriptor, _ = tempfile.mkstemp(prefix=f"{os.getpid()}-", dir=folder)
            os.close(descriptor)

    model, _ = with_step(Step(), table)
    explained = distributed.local_mdi(model, frame.repartition(12), output="array")
    assert explained.count() == 300
    assert explained.count() == 300
    readers = [name.partition("-")[0] for name in os.listdir(folder)]
    assert 0 < len(readers) <= 4  # of 24 tasks; more than two where a worker was idle for long
    assert len(set(readers)) == len(readers)


def test_null_in_a_column_that_had_none(frame, model):
    broken = frame.withColumn("dose", _null_at_77())
    message = fails(distributed.local_mdi(_strict(model), broken))
    assert "Missing values are in column 'dose'." in message


def _null_at_77():
    from pyspark.sql.functions import expr

    return expr("if(key = 77, null, dose)")


def _strict(model):
    """Return the forest of a model without ways for missing values."""
    from dataclasses import replace

    forest = localmdi.as_forest(model)
    return replace(forest, missing_child=np.full(forest.n_nodes, -1, dtype=np.int32))


def test_wrong_columns(frame, model):
    with pytest.raises(ValueError, match="no column 'dose', it has 'age'"):
        distributed.local_mdi(model, frame.drop("dose"))
    with pytest.raises(ValueError, match="column 'dose' does not"):
        distributed.local_mdi(model, frame.withColumn("dose", frame["city"]))
    with pytest.raises(ValueError, match="'dose' would appear twice"):
        distributed.local_mdi(model, frame, keep=["dose"])


def test_a_package_that_a_worker_lacks(spark, frame, model, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'localmdi':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    environment = spark.sparkContext.environment
    environment["PYTHONPATH"] = str(tmp_path)
    try:
        message = fails(distributed.local_mdi(model, frame.coalesce(1)))
        assert "lacks a package: No module named 'localmdi'. Install it on the workers." in message
    finally:
        del environment["PYTHONPATH"]


def test_spark_connect_is_refused(model):
    remote = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(TypeError, match="classic Spark session; got one of Spark Connect"):
        distributed.local_mdi(model, remote())


REMOTE = """
import numpy as np
from pyspark.sql import SparkSession
from sklearn.tree import ExtraTreeClassifier

from localmdi import distributed

spark = SparkSession.builder.remote("local[1]").getOrCreate()
frame = spark.createDataFrame([(0.1, 1.0), (0.5, 2.0)], ["a", "b"])
model = ExtraTreeClassifier(random_state=0).fit(np.eye(4)[:, :2], [0, 1, 0, 1])
for call in (distributed.local_mdi, distributed.mean_mdi):
    try:
        call(model, frame, features=["a", "b"])
    except TypeError as error:
        print(error)
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.usefixtures("spark")  # Java
def test_a_real_session_of_spark_connect():
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", REMOTE], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("got one of Spark Connect") == 2
