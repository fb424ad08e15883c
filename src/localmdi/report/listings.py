"""Lists and tables of a page: rows worth a look, importances by class and by pairs of features.

They are made from all rows of the result, and the page always shows the rows that they name.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from localmdi._criteria import unit_of
from localmdi._text import cell_number, clean, count, cut, number_text, with_unit
from localmdi._validation import is_missing
from localmdi.report.json_columns import MAX_TEXT, encode_values, value_text
from localmdi.report.row_data import own_values, row_labels, row_numbers, short_names
from localmdi.results import ClassImportance
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from localmdi.results import LocalImportance, PairImportance
    from localmdi.typing import FloatArray, IntArray


# Differences below this share of the largest value are rounding.
_ROUNDING = 1e-9
# What is left counts where it is more than this share of what was there.
_SOMETHING = 1e-6
_RAISERS = 2
_LISTED = 12
# More classes than this make a table that nobody reads.
_MOST_CLASSES = 20
# Features that are named beside the pairs, with what they tell before any other.
_ALONE = 2


class NegativeValues(NamedTuple):
    """The rows with the most negative values, most negative first, and how many rows have one."""

    rows: IntArray
    features: IntArray
    values: FloatArray
    n_rows: int


class NegativeLine(NamedTuple):
    """One row with a negative value; `about` tells its target and prediction."""

    position: int
    label: str
    name: str
    cell: str | None
    amount: str
    about: str


def find_negative(result: LocalImportance, k: int) -> NegativeValues:
    """Return row, feature and value for the k rows with the most negative values.

    Every row counts once, with its most negative value. CSR values are not made dense.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, -0.25], [-0.75, 1.0], [0.25, 0.0]]), 1.0,
    ...     residual=np.array([0.75, 0.75, 0.75]), unit="bits", feature_names=("a", "b"), n_trees=1)
    >>> found = find_negative(result, 5)
    >>> found.rows, found.features, found.values
    (array([1, 0]), array([0, 1]), array([-0.75, -0.25]))
    """
    lowest = result.values.min(axis=1)
    if not isinstance(lowest, np.ndarray):
        lowest = lowest.toarray().ravel()
    lowest = np.nan_to_num(lowest)
    numbers = result.values.data if issparse(result.values) else result.values
    largest = np.abs(np.nan_to_num(numbers)).max(initial=0.0)
    negative = np.flatnonzero(lowest < -_ROUNDING * largest)
    rows = negative[np.argsort(lowest[negative], kind="stable")][:k]
    features = np.array([_argmin(result.values[[row]]) for row in rows], dtype=np.int64)
    return NegativeValues(rows, features, lowest[rows], n_rows=len(negative))


def negative_lines(
    result: LocalImportance,
    negative: NegativeValues,
    *,
    prediction: list[Any] | None,
    target: list[Any] | None,
) -> list[NegativeLine]:
    """Return the rows with the most negative values as text."""
    labels = row_labels(result, negative.rows)
    numbers = row_numbers(result, negative.rows)
    lines = []
    for i, row in enumerate(negative.rows.tolist()):
        feature = negative.features[i : i + 1]
        cells = own_values(result, negative.rows[i : i + 1], columns=feature)
        lines.append(
            NegativeLine(
                int(numbers[i]),
                cell_text(labels[i]),
                short_names(result, feature)[0],
                None if cells is None else cell_text(cells[0][0]),
                with_unit(number_text(-negative.values[i], 3), clean(unit_of(result.unit).symbol)),
                about=_about(row, prediction=prediction, target=target),
            )
        )
    return lines


class UncertainRows(NamedTuple):
    """The rows about which least is known in the end, and how much that is.

    `by_forecast` tells whether `amounts` are shares of the predicted class, not what is left.
    """

    rows: IntArray
    amounts: FloatArray
    by_forecast: bool


class UncertainLine(NamedTuple):
    """One uncertain row; `raised` names the features that made it more uncertain."""

    position: int
    label: str
    amount: str
    raised: str
    about: str


def find_uncertain(result: LocalImportance, sure: FloatArray | None, *, k: int) -> UncertainRows:
    """Return the k rows of which most is left, or, if nothing is, the least sure forecasts.

    Fully grown trees leave nothing for rows that they have seen, however doubtful the forecast.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5], [1.0], [0.25]]), 1.0, unit="bits", n_trees=1,
    ...                          residual=np.array([0.5, 0.0, 0.75]), feature_names=("a",))
    >>> find_uncertain(result, None, k=2).rows
    array([2, 0])
    """
    left = None if result.residual is None else np.nan_to_num(result.residual)
    if left is not None and result.baseline is not None:
        start = float(np.abs(np.nan_to_num(result.baseline)).max(initial=0.0))
        if left.max(initial=0.0) > _SOMETHING * start:
            rows = np.argsort(-left, kind="stable")[:k]
            return UncertainRows(rows, left[rows], by_forecast=False)
    if sure is not None and np.nanmin(sure, initial=1.0) < 1.0:
        rows = np.argsort(np.nan_to_num(sure, nan=2.0), kind="stable")[:k]
        return UncertainRows(rows, sure[rows], by_forecast=True)
    return UncertainRows(np.arange(0), np.zeros(0), by_forecast=False)


def uncertain_lines(
    result: LocalImportance,
    uncertain: UncertainRows,
    *,
    prediction: list[Any] | None,
    target: list[Any] | None,
) -> list[UncertainLine]:
    """Return the most uncertain rows as text."""
    labels = row_labels(result, uncertain.rows)
    numbers = row_numbers(result, uncertain.rows)
    symbol = clean(unit_of(result.unit).symbol)
    lines = []
    for i, row in enumerate(uncertain.rows.tolist()):
        amount = float(uncertain.amounts[i])
        text = (
            f"{amount:.0%} sure"
            if uncertain.by_forecast
            else with_unit(number_text(amount, 3), symbol)
        )
        lines.append(
            UncertainLine(
                int(numbers[i]),
                cell_text(labels[i]),
                text,
                _raisers(result, row),
                about=_about(row, prediction=prediction, target=target),
            )
        )
    return lines


def _raisers(result: LocalImportance, row: int) -> str:
    """Name the features that raised a row's uncertainty most, with what the row holds."""
    if result.baseline is None:
        return ""
    values = dense(result.values[[row]])[0]
    lowest = np.argsort(np.nan_to_num(values), kind="stable")[:_RAISERS]
    size = float(np.abs(np.nan_to_num(values)).max(initial=0.0))
    # A twentieth of the largest value is the least that a reader would call a reason.
    lowest = lowest[np.nan_to_num(values[lowest]) < -0.05 * size]
    cells = own_values(result, np.array([row]), columns=lowest)
    names = [cut(name, 40) for name in short_names(result, lowest)]
    if cells is None:
        return " and ".join(names)
    return " and ".join(
        f"{name} = {cut(cell_text(cell[0]), 30)}" for name, cell in zip(names, cells, strict=True)
    )


def _about(row: int, *, prediction: list[Any] | None, target: list[Any] | None) -> str:
    known = [("target", target), ("predicted", prediction)]
    return ", ".join(
        f"{word} {cell_text(given[row])}" for word, given in known if given is not None
    )


def _argmin(row: object) -> int:
    return int(np.argmin(np.asarray(row.toarray() if hasattr(row, "toarray") else row)))


def cell_text(value: Any) -> str:
    """Return a value of the user's own as text."""
    if is_missing(value):
        return "missing"
    return cell_number(value) if isinstance(value, float) else cut(value_text(value), MAX_TEXT)


class BarCell(NamedTuple):
    """A number and the length of its bar, in percent of the longest."""

    text: str
    width: float
    is_negative: bool


class ClassTable(NamedTuple):
    """Importances by feature and class.

    Parameters
    ----------
    labels : list of str
        The classes.
    counts : list of str, or None
        How many rows each has, if the numbers are means over these.
    lines : list of pairs of a feature's name and its cells
        For people: the most important features.
    values : list of lists of float
        For the switch of the bars: one list per class, one number per charted feature.
    """

    labels: list[str]
    counts: list[str] | None
    lines: list[tuple[str, list[BarCell]]]
    values: list[list[float]]


class PairTable(NamedTuple):
    """The strongest pairs in words, and what the page's script gets of every row.

    `alone` says what features told before any other was known; empty if that was not measured.
    """

    is_conditional: bool
    kind: str
    lines: list[tuple[str, BarCell]]
    alone: str
    content: dict[str, Any]


def rows_by_class(
    result: LocalImportance, target: Sequence[Any] | None
) -> dict[Hashable, tuple[int, FloatArray]] | None:
    """Return the number of rows and their mean for each class; None if Y has no classes to show.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5], [1.0], [0.0]]), 1.0, unit="bits", n_trees=1,
    ...                          residual=np.array([0.5, 0.0, 1.0]), feature_names=("a",))
    >>> rows_by_class(result, ["yes", "no", "yes"])
    {'yes': (2, array([0.25])), 'no': (1, array([1.]))}
    """
    if target is None:
        return None
    members: dict[Hashable, list[int]] = {}
    for row, label in enumerate(target):
        if not is_missing(label):
            members.setdefault(label, []).append(row)
    is_text = all(isinstance(label, str) for label in members)
    if not 2 <= len(members) <= _MOST_CLASSES or not (is_text or result.unit in ("bits", "gini")):
        return None
    bare = replace(result, data=None)
    return {
        label: (len(rows), bare[np.array(rows)].mean().values) for label, rows in members.items()
    }


def class_table(
    result: LocalImportance,
    by_class: ClassImportance | Mapping[Hashable, tuple[int, FloatArray]],
    *,
    features: IntArray,
) -> ClassTable:
    """Return what each of these features, the most important first, told for each class."""
    labels: list[Any]
    if isinstance(by_class, ClassImportance):
        labels = list(by_class.classes)[:_MOST_CLASSES]
        table = by_class.values.mean(axis=0)[:, : len(labels)].T
        counts = None
    else:
        labels = list(by_class)
        with suppress(TypeError):  # labels of several types have no order but that of the rows
            labels.sort()
        table = np.stack([by_class[label][1] for label in labels])
        counts = [count(by_class[label][0], "row") for label in labels]
    values = np.nan_to_num(table[:, features])
    listed = bar_cells(values.T[:_LISTED])
    names = short_names(result, features[:_LISTED])
    return ClassTable(
        [cell_text(label) for label in labels],
        counts,
        list(zip(names, listed, strict=True)),
        [[float(f"{number:.6g}") for number in line] for line in values.tolist()],
    )


def pair_table(pairs: PairImportance, rows: IntArray) -> PairTable:
    """Return the strongest pairs, and their values in these rows."""
    mean = np.nan_to_num(pairs.mean())
    ranked = np.argsort(-np.abs(mean), kind="stable")
    is_single = pairs.pairs[:, 0] == pairs.pairs[:, 1]
    order = ranked[~is_single[ranked] & (mean[ranked] != 0)][:_LISTED]
    cells = [line[0] for line in bar_cells(mean[order][:, None])]
    names = [_pair_words(pairs, pair) for pair in pairs.pairs[order].tolist()]
    single = ranked[is_single[ranked]][:_ALONE]
    alone = " and ".join(
        f"{_name(pairs, pairs.pairs[i, 0])} told {number_text(mean[i], 2)}" for i in single
    )
    content = {
        "names": names,
        "values": encode_values(dense(pairs.values[rows][:, order])),
    }
    return PairTable(
        pairs.index == "conditional",
        pairs.index,
        list(zip(names, cells, strict=True)),
        alone,
        content,
    )


def _pair_words(pairs: PairImportance, pair: Sequence[int]) -> str:
    first, second = (_name(pairs, i) for i in pair)
    return (
        f"{first}, once {second} is known"
        if pairs.index == "conditional"
        else f"{first} and {second}"
    )


def _name(pairs: PairImportance, feature: int) -> str:
    return cut(clean(pairs.feature_names[feature]), 60) or "(no name)"


def bar_cells(table: FloatArray) -> list[list[BarCell]]:
    """Return numbers with as many decimals as the largest needs for three digits, and bars."""
    longest = float(np.abs(table).max(initial=0.0)) or 1.0
    decimals = max(0, 2 - math.floor(math.log10(longest)))
    plain = 1e-3 <= longest < 1e7

    def cell(value: float) -> BarCell:
        text = f"{value:,.{decimals}f}" if plain else number_text(value, 3)
        is_zero = not any(digit in "123456789" for digit in text)
        text = text.lstrip("-") if is_zero else text.replace("-", "\N{MINUS SIGN}")
        width = round(100 * abs(value) / longest, 1)
        return BarCell(text, width, is_negative=value < 0 and not is_zero)

    return [[cell(value) for value in line] for line in table.tolist()]
