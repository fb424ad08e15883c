"""The infinite forest of totally randomized trees: its limits, without growing a tree."""

from localmdi.infinite.interactions import infinite_interactions
from localmdi.infinite.mdi import ForestGap, InfiniteImportance, infinite_mdi, measure_gap
from localmdi.infinite.relevance import LocalRelevance, local_relevance

__all__ = [
    "ForestGap",
    "InfiniteImportance",
    "LocalRelevance",
    "infinite_interactions",
    "infinite_mdi",
    "local_relevance",
    "measure_gap",
]
