"""Settings of the tests of adapters."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Let the libraries train alone: their threads wait for each other on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield
