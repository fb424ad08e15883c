"""The parts of the evaluation, in the order of the page."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["SECTIONS"]

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
