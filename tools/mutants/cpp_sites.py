"""The same for C++, where a token is as much as can be changed without a parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mutants.python_sites import Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator

# Operators stand between spaces, as clang-format writes them; `<` and `>` of templates do not.
TOKENS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " + ": " - ",
    " - ": " + ",
    " * ": " / ",
    " / ": " * ",
    " && ": " || ",
    " || ": " && ",
    " += ": " -= ",
    " -= ": " += ",
    "true": "false",
    "false": "true",
}
TOKEN = re.compile("|".join([*map(re.escape, TOKENS), r"(?<![\w.'])[0-9]+(?![\w.'])"]))
# Of compile time, of the preprocessor, or of the processor's cache: no result depends on it.
LEFT_ALONE = re.compile(
    r"^\s*#|static_assert|^\s*template|__builtin|alignas|(?i:prefetch)|constexpr"
)


def cpp_mutants(path: str, text: str) -> Iterator[Mutant]:
    """Yield one mutant for every operator and number outside comments and strings."""
    lines = text.splitlines(keepends=True)
    seen: dict[str, int] = {}
    for number, line in enumerate(lines):
        code = re.sub(r'"[^"]*"|//.*', lambda found: " " * len(found[0]), line)
        if LEFT_ALONE.search(code):
            continue
        for token in TOKEN.finditer(code):
            old = token[0]
            new = TOKENS.get(old) or str(int(old) + 1)
            changed = line[: token.start()] + new + line[token.end() :]
            name = f"{path}: {line.strip()} -> {changed.strip()}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f" ({seen[name]})"
            whole = "".join([*lines[:number], changed, *lines[number + 1 :]])
            yield Mutant(path, name, number + 1, whole)
