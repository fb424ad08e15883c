"""Who imports whom in the package, lazy imports and imports for type checking included."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from architecture.source import SRC, FunctionNode, parse, python_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = "localmdi"


@dataclass(frozen=True)
class Import:
    """`importer` is a module of the package; `name` is a module, or a name inside a module."""

    importer: str
    name: str
    line: int
    lazy: bool = False
    typing: bool = False

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.name}"

    @property
    def library(self) -> str:
        return self.name.partition(".")[0]

    @property
    def module(self) -> str:
        """The module of the package that this import loads."""
        return self.name if self.name in modules() else self.name.rpartition(".")[0]


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name, the compiled one included."""
    found = {PACKAGE + "._core": SRC / PACKAGE / "_core.pyi"}
    for path in python_files("src"):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room(module: str) -> str:
    """The part of the package a module belongs to: a sub-package or a single file."""
    return module.split(".")[1] if "." in module else ""


@cache
def package_imports() -> tuple[Import, ...]:
    found = []
    for module, path in modules().items():
        if path.suffix == ".py":
            found += _imports_of(module, parse(path), lazy=False, typing=False)
    return tuple(found)


def _imports_of(module: str, node: ast.AST, *, lazy: bool, typing: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for name in _imported_names(module, child):
            yield Import(module, name, getattr(child, "lineno", 0), lazy, typing)
        yield from _imports_of(
            module,
            child,
            lazy=lazy or isinstance(child, FunctionNode),
            typing=typing or _is_type_checking(child),
        )


def _imported_names(module: str, node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(module, node)
        return [f"{base}.{alias.name}" for alias in node.names]
    # A registry names the modules that it loads on first use.
    if isinstance(node, ast.Constant) and node.value in modules() and module != PACKAGE:
        return [str(node.value)]
    return []


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.split(".")
    if modules()[module].name != "__init__.py":
        package.pop()
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, node.module] if node.module else package)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
