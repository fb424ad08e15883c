"""The rooms of cpp/: a namespace each, who may include whom, and the codes shared with Python."""

import re

from architecture.source import ROOT, assert_none, cpp_files, relative
from localmdi import _core
from localmdi._criteria import CRITERIA, find_criterion

# A room includes itself and what is listed for it.
MAY_INCLUDE = {
    "support": set(),
    "forest": {"support"},
    "explain": {"support", "forest"},
    "grow": {"support", "forest", "explain"},
    "infinite": {"support"},
}
INCLUDE = re.compile(r'#include "localmdi/(\w+)/')
NAMESPACE = re.compile(r"^namespace (localmdi\b[\w:]*)", re.MULTILINE)


def core_files():
    folders = (ROOT / "cpp" / "include" / "localmdi", ROOT / "cpp" / "src")
    return [path for path in cpp_files() if any(path.is_relative_to(f) for f in folders)]


def test_every_file_is_in_a_room():
    assert_none([relative(path) for path in core_files() if path.parent.name not in MAY_INCLUDE])


def test_rooms_include_only_rooms_below():
    wrong = []
    for path in core_files():
        room = path.parent.name
        included = set(INCLUDE.findall(path.read_text(encoding="utf-8")))
        wrong += [
            f"{relative(path)} includes {other}"
            for other in included - {room}
            if other not in MAY_INCLUDE[room]
        ]
    assert_none(wrong)


def test_a_room_is_a_namespace():
    wrong = []
    for path in core_files():
        found = set(NAMESPACE.findall(path.read_text(encoding="utf-8")))
        # Macros need no namespace.
        if found - {f"localmdi::{path.parent.name}"}:
            wrong.append(f"{relative(path)}: {sorted(found)}")
    assert_none(wrong)


def test_file_names_are_unique():
    names = [path.name for path in core_files()]
    assert_none({name for name in names if names.count(name) > 1})


def test_kernels_and_python_agree_on_criteria():
    kernels = {find_criterion(member.name).name: member.value for member in _core.Criterion}
    assert kernels == {c.name: c.kernel for c in CRITERIA if c.kernel is not None}
