"""What is written in the pictures: shortened names, numbers, units, titles of rows."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import cell_number, number_text, one_line, power_of_ten, with_unit
from localmdi._validation import is_missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi.results import InteractionImportance, LocalImportance, PairImportance
    from localmdi.typing import ResultMeasure

__all__ = [
    "MINUS",
    "cell_text",
    "elide",
    "feature_labels",
    "format_value",
    "impurity_label",
    "plain",
    "row_story",
    "row_title",
    "value_label",
]

MINUS = "\N{MINUS SIGN}"
# A label that shows what only one name has begins with so many letters of it.
_LEAST_START = 4


def plain(text: Any) -> str:
    r"""Return text on one line that matplotlib draws letter by letter, never as a formula.

    Examples
    --------
    >>> print(plain("price in $, two\nlines"))
    price in \$, two lines
    """
    # Fonts have no glyph for what is not printable, such as unassigned characters.
    visible = "".join(letter if letter.isprintable() else " " for letter in one_line(text))
    return " ".join(visible.split()).replace("$", r"\$")


def elide(text: Any, width: int) -> str:
    """Return plain text of at most `width` letters, shortened in the middle.

    Examples
    --------
    >>> elide("mean concave points", 12)
    'mean c…oints'
    """
    line = " ".join(str(text).split())
    if len(line) <= width:
        return plain(line)
    tail = (width - 1) // 2
    return plain(f"{line[: width - 1 - tail]}…{line[len(line) - tail :]}")


def feature_labels(names: Sequence[str], width: int) -> list[str]:
    """Return short labels; of names that would look alike the part in which they differ.

    Where that is not short enough, or names are equal, they are numbered.

    Examples
    --------
    >>> feature_labels(["answer to question 7 of 9", "answer to question 8 of 9", "age"], 12)
    ['answer to…7…', 'answer to…8…', 'age']
    >>> feature_labels(["a_very_long_name", "a_very_wrong_name"], 7)
    ['a_…e #1', 'a_…e #2']
    """
    labels = [elide(name, width) for name in names]
    alike = {label for label, n_labels in Counter(labels).items() if n_labels > 1}
    taken = {label for label in labels if label not in alike}
    for label in alike:
        members = [i for i, other in enumerate(labels) if other == label]
        own = _own_parts([names[i] for i in members], width)
        if own is not None and taken.isdisjoint(own):
            taken.update(own)
            for i, text in zip(members, own, strict=True):
                labels[i] = text
    for i, label in enumerate(labels):
        if label in alike:
            labels[i] = next(new for new in _numbered(names[i], width) if new not in taken)
            taken.add(labels[i])
    return labels


def _own_parts(names: Sequence[str], width: int) -> list[str] | None:
    """Return the beginning of each name and the part that only it has; None if that is long."""
    lines = [" ".join(str(name).split()) for name in names]
    start = _n_shared(lines)
    end = _n_shared([line[start:][::-1] for line in lines])
    own = [line[start : len(line) - end] for line in lines]
    room = width - 2 - max(map(len, own))
    if room < min(_LEAST_START, start) or len(set(own)) < len(own):
        return None
    head = lines[0][: min(room, start)] + ("" if room >= start else "…")
    tail = "…" if end else ""
    found = [plain(f"{head}{part}{tail}") for part in own]
    return found if len(set(found)) == len(found) else None


def _n_shared(lines: Sequence[str]) -> int:
    """Count the first letters that all lines share."""
    return next(
        (i for i, letters in enumerate(zip(*lines, strict=False)) if len(set(letters)) > 1),
        min(map(len, lines)),
    )


def _numbered(name: str, width: int) -> Iterator[str]:
    for n in count(1):
        number = f" #{n}"
        yield elide(name, max(3, width - len(number))) + number


def impurity_label(unit: str) -> str:
    """Return what is measured, with its unit."""
    return plain(unit_of(unit).label)


def value_label(unit: str, measure: ResultMeasure = "drop", *, honest: bool = False) -> str:
    """Return what the value of a feature is, with the unit.

    Examples
    --------
    >>> value_label("bits"), value_label("gini", honest=True)
    ('uncertainty removed (bits)', 'Gini impurity removed on unseen rows')
    """
    return plain(unit_of(unit).value_label(measure, honest=honest))


def format_value(value: float, scale: float) -> str:
    """Return a number with three digits of a scale and a typographic minus.

    Examples
    --------
    >>> format_value(3.32193, scale=0.15), format_value(-12345.6, 3e4), format_value(2e7, 2e7)
    ('3.322', '−12,346', '20.0 × 10⁶')
    """
    scale = abs(scale)
    if not scale > 0 or not np.isfinite(scale):
        return number_text(value, 3)
    if not 1e-4 <= scale < 1e7:
        # Numbers beside each other share one power of ten.
        power = 3 * int(np.floor(np.log10(scale) / 3))
        factor = format_value(value / 10.0**power, scale / 10.0**power)
        return f"{factor} {power_of_ten(power)}"
    decimals = max(0, 2 - int(np.floor(np.log10(scale))))
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return f"{MINUS}{text[1:]}" if text.startswith("-") else text


def cell_text(value: Any, width: int = 14) -> str:
    """Return a row's own value, to stand beside the name of its feature.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(54.0), cell_text(float("nan")), cell_text("north")
    ('0.1235', '54', 'missing', 'north')
    """
    if is_missing(value):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer) and -(10**8) < int(value) < 10**8:
        return str(int(value)).replace("-", MINUS)
    if isinstance(value, int | float | np.integer | np.floating):
        return cell_number(float(value))
    return elide(value, width)


def row_title(result: LocalImportance | InteractionImportance | PairImportance, row: int) -> str:
    """Name a row by its label, or else by its position."""
    label = row if result.row_labels is None else result.row_labels[row]
    return f"row {elide(label, 40)}"


def row_story(result: LocalImportance, row: int) -> str:
    """Name a row and say how much was removed of what there was, where that is known."""
    if result.baseline is None or result.residual is None:
        return row_title(result, row)
    unit = unit_of(result.unit)
    start = float(np.broadcast_to(result.baseline, len(result))[row])
    removed = start - float(result.residual[row])
    if not np.isfinite(removed):
        return row_title(result, row)
    of = with_unit(number_text(start, 3), unit.symbol)
    what = "" if unit.symbol else f" {unit.quantity}"
    return plain(f"{row_title(result, row)}: {number_text(removed, 3)} of {of}{what} removed")
