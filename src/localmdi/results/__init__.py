"""Results: values, names and units, and what can be done with them without the model."""

from localmdi.results.by_class import ClassImportance
from localmdi.results.global_ import GlobalImportance
from localmdi.results.interaction import InteractionImportance
from localmdi.results.local import LocalImportance
from localmdi.results.pairs import PairImportance
from localmdi.results.storage import load_importance
from localmdi.results.top import TopFeatures

__all__ = [
    "ClassImportance",
    "GlobalImportance",
    "InteractionImportance",
    "LocalImportance",
    "PairImportance",
    "TopFeatures",
    "load_importance",
]
