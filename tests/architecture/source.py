"""The project's source files, parsed once for the tests of this folder."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PYTHON_FOLDERS = ("src", "tests", "benchmarks", "evaluation", "examples", "paper", "tools")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def assert_none(offenders: Iterable[str]) -> None:
    """Fail with the whole list, one offender a line."""
    found = list(offenders)
    if found:
        pytest.fail("\n".join(["must be none:", *found]), pytrace=False)


def python_files(*folders: str) -> list[Path]:
    """Every Python file of the given folders of the repository; generated stubs do not count."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def cpp_files() -> list[Path]:
    return sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".hpp", ".cpp"})


def is_test(path: Path) -> bool:
    return "tests" in path.relative_to(ROOT).parts


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Function:
    """One function or method; `owner` is the class around it, if any."""

    path: Path
    node: FunctionNode
    owner: ast.ClassDef | None

    @property
    def name(self) -> str:
        owner = f"{self.owner.name}." if self.owner else ""
        return f"{relative(self.path)}:{self.node.lineno} {owner}{self.node.name}"

    @property
    def body_lines(self) -> int:
        """Lines of the body without the docstring."""
        body = self.node.body[1:] if ast.get_docstring(self.node) else self.node.body
        return (self.node.end_lineno or 0) - body[0].lineno + 1 if body else 0

    @property
    def positional(self) -> list[str]:
        """Parameters that may be passed by position, without self or cls."""
        arguments = self.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        decorators = {d.id for d in self.node.decorator_list if isinstance(d, ast.Name)}
        bound = self.owner is not None and "staticmethod" not in decorators
        return names[1:] if bound else names

    @property
    def n_parameters(self) -> int:
        return len(self.positional) + len(self.node.args.kwonlyargs)


def functions(*folders: str) -> Iterator[Function]:
    for path in python_files(*folders):
        yield from _functions_of(path, parse(path), owner=None)


def _functions_of(path: Path, parent: ast.AST, *, owner: ast.ClassDef | None) -> Iterator[Function]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            yield from _functions_of(path, node, owner=node)
        elif isinstance(node, FunctionNode):
            yield Function(path, node, owner)
            yield from _functions_of(path, node, owner=None)
        else:
            yield from _functions_of(path, node, owner=owner)
