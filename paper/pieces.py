"""The parts of the reproduction, in the order of the page."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from paper.piece import Piece
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["PIECES", "find"]

# Name on the command line and the module whose `run` makes the piece.
PIECES = MappingProxyType(
    {
        "datasets": "paper.characteristics",
        "figure-1": "paper.figure_1",
        "draws": "paper.draws",
        "figure-2": "paper.figure_2",
        "maps": "paper.maps",
        "curves": "paper.curves",
        "summary": "paper.summary",
        "examples": "paper.examples",
        "identities": "paper.identities",
        "times": "paper.times",
    }
)


def find(name: str) -> Callable[[Settings, Store], Piece]:
    """Return the function that makes a piece, by the piece's name.

    Examples
    --------
    >>> find("examples").__module__
    'paper.examples'
    """
    return import_module(PIECES[name]).run
