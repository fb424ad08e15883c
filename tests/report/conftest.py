"""A browser for the pages, and a page that must not complain."""

import shutil

import pytest

from programs import absent

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

RESET = """() => {
  history.replaceState(null, "", location.pathname);
  byId("tools").reset();
  Object.assign(state, { sort: "position", descending: false, feature: 0, label: -1, filters: [] });
  if (byId("class")) byId("class").value = -1;
  showFilters();
  selectRows();
  showTable();
  showRow(0, false);
}"""


@pytest.fixture(scope="session")
def browser():
    missing = "{} is missing, so no report is opened; tools/install_browser.sh installs Chromium"
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        absent("browser", missing.format("Chromium"))
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("browser", missing.format("the Python package playwright"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


def open_offline(browser, path, complaints, *, address="", width=1280, **options):
    """Open a file; note every error, and every request for anything else.

    The page forbids eval, which `wait_for_function` needs unless its condition already holds: wait
    for locators instead.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_offline(True)
    page = context.new_page()
    page.set_default_timeout(10_000)
    url = path.as_uri()
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("console", lambda line: line.type == "error" and complaints.append(line.text))
    page.on("request", lambda one: one.url.partition("#")[0] != url and complaints.append(one.url))
    page.goto(url + address)
    page.wait_for_selector("#beeswarm canvas")
    return page


@pytest.fixture
def visit(browser):
    """Open files of which none may complain."""
    complaints, pages = [], []

    def open_file(path, **options):
        pages.append(open_offline(browser, path, complaints, **options))
        return pages[-1]

    yield open_file
    for page in pages:
        page.context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def opened(browser, path):
    """Open the file `path` of a module once, because that takes a second."""
    complaints = []
    page = open_offline(browser, path, complaints)
    yield page, complaints
    page.context.close()


@pytest.fixture
def page(opened):
    """Return the page of the module, as it was when it opened."""
    page, complaints = opened
    page.evaluate(RESET)
    yield page
    assert complaints == []
