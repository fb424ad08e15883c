"""Texts of the pictures: names as they are, shortened where they must be, and words for units."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi.results import InteractionImportance, LocalImportance

__all__ = [
    "MINUS",
    "elide",
    "feature_labels",
    "format_value",
    "plain",
    "quantity",
    "removed",
    "row_title",
    "signed",
]

MINUS = "\N{MINUS SIGN}"

_QUANTITIES = {
    "bits": ("uncertainty", "bits"),
    "gini": ("impurity", "Gini"),
    "variance": ("variance", ""),
    "mae": ("absolute error", ""),
    "poisson": ("Poisson deviance", ""),
    "share": ("share of the total", ""),
}


def plain(text: Any) -> str:
    r"""Return a text on one line that matplotlib draws letter by letter, never as a formula.

    Examples
    --------
    >>> print(plain("price in $, two\nlines"))
    price in \$, two lines
    """
    # What cannot be printed (control characters, halves of a surrogate pair) stops some backends.
    visible = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return " ".join(visible.split()).replace("$", r"\$")


def elide(text: Any, width: int) -> str:
    """Return a plain text of at most so many letters, shortened in the middle.

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
    """Return short labels; those that would look alike are told apart by a number.

    Examples
    --------
    >>> feature_labels(["a_very_long_name", "a_very_wrong_name", "age"], 7)
    ['a_…e #1', 'a_…e #2', 'age']
    """
    labels = [elide(name, width) for name in names]
    alike = {label for label, count in Counter(labels).items() if count > 1}
    taken = {label for label in labels if label not in alike}
    for i, label in enumerate(labels):
        if label in alike:
            labels[i] = next(new for new in _numbered(names[i], width) if new not in taken)
            taken.add(labels[i])
    return labels


def _numbered(name: str, width: int) -> Iterator[str]:
    for n in count(1):
        number = f" #{n}"
        yield elide(name, max(3, width - len(number))) + number


def quantity(unit: str) -> str:
    """Name what is measured, with its unit.

    Examples
    --------
    >>> quantity("bits"), quantity("variance")
    ('uncertainty (bits)', 'variance')
    """
    return _with_unit(*_QUANTITIES.get(unit, ("impurity", unit)))


def removed(unit: str) -> str:
    """Name what a feature did to it, with the unit.

    Examples
    --------
    >>> removed("bits"), removed("gini")
    ('uncertainty removed (bits)', 'impurity removed (Gini)')
    """
    if unit == "share":
        return "share of the total removed"
    word, symbol = _QUANTITIES.get(unit, ("impurity", unit))
    return _with_unit(f"{word} removed", symbol)


def signed(value: float, scale: float) -> str:
    """Return a change with its sign and three digits of the largest one shown beside it.

    Examples
    --------
    >>> signed(-0.1234, scale=0.5), signed(1234.5, scale=3000.0)
    ('−0.123', '+1234')
    """
    return format_value(value, scale, sign="+")


def format_value(value: float, scale: float, *, sign: str = "-") -> str:
    """Return a number with three digits of a scale; the minus is a real one.

    Examples
    --------
    >>> format_value(3.32193, scale=0.15), format_value(-2e7, scale=2e7)
    ('3.322', '−2e+07')
    """
    scale = abs(scale)
    if not 1e-4 <= scale < 1e6:
        text = f"{value:{sign}.3g}"
    else:
        decimals = max(0, 2 - int(np.floor(np.log10(scale))))
        text = f"{value:{sign}.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return f"{MINUS}{text[1:]}" if text.startswith("-") else text


def row_title(result: LocalImportance | InteractionImportance, row: int) -> str:
    """Name a row by its label, or else by its position.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.ones((1, 1)), 1.0, residual=np.zeros(1), unit="bits",
    ...     feature_names=("a",), n_trees=1, row_labels=np.array(["patient 7"]))
    >>> row_title(result, 0)
    'row patient 7'
    """
    label = row if result.row_labels is None else result.row_labels[row]
    return f"row {elide(label, 40)}"


def _with_unit(word: str, symbol: str) -> str:
    return f"{word} ({plain(symbol)})" if symbol else word
