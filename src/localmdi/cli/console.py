"""What a command says: notes on stderr as it works, one result on stdout."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.cli.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Console"]


class Console:
    """Collects notes, and prints the result as text or as one JSON document.

    Parameters
    ----------
    quiet : bool
        Whether to keep notes and progress bars to itself; notes stay part of the JSON document.
    as_json : bool
        Whether the result is printed as JSON.

    Examples
    --------
    >>> console = Console(quiet=True, as_json=True)
    >>> console.note("something to know")
    >>> console.finish({"rows": np.int64(3), "mean": float("nan")}, text="3 rows")
    {"rows": 3, "mean": null, "notes": ["something to know"]}
    """

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.notes: list[str] = []
        self._quiet = quiet
        self._as_json = as_json

    @property
    def progress(self) -> bool:
        """Whether to draw progress bars: only for somebody who looks."""
        return not self._quiet and sys.stderr.isatty()

    def note(self, text: str) -> None:
        """Say something once that the user should know."""
        text = one_line(text)
        if text not in self.notes:
            self.notes.append(text)
            if not self._quiet:
                print(f"note: {text}", file=sys.stderr)

    @contextmanager
    def hear_warnings(self) -> Iterator[None]:
        """Turn the warnings of libraries into notes."""
        with warnings.catch_warnings():
            # The others are for developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: self.note(str(message))
            yield

    def finish(self, document: Mapping[str, Any], *, text: str) -> None:
        """Print the result."""
        if self._as_json:
            complete = {**document, "notes": self.notes}
            print(json.dumps(_plain(complete), ensure_ascii=False, allow_nan=False))
        else:
            print(text)


def _plain(value: Any) -> Any:
    """Return what JSON knows; NaN and infinity, which it does not, as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, bool, int, float, type(None))) else str(value)
