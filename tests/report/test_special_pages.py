"""Hostile texts stay text, and unusual results still make a page, in a real browser."""

import dataclasses
import datetime
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from localmdi._text import clean
from localmdi.report import write_report
from report.samples import HOSTILE, make_result

SELECT_TEXTS = "select => [...select.options].map(option => option.text)"


@pytest.fixture(scope="module")
def hostile_path(tmp_path_factory):
    n = len(HOSTILE)
    data = np.array([[HOSTILE[(i + j) % n] for j in range(n)] for i in range(n)], dtype=object)
    result = make_result(
        n, n, feature_names=HOSTILE, data=data, row_labels=np.array(HOSTILE, dtype=object)
    )
    return write_report(
        result,
        tmp_path_factory.mktemp("hostile") / "<b>report & 'more'.html",
        global_importance=result.mean(),
        prediction=HOSTILE,
        target=HOSTILE[::-1],
        title=HOSTILE[1],
        notes=HOSTILE,
    )


def test_hostile_texts_stay_text(visit, hostile_path):
    page = visit(hostile_path)
    assert page.inner_text("h1") == HOSTILE[1]
    for row in range(len(HOSTILE)):
        page.evaluate(f"showRow({row}, false)")
        assert page.text_content("#detail h3") == "Row " + clean(HOSTILE[row])
        assert page.locator("#detail .step").count() > 2
    names = page.locator("#feature").evaluate(SELECT_TEXTS)
    # A select shows runs of spaces as one, and the last name is empty.
    assert {" ".join(name.split()) for name in HOSTILE[:12]} <= set(names)
    assert "(no name)" in names
    page.fill("#search", "<img src=x")
    assert page.locator("#table tbody tr").count() > 0
    page.select_option("#feature", "3")
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 3
    assert page.locator("img, iframe, object, embed").count() == 0
    drawn = page.locator("#bar svg text").all_text_contents()
    assert "a.b[0]\\c" in drawn
    assert "__proto__" in drawn


def test_only_the_page_s_own_scripts_may_run(visit, hostile_path):
    page = visit(hostile_path)
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert all(source.startswith("'sha256-") for source in rules["script-src"].split())
    assert not re.search("https?:|[*]|unsafe-eval", policy)


def frame():
    return pd.DataFrame(
        {
            "number": [1.5, np.nan, -np.inf],
            "text": ["a", None, "c"],
            "category": pd.Categorical(["low", "high", None]),
            "date": pd.to_datetime(["2026-11-16", None, "2026-11-17"]),
            "flag": [True, False, True],
            "large": [2**60, 1, 2],
        },
        index=["x", "y", "z"],
    )


def with_values(result, values):
    return dataclasses.replace(result, values=values)


def special_results():
    whole = make_result(30, 5)
    holed = np.where(np.arange(5) == 2, np.nan, whole.values)
    dates = [datetime.date(2026, 11, 16)] * 9
    data = frame()
    mixed = make_result(3, 6, data=data, feature_names=tuple(data.columns), row_labels=data.index)
    return {
        "one row": (make_result(1, 4), {}),
        "one feature": (make_result(9, 1), {"target": dates}),
        "without data": (make_result(20, 3, data=None), {"prediction": np.arange(20) / 3}),
        "regression": (
            make_result(20, 3, unit="variance"),
            {"target": np.arange(20) / 3, "prediction": np.arange(20) / 4},
        ),
        "classes that differ": (
            make_result(4, 2),
            {"target": [0, 1, 2, 1], "prediction": [0, 1, 1, 1]},
        ),
        "mixed columns": (mixed, {"target": ["a", None, "b"], "prediction": [1, None, 3]}),
        "sparse": (with_values(whole, csr_array(whole.values)), {}),
        "not a number": (with_values(whole, holed), {}),
        "infinite forest": (make_result(4, 2, n_trees=0, method="exact"), {}),
        "a feature left out": (make_result(6, 3)[:, ["feature 0"]], {}),
    }


@pytest.mark.parametrize("name", special_results())
def test_special_results(visit, tmp_path, name):
    result, arguments = special_results()[name]
    page = visit(write_report(result, tmp_path / "report.html", **arguments))
    assert page.locator("#table tbody tr").count() == min(25, len(result))
    page.click("#table tbody tr:last-child button")
    detail = page.inner_text("#detail")
    assert "left at the end" in detail
    assert page.is_visible("#wrong-label") == ("differ" in name)
    if name == "mixed columns":
        page.click("#table tbody tr:nth-child(2) button")
        for text in ("text = missing", "category = high", "date = missing", "flag = False"):
            page.locator("#detail", has_text=text).wait_for()
        page.click("#table tbody tr:nth-child(1) button")
        page.locator(
            "#detail", has_text=f"large = {2**60}"
        ).wait_for()  # the detail follows the address
    if name == "a feature left out":
        assert "features not in this result" in detail
        assert "do not add up" in page.inner_text(".additivity")
