"""The parts of the evaluation, in the order of the page."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.settings import Settings
    from paper.piece import Piece
    from paper.store import Store

__all__ = ["SECTIONS", "find"]

# Name on the command line and the module whose `run` makes the section.
SECTIONS = MappingProxyType(
    {
        "invase": "evaluation.invase",
        "difficulties": "evaluation.difficulties",
        "real": "evaluation.real",
        "discoveries": "evaluation.discoveries",
        "noise": "evaluation.noise",
        "disagreement": "evaluation.disagreement",
        "stability": "evaluation.stability",
        "finite": "evaluation.convergence",
    }
)


def find(name: str) -> Callable[[Settings, Store], Piece]:
    """Return the function that makes a section, by the section's name.

    Examples
    --------
    >>> find("noise").__module__
    'evaluation.noise'
    """
    return import_module(SECTIONS[name]).run
