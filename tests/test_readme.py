"""The README's examples print what the README says, and its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


EXAMPLES = re.findall(
    r"```python\n(.*?)```\s*```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
)


def test_there_are_two_examples():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("code", "expected"), EXAMPLES, ids=["first", "honest"])
def test_the_example_prints_its_output(code, expected):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == expected


def test_links_lead_to_files():
    targets = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    assert [t for t in targets if not (README.parent / t).exists()] == []
