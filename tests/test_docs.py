"""The documentation: its examples print what it says, its links lead somewhere, no page is lost."""

import doctest
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from jinja2 import Environment

import localmdi
from localmdi import plots

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = ("_build", "_templates", "gallery", "generated")
PAGES = [
    page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in BUILT
]
RUN = [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")]


def name_of(page):
    return str(page.relative_to(ROOT))


class FenceParser(doctest.DocTestParser):
    """A closing fence ends an example's output, as a blank line does."""

    def parse(self, string, name="<string>"):
        lines = ("" if line.startswith("```") else line for line in string.split("\n"))
        return super().parse("\n".join(lines), name)


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(
        str(page),
        module_relative=False,
        parser=FenceParser(),
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    plt.close("all")
    assert result.attempted > 0
    assert result.failed == 0


def test_the_thirty_seconds_of_the_first_page():
    (code,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names = {}
    exec(compile(code, "index.md", "exec"), names)
    assert names["result"].honest
    assert len(plt.get_fignums()) == 1
    plt.close("all")


def links(page):
    """Return what a page links to in the repository: file and heading, either may be empty."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", text)


def headings(page):
    """Return the names of a page's headings in addresses, as GitHub and MyST make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=name_of)
def test_links_lead_somewhere_in_the_repository_too(page):
    lost = []
    for target, heading in links(page):
        file = page.parent / target if target else page
        known = file.exists() and (not heading or heading in headings(file))
        lost += [f"{target}#{heading}"] * (not known)
    assert lost == []


def test_the_list_of_versions_has_this_one():
    versions = json.loads((DOCS / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert localmdi.__version__ in [entry["version"] for entry in versions]
    assert [entry["preferred"] for entry in versions if "preferred" in entry] == [True]
    assert all(entry["url"].startswith("https://") for entry in versions)
    assert all(entry["url"].endswith("/") for entry in versions)


def test_every_display_has_a_picture_on_its_own_page():
    # The template of classes names it; the page of pictures draws it.
    template = (DOCS / "_templates" / "autosummary" / "class.rst").read_text(encoding="utf-8")
    jinja = Environment()
    jinja.filters["underline"] = str  # Sphinx brings its own
    drawn = re.findall(r":filename-prefix: (\w+)", (DOCS / "plots.md").read_text(encoding="utf-8"))
    for name in plots.__all__:
        page = jinja.from_string(template).render(objname=name, module="localmdi.plots")
        (picture,) = re.findall(r"_images/(\w+)\.png", page)
        assert picture in drawn


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(
            r"```\{toctree\}(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        ):
            entries = [line.strip() for line in block.split("\n") if line.strip()]
            for entry in entries:
                target = re.sub(r".*<(.+)>", r"\1", entry)
                listed.add((page.parent / target).resolve().with_suffix(".md"))
    assert [name_of(page) for page in PAGES if page.resolve() not in listed] == []


def test_titles_are_short():
    # A title is an entry of the navigation.
    titles = [re.match(r"# (.+)", page.read_text(encoding="utf-8")) for page in PAGES]
    assert [title[1] for title in titles if title and len(title[1]) > 34] == []
