"""Settings of all tests."""

import os
import signal

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
