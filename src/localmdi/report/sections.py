"""The sections of a page that need no script, each computed from all rows of the result.

What was explained, how to read it, the global importances, the most negative values, and whether
it all adds up. Results of measures whose values do not telescope have no baseline and no residual;
their sections say so instead of naming levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import cell_number, clean, count, cut, number_text, quote_names, with_unit
from localmdi._validation import is_missing
from localmdi.report.json_columns import MAX_TEXT, value_text
from localmdi.report.row_data import own_values, row_labels, row_numbers, short_names
from localmdi.results.own_data import too_many_values

if TYPE_CHECKING:
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Check",
    "ImportanceLine",
    "NegativeLine",
    "NegativeValues",
    "Whole",
    "check_additivity",
    "facts",
    "find_negative",
    "find_noise",
    "how_to_read",
    "importance_lines",
    "negative_lines",
    "suspicious_columns",
]

# Differences below this share of the numbers compared are rounding.
_ROUNDING = 1e-9
# The features whose values are looked at for being names of the rows.
_LOOKED_AT = 20


class Whole(NamedTuple):
    """All explained rows, of which a page may get a sample.

    Parameters
    ----------
    n_rows : int
        How many there are.
    mean : ndarray of float64, shape (n_features,)
        The mean of their values.
    """

    n_rows: int
    mean: FloatArray

    @classmethod
    def of(cls, result: LocalImportance) -> Whole:
        """Return what a result with all rows is."""
        return cls(len(result), result.mean().values)


def facts(result: LocalImportance, n_rows: int | None = None) -> list[tuple[str, str]]:
    """Return what was explained, as pairs of a label and a number.

    `n_rows` is the number of all explained rows, of which the result may be a sample.
    """
    number, rows = count(len(result) if n_rows is None else n_rows, "row").split(" ")
    n_features, features = count(result.shape[1], "feature").split(" ")
    n_trees, trees = count(result.n_trees, "tree").split(" ")
    found = [
        (f"{rows} explained", number),
        (features, n_features),
        (trees, n_trees if result.n_trees else "∞"),
    ]
    if result.baseline is not None and result.residual is not None:
        # Rows that every tree has seen have no honest value.
        start, left = np.nanmean(result.baseline), np.nanmean(result.residual)
        where = "really left, on average" if result.honest else "left at the leaves, on average"
        root = f"{unit_of(result.unit).quantity} at the root"
        if result.unit == "variance" and start > 0:
            # In the unit of the target, and as a share, which needs none.
            root += f" (standard deviation {number_text(float(np.sqrt(start)), 3)})"
            where += f" ({max(0.0, 1 - left / start):.0%} removed)"
        found += [
            (root, _amount(float(start), result.unit)),
            (where, _amount(float(left), result.unit)),
        ]
    return found


def how_to_read(result: LocalImportance) -> tuple[str, ...]:
    """Return four sentences on how to read the values.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> for line in how_to_read(LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                                         feature_names=("a", "b"), n_trees=1)):
    ...     print(line)
    A value says how many bits of uncertainty about Y a feature removed for one row.
    Every row starts at the root with H(Y), here 2 bits, and ends with what is left at the leaf,
    here 1 bit on average.
    Positive values removed uncertainty, negative ones raised it; together they add up to root
    minus leaf.
    These values are plain: they say what the trees know about the rows that they learned from.
    About new rows they know less, and features that are noise get a share too.
    """
    return (*_what_values_are(result), _HONEST if result.honest else _PLAIN)


_HONEST = (
    "These values are honest: every split is measured on rows that its tree has not seen. Features "
    "that are noise are at zero within error, and what is left is what such a tree does not know "
    "about new rows."
)
_PLAIN = (
    "These values are plain: they say what the trees know about the rows that they learned from. "
    "About new rows they know less, and features that are noise get a share too."
)


def _what_values_are(result: LocalImportance) -> tuple[str, ...]:
    unit = unit_of(result.unit)
    if result.baseline is None or result.residual is None:
        measured = f", in {clean(unit.symbol)}" if unit.symbol else f", as {unit.quantity}"
        return (
            f"A value is the gain of a feature for one row{measured}: how much the feature's "
            "splits changed what the trees expect of Y.",
            "The gains of a row do not add up to a total: they have no level at the root and "
            "nothing that is left at the leaf.",
            "The larger a value, the more the feature told about Y for this row.",
        )
    start = _amount(float(np.nanmean(result.baseline)), result.unit)
    left = _amount(float(np.nanmean(result.residual)), result.unit)
    if unit.name == "bits":
        first = "A value says how many bits of uncertainty about Y a feature removed for one row."
        root = "with H(Y)"
    else:
        given = f" ({clean(unit.symbol)})" if unit.symbol else ""
        first = f"A value says how much {unit.quantity} of Y{given} a feature removed for one row."
        root = f"with the {unit.quantity} of Y"
    return (
        first,
        f"Every row starts at the root {root}, here {start}, and ends with what is left at the "
        f"leaf, here {left} on average.",
        f"Positive values removed {unit.quantity}, negative ones raised it; together they add up "
        "to root minus leaf.",
    )


def suspicious_columns(result: LocalImportance) -> list[str]:
    """Return sentences on features whose values tell nearly all rows apart, and that count.

    Trees learn single rows from such a feature, so that plain values overstate it.
    """
    if result.honest:
        return []
    mean = np.abs(result.mean().values)
    strongest = np.argsort(-mean, kind="stable")[:_LOOKED_AT]
    cells = own_values(result, np.arange(len(result)), columns=strongest)
    found = []
    for feature, column in zip(strongest, cells or [], strict=False):
        known = [value for value in column if not is_missing(value)]
        if not known or any(isinstance(v, float) and not v.is_integer() for v in known):
            continue
        numbers = all(isinstance(value, int | float) for value in known)
        what = too_many_values(len(set(known)), len(column), whole_numbers=numbers)
        if what is not None:
            name = quote_names([result.feature_names[feature]])
            found.append(
                f"{name} {what}: trees can learn single rows from it, and its importance is then "
                "no news about other rows."
            )
    return found


class ImportanceLine(NamedTuple):
    """One line of the table of global importances; no error is an empty string."""

    name: str
    value: str
    error: str
    is_noise: bool = False


def importance_lines(
    result: LocalImportance, overall: GlobalImportance, *, features: IntArray
) -> list[ImportanceLine]:
    """Return the global importances of some features as text."""
    errors = np.full(len(overall), np.nan)
    if overall.standard_error is not None:
        errors = overall.standard_error
    noise = find_noise(overall)
    return [
        ImportanceLine(
            name,
            _number_text(overall.values[i]),
            "" if np.isnan(errors[i]) else number_text(errors[i], 2),
            bool(noise[i]),
        )
        for name, i in zip(short_names(result, features), features, strict=True)
    ]


def find_noise(overall: GlobalImportance) -> BoolArray:
    """Return which features cannot be told from noise; none where that was not tested."""
    tested = overall.honest and overall.standard_error is not None and overall.error != "trees"
    return ~overall.significant() if tested else np.zeros(len(overall), dtype=bool)


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
    largest = abs(result.values).max()
    negative = np.flatnonzero(lowest < -_ROUNDING * np.nan_to_num(largest))
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
        known = [("target", target), ("predicted", prediction)]
        about = [f"{word} {_cell_text(given[row])}" for word, given in known if given is not None]
        lines.append(
            NegativeLine(
                int(numbers[i]),
                _cell_text(labels[i]),
                short_names(result, feature)[0],
                None if cells is None else _cell_text(cells[0][0]),
                with_unit(number_text(-negative.values[i], 3), clean(unit_of(result.unit).symbol)),
                about=", ".join(about),
            )
        )
    return lines


class Check(NamedTuple):
    """One statement and whether it holds; None: it says why nothing could be compared."""

    holds: bool | None
    text: str


def check_additivity(
    result: LocalImportance, overall: GlobalImportance | None, *, whole: Whole | None = None
) -> tuple[Check, ...]:
    """Check that rows add up to root minus leaf, and their mean to the global importance.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> rows, mean = check_additivity(result, result.mean())
    >>> rows.holds, mean.holds
    (True, True)
    >>> print(rows.text)
    Each row's values add up to root minus leaf. Largest difference over 2 rows: 0 bits.
    """
    mean = (Whole.of(result) if whole is None else whole).mean
    return _check_rows(result), _check_mean(result, overall, mean=mean)


def _check_rows(result: LocalImportance) -> Check:
    if result.baseline is None or result.residual is None:
        return Check(None, "The values are gains, which do not add up to a total per row.")
    gap = result.additivity_error()
    if np.isnan(gap):
        return Check(False, "The sums of rows cannot be checked: some values are not numbers.")
    size = max(float(np.abs(result.baseline).max()), float(np.abs(result.residual).max()))
    measured = f"Largest difference over {count(len(result), 'row')}: {_gap(gap, result.unit)}."
    if gap <= _ROUNDING * size:
        return Check(True, f"Each row's values add up to root minus leaf. {measured}")
    return Check(
        False,
        f"The values of a row do not add up to root minus leaf. {measured} That is so when "
        "features were left out of the result.",
    )


def _check_mean(
    result: LocalImportance, overall: GlobalImportance | None, *, mean: FloatArray
) -> Check:
    if overall is None:
        return Check(
            None,
            "No global importance was given to compare with; the bars above are the mean over the "
            "rows.",
        )
    if result.honest and result.measure != overall.measure:
        return Check(
            None,
            "The bars above are gains, which noise leaves at zero; the values of rows are drops, "
            "which add up from root to leaf. The two are not the same number.",
        )
    expected = overall.values
    gap = float(np.abs(mean - expected).max(initial=0.0))
    features = count(len(expected), "feature")
    measured = f"Largest difference over {features}: {_gap(gap, result.unit)}."
    if gap <= _ROUNDING * float(np.abs(expected).max(initial=0.0)):
        return Check(True, f"The mean over all rows is the forest's global importance. {measured}")
    if result.honest:
        return Check(
            None,
            f"The bars above count every row with its own label; the values of rows leave it out. "
            f"{measured}",
        )
    return Check(
        False,
        f"The mean over these rows is not the forest's global importance. {measured} The two are "
        "equal for the rows, and weights, on which every tree was grown; other rows differ, and "
        "so do bootstrap samples, in which a row counts as often as it was drawn. The shares of "
        "decompose_global add up in that case too.",
    )


def _argmin(row: object) -> int:
    return int(np.argmin(np.asarray(row.toarray() if hasattr(row, "toarray") else row)))


def _number_text(value: float) -> str:
    return number_text(float(value))


def _amount(value: float, unit: str) -> str:
    return with_unit(_number_text(value), clean(unit_of(unit).symbol))


def _gap(value: float, unit: str) -> str:
    return with_unit(number_text(value, 2), clean(unit_of(unit).symbol))


def _cell_text(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return cell_number(value) if isinstance(value, float) else cut(value_text(value), MAX_TEXT)
