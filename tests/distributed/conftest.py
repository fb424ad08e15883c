"""Dask with two worker processes, started once; Spark is in the conftest.py of all tests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier


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
