"""Tables whose columns have types: Parquet and Feather."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from localmdi.tables.columns import kind_of_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from localmdi.tables.cells import Decimal, Kind

_BUFFER = 1 << 20


class _ArrowFile:
    """What files with types have in common."""

    usual_decimal: Decimal = "."
    notes: list[str]

    def __init__(self, path: Path, schema: Any, *, n_rows: int | None) -> None:
        self.path = path
        self.names: tuple[str, ...] = tuple(schema.names)
        self.kinds: dict[str, Kind] | None = {
            field.name: kind_of_type(field.type) for field in schema
        }
        self.n_rows = n_rows
        self.notes = []

    def decisions(self) -> list[str]:
        """Return nothing: the file itself says what its columns are."""
        return []


class ParquetTable(_ArrowFile):
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        with _readable(path, "Parquet"), parquet.ParquetFile(path) as file:
            super().__init__(path, file.schema_arrow, n_rows=file.metadata.num_rows)

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa
        from pyarrow import parquet

        with (
            _readable(self.path, "Parquet"),
            # Large row groups come through a buffer, not as a whole.
            parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER) as file,
        ):
            for batch in file.iter_batches(batch_rows, columns=list(names)):
                yield pa.Table.from_batches([batch]).select(list(names))


class FeatherTable(_ArrowFile):
    """A Feather file, which is an Arrow file."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        with _readable(path, "Feather"), pa.OSFile(str(path)) as source:
            super().__init__(path, pa.ipc.open_file(source).schema, n_rows=None)

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa

        with _readable(self.path, "Feather"), pa.OSFile(str(self.path)) as source:
            reader = pa.ipc.open_file(source)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number).select(list(names))
                for start in range(0, batch.num_rows, batch_rows):
                    yield pa.Table.from_batches([batch.slice(start, batch_rows)])


@contextmanager
def _readable(path: Path, kind: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        said = str(error)[:300].rstrip(". ")
        raise ValueError(
            f"{path.name!r} is not a readable {kind} file: {said}. Save it again."
        ) from error
