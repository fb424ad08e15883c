"""The page about growing says what happens."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "grow.md"


def test_the_examples_run():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
