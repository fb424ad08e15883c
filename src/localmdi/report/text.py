"""User text and single values made fit for a page. Escaping is the template's business."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["clean", "cut", "is_missing", "number_text", "value_text"]

_CONTROL = re.compile("[\x00-\x1f\x7f]")
# Lone surrogates cannot be written as UTF-8; the C1 controls have no pictures.
_UNWRITABLE = re.compile("[\x80-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return a text without characters that HTML or UTF-8 forbid; controls become pictures.

    Examples
    --------
    >>> clean("a\x00b\tc\ud800")
    'a␀b c�'
    """
    return _UNWRITABLE.sub("\ufffd", _CONTROL.sub(_picture, text))


def _picture(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\t\n\r":
        return " "
    return "\u2421" if character == "\x7f" else chr(0x2400 + ord(character))


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text; an ellipsis says that some are missing.

    Examples
    --------
    >>> cut("temperature", 5)
    'temp…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, False, False)
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True  # pandas.NA has no truth value
    except ValueError:
        return False  # neither has an array in a cell


def value_text(value: Any) -> str:
    """Return a value as a clean text; dates lose an empty time of day.

    Examples
    --------
    >>> import datetime
    >>> value_text(datetime.datetime(2026, 11, 16)), value_text(True)
    ('2026-11-16', 'True')
    """
    return clean(str(value).removesuffix(" 00:00:00"))


def number_text(value: float) -> str:
    """Return a number with four digits that count.

    Examples
    --------
    >>> number_text(3.3219280948873626), number_text(-0.0), number_text(12345678.0)
    ('3.322', '0', '1.235e+07')
    """
    return f"{value + 0.0:.4g}"
