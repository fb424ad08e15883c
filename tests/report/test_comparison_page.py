"""The page of a comparison: the numbers of `compare`, in words and bars."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import localmdi as lm
from localmdi.report import write_report
from localmdi.results import LocalImportance
from report.samples import HOSTILE

N_ROWS = 50
NAMES = ("age", "dose", "a rather long name of a measurement that somebody took in spring")


def make(seed, *, names=NAMES, **fields):
    rng = np.random.default_rng(seed)
    values = rng.normal([0.5, 0.2, -0.1], 0.1, (N_ROWS, 3))
    data = pd.DataFrame({name: np.arange(N_ROWS) + i for i, name in enumerate(names)})
    known = {"unit": "bits", "feature_names": names, "n_trees": 10, "data": data}
    return LocalImportance(values, **(known | fields))


@pytest.fixture(scope="module")
def comparison():
    return lm.compare(make(0), make(1), names=("last year", "this year"))


def text_of(path):
    page = path.read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub("<[^>]+>", "", page.partition("<body>")[2])).split())


def open_static(browser, path, *, width=1280, **options):
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_offline(True)
    page = context.new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_means_rows_and_verdict(browser, comparison, tmp_path, width, scheme):
    path = write_report(comparison, tmp_path / "a.html", title="Two years", notes=["A note."])
    assert path.stat().st_size < 100_000
    page = open_static(browser, path, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lines = page.locator("#features tbody tr").evaluate_all(
        "all => all.map((line) => [...line.cells].slice(0, 5).map((one) => one.innerText))"
    )
    frame = comparison.to_frame()
    for line, expected in zip(lines, frame.itertuples(index=False), strict=True):
        numbers = [float(text.replace("\N{MINUS SIGN}", "-")) for text in line[1:]]
        assert line[0] == expected.feature
        assert numbers[:3] == pytest.approx(list(expected)[1:4], abs=6e-4)
        assert numbers[3] == pytest.approx(expected.rank_correlation, abs=6e-3)
    widths = page.locator("#features .bars i").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    means = np.abs(frame[["mean_last year", "mean_this year"]].to_numpy()).ravel()
    np.testing.assert_allclose(np.array(widths) / max(widths), means / means.max(), atol=0.02)
    rows = page.locator("#changed tbody th").all_inner_texts()
    assert [int(row) for row in rows] == comparison.rows(20)["row"].tolist()
    first = page.locator("#changed tbody tr").first.inner_text()
    changed = comparison.rows(1).iloc[0]
    assert f"{changed.feature} = " in first
    page.context.close()


@pytest.mark.parametrize(
    ("noise", "words"), [(0.0, "largely the same story"), (0.2, "partly"), (5.0, "different")]
)
def test_the_verdict_is_that_of_the_correlation(tmp_path, noise, words):
    first = make(0)
    moved = first.values + np.random.default_rng(1).normal(0, noise, first.shape)
    comparison = lm.compare(
        first, LocalImportance(moved, unit="bits", n_trees=1, feature_names=NAMES)
    )
    text = text_of(write_report(comparison, tmp_path / "a.html"))
    assert words in text
    mean = f"{comparison.row_correlation.mean():.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"a rank correlation of {mean} on average" in text
    assert ("No row's values changed." in text) == (noise == 0)


def test_different_units_are_compared_by_order_only(tmp_path):
    comparison = lm.compare(make(0), make(1, unit="gini"))
    text = text_of(write_report(comparison, tmp_path / "a.html"))
    assert "different units, so that only their orders can be compared" in text
    assert "Rows that changed most" not in text


def test_features_of_one_only_are_named(tmp_path):
    other = make(1, names=(*NAMES[:2], "new one"))
    text = text_of(write_report(lm.compare(make(0), other), tmp_path / "a.html"))
    assert "Only second has 'new one': not compared." in text


def test_names_are_text(browser, tmp_path):
    names = HOSTILE[:3]
    comparison = lm.compare(
        make(0, names=names, row_labels=np.array(["</table>"] * N_ROWS)),
        make(1, names=names),
        names=("<b>bold", "</style>"),
    )
    path = write_report(comparison, tmp_path / "a.html", title=HOSTILE[1])
    page = open_static(browser, path)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#features tbody tr").count() == 3
    assert "<b>bold" in page.inner_text("#features thead")
    page.context.close()


def test_what_a_comparison_has_no_use_for(comparison, tmp_path):
    with pytest.raises(TypeError, match="no global_importance, prediction or target"):
        write_report(comparison, tmp_path / "a.html", target=["a"] * N_ROWS)
    with pytest.raises(ValueError, match="at least one row"):
        write_report(lm.compare(make(0)[:0], make(1)[:0]), tmp_path / "a.html")
    with pytest.raises(FileNotFoundError, match="folder of the report"):
        write_report(comparison, tmp_path / "no" / "a.html")
    assert not list(tmp_path.iterdir())
