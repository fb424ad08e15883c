"""Tables of strings: CSV and TSV, compressed or not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


# The reader runs up to 32 blocks ahead, which bounds the memory; a line must fit into one.
_BLOCK = 1 << 20
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"]


class CsvTable:
    """A CSV file whose cells are read as strings, so that no type is guessed from its first lines.

    Parameters
    ----------
    path : Path
        The file; if its name ends in .gz, it is decompressed on the fly.
    separator : str
        The delimiter.
    encoding : str
        Of the text.
    """

    n_rows = None
    kinds = None

    def __init__(self, path: Path, separator: str, *, encoding: str) -> None:
        self.path = path
        self._separator = separator
        self._encoding = encoding
        with self._readable():
            self.names: tuple[str, ...] = tuple(self._open(None).schema.names)

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa

        with self._readable():
            for block in self._open(list(names)):
                for start in range(0, block.num_rows, batch_rows):
                    yield pa.Table.from_batches([block.slice(start, batch_rows)])

    def _open(self, names: list[str] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        convert = csv.ConvertOptions(
            column_types={name: pa.string() for name in names or ()},
            include_columns=names,
            null_values=_MISSING,
            strings_can_be_null=True,
        )
        return csv.open_csv(
            pa.input_stream(str(self.path), compression="detect"),
            read_options=csv.ReadOptions(block_size=_BLOCK, encoding=self._encoding),
            parse_options=csv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
            convert_options=convert,
        )

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn the reader's errors into messages that say what to do."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowInvalid, UnicodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{self.path.name!r} {self._complaint(error)}") from error

    def _complaint(self, error: Exception) -> str:
        text = str(error)
        if isinstance(error, UnicodeError) or "UTF8" in text:
            return (
                f"is not encoded as {self._encoding}. "
                "Save it as UTF-8, or set its encoding, for example --encoding latin1."
            )
        if "Empty CSV" in text:
            return "is empty; a table needs a line of column names and at least one row."
        if "straddling" in text:
            return (
                f"has a line of more than {_BLOCK >> 20} MB. Look for a very large cell, or for "
                'an unclosed quotation mark (").'
            )
        if "Expected" in text:
            return (
                f"has a line with too few or too many cells: {text:.300}. Look for an unclosed "
                "quotation mark, or use --separator to set the delimiter."
            )
        return f"is not a readable CSV file: {text:.300}."
