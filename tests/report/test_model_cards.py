"""What the page says about the model: how good it is, by class, by pairs, and how it was made."""

import re

import numpy as np
import pandas as pd
import pytest

from localmdi._quality import Quality, quality_of
from localmdi.report import write_report
from localmdi.report.charts import forecast_picture
from localmdi.report.write import Request, write_page
from localmdi.results import ClassImportance, PairImportance
from report.samples import HOSTILE, make_result, written_data

N_ROWS = 200
LABELS = np.array(["ill", "well"])


@pytest.fixture(scope="module")
def chances():
    rng = np.random.default_rng(0)
    ill = rng.uniform(0.05, 0.95, N_ROWS)
    return np.stack([ill, 1 - ill], axis=1)


@pytest.fixture(scope="module")
def target(chances):
    return np.where(np.random.default_rng(1).random(N_ROWS) < chances[:, 0], "ill", "well")


def read(result, path, **arguments):
    return write_report(result, path, **arguments).read_text(encoding="utf-8")


def text_of(page, part):
    found = re.search(rf'<section[^>]*aria-labelledby="{part}-title".*?</section>', page, re.DOTALL)
    return None if found is None else " ".join(re.sub("<[^>]+>", " ", found[0]).split())


def test_chances_make_a_quality_card(tmp_path, chances, target):
    page = read(make_result(N_ROWS), tmp_path / "a.html", prediction=chances, target=target)
    right = (LABELS[chances.argmax(axis=1)] == target).mean()
    card = text_of(page, "quality")
    assert f"{right:.1%}" in card
    truth = target[:, None] == LABELS
    assert f"{((chances - truth) ** 2).sum(axis=1).mean():.3f}" in card
    assert "If the trees have learned from these rows" in card
    assert page.count("<circle cx=") == 10
    frame = pd.DataFrame(chances[:, ::-1], columns=["well", "ill"])
    other = read(make_result(N_ROWS), tmp_path / "b.html", prediction=frame, target=target)
    assert text_of(other, "quality") == card
    sure = written_data(page)["rows"]["sure"]
    assert sure == written_data(other)["rows"]["sure"]


def test_labels_and_numbers_are_judged_too(tmp_path, target):
    guess = np.where(np.arange(N_ROWS) % 4 == 0, "ill", target)
    page = read(make_result(N_ROWS), tmp_path / "a.html", prediction=guess, target=target)
    assert f"{(guess == target).mean():.1%}" in text_of(page, "quality")
    assert "<circle cx=" not in page
    y = np.linspace(0, 10, N_ROWS)
    said = y + np.where(np.arange(N_ROWS) % 2, 1.0, -1.0)
    numbers = make_result(N_ROWS, unit="variance")
    card = text_of(read(numbers, tmp_path / "b.html", prediction=said, target=y), "quality")
    assert f"{1 - 1 / y.var():.3g}" in card
    assert "always stating the mean: 2.9" in card


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"target": ["a"] * 40},
        {"prediction": [1.0] * 40, "target": ["a"] * 40},
        {"prediction": [None] * 40, "target": [1] * 40},
    ],
)
def test_what_cannot_be_compared_has_no_card(tmp_path, known):
    assert text_of(read(make_result(), tmp_path / "a.html", **known), "quality") is None


def test_unseen_rows_are_said_to_be_so(tmp_path):
    quality = Quality({"r2": 0.5, "error": 2.0, "spread": 3.0}, n_rows=77, unseen=True)
    path = write_page(Request(result=make_result(), quality=quality), tmp_path / "a.html")
    card = text_of(path.read_text(encoding="utf-8"), "quality")
    assert "Measured on 77 rows that the trees have not seen" in card


@pytest.mark.parametrize(
    ("prediction", "target", "message"),
    [
        (np.zeros((40, 2)), None, "for the classes of no target"),
        (np.zeros((40, 3)), ["a", "b"] * 20, r"shape \(40, 3\) for the classes 'a', 'b'"),
        (np.zeros((39, 2)), ["a", "b"] * 20, "one line per row; got 39 for 40 rows"),
    ],
)
def test_wrong_chances(tmp_path, prediction, target, message):
    with pytest.raises(ValueError, match=message):
        write_report(make_result(), tmp_path / "a.html", prediction=prediction, target=target)


@pytest.mark.parametrize("size", [1.0, 1e4, 3e7, 2e-6])
def test_ticks_of_the_picture_do_not_collide(browser, tmp_path, size):
    y = size * np.linspace(0.9, 1.1, 200)
    said = y + 0.01 * size * np.sin(np.arange(200))
    result = make_result(200, unit="variance")
    path = write_report(result, tmp_path / "a.html", prediction=said, target=y)
    page = browser.new_page()
    page.goto(path.as_uri())
    boxes = page.locator(".forecasts svg text").evaluate_all(
        """all => all.map((one) => {
          const box = one.getBoundingClientRect();
          return [one.textContent, box.left, box.top, box.right, box.bottom];
        })"""
    )
    page.close()
    assert len(boxes) >= 2 * 1 + 2
    for i, (_, left, top, right, bottom) in enumerate(boxes):
        for other, left_2, top_2, right_2, bottom_2 in boxes[i + 1 :]:
            apart = right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top
            assert apart, (boxes[i][0], other)


def test_the_picture_is_in_its_square():
    rng = np.random.default_rng(0)
    y = rng.normal(1e6, 1e5, 300)
    of_numbers = quality_of(y, y[:, None] + rng.normal(0, 1e4, (300, 1)), classes=None)
    share = rng.uniform(0.5, 1.0, 300)
    of_classes = quality_of(
        np.zeros(300, dtype=int), np.stack([share, 1 - share], axis=1), classes=np.arange(2)
    )
    for quality in (of_numbers, of_classes):
        picture = forecast_picture(quality)
        assert 2 <= len(picture["ticks"]) <= 7
        for point in picture["points"]:
            assert 0 <= point["x"] <= picture["size"]
            assert 0 <= point["high"] <= point["y"] <= point["low"] <= picture["size"]
    assert forecast_picture(Quality({"accuracy": 1.0}, n_rows=9)) is None


def class_values(result, classes=("ill", "well")):
    share = np.linspace(0.25, 0.75, len(result))[:, None, None] * np.array([1.0, 0.0])
    values = result.values[:, :, None] * (
        share + np.array([0.0, 1.0]) * (1 - share.sum(axis=2)[..., None])
    )
    return ClassImportance(
        values,
        np.full(2, result.baseline / 2),
        residual=np.repeat(result.residual[:, None] / 2, 2, axis=1),
        classes=classes,
        unit=result.unit,
        feature_names=result.feature_names,
        n_trees=result.n_trees,
        data=result.data,
    )


def test_importances_by_class(tmp_path, target):
    result = make_result(N_ROWS)
    page = read(result, tmp_path / "a.html", target=target)
    classes = written_data(page)["rows"]["classes"]
    assert classes["labels"] == ["ill", "well"]
    order = np.argsort(-result.mean().values)
    for label, values in zip(LABELS, classes["values"], strict=True):
        expected = result.values[target == label].mean(axis=0)[order]
        np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert f"{(target == 'ill').sum()} rows" in text_of(page, "classes")
    by_class = class_values(result)
    page = read([result, by_class], tmp_path / "b.html")
    shares = np.array(written_data(page)["rows"]["classes"]["values"])
    np.testing.assert_allclose(shares.sum(axis=0), result.mean().values[order], rtol=1e-4)
    assert "add up to what it told in all" in text_of(page, "classes")
    alone = read(by_class, tmp_path / "c.html")
    assert "200</dd>" in alone


def test_no_classes_no_card(tmp_path):
    numbers = make_result(unit="variance")
    for target in (None, np.arange(40) / 7, np.arange(40) % 3, ["a"] * 40):
        assert text_of(read(numbers, tmp_path / "a.html", target=target), "classes") is None
    many = read(make_result(), tmp_path / "a.html", target=np.arange(40))
    assert text_of(many, "classes") is None


def pair_values(result, index="conditional"):
    pairs = [[0, 0], [1, 0], [2, 1]] if index == "conditional" else [[0, 1], [1, 2]]
    values = np.random.default_rng(0).normal(0.1, 0.01, (len(result), len(pairs)))
    values[:, -1] *= -1
    return PairImportance(
        values, pairs, result.feature_names, unit=result.unit, index=index, n_trees=9
    )


@pytest.mark.parametrize("index", ["conditional", "SII"])
def test_pairs_have_a_section(tmp_path, visit, index):
    result = make_result(9, 4)
    path = write_report([result, pair_values(result, index)], tmp_path / "a.html")
    card = text_of(path.read_text(encoding="utf-8"), "pairs")
    if index == "conditional":
        words = ("feature 1, once feature 0 is known", "feature 2, once feature 1 is known")
        assert "Before any other was known, feature 0 told 0." in card
    else:
        words = ("feature 0 and feature 1", "feature 1 and feature 2")
    assert all(word in card for word in words)
    page = visit(path, address="#row-4")
    shown = page.locator(".row-pairs li").all_inner_texts()
    assert len(shown) == 2
    assert {text.split(maxsplit=1)[1] for text in shown} == set(words)


@pytest.mark.parametrize(
    ("others", "error", "message"),
    [
        (lambda r: [r, r], TypeError, "got two of one kind"),
        (lambda r: [r, 7], TypeError, "must be a LocalImportance; got int"),
        (lambda r: [pair_values(r)], TypeError, "got none in the list"),
        (lambda r: [r, pair_values(r[:3])], ValueError, "rows of the LocalImportance .* got 3"),
        (lambda r: [r[:, [1, 0, 2]], pair_values(r)], ValueError, "features and the unit"),
    ],
)
def test_results_of_other_rows_are_refused(tmp_path, others, error, message):
    with pytest.raises(error, match=message):
        write_report(others(make_result(5, 3)), tmp_path / "a.html")


def test_the_origin_is_told(tmp_path):
    told = {"command": "localmdi explain <b>.csv", "seed": "7"}
    page = write_page(Request(result=make_result(), origin=told), tmp_path / "a.html")
    card = text_of(page.read_text(encoding="utf-8"), "origin")
    assert "localmdi explain &lt;b&gt;.csv" in card
    assert re.search(r"seed\s+7", card)
    assert "plain drops of 100 trees, in bits" in card
    assert f"numpy {np.__version__}" in card


def test_hostile_classes_and_pairs_stay_text(tmp_path, visit):
    names = HOSTILE[:6]
    target = [HOSTILE[i % 12] for i in range(48)]
    result = make_result(48, 6, feature_names=names)
    chances = np.full((48, 12), 1 / 12)
    frame = pd.DataFrame(chances, columns=list(HOSTILE[:12]))
    page = visit(
        write_report(
            [result, pair_values(result)], tmp_path / "a.html", target=target, prediction=frame
        )
    )
    page.select_option("#class", "3")
    page.select_option("#dependence-feature", "1")
    page.wait_for_timeout(300)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe").count() == 0
    assert page.locator("#classes thead th").count() == 13
