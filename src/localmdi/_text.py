"""Text for people: counts with their nouns, names without control characters, short forms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Lone surrogates cannot be written as UTF-8; controls can move a terminal's cursor, and HTML and
# some of matplotlib's backends refuse them; overrides of the writing direction disguise a text.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WHOLE = 1e8
# Sums of money and counts of people are written out up to here.
_LONGEST = 1e12
_IRREGULAR = {
    "category": "categories",
    "class": "classes",
    "entry": "entries",
    "index": "indices",
    "leaf": "leaves",
}


def clean(text: object) -> str:
    r"""Return text that any terminal, page or file can show: no controls, no lone surrogates.

    Tabs and line breaks become spaces, other controls and lone surrogates "�".

    Examples
    --------
    >>> clean("age\t(years)\x1b[2J\ud800")
    'age (years)�[2J�'
    """
    return _UNPRINTABLE.sub(lambda found: " " if found[0] in "\t\n\r" else "\ufffd", str(text))


def one_line(text: object) -> str:
    r"""Return a message, which may quote user input, as one clean line.

    Examples
    --------
    >>> one_line("expected a number,\n  got \x1b[2J")
    'expected a number, got �[2J'
    """
    return " ".join(clean(text).split())


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters; an ellipsis shows that some are left out.

    Examples
    --------
    >>> cut("temperature", 5), cut("age", 5)
    ('temp…', 'age')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def count(n: int, noun: str) -> str:
    """Return a number with its noun, singular or plural.

    Examples
    --------
    >>> count(1, "row"), count(1797, "row"), count(0, "more category"), count(2, "leaf")
    ('1 row', '1,797 rows', '0 more categories', '2 leaves')
    """
    if n == 1:
        return f"1 {noun}"
    before, _, last = noun.rpartition(" ")
    plural = _IRREGULAR.get(last, f"{last}s")
    return f"{n:,} {before} {plural}" if before else f"{n:,} {plural}"


def power_of_ten(power: int) -> str:
    """Return what stands behind a number that is given in such a power.

    Examples
    --------
    >>> power_of_ten(-12)
    '× 10⁻¹²'
    """
    return f"\N{MULTIPLICATION SIGN} 10{str(power).translate(_SUPERSCRIPTS)}"


def number_text(value: float, digits: int = 4) -> str:
    """Return a number as a person writes it: thousands apart, powers of ten for very large ones.

    Examples
    --------
    >>> number_text(5930.2), number_text(0.12345678), number_text(-7.79e9), number_text(2e-5, 3)
    ('5,930', '0.1235', '−7.79 × 10⁹', '2 × 10⁻⁵')
    """
    size = abs(value)
    if not 0 < size < float("inf"):
        text = "0" if size == 0 else "∞" if size == float("inf") else "missing"
    elif 1e-4 <= size < 1e7:
        whole = len(str(int(size))) if size >= 1 else 0
        text = f"{size:,.0f}" if whole >= digits else f"{size:.{digits}g}"
    else:
        factor, power = f"{size:.{digits - 1}e}".split("e")
        short = factor.rstrip("0").rstrip(".")
        text = f"{short} {power_of_ten(int(power))}"
    return f"{_MINUS}{text}" if value < 0 and text != "0" else text


def cell_number(value: float) -> str:
    """Return a number of the user's own: whole ones, which may be years or names, as they are.

    Examples
    --------
    >>> cell_number(2024.0), cell_number(151.00000000000068), cell_number(0.1234567)
    ('2024', '151', '0.1235')
    >>> cell_number(12345678.9)
    '12,345,679'
    """
    if abs(value) < _WHOLE and float(value).is_integer():
        return str(int(value)).replace("-", _MINUS)
    if 1e7 <= abs(value) < _LONGEST:
        return f"{value:,.0f}".replace("-", _MINUS)
    return number_text(value)


def with_unit(number: str, symbol: str) -> str:
    """Return a formatted number with the symbol of its unit (`localmdi._criteria.Unit`).

    Examples
    --------
    >>> with_unit("1", "bits"), with_unit("0.5", "bits"), with_unit("0.25", "")
    ('1 bit', '0.5 bits', '0.25')
    """
    if number.lstrip("+-\N{MINUS SIGN}") == "1" and symbol == "bits":
        symbol = "bit"
    return f"{number} {symbol}" if symbol else number


def quote_names(names: Iterable[object], *, most: int = 8) -> str:
    """Return names in quotes, comma-separated; of many only the first.

    Examples
    --------
    >>> quote_names(["a", "y"]), quote_names("abcd", most=2)
    ("'a', 'y'", "'a', 'b' and 2 more")
    """
    listed = list(names)
    shown = ", ".join(f"'{cut(clean(name), 60)}'" for name in listed[:most])
    return f"{shown} and {len(listed) - most:,} more" if len(listed) > most else shown
