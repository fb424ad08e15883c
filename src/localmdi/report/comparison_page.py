"""The page of a comparison: how far two explanations of the same rows tell the same story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, cut, quote_names, with_unit
from localmdi.report.listings import BarCell, bar_cells, cell_text
from localmdi.report.page import render_static
from localmdi.report.row_data import own_values, row_labels, short_names
from localmdi.report.sections import versions_used
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.results import Comparison


_TITLE = "Do two explanations tell the same story?"
_LISTED_FEATURES = 30
_LISTED_ROWS = 20
_NAME_LIMIT = 60
# What people call a mean rank correlation; below the last the two tell different stories.
_ALIKE = ((0.9, "largely the same story"), (0.6, "partly the same story"))


class FeatureLine(NamedTuple):
    """A feature, its two means, and how far the rows' values have the same order."""

    name: str
    first: BarCell
    second: BarCell
    difference: BarCell | None
    correlation: str


class ChangedLine(NamedTuple):
    """A row that changed, how much in all, and in which feature most."""

    label: str
    change: str
    name: str
    cell: str | None
    first: str
    second: str


def compose_comparison(
    comparison: Comparison,
    *,
    title: str | None,
    notes: Sequence[str],
    origin: Mapping[str, str],
) -> str:
    """Return the page of a comparison, which needs no script."""
    first, second = (_short(name) for name in comparison.names)
    unit = comparison.unit
    only = (
        (name, quote_names(names, most=20))
        for name, names in ((first, comparison.only_first), (second, comparison.only_second))
        if names
    )
    features = _feature_lines(comparison)
    content = {
        "title": clean(_TITLE if title is None else title),
        "names": (first, second),
        "notes": [clean(line) for line in notes],
        "facts": _facts(comparison),
        "verdict": _verdict(comparison),
        "symbol": "" if unit is None else clean(unit_of(unit).symbol),
        "quantity": "" if unit is None else unit_of(unit).quantity,
        "features": features,
        "n_features": len(comparison.feature_names),
        "rows": _changed_lines(comparison),
        "n_rows": len(comparison),
        "only": list(only),
        "origin": [
            *((name, clean(text)) for name, text in origin.items()),
            ("versions", versions_used()),
        ],
    }
    return render_static("comparison.html.jinja", content)


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    n_rows, rows = count(len(comparison), "row").split(" ")
    n_features, *shared = count(len(comparison.feature_names), "shared feature").split(" ")
    found = [(f"{rows} compared", n_rows), (" ".join(shared), n_features)]
    correlation = comparison.mean_row_correlation
    if np.isfinite(correlation):
        found.append(("mean rank correlation of the rows' values", _two_digits(correlation)))
    if len(comparison.feature_names) > 1 and len(comparison):
        found.append(
            ("of the rows have the same largest feature", f"{comparison.same_top_fraction:.0%}")
        )
    return found


def _verdict(comparison: Comparison) -> str:
    """Return in one sentence how far the two agree."""
    correlation = comparison.mean_row_correlation
    if not np.isfinite(correlation):
        return "There is too little to compare: a row needs two features with different values."
    words = next((text for least, text in _ALIKE if correlation >= least), "different stories")
    return (
        f"They tell {words}: the order of a row's features agrees with a rank correlation of "
        f"{_two_digits(correlation)} on average, where 1 is the same order, 0 no relation and "
        "\N{MINUS SIGN}1 the reverse."
    )


def _two_digits(number: float) -> str:
    if not np.isfinite(number):
        return "\N{EN DASH}"
    return f"{number:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def _feature_lines(comparison: Comparison) -> list[FeatureLine]:
    means = np.stack([result.mean().values for result in (comparison.first, comparison.second)])
    order = comparison.feature_order[:_LISTED_FEATURES]
    shown = np.nan_to_num(means[:, order])
    if comparison.unit is None:
        # Each in its own unit, with bars of its own.
        cells = [
            [a[0], b[0]]
            for a, b in zip(bar_cells(shown[:1].T), bar_cells(shown[1:].T), strict=True)
        ]
    else:
        cells = bar_cells(shown.T)
    names = short_names(comparison.first, order)
    correlation = comparison.feature_correlation[order]
    differences: list[Any] = [[None]] * len(order)
    if comparison.unit is not None:
        differences = _signed(bar_cells((shown[1] - shown[0])[:, None]))
    return [
        FeatureLine(name, first, second, difference[0], _two_digits(float(agree)))
        for name, (first, second), difference, agree in zip(
            names, cells, differences, correlation, strict=True
        )
    ]


def _signed(cells: list[list[BarCell]]) -> list[list[BarCell]]:
    """Put a plus before what grew."""
    return [
        [
            cell
            if cell.is_negative or not any(digit in "123456789" for digit in cell.text)
            else cell._replace(text=f"+{cell.text}")
            for cell in line
        ]
        for line in cells
    ]


def _changed_lines(comparison: Comparison) -> list[ChangedLine]:
    """Return the rows that changed most; none where the units differ, or nothing changed."""
    if comparison.unit is None:
        return []
    rows = comparison.order[:_LISTED_ROWS]
    rows = rows[np.nan_to_num(comparison.row_change[rows]) > 0]
    symbol = clean(unit_of(comparison.unit).symbol)
    most = np.abs(comparison.difference[rows]).argmax(axis=1) if len(rows) else rows
    values = [
        dense(result.values[rows])[np.arange(len(rows)), most]
        for result in (comparison.first, comparison.second)
    ]
    numbers = bar_cells(np.stack([*values, comparison.row_change[rows]], axis=1))
    labels = row_labels(comparison.first, rows)
    lines = []
    for i, (first, second, change) in enumerate(numbers):
        feature = most[i : i + 1]
        cells = own_values(comparison.first, rows[i : i + 1], columns=feature)
        lines.append(
            ChangedLine(
                cell_text(labels[i]),
                with_unit(change.text, symbol),
                short_names(comparison.first, feature)[0],
                None if cells is None else cell_text(cells[0][0]),
                first.text,
                second.text,
            )
        )
    return lines


def _short(name: str) -> str:
    return cut(clean(name), _NAME_LIMIT)
