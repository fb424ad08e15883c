"""Results: values, names and units, and what can be done with them without the model."""

from localmdi.results.comparison import Comparison, compare
from localmdi.results.frames import TopFeatures
from localmdi.results.global_ import GlobalImportance
from localmdi.results.local import LocalImportance
from localmdi.results.parts import ClassImportance, InteractionImportance, PairImportance
from localmdi.results.storage import load_importance
from localmdi.results.subgroups import Subgroup, Subgroups
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
