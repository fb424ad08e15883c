"""Importances of rows that live in a Spark or Dask cluster: the same kernels, in its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localmdi.distributed.explaining import local_mdi, mean_mdi
    from localmdi.distributed.forests import grow, with_statistics

__all__ = ["grow", "local_mdi", "mean_mdi", "with_statistics"]

# Looked up on first use: a worker loads only what its work needs.
_HOMES = {
    "grow": "forests",
    "local_mdi": "explaining",
    "mean_mdi": "explaining",
    "with_statistics": "forests",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
