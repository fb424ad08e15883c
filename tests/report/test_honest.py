"""Honest results: the page ends with the loss of the forest, and shows noise as noise."""

import dataclasses
import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import localmdi as lm
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
    """An account: some rows end with more surprise than they start with, two have no values."""
    plain = make_result()
    values, residual = plain.values.copy(), plain.residual.copy()
    values[2, 0] -= 2.0
    residual[2] += 2.0
    known = np.ones(len(plain))
    for row in (5, 9):
        values[row], residual[row], known[row] = np.nan, np.nan, 0.0
    baseline = np.where(known > 0, np.broadcast_to(plain.baseline, len(plain)), np.nan)
    return dataclasses.replace(
        plain,
        values=values,
        baseline=baseline,
        residual=residual,
        row_weight=known,
        measure="loss",
        honest=True,
    )


@pytest.fixture(scope="module")
def path(result, importance, tmp_path_factory):
    file = tmp_path_factory.mktemp("honest") / "report.html"
    return write_report(result, file, global_importance=importance)


@pytest.fixture(scope="module")
def text(path):
    return path.read_text(encoding="utf-8").partition('<script type="application/json"')[0]


def test_what_is_said(text):
    assert "These values are honest: they are measured on rows that the trees have not seen" in text
    assert "surprise when nothing is known, on average" in text
    assert "left to the forest" in text
    assert "Below zero a feature made the forest worse" in text
    assert "Where a feature made the forest worse" in text
    assert not re.search("uncertainty|really|nan ", text)
    assert "The mean gain on rows that the trees have not seen, in bits." in text
    assert "two standard errors, to each side" in text
    assert "Grey, in italics</span>: not distinguishable from noise." in text
    assert "The bars above are gains, which find features" in text
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
    assert swarm == "surprise removed on unseen rows (bits)"


def test_plain_values_are_called_plain(tmp_path):
    plain = write_report(make_result(), tmp_path / "plain.html").read_text(encoding="utf-8")
    plain = plain.partition('<script type="application/json"')[0]
    assert "These values are plain: they say what the model knows about the rows that it" in plain
    assert "features that say nothing get a share too" in plain
    assert "Grey" not in plain
    assert "surprise" not in plain


def test_the_same_measure_is_compared(tmp_path, result):
    equal = write_report(result, tmp_path / "b.html", global_importance=result.mean())
    assert re.findall('<li class="(holds|differs)">', equal.read_text(encoding="utf-8")) == [
        "holds",
        "holds",
    ]


def test_bars_and_classes_name_their_measures(tmp_path, result, importance):
    target = np.arange(len(result)) % 2
    page = write_report(
        result, tmp_path / "a.html", global_importance=importance, target=np.where(target, "a", "b")
    )
    content = written_data(page.read_text(encoding="utf-8"))
    assert content["rows"]["classes"]["measures"] == [
        "gain on unseen rows (bits)",
        "surprise removed on unseen rows (bits)",
    ]
    assert content["charts"]["bar"]["layer"][0]["encoding"]["x"]["axis"]["title"] == "bits"
    means = content["rows"]["classes"]["values"]
    order = np.argsort(-importance.values, kind="stable")
    for label, found in enumerate(means[::-1]):
        expected = result[np.flatnonzero(target == label)].mean().values[order]
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("task", ["sick", "level"])
def test_the_account_of_a_forest(tmp_path, task):
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    level = X[:, 0] + rng.normal(0, 0.3, 200)
    if task == "sick":
        y, kind = np.where(level > 0.5, "yes", "no"), RandomForestClassifier
        model = kind(60, criterion="entropy", random_state=0).fit(X, y)
    else:
        y, model = level, RandomForestRegressor(60, random_state=0).fit(X, level)
    account = lm.honest_mdi(model, X, y, measure="loss")
    quality = account.quality()
    page = write_report(account, tmp_path / "a.html", target=y)
    text = page.read_text(encoding="utf-8").partition('<script type="application/json"')[0]
    assert "Measured on 200 rows that the trees have not seen" in text
    before, left = quality.levels(account.unit)
    assert left == pytest.approx(account.residual.mean())
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", text))
    said = [float(facts[name].split()[0]) for name in facts if "known" in name or "left" in name]
    np.testing.assert_allclose(said, [before, left], rtol=1e-3)
    if task == "sick":
        assert before <= 1
        assert f"{quality.figures['accuracy']:.1%}" in text
        assert f"{left:.3f} bits" in text
    rows = written_data(page.read_text(encoding="utf-8"))["rows"]
    assert (rows["prediction"] is not None, rows["measure"]) == (True, "loss")


def test_expectations_are_called_so(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 2, 200)
    model = RandomForestClassifier(60, criterion="entropy", random_state=0).fit(X, y)
    account = lm.honest_mdi(model, X, y, measure="loss", at=rng.random((5, 3)))
    page = write_report(account, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Expected: the answers of these rows are not known." in page


def test_rows_that_every_tree_has_seen(path, text, result):
    assert "nan bits" not in text
    n_known = len(result) - 2
    assert re.findall(f"Largest difference over {n_known} rows: (.*) bits", text)
    content = written_data(path.read_text(encoding="utf-8"))
    assert content["rows"]["measure"] == "loss"


def test_rows_without_values_in_the_browser(page):
    page.evaluate("() => openRow(5)")
    page.wait_for_function("() => document.querySelector('#detail h3').innerText.includes('5')")
    assert "This row has no honest values" in page.inner_text("#detail")
    assert page.locator("#detail .waterfall").count() == 0
    page.evaluate("() => openRow(2)")
    page.wait_for_function("() => document.querySelector('#detail .waterfall')")
    widths = page.locator("#detail .bar").evaluate_all(
        "bars => bars.map(bar => [parseFloat(bar.style.left), parseFloat(bar.style.width)])"
    )
    assert all(left >= -1e-6 and left + width <= 100 + 1e-6 for left, width in widths)
    page.evaluate("() => openRow(0)")


def test_in_the_browser(page, result):
    names = page.locator("#detail .step .name").all_inner_texts()
    assert (names[0], names[-1]) == ("nothing known", "left to the forest")
    amount = page.locator("#detail .step .amount").all_inner_texts()[-1]
    assert float(amount) == pytest.approx(result.residual[0], abs=5.1e-4)
    assert "Left to the forest, which has not seen this row" in page.inner_text("#detail")
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
