"""Count the lines of the house, room by room, and hold the sums to their bars.

    python tools/shape.py

Code lines are those without blanks, comments and docstrings. A change that needs a higher bar names
the capability that it adds.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "localmdi"
BARS = {"Python code": 25_260, "docstrings": 9_950, "modules": 170, "C++ code": 10_750}

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FRAME = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def python_lines(text: str) -> tuple[int, int]:
    """Return the number of lines of code, and of docstrings.

    >>> python_lines('def f():\\n    "What f is."\\n    return 1  # why\\n')
    (2, 1)
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            value = getattr(statement, "value", None)
            is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
            if isinstance(statement, ast.Expr) and is_text:
                docstrings |= set(range(statement.lineno, (statement.end_lineno or 0) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _FRAME:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), len(docstrings)


def cpp_lines(text: str) -> int:
    """Return the number of lines of C++ code.

    >>> cpp_lines('int a;  // one\\n\\n/* two\\n three */\\nint b;\\n')
    2
    """
    without = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return sum(bool(line.partition("//")[0].strip()) for line in without.split("\n"))


def main() -> int:
    """Print the counts; tell whether they keep to the bars."""
    rooms: Counter[str] = Counter()
    totals = dict.fromkeys(BARS, 0)
    for path in sorted(PACKAGE.rglob("*.py")):
        code, docstrings = python_lines(path.read_text(encoding="utf-8"))
        parts = path.relative_to(PACKAGE).parts
        rooms[parts[0] if len(parts) > 1 else "(top)"] += code
        totals["Python code"] += code
        totals["docstrings"] += docstrings
        totals["modules"] += 1
    for folder in ("include", "src", "bindings"):
        for path in sorted((ROOT / "cpp" / folder).rglob("*.[ch]pp")):
            totals["C++ code"] += cpp_lines(path.read_text(encoding="utf-8"))
    for room, code in sorted(rooms.items()):
        print(f"{room:14} {code:7,}")
    for name, count in totals.items():
        print(f"{name:14} {count:7,}  bar {BARS[name]:,}")
    return int(any(totals[name] > bar for name, bar in BARS.items()))


if __name__ == "__main__":
    sys.exit(main())
