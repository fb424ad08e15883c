"""What is asked of a table, and who is told what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from localmdi.tables.columns import TypedTable, understand
from localmdi.tables.open import ReadOptions, open_table

if TYPE_CHECKING:
    from pathlib import Path

    from localmdi.typing import MaxFeatures

Task = Literal["classification", "regression"]


class Listener(Protocol):
    """Is told what the owner of the table should know."""

    @property
    def progress(self) -> bool:
        """Whether somebody looks at progress bars."""

    def note(self, text: str) -> None:
        """Say something."""


@dataclass(frozen=True, kw_only=True)
class TableSettings(ReadOptions):
    """What to learn from a table.

    Parameters
    ----------
    target : str or None
        The column to predict.
    exclude : tuple of str
        Columns to leave out.
    categorical : tuple of str
        Columns whose numbers are categories.
    keep : tuple of str
        Columns to learn from although they look like identifiers.
    task : {"classification", "regression"} or None
        What to learn; None: what the target looks like.
    groups, time : str or None
        Columns that say which rows belong together, and by what rows follow each other.
    max_fit_rows : int
        Learn from at most so many rows, drawn at random.
    jobs, seed : int
        Number of threads, and seed of the draws.
    """

    target: str | None = None
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    task: Task | None = None
    groups: str | None = None
    time: str | None = None
    max_fit_rows: int = 100_000
    jobs: int = 1
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How a forest is grown.

    Parameters
    ----------
    trees : int or None
        The number of trees; None: by the number of rows.
    max_features : int, float, str or None
        K, the number of features that are drawn for each split.
    jobs, seed : int
        Number of threads, and seed.
    """

    trees: int | None = None
    max_features: MaxFeatures = 1
    jobs: int = 1
    seed: int = 0


def read_table(
    path: Path, settings: TableSettings, *, listener: Listener, most_rows: int | None = None
) -> TypedTable:
    """Open a table, find out what its columns are, and say what was decided.

    Parameters
    ----------
    path : Path
        The file, or a folder of Parquet files.
    settings : TableSettings
        What is said about it.
    listener : Listener
        Is told.
    most_rows : int or None
        By how many rows it is understood; None: by all.
    """
    table = understand(
        open_table(path, settings),
        as_text=[*settings.categorical, *([settings.groups] if settings.groups else [])],
        target=settings.target,
        decimal=settings.decimal,
        day_first=settings.day_first,
        most_rows=most_rows,
    )
    decided = table.decisions()
    if decided:
        listener.note(f"read as {', '.join(decided)}.")
    return table
