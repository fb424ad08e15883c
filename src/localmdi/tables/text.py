"""Tables of text: CSV and its relatives, compressed or not, as programs and people write them."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from localmdi._text import count
from localmdi.tables.cells import MISSING
from localmdi.tables.dialect import HEAD, find_dialect, find_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from localmdi.tables.cells import Decimal

# The reader runs up to 32 blocks ahead, which bounds the memory; a line must fit into one.
_BLOCK = 1 << 20
# Rows of another width are left out, if they are few: footnotes, or a line that was cut.
_MOST_ODD, _ODD_SHARE = 20, 0.001
_ODD_NAMED = 3
_TOTALS = (
    "total",
    "totals",
    "grand total",
    "sum",
    "summe",
    "gesamt",
    "insgesamt",
    "totaux",
    "somme",
)


class TextTable:
    """A text file whose cells are read as strings, so that no type is guessed from its first lines.

    Parameters
    ----------
    path : Path
        The file; if its name ends in .gz, it is decompressed on the fly.
    separator : str or None
        What stands between cells; None: found out, as is all that is not said.
    encoding : str or None
        Of the text.
    header_row : int or None
        The line of the column names, from 1.
    """

    n_rows = None
    kinds = None

    def __init__(
        self,
        path: Path,
        *,
        separator: str | None = None,
        encoding: str | None = None,
        header_row: int | None = None,
    ) -> None:
        self.path = path
        with self._readable(encoding):
            with self._bytes() as file:
                encoding = encoding or find_encoding(file)
            with self._bytes() as file:
                block = file.read(HEAD)
                is_all = not file.read(1)
            self.dialect = find_dialect(
                block.decode(encoding, errors="strict" if is_all else "ignore"),
                encoding=encoding,
                separator=separator,
                header_row=header_row,
                is_all=is_all,
            )
        self.names = self.dialect.names
        self.usual_decimal: Decimal = "," if self.dialect.separator == ";" else "."
        self.notes: list[str] = []

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa

        odd: list[tuple[int | None, int]] = []
        n_rows = 0
        with self._readable(self.dialect.encoding):
            for block in self._open(list(names), odd):
                n_rows += block.num_rows
                self._check(odd, n_rows)
                for start in range(0, block.num_rows, batch_rows):
                    yield pa.Table.from_batches([block.slice(start, batch_rows)])
        self.notes = self._say(odd)

    def decisions(self) -> list[str]:
        """Return what was decided that is not as everybody expects, in words."""
        return self.dialect.decisions()

    def _open(self, names: list[str], odd: list[tuple[int | None, int]]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        def leave_out(row: Any) -> str:
            odd.append((row.number, row.actual_columns))
            return "skip"

        dialect = self.dialect
        return csv.open_csv(
            pa.input_stream(str(self.path), compression="detect"),
            read_options=csv.ReadOptions(
                block_size=_BLOCK,
                encoding=dialect.encoding.replace("utf-8-sig", "utf-8"),
                column_names=list(dialect.names),
                skip_rows=dialect.header_line + 1,
                # Row numbers are known where rows are read one block after the other.
                use_threads=False,
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.separator,
                newlines_in_values=True,
                invalid_row_handler=leave_out,
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                include_columns=names,
                null_values=list(MISSING),
                strings_can_be_null=True,
            ),
        )

    def _check(self, odd: Sequence[tuple[int | None, int]], n_rows: int) -> None:
        if len(odd) > _MOST_ODD + _ODD_SHARE * n_rows:
            width = len(self.names)
            raise ValueError(
                f"has many rows that are not {count(width, 'cell')} wide, as its line of names is: "
                f"{count(len(odd), 'row')} among the first "
                f"{n_rows + len(odd):,}. Name what stands between cells with separator=, the line "
                "of names with header_row=, or look for a quotation mark that is not closed."
            )

    def _say(self, odd: Sequence[tuple[int | None, int]]) -> list[str]:
        if not odd:
            return []
        lines = [f"{number:,}" for number, _ in odd[:_ODD_NAMED] if number is not None]
        where = f" (line {', '.join(lines)}{', …' if len(odd) > len(lines) else ''})"
        return [
            f"{count(len(odd), 'row')} of another width than the names "
            f"{'is' if len(odd) == 1 else 'are'} left out{where if lines else ''}."
        ]

    @contextmanager
    def _bytes(self) -> Iterator[Any]:
        with open(self.path, "rb") as file:
            if self.path.name.lower().endswith(".gz"):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked
            else:
                yield file

    @contextmanager
    def _readable(self, encoding: str | None) -> Iterator[None]:
        """Turn the readers' errors into messages that say what to do."""
        import pyarrow as pa

        name = self.path.name
        try:
            yield
        except (UnicodeError, LookupError) as error:
            raise ValueError(
                f"{name!r} is not encoded as {encoding}. Save it as UTF-8, or set its encoding, "
                "for example encoding=latin1."
            ) from error
        except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{name!r} {_complaint(str(error), encoding)}") from error
        except ValueError as error:
            raise ValueError(f"{name!r} {error}") from error


def _complaint(text: str, encoding: str | None) -> str:
    if "UTF8" in text:
        return (
            f"is not encoded as {encoding}. "
            "Save it as UTF-8, or set its encoding, for example encoding=latin1."
        )
    if "Empty CSV" in text:
        return "is empty; a table needs a line of column names and at least one row."
    if "straddling" in text:
        return (
            f"has a line of more than {_BLOCK >> 20} MB. Look for a very large cell, or for "
            'a quotation mark (") that is not closed.'
        )
    return f"is not a readable table: {text:.300}."
