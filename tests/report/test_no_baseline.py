"""Results whose values do not telescope: no levels, no additivity check, and the page says so."""

import dataclasses
import re

import numpy as np
import pytest

from localmdi.report import write_report
from report.samples import make_result, unpack_values, written_data


@pytest.fixture(scope="module")
def result():
    return dataclasses.replace(make_result(), baseline=None, residual=None)


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return write_report(result, tmp_path_factory.mktemp("gains") / "report.html")


@pytest.fixture(scope="module")
def text(path):
    """What the page says without its script."""
    return path.read_text(encoding="utf-8").partition('<script type="application/json"')[0]


def test_what_is_said(text):
    assert "The gains of a row do not add up to a total" in text
    assert "The values are gains, which do not add up to a total per row." in text
    for level in ("at the start,", "left at the end, on", "the start minus", "raised"):
        assert level not in text.partition("<main")[2]
    assert "rows explained" in text


def test_the_values_are_there(path, result):
    rows = written_data(path.read_text(encoding="utf-8"))["rows"]
    assert rows["baseline"] is None
    assert rows["residual"] is None
    order = [result.feature_names.index(name) for name in rows["names"]]
    np.testing.assert_allclose(unpack_values(rows), result.values[:, order], rtol=0, atol=1e-5)


def test_the_mean_is_still_compared(tmp_path, result):
    page = write_report(result, tmp_path / "a.html", global_importance=result.mean()).read_text(
        encoding="utf-8"
    )
    assert re.findall('<li class="(holds|differs)">', page) == ["holds"]


def test_in_the_browser(page, result):
    titles = page.locator("#table thead th").all_inner_texts()
    assert not [title for title in titles if "left" in title]
    assert any("gain, bits" in title for title in titles)
    names = page.locator("#detail .step .name").all_inner_texts()
    assert len(names) == result.shape[1]
    assert page.locator("#detail .step .link").count() == 0
    amounts = page.locator("#detail .step .amount").all_inner_texts()
    written = [float(amount.replace("\N{MINUS SIGN}", "-")) for amount in amounts]
    order = np.argsort(-np.abs(result.values[0]))
    np.testing.assert_allclose(written, result.values[0, order], atol=5.1e-4)
    assert "Largest gain" in page.inner_text("#detail")
    # All bars start at zero, to one side or the other.
    boxes = page.locator("#detail .step .bar").evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    starts = [
        left if value >= 0 else right for (left, right), value in zip(boxes, written, strict=True)
    ]
    assert np.ptp(starts) < 2.5
