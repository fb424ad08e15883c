"""The parts of the reproduction, in the order of the page."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["PIECES"]

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
        "efficiency": "paper.efficiency",
        "identities": "paper.identities",
        "times": "paper.times",
    }
)
