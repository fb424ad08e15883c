"""What a person sees in a page: every dot, one number per row, numbers as people write them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from localmdi.report import write_report
from localmdi.report.sections import Whole
from localmdi.report.write import Request, write_page
from report.samples import make_result

N_ROWS = 30

DOTS = """() => {
  const found = {};
  const walk = (item) => {
    if (item.datum && item.datum.row !== undefined && item.fill !== undefined) {
      const one = (found[item.datum.rank] ??= { n: 0, grey: 0 });
      one.n += 1;
      one.grey += item.fill === views[1].signal("none") ? 1 : 0;
    }
    (item.items ?? []).forEach(walk);
  };
  walk(views[1].scenegraph().root);
  return found;
}"""


@pytest.fixture(scope="module")
def result():
    numbers = np.arange(float(N_ROWS))
    data = pd.DataFrame(
        {
            "number": numbers,
            "text": [f"level {i % 3}" for i in range(N_ROWS)],
            "flag": numbers % 2 == 0,
            "gaps": np.where(numbers < 10, np.nan, numbers),
            "empty": [None] * N_ROWS,
        }
    )
    labels = np.arange(100, 100 + N_ROWS)
    return make_result(N_ROWS, 5, feature_names=tuple(data.columns), data=data, row_labels=labels)


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return write_report(result, tmp_path_factory.mktemp("people") / "page.html")


def test_every_row_of_every_feature_is_a_dot(page, result):
    page.wait_for_timeout(300)
    dots = page.evaluate(DOTS)
    names = page.evaluate("rows.names")
    assert {names[int(rank)]: one["n"] for rank, one in dots.items()} == dict.fromkeys(
        names, N_ROWS
    )
    grey = {names[int(rank)]: one["grey"] for rank, one in dots.items()}
    assert grey == {"number": 0, "text": N_ROWS, "flag": N_ROWS, "gaps": 10, "empty": N_ROWS}


def test_a_row_has_one_number_everywhere(page):
    page.evaluate("openRow(7)")
    page.locator("#detail h3", has_text=re.compile("^Row 107$")).wait_for()
    assert page.evaluate("location.hash") == "#row-107"
    links = page.locator(".negative-values a").evaluate_all(
        "all => all.map((one) => [one.getAttribute('href'), one.textContent])"
    )
    assert links
    assert all(href.removeprefix("#row-") == text.removeprefix("Row ") for href, text in links)


def test_an_unknown_row_says_so(page):
    page.evaluate("location.hash = '#row-5'")
    notice = page.locator("#detail [role=alert]")
    notice.wait_for()
    assert "Row 5 is not on this page" in notice.inner_text()
    page.evaluate("openRow(0)")
    notice.wait_for(state="detached")


def test_no_row_found_is_said(page):
    page.fill("#search", "nothing like this")
    assert "No row matches" in page.locator("#table tbody").inner_text()
    page.fill("#search", "")
    assert "No row matches" not in page.locator("#table tbody").inner_text()


def test_a_sample_tells_the_whole(result, tmp_path):
    mean = result.mean().values
    some = result[::3]
    request = Request(
        result=some,
        whole=Whole(n_rows=N_ROWS, mean=mean),
        global_importance=replace(result.mean(), standard_error=None),
    )
    path = write_page(request, tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert ("rows explained", "30") in facts
    assert "sample of 10 of 30 rows" in page
    assert 'class="differs"' not in page
    assert "The mean over all rows is the forest" in page


@pytest.mark.parametrize(
    ("size", "shown"), [(5930.0, "5,930"), (7.79e9, "7.79 \N{MULTIPLICATION SIGN} 10⁹")]
)
def test_variance_is_written_as_people_do(visit, tmp_path, size, shown):
    rng = np.random.default_rng(0)
    values = size * rng.uniform(0.0, 0.2, (N_ROWS, 3))
    plain = make_result(N_ROWS, 3, unit="variance", residual=size - values.sum(axis=1), data=None)
    result = replace(plain, values=values, baseline=size)
    page = visit(
        write_report(
            result, tmp_path / "page.html", prediction=151.00000000000068 * np.ones(N_ROWS)
        )
    )
    text = page.locator("body").inner_text()
    assert shown in text
    assert "standard deviation" in text
    page.wait_for_timeout(300)
    ticks = page.evaluate(
        "[...document.querySelectorAll('#bar text')].map((one) => one.textContent)"
    )
    written = text + " ".join(ticks)
    assert not re.search(r"\de[+-]?\d", written)
    assert "00000000" not in written
    assert "variance of variance" not in written


def test_small_axes_have_no_powers(visit, tmp_path):
    values = 200 * np.ones((4, 2))
    plain = make_result(4, 2, unit="variance", residual=np.full(4, 100.0), data=None)
    page = visit(write_report(replace(plain, values=values, baseline=500.0), tmp_path / "p.html"))
    page.wait_for_timeout(300)
    ticks = page.evaluate(
        "[...document.querySelectorAll('#bar text')].map((one) => one.textContent)"
    )
    assert "200" in ticks
    assert not any("e+" in tick for tick in ticks)


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("end", ["", " in millimoles per litre"])
def test_long_names_are_told_apart(visit, tmp_path, width, end):
    names = tuple(f"a rather long name of a measurement, number {i}{end}" for i in range(30))
    path = write_report(make_result(5, 30, feature_names=names), tmp_path / "p.html")
    page = visit(path, width=width)
    page.wait_for_timeout(300)
    labels = page.evaluate(
        "[...document.querySelectorAll('#bar .mark-text.role-axis-label text')]"
        ".map((one) => one.textContent).filter((text) => text.startsWith('a rather'))"
    )
    assert len(labels) == len(set(labels)) == 20
    steps = page.locator(".step .name bdi").all_inner_texts()
    own = [text for text in steps if text.startswith("a rather")]
    assert len(own) == len(set(own)) > 10


@pytest.mark.parametrize("width", [1400, 390])
def test_charts_do_not_cut_what_tells_names_apart(visit, tmp_path, width):
    """Wide letters: the chart itself cut "…7…" off, and twenty labels looked the same."""
    names = tuple(f"MMMMMMMMM WWWWWWWWW number {i} of the MMMMMMMMMMMMMMM" for i in range(30))
    page = visit(
        write_report(make_result(5, 30, feature_names=names), tmp_path / "p.html"), width=width
    )
    page.wait_for_timeout(300)
    labels = page.evaluate(
        "[...document.querySelectorAll('#bar .mark-text.role-axis-label text')]"
        ".map((one) => one.textContent).filter((text) => text.startsWith('M'))"
    )
    shown = [re.search(r"(\d+)…$", label) for label in labels]
    assert len(labels) == 20
    assert all(shown), labels
    assert len({found[1] for found in shown}) == 20


def test_numbers_of_a_column_are_written_alike(visit, tmp_path):
    """Thousands apart where a column has decimals; years and names of rows as they are."""
    values = 1e13 * np.ones((4, 2))
    plain = make_result(
        4,
        2,
        unit="variance",
        residual=np.full(4, 4e13),
        feature_names=("year", "rent"),
        data=np.array([[2021, 8742060.0], [2022, 38715160.5], [2023, 0.5], [2024, 1234.5]]),
    )
    path = write_report(
        replace(plain, values=values, baseline=6e13),
        tmp_path / "p.html",
        prediction=np.array([6738656.0, 12292123.4, 8520200.25, 0.0]),
    )
    page = visit(path)
    said = page.locator("#table tbody tr td:nth-child(2)").all_inner_texts()
    assert said == ["6,738,656", "12,292,120", "8,520,200", "0"]
    cells = "rows.cells.map((cells) => [0, 1, 2, 3].map((row) => cells.text(row)))"
    by_name = dict(zip(page.evaluate("rows.names"), page.evaluate(cells), strict=True))
    assert by_name["year"] == ["2021", "2022", "2023", "2024"]
    assert by_name["rent"] == ["8,742,060", "38,715,160", "0.5", "1,234.5"]
    # The power of ten stands in the head, once, and not in every cell.
    head = page.inner_text("#table thead")
    assert head.count("\N{MULTIPLICATION SIGN} 10¹²") == 2
    assert "\N{MULTIPLICATION SIGN}" not in page.inner_text("#table tbody")
    for query in ("8742060", "8,742,060"):
        page.select_option("#scope", label="rent" if "," not in query else "anything")
        page.fill("#search", query)
        assert page.inner_text("#status") == "1 of 4 rows"


def test_arrows_say_which_way_a_feature_pushed(visit, tmp_path):
    plain = make_result(3, 3, data=None)
    moves = np.array([[0.2, -0.1, 0.0]] * 3)
    result = replace(plain, direction=moves, prediction=np.array(["a", "b", "a"]))
    page = visit(write_report(result, tmp_path / "p.html"))
    told = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.step')].map((one) => ["
        "one.querySelector('.name').textContent, one.querySelector('.push')?.textContent]))"
    )
    assert told == {
        "at the start": "",
        "feature 0": "↑",
        "feature 1": "↓",
        "feature 2": "",
        "left at the end": "",
    }
    assert "towards the predicted class" in page.locator(".scale").inner_text()
    assert page.locator("#detail header dl").inner_text().split() == ["prediction", "a"]


def test_a_row_does_not_pass_below_zero(visit, tmp_path):
    values = np.array([[0.9, 0.8, -0.6, -0.5]])
    plain = make_result(1, 4, residual=np.array([0.4]), data=None)
    page = visit(write_report(replace(plain, values=values, baseline=1.0), tmp_path / "p.html"))
    assert page.evaluate("Math.min(...detailSteps(0, rows.ranked(0)).map((one) => one.to))") > -1e-6
