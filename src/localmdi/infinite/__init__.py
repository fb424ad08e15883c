"""The infinite forest of totally randomized trees: its limits, without growing a tree."""

from localmdi.infinite.gap import ForestGap, measure_gap
from localmdi.infinite.interactions import infinite_interactions
from localmdi.infinite.mdi import infinite_mdi
from localmdi.infinite.relevance import LocalRelevance, local_relevance
from localmdi.infinite.result import InfiniteImportance

__all__ = [
    "ForestGap",
    "InfiniteImportance",
    "LocalRelevance",
    "infinite_interactions",
    "infinite_mdi",
    "local_relevance",
    "measure_gap",
]
