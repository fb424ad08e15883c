"""Tables of texts: CSV and TSV, compressed or not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["CsvTable"]

# The reader runs up to 32 blocks ahead, which bounds the memory; a line must fit into one.
_BLOCK = 1 << 20
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"]


class CsvTable:
    r"""A CSV file whose cells are read as texts, so that no guess is made from its first lines.

    Parameters
    ----------
    path : Path
        The file; if its name ends in .gz, it is decompressed on the way.
    separator : str
        What stands between cells.
    encoding : str
        Of the text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sex\n31,NA\n")
    ...     table = CsvTable(path, ",", encoding="utf8")
    ...     [batch.to_pylist() for batch in table.batches(["sex"], 100)]
    [[{'sex': None}]]
    """

    n_rows = None
    kinds = None

    def __init__(self, path: Path, separator: str, *, encoding: str) -> None:
        self.path = path
        self._separator = separator
        self._encoding = encoding
        with self._explained():
            self.names: tuple[str, ...] = tuple(self._open(None).schema.names)

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield the columns of these names as Arrow tables of at most so many rows."""
        import pyarrow as pa

        with self._explained():
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
    def _explained(self) -> Iterator[None]:
        """Say in our words what the reader complains about."""
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
                f"must be text in the encoding {self._encoding}; it is not. "
                "Save it as UTF-8, or name its encoding, for example --encoding latin1."
            )
        if "Empty CSV" in text:
            return "must have a line of column names and rows below it; it is empty."
        if "straddling" in text:
            return (
                f"must have lines of at most {_BLOCK >> 20} MB; one is longer. "
                'Look for a cell that is too large, or for a quotation mark (") without its end.'
            )
        if "Expected" in text:
            return (
                f"must have as many cells in every line as column names; got: {text:.300}. Look "
                "for a missing quotation mark, or name what stands between cells: --separator."
            )
        return f"must be a readable CSV file; got: {text:.300}."
