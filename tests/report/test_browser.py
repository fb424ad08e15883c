"""The page in a real browser, offline: what a reader does with it."""

import numpy as np
import pytest

from localmdi.report import write_report
from report.samples import make_result

LABELS = np.array(["yes", "no"])
MINUS = "\u2212"

FIND_DOT = """(wanted) => {
  const view = views[1];
  const [left, top] = view.origin();
  let found = null;
  const walk = (item, x, y) => {
    if (item.datum && item.datum.row === wanted && item.datum.rank === 0 && item.shape) {
      found = [x + item.x, y + item.y];
    }
    for (const child of item.items ?? []) walk(child, x + (item.x ?? 0), y + (item.y ?? 0));
  };
  const padding = view.padding();
  walk(view.scenegraph().root, left + padding.left, top + padding.top);
  return found;
}"""


@pytest.fixture(scope="module")
def result():
    return make_result(60, 8, standard_error=np.full((60, 8), 0.01))


@pytest.fixture(scope="module")
def target(result):
    return LABELS[np.arange(len(result)) % 2]


@pytest.fixture(scope="module")
def prediction(result, target):
    return np.where(np.arange(len(result)) % 10 == 3, "no answer", target)


@pytest.fixture(scope="module")
def path(result, prediction, target, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return write_report(
        result,
        folder / "report.html",
        global_importance=result.mean(),
        prediction=prediction,
        target=target,
        title="A test",
    )


def eventually(page, condition):
    """Wait in Python: what Playwright waits with is forbidden by the page's security policy."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never came true: {condition}")


def shown_rows(page):
    return [int(text) for text in page.locator("#table tbody th").all_inner_texts()]


def column(page, title):
    titles = page.locator("#table thead th").all_inner_texts()
    index = next(i for i, text in enumerate(titles) if text.startswith(title))
    return [
        line[index]
        for line in page.locator("#table tbody tr").evaluate_all(
            "lines => lines.map(line => [...line.cells].map(cell => cell.innerText))"
        )
    ]


def numbers(texts):
    return [float(text.replace(MINUS, "-")) for text in texts]


def test_opens_and_draws(page, result):
    assert page.title() == page.inner_text("h1") == "A test"
    drawn = page.locator("#bar svg text").all_text_contents()
    assert set(result.feature_names) <= set(drawn)
    painted = page.evaluate(
        """() => {
          const canvas = document.querySelector("#beeswarm canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, i) => i % 4 === 3 && value > 0).length;
        }"""
    )
    assert painted > 1000
    assert page.inner_text("#status") == "60 rows"


def test_search(page, result, target, prediction):
    page.fill("#search", "NO ANSWER")
    found = np.flatnonzero(prediction == "no answer").tolist()
    assert shown_rows(page) == found
    assert page.inner_text("#status") == f"{len(found)} of 60 rows"
    page.select_option("#scope", "target")
    assert shown_rows(page) == []
    page.fill("#search", "yes")
    assert page.inner_text("#status") == "30 of 60 rows"
    page.fill("#search", "")
    page.check("#wrong")
    assert shown_rows(page) == np.flatnonzero(prediction != target).tolist()
    page.uncheck("#wrong")
    order = np.argsort(-result.mean().values)
    page.select_option("#scope", label=result.feature_names[order[2]])
    page.fill("#search", str(result.data[7, order[2]]))
    assert shown_rows(page) == [7]


def test_sort(page, result):
    page.click("[data-sort=residual]")
    assert shown_rows(page) == np.argsort(-result.residual, kind="stable")[:25].tolist()
    assert page.get_attribute("th:has([data-sort=residual])", "aria-sort") == "descending"
    page.click("[data-sort=residual]")
    assert shown_rows(page) == np.argsort(result.residual, kind="stable")[:25].tolist()
    page.click("[data-sort=prediction]")
    assert column(page, "prediction") == sorted(column(page, "prediction"))
    page.select_option("#feature", label="feature 5")
    page.click("[data-sort=feature]")
    assert shown_rows(page) == np.argsort(-result.values[:, 5], kind="stable")[:25].tolist()
    expected = np.sort(result.values[:, 5])[::-1][:25]
    np.testing.assert_allclose(numbers(column(page, "feature 5")), expected, atol=5.1e-4)


def test_pages(page):
    assert page.is_disabled("#previous")
    page.click("#next")
    page.click("#next")
    assert shown_rows(page) == list(range(50, 60))
    assert page.is_disabled("#next")
    assert page.inner_text("#page") == "Page 3 of 3"
    page.fill("#search", "yes")
    assert page.inner_text("#page").startswith("Page 1 of")


def check_detail(page, result, row):
    # A new address is an event of its own, after the click.
    eventually(page, f"document.querySelector('#detail h3').textContent === 'Row {row}'")
    steps = page.locator(".step").evaluate_all(
        "steps => steps.map(step => [...step.children].map(part => part.textContent))"
    )
    assert steps[0][0] == "at the start"
    assert steps[-1][0] == "left at the end"
    amounts = numbers(text.partition(" ")[0] for _, _, text in steps)
    assert amounts[0] == pytest.approx(result.baseline, abs=5.1e-4)
    assert amounts[-1] == pytest.approx(result.residual[row], abs=5.1e-4)
    order = np.argsort(-np.abs(result.values[row]))
    np.testing.assert_allclose(amounts[1:-1], result.values[row, order], atol=5.1e-4)
    for (name, _, _), feature in zip(steps[1:-1], order, strict=True):
        own = float(name.partition(" = ")[2].replace(MINUS, "-"))
        assert name.startswith(result.feature_names[feature])
        assert own == pytest.approx(result.data[row, feature])


def test_click_shows_the_row(page, result):
    check_detail(page, result, 0)
    page.click("#table tbody tr:nth-child(4) td:nth-child(4)")
    check_detail(page, result, 3)
    header = page.inner_text("#detail header")
    assert "no answer" in header
    assert page.get_attribute("#table tr[aria-current]", "data-row") == "3"
    assert page.url.endswith("#row-3")


def test_bars_go_from_level_to_level(page):
    page.evaluate("showRow(5, false)")
    boxes = page.locator(".step .bar").evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    ups = page.locator(".step .bar").evaluate_all(
        "bars => bars.map(bar => bar.classList.contains('up'))"
    )
    level = boxes[0][1]
    for (left, right), up in zip(boxes[1:-1], ups[1:-1], strict=True):
        start, end = (left, right) if up else (right, left)
        assert start == pytest.approx(level, abs=2.5)  # the narrowest bar is two pixels wide
        level = end
    assert boxes[-1][1] == pytest.approx(level, abs=2.5)


def test_keyboard(page, result):
    page.focus("#search")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "scope"
    page.focus("[data-sort=residual]")
    page.keyboard.press("Enter")
    first, second = np.argsort(-result.residual, kind="stable")[:2]
    assert page.evaluate("document.activeElement.dataset.sort") == "residual"
    page.focus("#table tbody button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    check_detail(page, result, second)
    assert page.evaluate("document.activeElement.id") == "detail"
    page.focus("#table tbody tr:nth-child(2) button")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    check_detail(page, result, first)


def test_links_of_the_negative_values_open_rows(page, result):
    lowest = int(result.values.min(axis=1).argmin())
    link = page.locator(".negative-values a").first
    assert link.inner_text() == f"Row {lowest}"
    link.click()
    check_detail(page, result, lowest)


def test_a_dot_opens_its_row(page, result):
    page.locator("#beeswarm").scroll_into_view_if_needed()
    x, y = page.evaluate(FIND_DOT, 17)
    box = page.locator("#beeswarm canvas").bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.click(box["x"] + x, box["y"] + y)
    eventually(page, "location.hash.startsWith('#row-')")
    # Dots may lie on each other: the one on top is meant.
    row = int(page.url.rpartition("-")[2])
    best = int(np.argmax(result.mean().values))
    assert result.values[row, best] == pytest.approx(result.values[17, best], abs=0.01)
    check_detail(page, result, row)


def test_an_address_opens_its_row(visit, path, result):
    page = visit(path, address="#row-41")
    check_detail(page, result, 41)
    page.evaluate("location.hash = '#row-999'")
    page.wait_for_timeout(100)
    check_detail(page, result, 41)


@pytest.mark.parametrize("width", [320, 390])
def test_phone(visit, path, result, width):
    page = visit(path, width=width, has_touch=True, reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.tap("#table tbody tr:nth-child(2) button")
    check_detail(page, result, 1)
    assert page.evaluate("document.getElementById('detail').getBoundingClientRect().top") < 100
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_dark_and_print(visit, path):
    page = visit(path, color_scheme="dark")
    ink = "getComputedStyle(document.body).color"
    signal = "views[0].signal('ink')"
    assert page.evaluate(ink) == "rgb(231, 234, 238)"
    assert page.evaluate(signal) == "#e7eaee"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ink) == "rgb(27, 32, 39)"
    eventually(page, signal + " === '#1b2027'")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ink) == "rgb(0, 0, 0)"
    eventually(page, signal + " === '#000'")
    assert not page.is_visible("#tools")
    for part in ("#bar", "#beeswarm", "#detail"):
        assert page.locator(part).bounding_box()["height"] > 200
