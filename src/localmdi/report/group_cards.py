"""Cards about groups: of rows whose explanations differ, and of features made of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi._text import clean, count, cut
from localmdi.report.json_columns import pack
from localmdi.report.listings import BarCell, bar_cells
from localmdi.results.axes import sum_known_groups

if TYPE_CHECKING:
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.results.subgroups import Subgroup, Subgroups
    from localmdi.typing import AnyArray, FloatArray, IntArray


# Of more rows than this, those that the page shows are enough to find the segments.
_MOST_ROWS = 5000
_FEWEST_ROWS = 40
_NAMED_FEATURES = 3
# Features that differ less than this share of what the first one does are not named.
_WORTH_NAMING = 0.1
_NAMED_MEMBERS = 4
_LISTED_COLUMNS = 20
_LONGEST_RULE = 200


class ToldLine(NamedTuple):
    """What a feature told in the rows of a segment, and in all rows."""

    name: str
    here: BarCell
    everywhere: BarCell


class Segment(NamedTuple):
    """Rows that a rule describes, and the features that told most otherwise about them."""

    rule: str
    rows: str
    share: str
    told: list[ToldLine]


class SegmentTable(NamedTuple):
    """Segments, the most different first, and what the page's script gets of every row.

    `share` says how much of the differences between the rows' values lies between the segments;
    `of_page` whether they were looked for among the rows of the page only.
    """

    segments: list[Segment]
    share: str
    of_page: bool
    content: dict[str, Any] | None


def segment_table(
    result: LocalImportance, rows: IntArray, *, features: IntArray
) -> SegmentTable | None:
    """Return the segments of the rows; None where a result does not hold the rows' own values.

    Parameters
    ----------
    result : LocalImportance
        The rows.
    rows : ndarray of int
        Those that the page shows.
    features : ndarray of int
        The features that the page shows.
    """
    of_page = len(result) > _MOST_ROWS
    part = result[rows] if of_page else result
    if part.data is None or len(part) < _FEWEST_ROWS:
        return None
    # Rows may be described by columns that are no features, as before the steps of a Pipeline.
    known = part[:, features]
    known_rows = np.isfinite(np.asarray(known.values.sum(axis=1)).ravel())
    if not known_rows.any():
        return None
    found = known.subgroups(part.data if known.data is None else None)
    if len(found) < 2:
        return SegmentTable([], "", of_page, None)
    place = np.arange(len(rows)) if of_page else rows
    return SegmentTable(
        _segments(found, len(part)),
        f"{found.explained:.0%}",
        of_page,
        {
            "rules": [_rule(group) for group in found],
            "code": pack(_codes(found, len(part))[place]),
        },
    )


def _codes(found: Subgroups, n_rows: int) -> AnyArray:
    codes = np.zeros(n_rows, dtype=np.uint8)
    for number, group in enumerate(found):
        codes[group.rows] = number
    return codes


def _segments(found: Subgroups, n_rows: int) -> list[Segment]:
    overall = found.overall.values
    chosen = [_most_different(np.abs(group.difference)) for group in found]
    # One scale for all bars of the card, so that they can be compared.
    pairs = [
        np.stack([group.importance.values[features], overall[features]])
        for group, features in zip(found, chosen, strict=True)
    ]
    cells = iter(bar_cells(np.concatenate(pairs, axis=1).T))
    names = found.overall.feature_names
    return [
        Segment(
            _rule(group),
            count(len(group), "row"),
            f"{len(group) / n_rows:.0%}",
            [ToldLine(_name(names[i]), *next(cells)) for i in features],
        )
        for group, features in zip(found, chosen, strict=True)
    ]


def _most_different(difference: FloatArray) -> IntArray:
    order = np.argsort(-difference, kind="stable")[:_NAMED_FEATURES]
    return np.asarray(order[difference[order] > _WORTH_NAMING * difference[order[0]]])


def _rule(group: Subgroup) -> str:
    return cut(clean(group.rule), _LONGEST_RULE)


class ColumnTable(NamedTuple):
    """What the columns of a table told, each the sum of the features that were made of it.

    `lines` have a column's name, the features made of it, and the sum with its bar; `n_columns`
    counts all columns, of which the lines are the first.
    """

    lines: list[tuple[str, str, BarCell]]
    n_columns: int


def column_table(result: LocalImportance, overall: GlobalImportance) -> ColumnTable | None:
    """Return the importances by column; None if every feature is a column of its own.

    Examples
    --------
    >>> from localmdi.results import GlobalImportance, LocalImportance
    >>> names = ("sex_f", "sex_m", "age")
    >>> result = LocalImportance(np.ones((1, 3)), unit="bits", feature_names=names, n_trees=1,
    ...                          groups={"sex": ("sex_f", "sex_m"), "age": ("age",)})
    >>> for line in column_table(result, result.mean()).lines:
    ...     print(line)
    ('sex', 'sex_f, sex_m', BarCell(text='2.00', width=100.0, is_negative=False))
    ('age', '', BarCell(text='1.00', width=50.0, is_negative=False))
    """
    found = sum_known_groups(result, overall.values)
    if found is None:
        return None
    names, sums, groups = found
    order = _by_size(sums, overall)[:_LISTED_COLUMNS]
    cells = bar_cells(sums[order][:, None])
    lines = [
        (_name(names[i]), _members(groups.get(names[i], []), own=names[i]), cell[0])
        for i, cell in zip(order.tolist(), cells, strict=True)
    ]
    return ColumnTable(lines, len(names))


def _by_size(sums: FloatArray, overall: GlobalImportance) -> IntArray:
    # Honest sums below zero are noise.
    return np.argsort(-sums if overall.honest else -np.abs(sums), kind="stable").astype(np.int64)


def _members(members: list[str], *, own: str) -> str:
    """Name the features that were made of a column; none if that is the column itself."""
    if members in ([], [own]):
        return ""
    shown = ", ".join(_name(member, 40) for member in members[:_NAMED_MEMBERS])
    more = len(members) - _NAMED_MEMBERS
    return f"{shown} and {more:,} more" if more > 0 else shown


def _name(name: str, limit: int = 60) -> str:
    return cut(clean(name), limit) or "(no name)"
