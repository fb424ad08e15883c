"""What the columns of a table of strings are, by all of its rows or the first of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from localmdi._text import quote_names
from localmdi.tables.cells import CellFormat, ColumnLook, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.tables.cells import Decimal


def look_at(
    batches: Iterable[Any],
    names: Sequence[str],
    *,
    usual: Decimal = ".",
    decimal: Decimal | None = None,
    day_first: bool | None = None,
) -> dict[str, CellFormat]:
    """Return how the cells of each column are written.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        Columns of strings.
    names : sequence of str
        The columns.
    usual : {".", ","}
        The decimal mark of such files, where no column makes sure of one.
    decimal : {".", ","} or None
        The decimal mark wherever cells leave it open; None: that of most other columns.
    day_first : bool or None
        Whether dates that leave it open begin with the day; None: they do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"price": ["1,50", "2,75"], "weight": ["1,250", "2,300"]})
    >>> {name: form.decimal for name, form in look_at([table], ["price", "weight"]).items()}
    {'price': ',', 'weight': ','}
    """
    looks = {name: ColumnLook() for name in names}
    for batch in batches:
        for name, look in looks.items():
            look.see(batch[name])
    votes = Counter(vote for look in looks.values() if (vote := look.vote) is not None)
    mark = decimal or (votes.most_common(1)[0][0] if votes else usual)
    return {name: look.settle(mark, day_first=day_first) for name, look in looks.items()}


def decisions(formats: Mapping[str, CellFormat]) -> list[str]:
    """Return what was decided about the cells that is not as everybody expects, in words.

    Examples
    --------
    >>> price = CellFormat(Kind.NUMBER, ",", "€")
    >>> born = CellFormat(Kind.DATE, order="day first")
    >>> decisions({"price": price, "born": born})
    ['decimal comma', "€ in 'price'", "'born' read as dates with the day first"]
    """
    said = []
    numbers = {name: form for name, form in formats.items() if form.kind == Kind.NUMBER}
    if any(form.decimal == "," for form in numbers.values()):
        said.append("decimal comma")
    units: dict[str, list[str]] = {}
    for name, form in numbers.items():
        if form.unit:
            units.setdefault(form.unit, []).append(name)
    said += [f"{unit} in {quote_names(names, most=3)}" for unit, names in units.items()]
    orders: dict[tuple[str, bool], list[str]] = {}
    for name, form in formats.items():
        if form.kind == Kind.DATE:
            orders.setdefault((form.order, form.guessed), []).append(name)
    for (order, guessed), names in orders.items():
        part = order.removesuffix(" first")
        said.append(
            f"{quote_names(names, most=3)} read as dates with the {part} first"
            + (", which its cells leave open" if guessed else "")
        )
    return said
