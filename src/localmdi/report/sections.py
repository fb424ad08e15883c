"""The sections of a page that need no script, each computed from all rows of the result.

What was explained, how good the predictions are, how to read the values, the global importances,
whether it all adds up, and how it was made. Results of measures whose values do not telescope have
no baseline and no residual; their sections say so instead of naming levels.
"""

from __future__ import annotations

import math
import platform
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, number_text, quote_names, with_unit
from localmdi._validation import is_missing
from localmdi.report.row_data import own_values, short_names
from localmdi.results.own_data import too_many_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from localmdi._quality import Quality
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import BoolArray, FloatArray, IntArray


_PROGRAM = __name__.partition(".")[0]
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
    by_class : mapping of label to number of rows and mean, or None
        The same for the rows of each class of the target.
    """

    n_rows: int
    mean: FloatArray
    by_class: Mapping[Hashable, tuple[int, FloatArray]] | None = None

    @classmethod
    def of(cls, result: LocalImportance) -> Whole:
        """Return what a result with all rows is."""
        return cls(len(result), result.mean().values)


def facts(
    result: LocalImportance, n_rows: int | None = None, *, quality: Quality | None = None
) -> list[tuple[str, str]]:
    """Return what was explained, as pairs of a label and a number.

    `n_rows` is the number of all explained rows, of which the result may be a sample, and `quality`
    that of their predictions.
    """
    number, rows = count(len(result) if n_rows is None else n_rows, "row").split(" ")
    n_features, features = count(result.shape[1], "feature").split(" ")
    n_trees, trees = count(result.n_trees, "tree").split(" ")
    found = [
        (f"{rows} explained", number),
        (features, n_features),
        (trees, n_trees if result.n_trees else "∞"),
    ]
    levels = mean_levels(result, quality)
    if levels is not None:
        start, left = levels
        quantity = unit_of(result.unit).quantity_of(result.measure)
        root, where = f"{quantity} at the start", "left at the end, on average"
        if result.measure == "loss":
            root, where = f"{quantity} when nothing is known, on average", "left to the forest"
        if result.unit == "variance" and start > 0:
            # In the unit of the target, and as a share, which needs none.
            root += f" (standard deviation {number_text(float(np.sqrt(start)), 3)})"
            where += f" ({max(0.0, 1 - left / start):.0%} removed)"
        found += [(root, _amount(start, result.unit)), (where, _amount(left, result.unit))]
    return found


def mean_levels(result: LocalImportance, quality: Quality | None) -> tuple[float, float] | None:
    """Return how much there was and is left, on average; None of values without levels.

    Of an account these are figures of the predictions' quality.
    """
    if result.baseline is None or result.residual is None:
        return None
    known = quality.levels(result.unit) if result.measure == "loss" and quality else None
    if known is not None:
        return known
    before = np.broadcast_to(result.baseline, len(result))
    # Rows that every tree has seen have no honest value.
    has = np.isfinite(before) & np.isfinite(result.residual)
    if not has.any():
        return math.nan, math.nan
    return float(before[has].mean()), float(result.residual[has].mean())


def how_to_read(result: LocalImportance, quality: Quality | None = None) -> tuple[str, ...]:
    """Return four sentences on how to read the values, for people without a glossary.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> for line in how_to_read(LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                                         feature_names=("a", "b"), n_trees=1)):
    ...     print(line)
    A value says how much a feature told about the target of one row, in bits: the answer to a
    yes-or-no question with even chances tells 1 bit.
    At the start, before anything is known about a row, its uncertainty is 2 bits; at the end, when
    its features are known, 1 bit is left on average.
    Positive values lowered the uncertainty: the target became clearer. Negative ones raised it.
    Added up, the values of a row lead from the start to the end.
    These values are plain: they say what the model knows about the rows that it learned from.
    About new rows it knows less, and features that say nothing get a share too.
    """
    read = _how_to_read_loss if result.measure == "loss" else _what_values_are
    honest = _HONEST.format(_NOISE_COSTS if result.measure == "loss" else _NOISE_IS_ZERO)
    return (*read(result, mean_levels(result, quality)), honest if result.honest else _PLAIN)


_HONEST = "These values are honest: they are measured on rows that the trees have not seen. {}"
_NOISE_IS_ZERO = "Features that say nothing are at zero within error."
_NOISE_COSTS = "Features that say nothing make the forest a little worse, on average."
_PLAIN = (
    "These values are plain: they say what the model knows about the rows that it learned from. "
    "About new rows it knows less, and features that say nothing get a share too."
)
# What a unit means, behind "how much a feature told about the target of one row".
_MEANINGS = {
    "bits": ", in bits: the answer to a yes-or-no question with even chances tells 1 bit",
    "gini": ", as Gini impurity: the chance that two rows drawn at random are of different classes",
    "variance": ", as variance: how widely the target is spread, in squares of its unit",
    "mae": ", as absolute error: how far the target is from what is expected, on average",
    "poisson": ", as Poisson deviance: how badly expected counts fit the true ones",
    "loss": ", as training loss: what the model was trained to make small",
}
# The same of the account.
_SURPRISES = {
    "bits": "the surprise about a row's answer a feature took away, in bits: an answer that has "
    "even chances surprises by 1 bit",
    "gini": "the Brier score of a row a feature took away: how far the stated chances are from the "
    "row's answer, squared",
    "variance": "the squared error of a row's prediction a feature took away, in squares of the "
    "target's unit",
}


def _how_to_read_loss(
    result: LocalImportance, levels: tuple[float, float] | None
) -> tuple[str, ...]:
    quantity = unit_of(result.unit).quantity_of("loss")
    start, left = (_amount(level, result.unit) for level in levels or (math.nan, math.nan))
    verb = "are" if left.endswith("bits") else "is"
    known = f"the {quantity} of a row a feature took away"
    return (
        f"A value says how much of {_SURPRISES.get(result.unit, known)}.",
        f"On average the {quantity} is {start} when nothing is known but what is true of all rows "
        f"together. To the forest, which has not seen the row, {left} {verb} left.",
        "Below zero a feature made the forest worse: it pointed away from this row's answer. Added "
        "up, the values of a row lead from the start to what is left.",
    )


def _what_values_are(
    result: LocalImportance, levels: tuple[float, float] | None
) -> tuple[str, ...]:
    unit = unit_of(result.unit)
    if levels is None:
        measured = f", in {clean(unit.symbol)}" if unit.symbol else f", as {unit.quantity}"
        return (
            f"A value is the gain of a feature for one row{measured}: how much the feature "
            "changed what the trees expect of the target.",
            "The gains of a row do not add up to a total: they do not lead from a start to what "
            "is left at the end.",
            "The larger a value, the more the feature told about the target of this row.",
        )
    start, left = (_amount(level, result.unit) for level in levels)
    verb = "are" if left.endswith("bits") else "is"
    return (
        f"A value says how much a feature told about the target of one row"
        f"{_MEANINGS.get(unit.name, '')}.",
        f"At the start, before anything is known about a row, its {unit.quantity} is {start}; at "
        f"the end, when its features are known, {left} {verb} left on average.",
        f"Positive values lowered the {unit.quantity}: the target became clearer. Negative ones "
        "raised it. Added up, the values of a row lead from the start to the end.",
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
    tested = overall.honest and overall.standard_error is not None and overall.error_kind != "trees"
    return ~overall.significant() if tested else np.zeros(len(overall), dtype=bool)


class Figure(NamedTuple):
    """A figure of merit: its value, what it is, and what to compare it with."""

    value: str
    name: str
    beside: str


def quality_figures(quality: Quality) -> list[Figure]:
    """Return how good the predictions are, for people who know no score by name.

    Examples
    --------
    >>> from localmdi._quality import Quality
    >>> quality_figures(Quality({"accuracy": 0.9, "most_frequent": 0.6}, n_rows=100))[0]
    Figure(value='90.0%', name='predicted right', beside='always the most frequent class: 60.0%')
    """
    figures = quality.figures
    if quality.of_classes:
        found = [
            Figure(
                _percent(figures["accuracy"]),
                "predicted right",
                f"always the most frequent class: {_percent(figures['most_frequent'])}",
            )
        ]
        if "log_loss" in figures:
            found.append(
                Figure(
                    f"{figures['log_loss']:.3f} bits",
                    "log loss: how surprising the answers are to the model",
                    "0 is perfect; always stating how frequent each class is: "
                    f"{figures['log_loss_frequencies']:.3f}",
                )
            )
        if "brier" in figures:
            found.append(
                Figure(
                    f"{figures['brier']:.3f}",
                    "Brier score: how far the stated chances are from the truth",
                    "0 is perfect; always stating how frequent each class is: "
                    f"{figures['brier_frequencies']:.3f}",
                )
            )
        return found
    return [
        Figure(
            number_text(figures["r2"], 3),
            "R²: the share of the differences between rows that is predicted",
            "1 is perfect; always stating the mean: 0",
        ),
        Figure(
            number_text(figures["error"], 3),
            "typical error (root mean square), in the unit of the target",
            f"always stating the mean: {number_text(figures['spread'], 3)}",
        ),
    ]


def quality_source(quality: Quality) -> str:
    """Return on which rows the predictions were judged."""
    rows = count(quality.n_rows, "row")
    if quality.unseen:
        return (
            f"Measured on {rows} that the trees have not seen: this is what to expect of new rows."
        )
    return (
        f"Measured on {rows}. If the trees have learned from these rows, new ones are predicted "
        "worse."
    )


def origin(result: LocalImportance, given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what is needed to make the page again: what the caller knows, and versions."""
    what = "accounts" if result.measure == "loss" else f"{result.measure}s"
    kind = f"{'honest' if result.honest else 'plain'} {what}"
    trees = count(result.n_trees, "tree") if result.n_trees else "infinitely many trees"
    unit = unit_of(result.unit)
    values = f"{kind} of {trees}, in {clean(unit.symbol or unit.quantity)}"
    values += "" if result.method is None else f", {clean(result.method)}"
    known = [(name, clean(text)) for name, text in given.items()]
    return [*known, ("values", values), ("versions", versions_used())]


def versions_used() -> str:
    """Return the versions of what a page was computed with."""
    versions = {name: version(name) for name in (_PROGRAM, "numpy", "scikit-learn")}
    told = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{told}, Python {platform.python_version()}"


def _percent(share: float) -> str:
    return f"{share:.1%}"


class Check(NamedTuple):
    """One statement and whether it holds; None: it says why nothing could be compared."""

    holds: bool | None
    text: str


def check_additivity(
    result: LocalImportance, overall: GlobalImportance | None, *, whole: Whole | None = None
) -> tuple[Check, ...]:
    """Check that rows add up to start minus end, and their mean to the global importance.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                          feature_names=("a", "b"), n_trees=1)
    >>> rows, mean = check_additivity(result, result.mean())
    >>> rows.holds, mean.holds
    (True, True)
    >>> print(rows.text)
    Each row's values add up to the start minus what is left. Largest difference over 2 rows: 0
    bits.
    """
    mean = (Whole.of(result) if whole is None else whole).mean
    return _check_rows(result), _check_mean(result, overall, mean=mean)


def _check_rows(result: LocalImportance) -> Check:
    if result.baseline is None or result.residual is None:
        return Check(None, "The values are gains, which do not add up to a total per row.")
    known = np.flatnonzero(np.isfinite(result.residual))
    if not len(known):
        return Check(None, "No row has honest values: every tree has seen all of them.")
    part = replace(result, data=None)[known]
    gap = part.additivity_error()
    if np.isnan(gap):
        return Check(False, "The sums of rows cannot be checked: some values are not numbers.")
    size = max(float(np.abs(np.asarray(level)).max()) for level in (part.baseline, part.residual))
    measured = f"Largest difference over {count(len(known), 'row')}: {_gap(gap, result.unit)}."
    if gap <= _ROUNDING * size:
        return Check(True, f"Each row's values add up to the start minus what is left. {measured}")
    return Check(
        False,
        f"The values of a row do not add up to the start minus what is left. {measured} That is "
        "so when features were left out of the result.",
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
    if result.measure != overall.measure:
        quantity = unit_of(result.unit).quantity_of(result.measure)
        return Check(
            None,
            f"The bars above are gains, which find features; the values of rows divide the "
            f"{quantity} that the forest took away. The two are not the same number.",
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


def _number_text(value: float) -> str:
    return number_text(float(value))


def _amount(value: float, unit: str) -> str:
    return with_unit(_number_text(value), clean(unit_of(unit).symbol))


def _gap(value: float, unit: str) -> str:
    return with_unit(number_text(value, 2), clean(unit_of(unit).symbol))
