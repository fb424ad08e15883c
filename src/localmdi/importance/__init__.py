"""The measures: a forest, and rows where the measure is local, become a result."""

from localmdi.importance.decompose import decompose
from localmdi.importance.global_ import global_importance
from localmdi.importance.local import LocalRequest, explain
from localmdi.importance.saabas import prediction_paths

__all__ = ["LocalRequest", "decompose", "explain", "global_importance", "prediction_paths"]
