"""Honest results: the page ends with what is really left, and shows noise as noise."""

import dataclasses
import re

import numpy as np
import pytest

from localmdi.report import write_report
from localmdi.results import GlobalImportance
from report.samples import make_result, written_data

NAMES = tuple(f"feature {i}" for i in range(6))
NOISE = {"feature 3", "feature 4", "feature 5"}


@pytest.fixture(scope="module")
def importance():
    return GlobalImportance(
        np.array([0.3, 0.2, 0.1, 0.004, 0.0, -0.008]),
        unit="bits",
        feature_names=NAMES,
        n_trees=100,
        standard_error=np.array([0.01, 0.01, 0.01, 0.006, 0.0, 0.006]),
        error_kind="sample",
        measure="gain",
        honest=True,
    )


@pytest.fixture(scope="module")
def result():
    plain = make_result()
    baseline = np.broadcast_to(plain.baseline, len(plain)).copy()
    return dataclasses.replace(plain, baseline=baseline, honest=True)


@pytest.fixture(scope="module")
def path(result, importance, tmp_path_factory):
    file = tmp_path_factory.mktemp("honest") / "report.html"
    return write_report(result, file, global_importance=importance)


@pytest.fixture(scope="module")
def text(path):
    return path.read_text(encoding="utf-8").partition('<script type="application/json"')[0]


def test_what_is_said(text):
    assert "These values are honest: they are measured on rows that the trees have not seen" in text
    assert "really left, on average" in text
    assert "The mean gain on rows that the trees have not seen, in bits." in text
    assert "two standard errors given the trees" in text
    assert "Grey, in italics</span>: not distinguishable from noise." in text
    assert "The bars above are gains, which noise leaves at zero" in text
    assert "differs" not in re.findall('<li class="(holds|differs)">', text)


def test_noise_is_marked_in_the_table(text):
    rows = re.findall(r'<tr class="noise"><th scope="row"><bdi>(.*?)</bdi>', text)
    assert set(rows) == NOISE
    assert text.count("<td>not distinguishable from noise</td>") == 3


def test_noise_is_grey_and_last(path):
    content = written_data(path.read_text(encoding="utf-8"))
    assert content["rows"]["names"] == list(NAMES)
    bars = content["charts"]["bar"]["layer"][0]["encoding"]
    assert bars["color"]["condition"]["test"] == "datum.noise"
    assert bars["x"]["axis"]["title"] == "gain on unseen rows (bits)"
    swarm = content["charts"]["beeswarm"]["layer"][1]["encoding"]["x"]["axis"]["title"]
    assert swarm == "uncertainty removed on unseen rows (bits)"


def test_plain_values_are_called_plain(tmp_path):
    plain = write_report(make_result(), tmp_path / "plain.html").read_text(encoding="utf-8")
    plain = plain.partition('<script type="application/json"')[0]
    assert "These values are plain: they say what the model knows about the rows that it" in plain
    assert "features that say nothing get a share too" in plain
    assert "Grey" not in plain
    assert "really left" not in plain


def test_the_same_measure_is_compared(tmp_path, result, importance):
    drops = dataclasses.replace(importance, measure="drop")
    page = write_report(result, tmp_path / "a.html", global_importance=drops)
    text = page.read_text(encoding="utf-8")
    assert "count every row with its own label; the values of rows leave it out" in text
    assert "The mean over rows that the trees have not seen, in bits." in text
    equal = write_report(result, tmp_path / "b.html", global_importance=result.mean())
    assert re.findall('<li class="(holds|differs)">', equal.read_text(encoding="utf-8")) == [
        "holds",
        "holds",
    ]


def test_rows_that_every_tree_has_seen(tmp_path, result):
    values, residual = result.values.copy(), result.residual.copy()
    values[3], residual[3] = np.nan, np.nan
    known = np.ones(len(result))
    known[3] = 0
    some = dataclasses.replace(result, values=values, residual=residual, row_weight=known)
    text = write_report(some, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "nan bits" not in text.partition('<script type="application/json"')[0]


def test_in_the_browser(page, result):
    names = page.locator("#detail .step .name").all_inner_texts()
    assert names[-1] == "really left"
    amount = page.locator("#detail .step .amount").all_inner_texts()[-1]
    assert float(amount) == pytest.approx(result.residual[0], abs=5.1e-4)
    assert "Really left, as rows show that the trees have not seen" in page.inner_text("#detail")
    titles = page.locator("#table thead th").all_inner_texts()
    assert any("really left" in title for title in titles)
    colours = page.locator("#bar svg .mark-rect path").evaluate_all(
        "bars => bars.map(bar => bar.getAttribute('fill'))"
    )
    style = page.evaluate(
        "() => ['removed', 'none'].map(name => "
        "getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim())"
    )
    assert colours == [style[0]] * 3 + [style[1]] * 3


def test_names_of_noise_are_in_italics(page):
    labels = page.locator("#bar svg .role-axis-label text")
    styles = labels.evaluate_all(
        "texts => texts.map(text => [text.textContent, text.getAttribute('font-style')])"
    )
    assert {name for name, style in styles if style == "italic"} == NOISE


def test_the_tip_of_a_grey_bar(page):
    said = page.evaluate("tipText({ rank: 3, value: 0.004, noise: true })")
    assert said.endswith("not distinguishable from noise")
