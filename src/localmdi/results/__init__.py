"""Results: values, names and units, and what can be done with them without the model."""

from localmdi.results.by_class import ClassImportance
from localmdi.results.comparison import Comparison, compare
from localmdi.results.global_ import GlobalImportance
from localmdi.results.interaction import InteractionImportance
from localmdi.results.local import LocalImportance
from localmdi.results.pairs import PairImportance
from localmdi.results.storage import load_importance
from localmdi.results.subgroups import Subgroup, Subgroups
from localmdi.results.top import TopFeatures
from localmdi.results.uncertainty import Neighbour, UncertainRow, UncertainRows

__all__ = [
    "ClassImportance",
    "Comparison",
    "GlobalImportance",
    "InteractionImportance",
    "LocalImportance",
    "Neighbour",
    "PairImportance",
    "Subgroup",
    "Subgroups",
    "TopFeatures",
    "UncertainRow",
    "UncertainRows",
    "compare",
    "load_importance",
]
