"""What an engine sends to its workers: functions that name a missing package before they fail.

Functions made inside of functions are pickled by value, so these arrive where localmdi is not
installed, too, and can say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Reduction",
    "StateMergers",
    "dask_opener",
    "dask_task",
    "spark_draw_task",
    "spark_group_task",
    "spark_task",
    "state_mergers",
]


@dataclass(frozen=True)
class Reduction:
    """How rows become one state.

    Parameters
    ----------
    arrow_method, pandas_method : str
        Methods of the work that turn the Arrow batches, or the pandas frame, of a partition into a
        state.
    merge : str
        The function that merges two states, as "module:name".
    keep : tuple of str
        Columns that the methods read beside the features.
    """

    arrow_method: str
    pandas_method: str
    merge: str
    keep: tuple[str, ...] = ()


def _opener() -> Callable[[Callable[[], Any]], Any]:
    """Return the function that opens on a worker what was shipped to it, or says why it cannot."""
    package = __name__.partition(".")[0]
    expected = version(package)

    def open_shipped(load: Callable[[], Any]) -> Any:
        try:
            from importlib.metadata import version

            found = version(package)
            if found == expected:
                return load()
        except ImportError as error:
            raise RuntimeError(
                f"every worker must have localmdi {expected} and the packages of the model; this "
                f"one lacks a package: {error}. Install it on the workers."
            ) from None
        raise RuntimeError(
            f"every worker must have the version of localmdi that the driver has, {expected}; this "
            f"one has {found}. Install the same version on the workers."
        )

    return open_shipped


def spark_task(
    broadcast: Any, method: str, *, state: bool = False
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function of `mapInArrow` that calls a method of the broadcast work.

    Parameters
    ----------
    broadcast : Broadcast
        The work, and what its method gets before the batches.
    method : str
        The name of the method.
    state : bool
        Whether it returns a state, which is pickled; otherwise it yields batches.
    """
    open_shipped = _opener()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pickle

        import pyarrow as pa

        work, *given = open_shipped(lambda: broadcast.value)
        found = getattr(work, method)(*given, batches)
        if not state:
            yield from found
        elif found:
            yield pa.record_batch({"state": pa.array([pickle.dumps(found)], pa.binary())})

    return run


def spark_draw_task(broadcast: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function of `mapInArrow` that draws rows for trees."""
    open_shipped = _opener()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        (work,) = open_shipped(lambda: broadcast.value)
        yield from work.draw_batches(batches, TaskContext.get().partitionId())

    return run


def spark_group_task(broadcast: Any, method: str) -> Callable[[Any], Any]:
    """Return the function of `applyInArrow` that calls a method of the broadcast work."""
    open_shipped = _opener()

    def run(table: Any) -> Any:
        (work,) = open_shipped(lambda: broadcast.value)
        return getattr(work, method)(table)

    return run


def dask_opener() -> Callable[[bytes], Any]:
    """Return the function that opens on a Dask worker what was shipped to it."""
    open_shipped = _opener()

    def open_bytes(payload: bytes) -> Any:
        import pickle

        return open_shipped(lambda: pickle.loads(payload))

    return open_bytes


def dask_task(method: str) -> Callable[..., Any]:
    """Return the function of a partition and the shipped work that calls a method of the work."""

    def run(part: Any, shipped: Any, *further: Any) -> Any:
        work, *given = shipped
        return getattr(work, method)(*given, part, *further)

    return run


class StateMergers(NamedTuple):
    """How states become one; no state yet is None."""

    add_row: Callable[[Any, Any], Any]
    """Adds a row with a pickled state to a state."""
    merge: Callable[[Any, Any], Any]
    """Merges two states."""
    merge_all: Callable[[list[Any]], Any]
    """Merges states in their order."""


def state_mergers(merge: str) -> StateMergers:
    """Return the functions that apply the `merge` of a `Reduction`."""

    def merge_states(one: Any, other: Any) -> Any:
        from pkgutil import resolve_name

        if one is None or other is None:
            return other if one is None else one
        return resolve_name(merge)(one, other)

    def add_row(state: Any, row: Any) -> Any:
        import pickle

        return merge_states(state, pickle.loads(row[0]))

    def merge_all(states: list[Any]) -> Any:
        from functools import reduce

        return reduce(merge_states, states)

    return StateMergers(add_row, merge_states, merge_all)
