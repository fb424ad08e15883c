"""The parts of the evaluation, in the order of the page."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["SECTIONS"]

# Name on the command line and the module whose `run` makes the section.
SECTIONS = MappingProxyType(
    {
        "invase": "evaluation.invase",
        "difficulties": "evaluation.difficulties",
        "spread": "evaluation.spread",
        "real": "evaluation.real",
        "deletion": "evaluation.deletion",
        "discoveries": "evaluation.discoveries",
        "null": "evaluation.null",
        "noise": "evaluation.noise",
        "remainder": "evaluation.remainder",
        "wrong": "evaluation.wrong",
        "disagreement": "evaluation.disagreement",
        "stability": "evaluation.stability",
        "finite": "evaluation.convergence",
    }
)
