"""Segments of rows and groups of features: what the cards say, and what a click does."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import localmdi as lm
from localmdi.report import group_cards, write_report
from localmdi.results import LocalImportance
from report.samples import HOSTILE, make_result, written_data

N_ROWS = 240


@pytest.fixture(scope="module")
def result():
    """Rows about which `age` tells much where the city is Oslo, and `dose` where it is not."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(
        {
            "city": rng.choice(["Rom", "Oslo"], N_ROWS),
            "age": rng.integers(20, 80, N_ROWS),
            "dose": np.where(np.arange(N_ROWS) % 9 == 0, np.nan, rng.normal(size=N_ROWS)),
        }
    )
    in_oslo = (data["city"] == "Oslo").to_numpy()
    values = rng.normal(0.0, 0.01, (N_ROWS, 3))
    values[:, 1] += np.where(in_oslo, 0.5, 0.05)
    values[:, 2] += np.where(in_oslo, -0.1, 0.3)
    return LocalImportance(
        values,
        1.0,
        residual=1.0 - values.sum(axis=1),
        unit="bits",
        feature_names=tuple(data.columns),
        n_trees=10,
        data=data,
        row_labels=np.arange(100, 100 + N_ROWS),
    )


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return write_report(result, tmp_path_factory.mktemp("segments") / "page.html")


def card(page, name):
    found = re.search(rf'<section class="card" id="{name}".*?</section>', page, re.DOTALL)
    return None if found is None else " ".join(re.sub("<[^>]+>", " ", found[0]).split())


def test_segments_are_said_in_words(result, path):
    text = card(path.read_text(encoding="utf-8"), "segments")
    in_oslo = (result.data["city"] == "Oslo").to_numpy()
    for rule, rows in (("city is Oslo", in_oslo), ("city is Rom", ~in_oslo)):
        told = f"{rule} {rows.sum()} rows ({rows.mean():.0%})"
        assert told in text
        here, everywhere = result.values[rows, 1].mean(), result.values[:, 1].mean()
        assert f"age {here:.3f} {everywhere:.3f} in all rows" in text
    assert "dose \N{MINUS SIGN}0." in text
    # A feature that tells the same everywhere is not named.
    assert "city 0." not in text


def test_a_click_shows_the_rows_of_a_segment(page, result):
    buttons = page.locator("#segments [data-segment]")
    assert buttons.count() == 2
    for i in range(2):
        rule = page.locator("#segments h3").nth(i).inner_text()
        buttons.nth(i).click()
        city = rule.removeprefix("city is ")
        wanted = 100 + np.flatnonzero(result.data["city"] == city)
        shown = page.evaluate("state.order.map((row) => rows.position[row])")
        assert shown == wanted.tolist()
        # The rows of one segment take the place of those of the other.
        assert page.locator("#filters li").count() == 1
        assert page.inner_text("#filters li bdi") == f"group of rows: {rule}"
    assert page.evaluate("document.activeElement.id") == "search"
    assert "where=segment" in page.url


def test_a_segment_is_part_of_the_address(page, visit, path):
    page.locator("#segments [data-segment]").first.click()
    other = visit(path, address="#" + page.url.partition("#")[2])
    assert other.inner_text("#status") == page.inner_text("#status")
    other.select_option("#scope", label="group of rows")
    other.fill("#search", "> 5")
    assert other.inner_text("#status") == f"0 of {N_ROWS} rows"


def test_a_rule_that_begins_another_means_itself(page):
    found = page.evaluate(
        """() => {
          const kept = rows.segments;
          rows.segments = { rules: ["x ≤ 3", "x ≤ 35"], code: kept.code };
          const told = [0, 1].map((k) => kept.code.findIndex((code) => code === k));
          const queries = ["x ≤ 3", "x ≤ 35", "x ≤"].map(asQuery);
          const answers = told.map((row) => queries.map((query) => found(row, query, "segment")));
          rows.segments = kept;
          return answers;
        }"""
    )
    assert found == [[True, False, True], [False, True, True]]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_bars_of_segments_are_in_proportion(visit, path, result, width, scheme):
    page = visit(path, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lines = page.locator("#segments dd").evaluate_all(
        "all => all.map((one) => [one.querySelector('i').getBoundingClientRect().width, "
        "parseFloat(one.innerText.replace('\u2212', '-'))])"
    )
    bars = [(w, abs(value)) for w, value in lines if abs(value) > 0.02]
    share = [w / value for w, value in bars]
    assert max(share) / min(share) < 1.1
    card = page.locator("#segments").bounding_box()
    for item in page.locator("#segments dd span").all():
        box = item.bounding_box()
        assert box["x"] + box["width"] <= card["x"] + card["width"]


def test_no_segment_stands_out(tmp_path):
    same = make_result(100, 2)
    flat = LocalImportance(
        np.full((100, 2), 0.25),
        1.0,
        residual=np.full(100, 0.5),
        unit="bits",
        feature_names=("a", "b"),
        n_trees=1,
        data=same.data,
    )
    page = write_report(flat, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "No group of rows stands out" in card(page, "segments")
    assert written_data(page)["rows"]["segments"] is None
    without = write_report(make_result(100, 2, data=None), tmp_path / "b.html")
    assert card(without.read_text(encoding="utf-8"), "segments") is None


def test_of_very_many_rows_those_of_the_page_are_looked_at(result, tmp_path, monkeypatch):
    monkeypatch.setattr(group_cards, "_MOST_ROWS", 200)
    page = write_report(result, tmp_path / "a.html", max_shape=(120, 3)).read_text("utf-8")
    assert "those that fit the rows on this page best" in card(page, "segments")
    counts = map(int, re.findall(r"(\d+) rows \(", card(page, "segments")))
    assert sum(counts) == 120


def test_names_of_segments_are_text(visit, tmp_path):
    cities = np.array(HOSTILE, dtype=object)[np.arange(N_ROWS) % 2 + 1]
    values = np.where(np.arange(N_ROWS)[:, None] % 2, [[0.5, 0.0]], [[0.0, 0.5]])
    result = LocalImportance(
        values,
        1.0,
        residual=np.full(N_ROWS, 0.5),
        unit="bits",
        feature_names=(HOSTILE[0], HOSTILE[2]),
        n_trees=1,
        data=pd.DataFrame({HOSTILE[0]: cities, HOSTILE[2]: np.arange(N_ROWS) % 2}),
    )
    page = visit(write_report(result, tmp_path / "a.html"))
    page.locator("#segments [data-segment]").first.click()
    assert page.inner_text("#status") == f"{N_ROWS // 2} of {N_ROWS} rows"
    assert page.evaluate("window.hacked") is None


@pytest.fixture(scope="module")
def piped():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"city": rng.choice(["Rom", "Oslo", "Bern"], 200), "age": rng.integers(20, 80, 200)}
    )
    y = (table["city"] == "Rom") ^ (table["age"] > 50)
    steps = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["age"]))
    model = make_pipeline(steps, RandomForestClassifier(20, criterion="entropy", random_state=0))
    return lm.local_mdi(model.fit(table, y), table)


def test_columns_are_the_sums_of_their_features(visit, piped, tmp_path):
    path = write_report(piped, tmp_path / "a.html")
    mean = piped.group("auto").mean()
    text = card(path.read_text(encoding="utf-8"), "columns")
    for name, value in zip(mean.feature_names, mean.values, strict=True):
        assert re.search(rf"\b{name}\b.*? {value:.3f}", text)
    assert "became onehotencoder__city_Bern, onehotencoder__city_Oslo" in text
    page = visit(path)
    widths = page.locator("#columns i").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    largest, other = sorted(mean.values, reverse=True)
    assert widths[1] / widths[0] == pytest.approx(other / largest, rel=0.02)


def test_no_card_of_columns_where_features_are_columns(tmp_path, piped):
    plain = write_report(make_result(), tmp_path / "a.html").read_text(encoding="utf-8")
    assert card(plain, "columns") is None
    one = write_report(piped[:, [0, 3]], tmp_path / "b.html").read_text(encoding="utf-8")
    assert card(one, "columns") is None
