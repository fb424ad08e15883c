"""Columns of dates as numbers that trees can learn from: year, month, and days since 1970."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi._text import quote_names
from localmdi.cli.tables.kinds import Kind, kind_of_type
from localmdi.cli.tables.open import open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.cli.commands.options import TableSettings
    from localmdi.cli.tables.open import TableFile


_PARTS = ("year", "month", "days since 1970")
# Only notations in which day and month cannot be confused; a time of day may follow.
_YEAR_FIRST = r"^\s*(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[T ].*)?\s*$"
_DAY_FIRST = r"^\s*(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?:[T ].*)?\s*$"


def open_with_dates(path: Path, settings: TableSettings) -> TableFile:
    """Open a table as the options say, its columns of dates as numbers."""
    table = open_table(path, separator=settings.separator, encoding=settings.encoding)
    return split_dates(table, settings.date)


def split_dates(table: TableFile, dates: Sequence[str]) -> TableFile:
    """Return the table with three columns of numbers in place of each column of dates."""
    if not dates:
        return table
    import click

    for name in dates:
        if name not in table.names:
            raise click.UsageError(
                f"--date: no column {quote_names([name])}; {table.path.name!r} has "
                f"{quote_names(table.names)}."
            )
    taken = [part for name in dates for part in date_parts(name) if part in table.names]
    if taken:
        raise ValueError(
            f"--date makes a column {quote_names(taken[:1])}, and the table has one already. "
            "Rename that."
        )
    return DatesTable(table, tuple(dates))


class DatesTable:
    """A table in which columns of dates are numbers; made by `split_dates`.

    Parameters
    ----------
    table : TableFile
        The table.
    dates : tuple of str
        Its columns of dates.
    """

    def __init__(self, table: TableFile, dates: tuple[str, ...]) -> None:
        self._table = table
        self._source = {part: name for name in dates for part in date_parts(name)}
        self.names = tuple(
            part
            for name in table.names
            for part in (date_parts(name) if name in dates else (name,))
        )

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._table.path

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if only reading would tell."""
        return self._table.n_rows

    @property
    def kinds(self) -> Mapping[str, Kind] | None:
        """What the columns hold; None if all others are strings that have to be looked at."""
        kinds = self._table.kinds
        if kinds is None:
            return None
        return {name: Kind.NUMBER if name in self._source else kinds[name] for name in self.names}

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as Arrow tables of at most `batch_rows` rows."""
        import pyarrow as pa

        needed = list(dict.fromkeys(self._source.get(name, name) for name in names))
        for batch in self._table.batches(needed, batch_rows):
            days = {
                source: _days(batch[source], source)
                for source in needed
                if source in self._source.values()
            }
            columns = [
                batch[name]
                if name not in self._source
                else _part(name, days, source=self._source[name])
                for name in names
            ]
            yield pa.Table.from_arrays(columns, names=list(names))


def date_parts(name: str) -> tuple[str, ...]:
    """Return the columns that are made of a column of dates."""
    return tuple(f"{name} {part}" for part in _PARTS)


def _part(name: str, days: Mapping[str, Any], *, source: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    day = days[source]
    part = name.removeprefix(f"{source} ")
    if part == "year":
        return pc.year(day).cast(pa.float64())
    if part == "month":
        return pc.month(day).cast(pa.float64())
    return day.cast(pa.int32()).cast(pa.float64())


def _days(column: Any, name: str) -> Any:
    """Return a column of dates, text or typed, as days."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("s"), safe=False).cast(pa.date32(), safe=False)
    if kind_of_type(column.type) != Kind.CATEGORY:
        raise _no_dates(name, f"its type is {column.type}")
    column = column.cast(pa.string())
    present = column.drop_null()
    for pattern in (_YEAR_FIRST, _DAY_FIRST):
        if pc.all(pc.match_substring_regex(present, _plain(pattern))).as_py() is not False:
            return _parse(column, pattern, name=name)
    wrong = present.filter(pc.invert(pc.match_substring_regex(present, _plain(_YEAR_FIRST))))
    raise _no_dates(name, f"got {quote_names([wrong[0].as_py()])}")


def _parse(column: Any, pattern: str, *, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = pc.extract_regex(column, pattern)
    year, month, day = (pc.struct_field(fields, key) for key in "ymd")
    text = pc.binary_join_element_wise(year, month, day, "-")
    dates = pc.strptime(text, format="%Y-%m-%d", unit="s", error_is_null=True).cast(pa.date32())
    # Arrow takes 31 February for 2 March.
    same = pc.fill_null(pc.equal(pc.day(dates), day.cast(pa.int64())), False)
    wrong = column.filter(pc.and_(pc.is_valid(column), pc.invert(same)))
    if len(wrong):
        raise _no_dates(name, f"there is no day {quote_names([wrong[0].as_py()])}")
    return dates


def _plain(pattern: str) -> str:
    """Return a pattern without the names of its groups."""
    for key in "ymd":
        pattern = pattern.replace(f"?P<{key}>", "")
    return pattern


def _no_dates(name: str, reason: str) -> ValueError:
    return ValueError(
        f"--date: column {quote_names([name])} must hold dates, all written as 2024-01-31 or all "
        f"as 31.1.2024; {reason}. Correct it, or leave it out with --drop."
    )
