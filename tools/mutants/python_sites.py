"""Every place of a Python file where one small change makes a different program."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
Place = ast.expr | ast.stmt


@dataclass(frozen=True)
class Mutant:
    """One change of one file. The name says where and what, and outlives changes elsewhere."""

    path: str
    name: str
    line: int
    text: str  # of the whole file, changed


def python_mutants(path: str, text: str) -> Iterator[Mutant]:
    """Yield one mutant for every change of every place."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    bodies = _bodies(tree)
    seen: dict[str, int] = {}
    for owner, place, changed in _changes(tree, ""):
        old, new = _unparse(place), _unparse(changed)
        name = f"{path} {owner}: {_short(old)} -> {_short(new)}"
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name += f" ({seen[name]})"
        line = bodies.get(place.lineno, place.lineno)
        yield Mutant(path, name, line, _replace(lines, place, new=new))


def _bodies(tree: ast.Module) -> dict[int, int]:
    """Return for the lines of signatures the first line that runs when the function is called."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1 if ast.get_docstring(node) and node.body[1:] else 0].lineno
            found |= dict.fromkeys(range(node.lineno, node.body[0].lineno), first)
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."


def _unparse(place: Place) -> str:
    text = ast.unparse(place)
    return f"({text})" if isinstance(place, ast.expr) else text


def _replace(lines: list[str], place: Place, *, new: str) -> str:
    first, last = place.lineno - 1, (place.end_lineno or 0) - 1
    head = lines[first].encode()[: place.col_offset].decode()
    tail = lines[last].encode()[place.end_col_offset :].decode()
    return "".join([*lines[:first], head + new + tail, *lines[last + 1 :]])


def _changes(node: ast.AST, owner: str) -> Iterator[tuple[str, Place, Place]]:
    """Yield the name of the function around it, a place, and what it becomes."""
    for child in _children(node):
        inner = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{owner}.{child.name}".lstrip(".")
        elif isinstance(child, ast.expr | ast.stmt):
            for changed in _variants(child):
                yield owner, child, changed
        yield from _changes(child, inner)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: no annotations, decorators, docstrings, or imports for types.

    ``strict`` of zip is left alone too: it says what holds anyway.
    """
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.JoinedStr | ast.AnnAssign) and not _has_value(node):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    skipped = {"annotation", "returns", "decorator_list", "bases", "keywords" * _is_class(node)}
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        values = value if isinstance(value, list) else [value]
        yield from (child for child in values if isinstance(child, ast.AST))


def _has_value(node: ast.JoinedStr | ast.AnnAssign) -> bool:
    # Python 3.11 does not know where the parts of an f-string are.
    return isinstance(node, ast.AnnAssign) and node.value is not None


def _is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def _variants(node: Place) -> Iterator[Place]:
    if isinstance(node, ast.expr):
        yield from _expressions(node)
    else:
        yield from _statements(node)


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.deepcopy(node)
    match node, changed:
        case ast.Compare(ops=[operator]), ast.Compare():
            changed.ops = [COMPARISONS[type(operator)]()]
            yield changed
        case ast.BinOp(op=operator), ast.BinOp() if type(operator) in ARITHMETIC:
            if not _is_text(node.left) and not _is_text(node.right):
                changed.op = ARITHMETIC[type(operator)]()
                yield changed
        case ast.BoolOp(op=operator), ast.BoolOp():
            changed.op = LOGIC[type(operator)]()
            yield changed
        case ast.UnaryOp(operand=operand), _:
            yield operand
        case ast.IfExp(test=test), ast.IfExp():
            changed.test = ast.UnaryOp(ast.Not(), test)
            yield changed
        case ast.Constant(value=value), ast.Constant() if isinstance(value, bool | int | float):
            changed.value = not value if isinstance(value, bool) else value + 1
            yield changed


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    changed = copy.deepcopy(node)
    match node, changed:
        case ast.Raise(), _:
            yield ast.Pass()
        case ast.Expr(value=ast.Call()), _:
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value), ast.Return():
            if not (isinstance(value, ast.Constant) and value.value is None):
                changed.value = ast.Constant(None)
                yield changed
        case ast.AugAssign(op=operator), ast.AugAssign() if type(operator) in ARITHMETIC:
            changed.op = ARITHMETIC[type(operator)]()
            yield changed
        case ast.Continue(), _:
            yield ast.Break()
        case ast.Break(), _:
            yield ast.Continue()
