"""The example of the documentation runs."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "report.md"


def test_report_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0
    assert (tmp_path / "report.html").stat().st_size < 2_000_000
