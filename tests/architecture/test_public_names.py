"""What a user can reach: few names, found lazily, each with an example that runs."""

import doctest
import importlib
import inspect
import re
import tomllib

import pytest

import localmdi
from architecture.source import ROOT, assert_none

ENTRY = re.compile(r"^   (\w+)$", re.MULTILINE)
DOCUMENTED_MODULES = [
    "localmdi",
    "localmdi.datasets",
    "localmdi.distributed",
    "localmdi.plots",
    "localmdi.report",
    "localmdi.results",
    "localmdi.theory",
]
# "About twenty", and what every round of capabilities adds: a name a question.
MAX_NAMES = 34


def public_objects():
    """Functions and classes of the documented modules, and the public methods of these classes."""
    found = {}
    for module_name in DOCUMENTED_MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isfunction(member) or inspect.isclass(member):
                found[f"{module_name}.{name}"] = member
            if inspect.isclass(member):
                found |= public_methods(f"{module_name}.{name}", member)
    return found


def public_methods(path, owner):
    # A base class of ours has part of the methods; later ones win, as in Python.
    ours = [base for base in reversed(owner.__mro__) if base.__module__.startswith("localmdi")]
    members = {name: member for base in ours for name, member in vars(base).items()}
    methods = {}
    for name, member in members.items():
        function = getattr(member, "__func__", member)  # class and static methods wrap theirs
        if not name.startswith("_") and inspect.isfunction(function):
            methods[f"{path}.{name}"] = function
    return methods


def test_every_public_object_has_a_runnable_example():
    parser = doctest.DocTestParser()
    without = [
        path
        for path, member in public_objects().items()
        if not any(
            not example.options.get(doctest.SKIP)
            for example in parser.get_examples(inspect.getdoc(member) or "")
        )
    ]
    assert_none(without)


def test_every_public_object_has_a_page():
    pages = (ROOT / "docs" / "api").glob("*.md")
    listed = {name for page in pages for name in ENTRY.findall(page.read_text())}
    tops = [path for path in public_objects() if path.rpartition(".")[0] in DOCUMENTED_MODULES]
    assert_none([path for path in tops if path.rpartition(".")[2] not in listed])


def test_every_error_says_when_it_is_raised():
    errors = importlib.import_module("localmdi.exceptions")
    assert_none([name for name in errors.__all__ if not vars(errors)[name].__doc__])


def test_about_twenty_names():
    assert len(set(localmdi.__all__)) == len(localmdi.__all__) <= MAX_NAMES
    assert not [name for name in localmdi.__all__ if name.startswith("_")]


def test_every_name_resolves_and_is_listed():
    assert_none([name for name in localmdi.__all__ if getattr(localmdi, name, None) is None])
    assert set(localmdi.__all__) <= set(dir(localmdi))


def test_unknown_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        localmdi.no_such_name  # noqa: B018 - reading the attribute is the test


def test_version_is_the_package_s():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert localmdi.__version__ == project["version"]
