"""A reader asks: one class, one feature, some rows; and takes the answer along."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from localmdi.report import write_report
from report.samples import make_result

N_ROWS = 120


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "age": rng.integers(20, 80, N_ROWS).astype(float),
            "city": rng.choice(["Rom", "Oslo", "=1+2", "-x"], N_ROWS),
            "gaps": np.where(np.arange(N_ROWS) % 5 == 0, np.nan, rng.normal(size=N_ROWS)),
        }
    )
    plain = make_result(N_ROWS, 3, feature_names=tuple(data.columns), data=data)
    return replace(plain, direction=np.sign(plain.values), prediction=None)


@pytest.fixture(scope="module")
def target(result):
    return np.where(result.data["age"] > 50, "old", "young")


@pytest.fixture(scope="module")
def path(result, target, tmp_path_factory):
    chances = np.stack([np.linspace(0, 1, N_ROWS), np.linspace(1, 0, N_ROWS)], axis=1)
    folder = tmp_path_factory.mktemp("views")
    return write_report(result, folder / "page.html", target=target, prediction=chances)


@pytest.fixture
def order(result):
    return [result.feature_names[i] for i in np.argsort(-result.mean().values)]


def table_rows(page):
    return page.evaluate("state.order.map((row) => rows.position[row])")


def search(page, scope, query):
    page.select_option("#scope", label=scope)
    page.fill("#search", query)
    return table_rows(page)


def test_a_class_has_bars_and_dots_of_its_own(page, result, target, order):
    page.wait_for_timeout(300)
    page.select_option("#class", label="old")
    page.wait_for_timeout(300)
    bars = page.evaluate("views[0].data('bars').map((one) => one.value)")
    expected = result.values[target == "old"].mean(axis=0)
    positions = [result.feature_names.index(name) for name in order]
    np.testing.assert_allclose(bars, expected[positions], rtol=1e-5)
    dots = page.evaluate("views[1].data('dots').map((one) => one.row)")
    assert set(dots) == set(np.flatnonzero(target == "old").tolist())
    assert "class=0" in page.url
    page.select_option("#class", label="all classes")
    page.wait_for_timeout(300)
    assert len(page.evaluate("views[1].data('dots')")) == 3 * N_ROWS


@pytest.mark.parametrize("name", ["age", "city", "gaps"])
def test_dependence_of_a_feature(page, result, name):
    page.wait_for_timeout(300)
    page.select_option("#dependence-feature", label=name)
    page.wait_for_timeout(600)
    values = result.values[:, result.feature_names.index(name)]
    cells = result.data[name]
    known = ~cells.isna().to_numpy()
    dots = page.evaluate("views[2].data('dots').map((one) => [one.row, one.value])")
    assert {row for row, _ in dots} == set(np.flatnonzero(known).tolist())
    np.testing.assert_allclose(
        [value for _, value in dots], values[[row for row, _ in dots]], atol=1e-5
    )
    lines = page.locator("#dependence-table tbody tr").evaluate_all(
        "all => all.map((line) => [...line.cells].map((cell) => cell.textContent))"
    )
    assert sum(int(line[1]) for line in lines) == N_ROWS
    assert (lines[-1][0] == "missing") == (name == "gaps")
    if name == "city":
        for text, n, mean in lines:
            own = values[cells == text]
            assert int(n) == len(own)
            assert float(mean.replace("\u2212", "-")) == pytest.approx(own.mean(), abs=6e-4)
    assert "It told most in rows with the value" in page.inner_text("#dependence-text")
    assert page.input_value("#feature") == page.input_value("#dependence-feature")


def test_a_bar_chooses_its_feature(page, order):
    page.wait_for_timeout(300)
    page.evaluate("chooseFeature(0)")
    bar = page.locator("#bar .mark-rect path").nth(2)
    bar.scroll_into_view_if_needed()
    bar.click()
    assert page.locator("#dependence-feature option:checked").inner_text() == order[2]


@pytest.mark.parametrize(
    ("scope", "query", "wanted"),
    [
        ("age", "> 50", lambda d: d["age"] > 50),
        ("age", "<=30", lambda d: d["age"] <= 30),
        ("age", "30..40", lambda d: d["age"].between(30, 40)),
        ("city", "oslo", lambda d: d["city"] == "Oslo"),
        ("gaps", "missing", lambda d: d["gaps"].isna()),
        ("gaps", "< -0.5", lambda d: d["gaps"] < -0.5),
        ("target", "young", lambda d: d["age"] <= 50),
    ],
)
def test_filter_by_any_column(page, result, scope, query, wanted):
    assert search(page, scope, query) == np.flatnonzero(wanted(result.data)).tolist()


def test_filters_are_kept_and_removed(page, result):
    search(page, "age", "> 50")
    page.click("#keep")
    assert page.input_value("#search") == ""
    found = search(page, "city", "Rom")
    both = (result.data["age"] > 50) & (result.data["city"] == "Rom")
    assert found == np.flatnonzero(both).tolist()
    page.press("#search", "Enter")
    chips = page.locator("#filters li")
    shown = [" ".join(text.split()[:-1]) for text in chips.all_inner_texts()]
    assert shown == ["age: > 50", "city: Rom"]
    page.click("#filters li:first-child button")
    assert table_rows(page) == np.flatnonzero(result.data["city"] == "Rom").tolist()
    page.click("#filters button")
    assert page.inner_text("#status") == f"{N_ROWS} rows"


def test_an_address_brings_the_view_back(page, visit, path, result):
    page.select_option("#feature", label="city")
    search(page, "age", "> 40")
    page.click("#keep")
    page.check("#wrong")
    page.click("[data-sort=residual]")
    page.select_option("#class", label="young")
    page.click("#table tbody tr:nth-child(3) button")
    page.wait_for_timeout(300)
    address = page.url.partition("#")[2]
    seen = page.evaluate(
        "[state.order, state.sort, state.descending, state.feature, state.label, state.row]"
    )
    other = visit(path, address=f"#{address}")
    other.wait_for_timeout(600)
    assert (
        other.evaluate(
            "[state.order, state.sort, state.descending, state.feature, state.label, state.row]"
        )
        == seen
    )
    assert other.locator("#filters li").count() == 1
    assert other.is_checked("#wrong")
    assert other.locator("#class option:checked").inner_text() == "young"
    shown = len(set(other.evaluate("views[1].data('dots').map((one) => one.row)")))
    assert shown == int((result.data["age"] <= 50).sum())


@pytest.mark.parametrize(
    "address",
    [
        "#row-3&sort=nothing&feature=99&class=-7&page=x&in=1e9&where=&where=~",
        "#row-3&&&=",
        "#row-3&%",
    ],
)
def test_any_address_opens_a_page(visit, path, address):
    page = visit(path, address=address)
    assert page.text_content("#detail h3") == "Row 3"
    assert page.inner_text("#status") == f"{N_ROWS} rows"


def test_download(page, result, target):
    page.select_option("#feature", label="city")
    search(page, "age", "> 60")
    with page.expect_download() as found:
        page.click("#download")
    text = found.value.path().read_bytes().decode("utf-8-sig")
    head, *lines = csv.reader(io.StringIO(text))
    wanted = np.flatnonzero(result.data["age"] > 60)
    assert [int(line[0]) for line in lines] == wanted.tolist()
    assert [line[head.index("target")] for line in lines] == target[wanted].tolist()
    values = [float(line[head.index("city (bits removed)")]) for line in lines]
    np.testing.assert_allclose(values, result.values[wanted, 1], atol=1e-5)
    own = [line[head.index("city (own value)")] for line in lines]
    assert own == [f"'{c}" if c[0] in "=-" else c for c in result.data["city"].iloc[wanted]]


def test_rows_like_a_row(page, result, target):
    page.evaluate("showRow(10, false)")
    titles = page.locator(".similar h4").all_inner_texts()
    assert titles == ["Rows most like this one", "Most alike, but predicted otherwise"]
    links = (
        page.locator(".similar ul")
        .nth(1)
        .locator("a")
        .evaluate_all("all => all.map((one) => one.hash)")
    )
    chosen = [int(link.rpartition("-")[2]) for link in links]
    assert len(chosen) == 2
    assert all(row >= N_ROWS // 2 for row in chosen)  # the chances cross in the middle
    first = page.locator(".similar ul").nth(0).locator("li").first
    row = int(first.locator("a").inner_text().removeprefix("Row "))
    text = first.inner_text()
    for name in re.findall(r"(\w+) = ", text):
        assert result.data[name].iloc[row] != result.data[name].iloc[10]
    first.locator("a").click()
    page.locator("#detail h3", has_text=re.compile(f"^Row {row}$")).wait_for()


def test_uncertain_rows_are_listed_and_linked(page, result):
    most = np.argsort(-result.residual, kind="stable")[:12]
    links = page.locator(".uncertain-rows a")
    assert links.all_inner_texts() == [f"Row {row}" for row in most]
    links.nth(1).click()
    page.locator("#detail h3", has_text=re.compile(f"^Row {most[1]}$")).wait_for()


def test_the_least_sure_are_listed_where_nothing_is_left(tmp_path):
    result = make_result(30, 2)
    whole = replace(result, baseline=result.values.sum(axis=1), residual=np.zeros(30))
    labels = ["a", "b"] * 15
    nothing = write_report(whole, tmp_path / "a.html", target=labels).read_text(encoding="utf-8")
    assert "Nothing is left of any row" in nothing
    share = np.linspace(0.5, 0.9, 30)
    chances = np.stack([share, 1 - share], axis=1)
    page = write_report(whole, tmp_path / "b.html", target=labels, prediction=chances)
    text = page.read_text(encoding="utf-8")
    rows = re.search(r'<ol class="row-list uncertain-rows">(.*?)</ol>', text, re.DOTALL)[1]
    assert re.findall(r"#row-(\d+)", rows) == [str(i) for i in range(12)]
    assert "50% sure" in rows


def test_arrows_in_the_table_and_sureness_in_the_row(page, result):
    page.select_option("#feature", label="age")
    arrows = page.locator("#table tbody tr .push").evaluate_all(
        "all => all.map((one) => one.textContent)"
    )
    signs = np.sign(result.values[:25, 0])
    assert arrows == ["↑" if sign > 0 else "↓" for sign in signs]
    page.evaluate("showRow(0, false)")
    assert "(100% sure)" in page.inner_text("#detail header")


@pytest.mark.parametrize("width", [390, 1400])
def test_no_part_is_wider_than_the_page(visit, path, width):
    page = visit(path, width=width)
    page.wait_for_timeout(400)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.emulate_media(media="print")
    assert not page.is_visible("#download")
    for part in ("#dependence", "#classes", ".forecasts svg"):
        assert page.locator(part).bounding_box()["height"] > 80
