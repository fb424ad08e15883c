"""Settings of the tests of adapters."""

import os
import shutil
import sys

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Let the libraries train alone: their threads wait for each other on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def absent(what):
    """Skip, or fail where Spark is required."""
    message = f"{what} is missing, so no model of Spark ML can be trained"
    if os.environ.get("LOCALMDI_REQUIRE_SPARK") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def spark():
    """Start Spark once, with the settings of the other tests that use it."""
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
    }
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
