"""The examples of the page on adapters run."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"


def test_the_page_on_adapters():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 5
    assert failed == 0
