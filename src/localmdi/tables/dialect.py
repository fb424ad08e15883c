"""How the text of a table is to be read: its encoding, its delimiter, and where it starts."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localmdi._text import quote_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

# What stands between cells, the most usual first.
_SEPARATORS = (",", ";", "\t", "|")
_NAMES = {"\t": "tabs", " ": "spaces"}
# So much of a file is looked at; as many of its rows tell what stands between cells.
HEAD = 1 << 18
_MOST_ROWS = 1000
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Dialect:
    """How a text table is read.

    Parameters
    ----------
    encoding : str
        Python's name of the encoding.
    separator : str
        What stands between cells.
    header_line : int
        The line of the column names, from 0; what stands above it is no part of the table.
    names : tuple of str
        The column names, made unique.
    renamed : tuple of str
        Names that stood there more than once.
    """

    encoding: str
    separator: str
    header_line: int
    names: tuple[str, ...]
    renamed: tuple[str, ...] = ()

    def decisions(self) -> list[str]:
        """Return what is not as everybody expects, in words.

        Examples
        --------
        >>> Dialect("cp1252", ";", 2, ("age", "sex")).decisions()
        ['cp1252', "';' between cells", 'names in line 3']
        """
        said = [] if self.encoding in ("utf-8", "utf-8-sig") else [self.encoding]
        if self.separator not in (",", "\t") and len(self.names) > 1:
            name = _NAMES.get(self.separator, repr(self.separator))
            said.append(f"{name} between cells")
        if self.header_line:
            said.append(f"names in line {self.header_line + 1}")
        if self.names and all(map(_is_number, self.names)):
            said.append("the first line taken for names, although all of them are numbers")
        if self.renamed:
            said.append(f"repeated names numbered ({quote_names(self.renamed, most=3)})")
        return said


def find_encoding(file: BinaryIO) -> str:
    """Return the encoding of a text: by its mark, as UTF-8, UTF-16 by its zeros, else cp1252.

    All of the text is read, block by block: a single letter at its end may decide.

    Examples
    --------
    >>> find_encoding(io.BytesIO("prix;1 €".encode("cp1252")))
    'cp1252'
    >>> find_encoding(io.BytesIO("a,b".encode("utf-16-le")))
    'utf-16-le'
    """
    block = file.read(HEAD)
    for mark, name in _BOMS.items():
        if block.startswith(mark):
            return name
    pairs = len(block) // 2
    zeros = [block[first : 2 * pairs : 2].count(0) for first in (0, 1)]
    if pairs and max(zeros) > 0.4 * pairs and min(zeros) < 0.1 * pairs:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block:
            decoder.decode(block)
            block = file.read(HEAD)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def find_dialect(
    head: str,
    *,
    encoding: str,
    separator: str | None = None,
    header_row: int | None = None,
    is_all: bool = True,
) -> Dialect:
    r"""Return how a table is read, from its first lines.

    The delimiter is that with the highest share of rows of one width; the table starts at the first
    such row.

    Parameters
    ----------
    head : str
        The beginning of the text.
    encoding : str
        Its encoding.
    separator : str or None
        What stands between cells; None: found out.
    header_row : int or None
        The line of the column names, from 1; None: found out.
    is_all : bool
        Whether this is all of the text; its last row may be cut otherwise.

    Examples
    --------
    >>> find_dialect("Export of May\n\nage;weight\n31;80,5\n42;71\n", encoding="utf-8")
    Dialect(encoding='utf-8', separator=';', header_line=2, names=('age', 'weight'), renamed=())
    """
    first = head.partition("\n")[0].strip().lower().strip('"')
    if separator is None and first.startswith("sep=") and len(first) == 5:
        # Excel's own note, in front of the table.
        separator = first[4]
    skip = header_row - 1 if header_row is not None else int(first.startswith("sep="))
    best: tuple[float, int, int, list[str]] | None = None
    chosen = separator or ","
    for candidate in _SEPARATORS if separator is None else (separator,):
        rows = list(_rows(head, candidate, skip=skip, is_all=is_all))
        found = _most_regular(rows, only=header_row is not None)
        if found is not None and (best is None or found[:2] > best[:2]):
            best, chosen = found, candidate
    if best is None:
        raise ValueError("is empty; a table needs a line of column names and at least one row.")
    names, renamed = unique_names([name.strip() for name in best[3]])
    return Dialect(encoding, chosen, best[2], names, renamed)


def _rows(head: str, separator: str, *, skip: int, is_all: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield rows that have cells, each with the line where it starts."""
    lines = list(io.StringIO(head, newline=""))[skip:]
    reader = csv.reader(lines, delimiter=separator)
    line, held = skip, None
    try:
        for n, row in enumerate(reader):
            if held is not None:
                yield held
            held = (line, row) if any(cell.strip() for cell in row) else None
            line = skip + reader.line_num
            if n > _MOST_ROWS:
                return
    except csv.Error:
        # A cell without end: what was read before it tells.
        is_all = True
    if held is not None and (is_all or line == skip + 1):
        yield held


def _most_regular(
    rows: Sequence[tuple[int, list[str]]], *, only: bool
) -> tuple[float, int, int, list[str]] | None:
    """Return the share of rows of the most frequent width, it, and the first such row."""
    if not rows:
        return None
    widths = Counter(len(row) for _, row in rows)
    if only:
        width = len(rows[0][1])
    else:
        # Rows of one cell are notes, if others have more.
        width = max(widths, key=lambda size: (size > 1 and widths[size] > 1, widths[size], size))
    place, (line, row) = next(
        (place, pair) for place, pair in enumerate(rows) if len(pair[1]) == width
    )
    above = rows[place - 1] if place else (0, [""])
    if len(above[1]) == width - 1 and width > 2 and not any(map(_is_number, above[1])):
        # R leaves out the name of the column that names its rows.
        line, row = above[0], ["", *above[1]]
    # A delimiter that never occurs splits nothing, regularly.
    share = widths[width] / len(rows) if width > 1 else 0.0
    return share, width, line, row


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names of which none stands there twice, and those that did.

    Examples
    --------
    >>> unique_names(["x", "y", "x", "", ""])
    (('x', 'y', 'x (2)', '', '__index_level_2__'), ('x',))
    """
    times = Counter(name for name in names if name)
    taken, seen, unique = set(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        own = name
        number = seen[name]
        while number > 1 and own in taken:
            # Columns without a name are those of an index, as pandas calls them.
            own = f"{name} ({number})" if name else f"__index_level_{number}__"
            number += 1
        taken.add(own)
        unique.append(own)
    return tuple(unique), tuple(name for name, n in times.items() if n > 1)
