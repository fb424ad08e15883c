"""Settings of all tests."""

import os

from hypothesis import settings

# The profile "ci" repeats the same examples, so that an unlucky draw cannot stop a merge.
settings.register_profile(
    "localmdi",
    parent=settings.get_profile("ci" if os.environ.get("CI") else "default"),
    deadline=None,
)
settings.load_profile("localmdi")
