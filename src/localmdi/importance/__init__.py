"""The measures: a forest, and rows where the measure is local, become a result."""

from localmdi.importance.by_class import explain_classes
from localmdi.importance.decompose import decompose
from localmdi.importance.direction import follow_prediction
from localmdi.importance.global_ import global_importance
from localmdi.importance.local import LocalRequest, explain
from localmdi.importance.path_pairs import PairIndex, PairRequest, explain_pairs
from localmdi.importance.saabas import changes_of_target, prediction_paths

__all__ = [
    "LocalRequest",
    "PairIndex",
    "PairRequest",
    "changes_of_target",
    "decompose",
    "explain",
    "explain_classes",
    "explain_pairs",
    "follow_prediction",
    "global_importance",
    "prediction_paths",
]
