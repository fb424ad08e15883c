"""A folder of Parquet files, as Spark, Dask and DuckDB write it: one table, file after file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi._text import count, quote_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.tables.cells import Decimal, Kind
    from localmdi.tables.open import TableFile

_ENDINGS = (".parquet", ".pq")


class TableDirectory:
    """The files of a folder, in the order of their names; rows are numbered through all of them.

    Parameters
    ----------
    path : Path
        The folder. Names that begin with "_" or "." are notes of whoever wrote it, not data.
    open_file : callable
        Opens one file.
    """

    usual_decimal: Decimal = "."

    def __init__(self, path: Path, open_file: Callable[[Path], TableFile]) -> None:
        self.path = path
        self._parts = [open_file(part) for part in _data_files(path)]
        first, *others = self._parts
        for other in others:
            _check_same(first, other)
        self.names: tuple[str, ...] = first.names
        self.kinds: Mapping[str, Kind] | None = first.kinds
        self.notes: list[str] = []
        known = [part.n_rows for part in self._parts if part.n_rows is not None]
        self.n_rows: int | None = sum(known) if len(known) == len(self._parts) else None

    def decisions(self) -> list[str]:
        """Return nothing: the files themselves say what their columns are."""
        return []

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        for part in self._parts:
            yield from part.batches(names, batch_rows)


def _data_files(path: Path) -> list[Path]:
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith(("_", ".")))
    if folders := [entry.name for entry in entries if entry.is_dir()]:
        raise ValueError(
            f"the folder {str(path)!r} must hold Parquet files and no folders; it has "
            f"{quote_names(folders, most=3)}. Name one of them, or write the table without "
            "partitioning it by a column."
        )
    files = [entry for entry in entries if entry.name.lower().endswith(_ENDINGS)]
    if not files:
        raise ValueError(
            f"the folder {str(path)!r} must hold Parquet files, whose names end in "
            f"{' or '.join(_ENDINGS)}; it has none among {count(len(entries), 'file')}. "
            "Name a file, or a folder that has some."
        )
    return files


def _check_same(first: TableFile, other: TableFile) -> None:
    different = set(first.names) ^ set(other.names)
    if not different and first.kinds is not None and other.kinds is not None:
        different = {name for name in first.names if first.kinds[name] != other.kinds[name]}
    if different:
        raise ValueError(
            f"the files of a folder must have the same columns; {other.path.name!r} differs from "
            f"{first.path.name!r} in {quote_names(sorted(different), most=3)}. "
            "Write the table again."
        )
