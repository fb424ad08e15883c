"""Local and global MDI importances of tree ensembles: exact, in bits, cheaper than a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localmdi import datasets, plots, theory
    from localmdi import exceptions as exceptions
    from localmdi._api import (
        as_forest,
        decompose_global,
        forest_gap,
        global_mdi,
        local_mdi,
        local_mdi_by_class,
        saabas,
    )
    from localmdi._explainer import Explainer
    from localmdi._interactions import local_interactions
    from localmdi.adapters import register_adapter
    from localmdi.adapters.gradients import with_gradients
    from localmdi.forest import Forest, NodeStatistics, SplitKind, build_forest, load_forest
    from localmdi.honest import honest_folds, honest_global_mdi, honest_mdi
    from localmdi.infinite import infinite_interactions, infinite_mdi, local_relevance
    from localmdi.results import (
        GlobalImportance,
        InteractionImportance,
        LocalImportance,
        compare,
        load_importance,
    )
    from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

__version__ = "0.1.0"

__all__ = [
    "Explainer",
    "Forest",
    "GlobalImportance",
    "InteractionImportance",
    "LocalImportance",
    "NodeStatistics",
    "RandomizedForestClassifier",
    "RandomizedForestRegressor",
    "SplitKind",
    "as_forest",
    "build_forest",
    "compare",
    "datasets",
    "decompose_global",
    "forest_gap",
    "global_mdi",
    "honest_folds",
    "honest_global_mdi",
    "honest_mdi",
    "infinite_interactions",
    "infinite_mdi",
    "load_forest",
    "load_importance",
    "local_interactions",
    "local_mdi",
    "local_mdi_by_class",
    "local_relevance",
    "plots",
    "register_adapter",
    "saabas",
    "theory",
    "with_gradients",
]

# Where each name lives: importing localmdi loads nothing else until a name is used.
_HOMES = {
    "Explainer": "_explainer",
    "Forest": "forest",
    "GlobalImportance": "results",
    "InteractionImportance": "results",
    "LocalImportance": "results",
    "NodeStatistics": "forest",
    "RandomizedForestClassifier": "trees",
    "RandomizedForestRegressor": "trees",
    "SplitKind": "forest",
    "as_forest": "_api",
    "build_forest": "forest",
    "compare": "results",
    "decompose_global": "_api",
    "forest_gap": "_api",
    "global_mdi": "_api",
    "honest_folds": "honest",
    "honest_global_mdi": "honest",
    "honest_mdi": "honest",
    "infinite_interactions": "infinite",
    "infinite_mdi": "infinite",
    "load_forest": "forest",
    "load_importance": "results",
    "local_interactions": "_interactions",
    "local_mdi": "_api",
    "local_mdi_by_class": "_api",
    "local_relevance": "infinite",
    "register_adapter": "adapters",
    "saabas": "_api",
    "with_gradients": "adapters.gradients",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"localmdi.{_HOMES[name]}"), name)
    # The errors are a module of their own, not one of the names for every day.
    if name in __all__ or name == "exceptions":
        return import_module(f"localmdi.{name}")
    raise AttributeError(f"module 'localmdi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
