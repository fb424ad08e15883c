"""The documentation: its examples print what it says, its links lead somewhere, no page is lost."""

import doctest
import re
from pathlib import Path

import pytest

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
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=name_of)
def test_links_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|mailto:)([^)#\s]+)", text)
    # The gallery is made with the pages.
    made = [target for target in targets if target.startswith("gallery/")]
    assert [t for t in targets if t not in made and not (page.parent / t).exists()] == []


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
