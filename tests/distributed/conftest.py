"""Real engines, started once: Spark with two Python workers, Dask with two worker processes."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier


def absent(what):
    """Skip, or fail where Spark is required."""
    message = f"{what} is missing, so nothing runs on Spark; tools/install_java.sh installs Java"
    if os.environ.get("LOCALMDI_REQUIRE_SPARK") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Give all tests that lack Java one place, so that they make one line of the summary."""
    report = yield
    if report.skipped and "spark" in item.fixturenames:
        report.longrepr = (__file__, 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def spark():
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (home and shutil.which("java", path=f"{home}/bin")):
        absent("Java")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        absent("the Python package pyspark")
    # Spark would start the first python3 on the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        # Smaller than a partition, so that batches are put together.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "40",
    }
    builder = SparkSession.builder.master("local[2,3]")  # two threads, three attempts of a task
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes. Until it is closed, the client is the default of all of Dask."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as workers,
        Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def table():
    """Rows with a key, numbers, strings, and labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)).round(3), columns=["age", "dose", "height.cm"])
    frame["smoker"] = rng.random(300) < 0.3
    frame["city"] = rng.choice(["Bath", "Lille", "Ulm"], 300)
    frame["key"] = np.arange(300)
    frame["ill"] = np.where(frame["age"] + frame["dose"] + 2 * frame["smoker"] > 0.5, "yes", "no")
    return frame


FEATURES = ["age", "dose", "height.cm", "smoker"]


@pytest.fixture(scope="session")
def features():
    return list(FEATURES)


@pytest.fixture(scope="session")
def model(table):
    return RandomForestClassifier(8, max_depth=6, random_state=0).fit(table[FEATURES], table["ill"])
