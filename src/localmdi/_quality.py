"""How well rows are predicted: accuracy, Brier score or R², and whether a forecast comes true.

NumPy is imported inside the functions, so that the command line starts without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.typing import AnyArray, FloatArray

# A group of fewer rows tells nothing about a frequency.
_ROWS_PER_BIN = 20
_MOST_BINS = 10
# Of a stream of rows about so many forecasts are enough for a small chart.
_MOST_FORECASTS = 100_000


class ForecastBin(NamedTuple):
    """Rows with similar forecasts: what was said of them on average, and what came true.

    For classes, how sure the forecast was of its class, and how often it was right; for numbers,
    the mean forecast and the mean truth. `error` is the standard error of what came true.
    """

    said: float
    came: float
    error: float
    n_rows: int


@dataclass(frozen=True)
class Quality:
    """How well rows are predicted.

    Parameters
    ----------
    figures : mapping of str to float
        Of classes "accuracy", "most_frequent" (the accuracy of always saying the most frequent
        class), and, where shares of the classes are predicted, "brier" and "brier_frequencies"
        (the score of always saying how frequent each class is), of the account also "log_loss" in
        bits and "log_loss_frequencies". Of numbers "r2", "error" (root mean square) and "spread"
        (the error of always saying the mean).
    n_rows : int
        Of how many rows.
    unseen : bool
        Whether the trees have surely not learned from these rows.
    bins : sequence of ForecastBin
        Forecasts beside what came true, in the order of the forecasts; empty if not known.
    """

    figures: Mapping[str, float]
    n_rows: int
    unseen: bool = False
    bins: Sequence[ForecastBin] = ()

    @property
    def of_classes(self) -> bool:
        """Whether classes are predicted."""
        return "accuracy" in self.figures

    def describe(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {**self.figures, "unseen": self.unseen}

    def levels(self, unit: str) -> tuple[float, float] | None:
        """Return the mean loss in a unit before anything is known, and after; None if not known.

        Before, what is said of all rows is the same: how frequent the classes are, or the mean. In
        bits that is the entropy, of two classes 1 bit at most. The mean `baseline` of an account
        may be a little larger, as no tree counts the row itself.

        Examples
        --------
        >>> Quality({"brier": 0.25, "brier_frequencies": 0.5}, n_rows=40).levels("gini")
        (0.5, 0.25)
        """
        known = self.figures
        if unit == "variance" and "error" in known:
            return known["spread"] ** 2, known["error"] ** 2
        name = {"bits": "log_loss", "gini": "brier"}.get(unit, "")
        return (known[f"{name}_frequencies"], known[name]) if name in known else None

    def sentence(self) -> str:
        """Return the figures in words.

        Examples
        --------
        >>> Quality({"r2": 0.5}, n_rows=40, unseen=True).sentence()
        'Unseen rows are predicted with R² 0.500.'
        """
        figures = self.figures
        if "r2" in figures:
            measured = f"R² {figures['r2']:.3f}"
        else:
            measured = (
                f"accuracy {figures['accuracy']:.3f} (always the most frequent class: "
                f"{figures['most_frequent']:.3f})"
            )
        if "brier" in figures:
            measured += f" and Brier score {figures['brier']:.3f}"
        if self.unseen:
            return f"Unseen rows are predicted with {measured}."
        return (
            f"These rows are predicted with {measured}; the trees may have learned from them, "
            "and new rows are then predicted worse."
        )


def quality_of(target: AnyArray, expected: FloatArray, *, classes: AnyArray | None) -> Quality:
    """Return how well rows are predicted.

    Parameters
    ----------
    target : ndarray
        What is true.
    expected : ndarray of shape (n_rows, n_classes) or (n_rows, 1)
        The shares of the classes, or the number, that are predicted.
    classes : ndarray or None
        The labels of the columns; None for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> found = quality_of(np.array(["a", "b"]), np.array([[1.0, 0.0], [0.5, 0.5]]),
    ...                    classes=np.array(["a", "b"]))
    >>> found.figures["accuracy"], found.figures["brier"], found.figures["brier_frequencies"]
    (0.5, 0.25, 0.5)
    """
    import numpy as np

    if classes is None:
        y = target.astype(np.float64)
        figures = _figures_of_numbers(float(((y - expected[:, 0]) ** 2).mean()), float(y.var()))
        return Quality(figures, len(y), bins=_bins(expected[:, 0], y))
    truth = (target[:, None] == classes[None, :]).astype(np.float64)
    share = np.unique(target, return_counts=True)[1] / len(target)
    is_right = classes[expected.argmax(axis=1)] == target
    figures = {
        "accuracy": float(is_right.mean()),
        "most_frequent": float(share.max()),
        "brier": float(((expected - truth) ** 2).sum(axis=1).mean()),
        "brier_frequencies": float(1.0 - (share**2).sum()),
    }
    bins = _bins(expected.max(axis=1), is_right.astype(np.float64))
    return Quality(figures, len(target), bins=bins)


def quality_of_scores(
    scores: Mapping[str, FloatArray], weight: FloatArray | None = None
) -> Quality:
    """Return how well unseen rows are predicted, from the figures of each row.

    Parameters
    ----------
    scores : mapping of str to ndarray of shape (n_rows,)
        Figures whose means are those of `Quality`, or "squared_error" and "squared_error_of_mean";
        "forecast" and "outcome" become its bins.
    weight : ndarray of shape (n_rows,) or None
        The rows' weights; figures of rows without weight may be NaN.

    Examples
    --------
    >>> import numpy as np
    >>> quality_of_scores({"squared_error": np.array([1.0, 3.0]),
    ...                    "squared_error_of_mean": np.array([4.0, 4.0])}).figures["r2"]
    0.5
    """
    import numpy as np

    n_rows = len(next(iter(scores.values())))
    counted = np.ones(n_rows) if weight is None else weight
    known = counted > 0
    means = {
        name: float(np.average(score[known], weights=counted[known]))
        for name, score in scores.items()
        if name not in ("forecast", "outcome")
    }
    if "squared_error" in means:
        means = _figures_of_numbers(means["squared_error"], means["squared_error_of_mean"])
    bins = _bins(scores["forecast"], scores["outcome"]) if "forecast" in scores else ()
    return Quality(means, int(known.sum()), unseen=True, bins=bins)


class RunningQuality:
    """How well a stream of rows is predicted; the memory does not grow with the stream.

    Parameters
    ----------
    is_classifier : bool
        Whether predictions are classes.

    Examples
    --------
    >>> import numpy as np
    >>> running = RunningQuality(is_classifier=True)
    >>> running.add(np.array(["a", "b"]), np.array(["a", None], dtype=object))
    >>> running.add(np.array(["a"]), np.array(["b"]))
    >>> running.result().figures
    {'accuracy': 0.5, 'most_frequent': 0.5}
    """

    def __init__(self, *, is_classifier: bool) -> None:
        self._is_classifier = is_classifier
        self._forecasts = _Thinned()
        self._brier = 0.0
        self._n_with_chances = 0
        self._counts: dict[object, int] = {}
        self._n_right = 0
        self._n_rows = 0
        self._shift: float | None = None
        self._sums = [0.0, 0.0, 0.0]

    def add(
        self,
        prediction: AnyArray,
        target: AnyArray,
        *,
        chances: tuple[FloatArray, AnyArray] | None = None,
    ) -> None:
        """Add the next rows; those without a target do not count.

        `chances` are the shares of the classes in each prediction, and these classes.
        """
        import numpy as np

        from localmdi._validation import find_missing

        known = ~find_missing(target)
        said, true = prediction[known].tolist(), target[known].tolist()
        self._n_rows += len(true)
        if self._is_classifier:
            is_right = [a == b for a, b in zip(said, true, strict=True)]
            self._n_right += sum(is_right)
            for label in true:
                self._counts[label] = self._counts.get(label, 0) + 1
            if chances is not None:
                shares = chances[0][known]
                self._add_chances(shares, true, classes=chances[1].tolist())
                self._forecasts.add(shares.max(axis=1), np.array(is_right, dtype=np.float64))
            return
        if not all(isinstance(value, int | float) for value in true) or not true:
            self._n_rows -= len(true)
            return
        y = np.asarray(true, dtype=np.float64)
        # Around the first value, so that the sums keep their digits.
        self._shift = float(y[0]) if self._shift is None else self._shift
        self._forecasts.add(np.asarray(said, dtype=np.float64), y)
        parts = (y - self._shift, (y - self._shift) ** 2, (y - np.asarray(said)) ** 2)
        self._sums = [old + float(new.sum()) for old, new in zip(self._sums, parts, strict=True)]

    def _add_chances(self, shares: FloatArray, true: list[Any], *, classes: list[Any]) -> None:
        import numpy as np

        code = {label: i for i, label in enumerate(classes)}
        column = np.array([code.get(label, -1) for label in true], dtype=np.int64)
        known = column >= 0
        told = np.where(known, shares[np.arange(len(true)), column], 0.0)
        # Σ_k (p_k − [k is true])² = Σ_k p_k² − 2 p_true + 1, of a class without a share too.
        self._brier += float(((shares**2).sum(axis=1) - 2.0 * told + 1.0).sum())
        self._n_with_chances += len(true)

    def result(self) -> Quality | None:
        """Return the quality; None if no row had both a prediction and a target."""
        n = self._n_rows
        if not n:
            return None
        bins = self._forecasts.bins()
        if self._is_classifier:
            shares = [times / n for times in self._counts.values()]
            figures = {"accuracy": self._n_right / n, "most_frequent": max(shares)}
            if self._n_with_chances == n:
                figures["brier"] = self._brier / n
                figures["brier_frequencies"] = 1.0 - sum(share**2 for share in shares)
            return Quality(figures, n, bins=bins)
        total, squares, error = self._sums
        spread = squares - total**2 / n
        figures = _figures_of_numbers(error / n, spread / n)
        return Quality(figures, n, bins=bins) if spread > 0 else None


class _Thinned:
    """Forecasts and what came true: of a long stream every second, fourth, … row is kept."""

    def __init__(self) -> None:
        self._parts: list[tuple[FloatArray, FloatArray]] = []
        self._step = 1
        self._n_seen = 0
        self._n_kept = 0

    def add(self, said: FloatArray, came: FloatArray) -> None:
        """Add the next rows; which are kept does not depend on how the stream is cut."""
        first = -self._n_seen % self._step
        self._n_seen += len(said)
        self._parts.append((said[first :: self._step], came[first :: self._step]))
        self._n_kept += len(self._parts[-1][0])
        while self._n_kept > _MOST_FORECASTS:
            said, came = self._joined()
            self._parts = [(said[::2], came[::2])]
            self._step *= 2
            self._n_kept = len(self._parts[0][0])

    def _joined(self) -> tuple[FloatArray, FloatArray]:
        import numpy as np

        said, came = zip(*self._parts, strict=True)
        return np.concatenate(said), np.concatenate(came)

    def bins(self) -> tuple[ForecastBin, ...]:
        """Return the groups of what was kept."""
        return _bins(*self._joined()) if self._parts else ()


def _figures_of_numbers(error: float, variance: float) -> dict[str, float]:
    return {
        "r2": 1.0 - error / variance if variance > 0 else math.nan,
        "error": math.sqrt(error),
        "spread": math.sqrt(max(0.0, variance)),
    }


def _bins(said: FloatArray, came: FloatArray) -> tuple[ForecastBin, ...]:
    """Return groups of about as many rows, in order; equal forecasts are in one group."""
    import numpy as np

    known = np.isfinite(said) & np.isfinite(came)
    order = np.argsort(said[known], kind="stable")
    said, came = said[known][order], came[known][order]
    aim = max(_ROWS_PER_BIN, -(-len(said) // _MOST_BINS))
    # Where the forecasts change; a group may only end there.
    edges = [*(np.flatnonzero(np.diff(said)) + 1).tolist(), len(said)]
    ends, start, last = [], 0, 0
    for edge in edges:
        before_many = edge - last >= aim and last - start >= _ROWS_PER_BIN
        if before_many:
            ends.append(last)
            start = last
        if edge - start >= aim:
            ends.append(edge)
            start = edge
        last = edge
    if start < len(said) and len(said) - start >= _ROWS_PER_BIN:
        ends.append(len(said))
    elif ends:
        ends[-1] = len(said)
    if len(ends) < 2:
        return ()
    bins = []
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        x, y = said[first:end], came[first:end]
        error = float(y.std()) / math.sqrt(end - first)
        bins.append(ForecastBin(float(x.mean()), float(y.mean()), error, end - first))
    return tuple(bins)
