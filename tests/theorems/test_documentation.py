"""The pages on the paper are run: every number they print is what the code gives."""

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "theory"


class FenceParser(doctest.DocTestParser):
    """A closing fence ends an example's output, as a blank line does."""

    def parse(self, string, name="<string>"):
        lines = ("" if line.startswith("```") else line for line in string.split("\n"))
        return super().parse("\n".join(lines), name)


@pytest.mark.parametrize("page", ["paper.md", "misprints.md", "algorithms.md"])
def test_page(page):
    result = doctest.testfile(
        str(PAGES / page),
        module_relative=False,
        parser=FenceParser(),
        optionflags=doctest.ELLIPSIS,
        encoding="utf-8",
    )
    assert result.failed == 0
    assert result.attempted > 40
