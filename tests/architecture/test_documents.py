"""What the pages for contributors name exists: files, folders, and the names inside of files."""

import re
import tomllib
from functools import cache

import pytest

from architecture.source import ROOT, assert_none

PAGES = ["CONTRIBUTING.md", "docs/architecture.md", "docs/kernels.md"]
FOLDERS = (
    *("src", "cpp", "tests", "docs", "tools", "benchmarks"),
    *("evaluation", "examples", "paper"),
)
QUOTED = re.compile(r"`([\w./-]+)`")
IS_PATH = re.compile(r"/|\.(?:py|pyi|hpp|cpp|md|toml|js|css|jinja)$")
NAME_IN_FILE = re.compile(r"`(\w+)` in\s`([\w./-]+\.\w+)`")


@cache
def known_paths():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    inside = [path for path in (*ROOT.glob("*"), *files) if "_build" not in path.parts]
    return {f"/{path.relative_to(ROOT)}": path for path in inside}


def find(named):
    """Return what a page may mean: pages leave out the first folders where these are clear."""
    ending = f"/{named.rstrip('/')}"
    return [path for known, path in known_paths().items() if known.endswith(ending)]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_exists(page):
    quoted = QUOTED.findall((ROOT / page).read_text(encoding="utf-8"))
    paths = [named for named in quoted if IS_PATH.search(named)]
    assert len(paths) > 20
    assert_none([named for named in paths if not find(named)])


@pytest.mark.parametrize("page", PAGES)
def test_every_name_is_in_its_file(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    wrong = [
        f"{name} in {named}"
        for name, named in NAME_IN_FILE.findall(text)
        if not any(
            re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) for path in find(named)
        )
    ]
    assert_none(wrong)


def test_the_layers_on_the_page_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [re.sub(r"[()]", "", row) for row in contracts["contracts"][0]["layers"]]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(__main__\n.*?)```", page, re.DOTALL)[1].splitlines()
    # Rooms of the contract that do not exist yet are not on the page.
    exists = {path.stem for path in (ROOT / "src" / "localmdi").iterdir()} | {"_core"}
    assert shown == [
        " | ".join(room for room in row.split(" | ") if room in exists) for row in layers
    ]
