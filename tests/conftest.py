"""Settings of all tests."""

import os
import shutil
import signal
import sys

import pytest
from hypothesis import settings

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
    """Spark with two Python workers, started once."""
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
