"""The walls of the house: who may see whom. The layers themselves are import-linter's business."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

import pytest

from architecture.imports import PACKAGE, modules, package_imports, room
from architecture.source import ROOT, assert_none, cpp_files, is_test, parse, python_files, relative

# Where libraries that users may not have are used, always inside the function that needs them.
OPTIONAL_LIBRARIES = {
    "_progress": {"tqdm"},
    "results": {"pandas", "polars", "pyarrow", "shap"},
    "adapters": ...,
    "plots": ...,
    "report": ...,
    "tables": ...,
    "cli": ...,
    "distributed": ...,
}
SEES_PYTHON = re.compile(r"#\s*include\s*[<\"](?:Python\.h|nanobind/|pybind11/|numpy/)")

COMPARES_WITH_THRESHOLD = re.compile(r"[<>]=?\s*\w+(?:\.|->)threshold|_cmp_p[sd]")


def runtime_libraries():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in project["dependencies"]}
    return {"sklearn" if name == "scikit-learn" else name for name in names}


def test_no_import_cycles():
    graph = defaultdict(set)
    for found in package_imports():
        # An import for type checking never runs: a method and the file that does its work may
        # name each other.
        if found.library == PACKAGE and not found.typing:
            graph[found.importer].add(found.module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " → ".join(error.args[1]))


def test_every_import_inside_the_package_exists():
    inside = [found for found in package_imports() if found.library == PACKAGE]
    assert_none([str(found) for found in inside if found.module not in modules()])


def test_rooms_import_rooms_not_the_public_names():
    # The public names sit above every room: importing them from below would hide a cycle.
    inside = [found for found in package_imports() if found.importer != PACKAGE]
    assert_none([str(found) for found in inside if found.module == PACKAGE])


def test_optional_libraries_stay_in_their_rooms():
    known = {PACKAGE, *sys.stdlib_module_names, *runtime_libraries()}
    foreign = [found for found in package_imports() if found.library not in known]
    wrong_room, not_lazy = [], []
    for found in foreign:
        allowed = OPTIONAL_LIBRARIES.get(room(found.importer), set())
        if allowed is not ... and found.library not in allowed:
            wrong_room.append(str(found))
        if not found.lazy and not found.typing:
            not_lazy.append(str(found))
    assert_none(wrong_room)
    assert_none(not_lazy)


def test_theory_stands_alone():
    # It judges the rest, so it shares no code with it: only NumPy, the errors and the type names.
    known = {"numpy", *sys.stdlib_module_names}
    for found in package_imports():
        if room(found.importer) == "theory":
            inside = found.library == PACKAGE
            assert found.library in known or inside, str(found)
            assert not inside or room(found.module) in {"theory", "exceptions", "typing"}, str(
                found
            )


def test_importance_never_sees_a_model():
    for found in package_imports():
        if room(found.importer) == "importance":
            assert found.library != "sklearn", str(found)


def test_scripts_use_public_names():
    private = []
    for path in python_files("benchmarks", "evaluation", "examples", "paper"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            private += [n for n in names if n.startswith(PACKAGE + ".") and "._" in n]
    assert_none(private)


def test_only_bindings_see_python():
    outside = [path for path in cpp_files() if path.parent.name != "bindings"]
    seen = [path for path in outside if SEES_PYTHON.search(path.read_text(encoding="utf-8"))]
    assert_none([relative(path) for path in seen])


def test_where_a_row_goes_is_decided_in_one_place():
    # Its vector forms stand beside it: a file for comparisons, and one for sets of categories.
    found = {
        path.name
        for path in cpp_files()
        if not is_test(path) and COMPARES_WITH_THRESHOLD.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"routing.hpp", "partition.hpp", "set_partition.hpp"}
