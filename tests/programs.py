"""Programs that are not Python packages, Java and Chromium: skip, or fail where CI wants them."""

import os

import pytest

# The fixture that starts a program, and the variable that makes it a must.
REQUIRED_BY = {"spark": "LOCALMDI_REQUIRE_SPARK", "browser": "LOCALMDI_REQUIRE_BROWSER"}


def absent(fixture, message):
    if os.environ.get(REQUIRED_BY[fixture]) == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def in_one_line(item, report):
    """Give all tests that lack a program one place, so that they make one line of the summary."""
    if report.skipped and not REQUIRED_BY.keys().isdisjoint(item.fixturenames):
        report.longrepr = (__file__, 1, report.longrepr[2])
    return report
