"""From fitted models to forests: dispatch, the registry for third parties, one room per library."""

from localmdi.adapters.adapted import AdaptedModel
from localmdi.adapters.dispatch import adapt
from localmdi.adapters.in_bag import Candidate, InBag, in_bag_disagreement
from localmdi.adapters.registry import register_adapter

__all__ = [
    "AdaptedModel",
    "Candidate",
    "InBag",
    "adapt",
    "in_bag_disagreement",
    "register_adapter",
]
