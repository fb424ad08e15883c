"""Importances of rows that live in a Spark or Dask cluster: the same kernels, in its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localmdi.distributed.api import grow, local_mdi, mean_mdi, with_statistics

__all__ = ["grow", "local_mdi", "mean_mdi", "with_statistics"]


def __getattr__(name: str) -> Any:
    # Looked up on first use: a worker loads only what its work needs.
    from importlib import import_module

    if name in __all__:
        return getattr(import_module(f"{__name__}.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
