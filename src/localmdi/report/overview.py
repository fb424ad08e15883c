"""The parts of a page that stand without a script: facts, global importances, raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi.report.cells import row_labels, table_columns
from localmdi.report.data import short_names
from localmdi.report.text import clean, cut, is_missing, number_text, value_text
from localmdi.report.words import quantity, trees

if TYPE_CHECKING:
    from localmdi.report.raises import Raises
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import IntArray

__all__ = ["Importance", "Raise", "facts", "importances", "raise_lines"]

_TEXT_LIMIT = 80


class Importance(NamedTuple):
    """One line of the table of global importances.

    Examples
    --------
    >>> Importance("age", "0.5", "0.01").name
    'age'
    """

    name: str
    value: str
    error: str


class Raise(NamedTuple):
    """One row in which a feature raised the uncertainty; `about` is its target and prediction.

    Examples
    --------
    >>> Raise(3, "3", "age", "40", "0.25", about="target yes").position
    3
    """

    position: int
    label: str
    name: str
    cell: str | None
    amount: str
    about: str


def facts(result: LocalImportance) -> list[tuple[str, str]]:
    """Return what was explained, as pairs of a label and a number.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> facts(LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits", n_trees=10,
    ...                       feature_names=("a", "b")))[3:]
    [('uncertainty at the root', '2 bits'), ('left at the leaves, on average', '1 bits')]
    """
    unit, what = clean(result.unit), quantity(result.unit)
    suffix = "" if unit == what else f" {unit}"
    start, left = float(np.mean(result.baseline)), float(result.residual.mean())
    return [
        ("rows explained", f"{len(result):,}"),
        ("features", f"{result.shape[1]:,}"),
        ("trees", trees(result)),
        (f"{what} at the root", number_text(start) + suffix),
        ("left at the leaves, on average", number_text(left) + suffix),
    ]


def importances(
    result: LocalImportance, overall: GlobalImportance, *, features: IntArray
) -> list[Importance]:
    """Return the global importances of some features as texts; no error is an empty text.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> importances(result, result.mean(), features=np.array([1]))
    [Importance(name='b', value='0.5', error='')]
    """
    errors = np.full(len(overall), np.nan)
    if overall.standard_error is not None:
        errors = overall.standard_error
    return [
        Importance(
            name,
            number_text(overall.values[i]),
            "" if np.isnan(errors[i]) else f"{errors[i]:.2g}",
        )
        for name, i in zip(short_names(result, features), features, strict=True)
    ]


def raise_lines(
    result: LocalImportance,
    raises: Raises,
    *,
    prediction: list[Any] | None,
    target: list[Any] | None,
) -> list[Raise]:
    """Return the rows with the most negative values as texts.

    Examples
    --------
    >>> from localmdi.report.raises import largest_raises
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, -0.25]]), 1.0, residual=np.array([0.75]),
    ...                          unit="bits", feature_names=("a", "b"), n_trees=1)
    >>> raise_lines(result, largest_raises(result, 1), prediction=[7], target=None)
    [Raise(position=0, label='0', name='b', cell=None, amount='0.25', about='predicted 7')]
    """
    labels = row_labels(result, raises.rows)
    lines = []
    for i, row in enumerate(raises.rows.tolist()):
        feature = raises.features[i : i + 1]
        cells = table_columns(result, raises.rows[i : i + 1], columns=feature)
        known = [("target", target), ("predicted", prediction)]
        about = [f"{word} {_text(given[row])}" for word, given in known if given is not None]
        lines.append(
            Raise(
                row,
                _text(labels[i]),
                short_names(result, feature)[0],
                None if cells is None else _text(cells[0][0]),
                f"{-raises.values[i]:.3g}",
                about=", ".join(about),
            )
        )
    return lines


def _text(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return number_text(value) if isinstance(value, float) else cut(value_text(value), _TEXT_LIMIT)
