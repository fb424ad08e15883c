"""Slow results kept on disk, block by block, so an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from paper.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Store", "Work"]


class Work(Protocol):
    """Something slow to compute row by row: hashable, picklable, the same in every process."""

    @property
    def label(self) -> str:
        """A few words for the progress bar and the folder of the cache."""

    def key(self) -> dict[str, Any]:
        """Return everything that decides the result, as values that JSON can hold."""

    def prepare(self) -> Callable[[int, int], np.ndarray]:
        """Do what all blocks share; return a function that computes rows start to stop."""


@dataclass(frozen=True)
class _Block:
    path: Path
    work: Work
    start: int
    stop: int

    def read(self) -> np.ndarray | None:
        """Return the block, or None if it is missing or damaged (zip members carry a checksum)."""
        try:
            content = io.BytesIO(self.path.read_bytes())
            values = np.load(content, allow_pickle=False)["values"]
        except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile):
            return None
        return values if len(values) == self.stop - self.start else None


class Store:
    """A cache of arrays under ``FOLDER/cache``; missing blocks are computed in parallel.

    Entries depend on what `Work.key` says (data, model, package versions), never on the code, and
    are written under a temporary name and then renamed: two processes may share a folder.

    Parameters
    ----------
    folder : path
        The folder of the reproduction.
    n_processes : int
        Blocks computed at the same time; 1 computes in this process.
    progress : bool
        Whether to draw a bar with the time left on standard error.
    """

    def __init__(self, folder: str | Path, *, n_processes: int = 1, progress: bool = False) -> None:
        self._folder = Path(folder) / "cache"
        self._n_processes = n_processes
        self._progress = progress

    def rows(self, work: Work, n_rows: int, *, block: int = 16) -> np.ndarray:
        """Return the work's result on its first `n_rows` rows, computed `block` rows at a time."""
        blocks = self._blocks(work, n_rows, block=block)
        return np.concatenate(self._fill(blocks, work.label))

    def each(self, works: Sequence[Work], *, label: str) -> list[np.ndarray]:
        """Return the first row of every work: results that do not come row by row."""
        blocks = [block for work in works for block in self._blocks(work, 1, block=1)]
        return [values[0] for values in self._fill(blocks, label)]

    def _blocks(self, work: Work, n_rows: int, *, block: int) -> list[_Block]:
        key = json.dumps(work.key(), sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        folder = self._folder / f"{work.label.replace(' ', '-')}-{digest}"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "key.json", key)
        stops = [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
        return [_Block(folder / f"{a:06d}-{b:06d}.npz", work, a, b) for a, b in stops]

    def _fill(self, blocks: list[_Block], label: str) -> list[np.ndarray]:
        found = [block.read() for block in blocks]
        missing = [i for i, values in enumerate(found) if values is None]
        for i, values in self._bar(self._compute(blocks, missing), label, total=len(missing)):
            found[i] = values
        return [values for values in found if values is not None]

    def _compute(
        self, blocks: list[_Block], missing: list[int]
    ) -> Iterable[tuple[int, np.ndarray]]:
        from joblib import Parallel, delayed

        n_jobs = min(self._n_processes, len(missing)) or 1
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        return parallel(delayed(_compute_block)(i, blocks[i]) for i in missing)

    def _bar(self, results: Iterable[Any], label: str, *, total: int) -> Iterable[Any]:
        if not self._progress or not total:
            return results
        from tqdm import tqdm

        return tqdm(results, desc=label, total=total, unit="block")


def _compute_block(index: int, block: _Block) -> tuple[int, np.ndarray]:
    values = np.asarray(_prepared(block.work)(block.start, block.stop))
    content = io.BytesIO()
    np.savez(content, values=values)
    write_whole(block.path, content.getvalue())
    return index, values


@lru_cache(maxsize=1)
def _prepared(work: Work) -> Callable[[int, int], np.ndarray]:
    """Prepare a work once per process."""
    return work.prepare()
