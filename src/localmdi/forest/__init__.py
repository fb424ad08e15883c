"""The forest: trees of any model as one checked table of nodes, in memory and in a file."""

from localmdi._validation import ColumnRule
from localmdi.forest.builder import ForestBuilder
from localmdi.forest.forest import Forest, build_forest, load_forest
from localmdi.forest.rules import SplitKind
from localmdi.forest.statistics import NodeStatistics

__all__ = [
    "ColumnRule",
    "Forest",
    "ForestBuilder",
    "NodeStatistics",
    "SplitKind",
    "build_forest",
    "load_forest",
]
