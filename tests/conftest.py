"""Settings of all tests."""

import os
import shutil
import signal
import sys

import pytest
from hypothesis import settings

from programs import absent, in_one_line

# The profile "ci" repeats the same examples, so that an unlucky draw cannot stop a merge.
settings.register_profile(
    "localmdi",
    parent=settings.get_profile("ci" if os.environ.get("CI") else "default"),
    deadline=None,
)
settings.load_profile("localmdi")


@pytest.fixture(autouse=True, scope="session")
def ctrl_c():
    """Let Ctrl-C interrupt: a shell starts its background jobs with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return in_one_line(item, (yield))


@pytest.fixture(scope="session")
def spark():
    """Spark with two Python workers, started once."""
    missing = "{} is missing, so nothing runs on Spark; tools/install_java.sh installs Java"
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (home and shutil.which("java", path=f"{home}/bin")):
        absent("spark", missing.format("Java"))
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        absent("spark", missing.format("the Python package pyspark"))
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
