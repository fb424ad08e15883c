"""From fitted models to forests: the registry, and one room per library."""

from localmdi.adapters.adapted import AdaptedModel
from localmdi.adapters.in_bag import Candidate, InBag, in_bag_disagreement
from localmdi.adapters.model_files import is_model_file, load_model_file
from localmdi.adapters.prediction_change import prediction_values_change
from localmdi.adapters.registry import adapt, register_adapter

__all__ = [
    "AdaptedModel",
    "Candidate",
    "InBag",
    "adapt",
    "in_bag_disagreement",
    "is_model_file",
    "load_model_file",
    "prediction_values_change",
    "register_adapter",
]
