"""Rows of a table, explained batch by batch, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from localmdi._quality import Quality, RunningQuality
from localmdi.tables.row_selection import Reservoir

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from localmdi.report.sections import Whole
    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray


# A table by class of more than these is not read by anybody.
MOST_CLASSES = 20
# What is known beside the importances of a row.
_BESIDE = ("prediction", "target", "sure", "expected")
# Rounding is far below this share of the impurity.
_MOST_ERROR = 1e-6


class Chances(NamedTuple):
    """What share each class has in a prediction, shape (n_rows, n_classes), and the classes."""

    shares: FloatArray
    classes: AnyArray


@dataclass(frozen=True, eq=False)
class Explained:
    """Explained rows, and what is known about each.

    Parameters
    ----------
    result : LocalImportance
        Their importances.
    rows : ndarray of int
        Their numbers in the file.
    prediction, target : ndarray or None
        One entry per row.
    sure : ndarray of float64 or None
        The share of the predicted class; NaN where it is not known.
    chances : Chances or None
        The shares of all classes; rows that are taken out or joined do not keep them.
    expected : ndarray of bool or None
        Of an account, which rows' values are expectations, as their answers are not known.
    """

    result: LocalImportance
    rows: IntArray
    prediction: AnyArray | None = None
    target: AnyArray | None = None
    sure: FloatArray | None = None
    chances: Chances | None = None
    expected: BoolArray | None = None

    def with_target(self, target: AnyArray) -> Explained:
        """Return the same rows with their targets."""
        return replace(self, target=target)

    def take(self, positions: IntArray) -> Explained:
        """Return some of the rows."""
        columns = {name: getattr(self, name) for name in _BESIDE}
        beside = {
            name: None if column is None else column[positions] for name, column in columns.items()
        }
        data = self.result.data
        chosen = replace(self.result, data=None)[positions]
        if data is not None:
            chosen = replace(chosen, data=data.take(positions))
        return Explained(chosen, self.rows[positions], **beside)

    @classmethod
    def concat(cls, parts: Sequence[Explained]) -> Explained:
        """Join rows of one model."""
        if len(parts) == 1:
            return parts[0]
        import numpy as np
        import pyarrow as pa

        from localmdi.results import LocalImportance

        data = [part.result.data for part in parts]
        result = LocalImportance.concat([replace(part.result, data=None) for part in parts])
        if all(frame is not None for frame in data):
            result = replace(result, data=pa.concat_tables(data))
        beside = {name: _join([getattr(part, name) for part in parts]) for name in _BESIDE}
        return cls(result, np.concatenate([part.rows for part in parts]), **beside)

    def describe(self) -> list[dict[str, Any]]:
        """Return each row as a dict: its importances, its cells, target and prediction."""
        import numpy as np

        result = self.result
        data = [{}] * len(self.rows) if result.data is None else result.data.to_pylist()
        described = []
        for i, row in enumerate(self.rows.tolist()):
            one = {
                "row": row,
                "values": dict(
                    zip(result.feature_names, np.asarray(result.values[i]).tolist(), strict=True)
                ),
                "data": data[i],
            }
            if result.baseline is not None and result.residual is not None:
                one["baseline"] = float(np.broadcast_to(result.baseline, len(self.rows))[i])
                one["residual"] = float(result.residual[i])
            for name in _BESIDE:
                column = getattr(self, name)
                if column is not None:
                    one[name] = column[i : i + 1].tolist()[0]
            if result.direction is not None:
                moves = result.direction[i].tolist()
                one["direction"] = dict(zip(result.feature_names, moves, strict=True))
            described.append(one)
        return described


class Summary:
    """Means over a stream of explained rows, its first rows and a random sample of it.

    The memory does not grow with the stream.

    Parameters
    ----------
    show : int
        How many of the first rows to keep.
    sample : int
        How many rows drawn at random to keep.
    seed : int
        Of the draw.
    direct : callable, optional
        Adds to rows which way each feature pushed the prediction; only rows that are kept need it.
    """

    def __init__(
        self,
        *,
        show: int,
        sample: int = 0,
        seed: int = 0,
        direct: Callable[[Explained], Explained] = lambda part: part,
    ) -> None:
        self.n_rows = self.n_expected = 0
        self.first: list[dict[str, Any]] = []
        self.result: Any = None
        self.additivity_error = 0.0
        self._show = show
        self._weight = 0.0
        self._values: Any = 0.0
        self._baseline = 0.0
        self._residual = 0.0
        self._reservoir: Reservoir[Explained] | None = None
        self._quality: RunningQuality | None = None
        self._direct = direct
        self._classes: dict[Hashable, tuple[int, float, FloatArray]] | None = None
        if sample:
            self._reservoir = Reservoir(sample, seed=seed, concat=Explained.concat)

    def judge(self, *, is_classifier: bool) -> None:
        """Measure from now on how well rows with a target are predicted, and means by class."""
        self._quality = RunningQuality(is_classifier=is_classifier)
        self._classes = {} if is_classifier else None

    @property
    def quality(self) -> Quality | None:
        """How well the rows are predicted; None if that is not known."""
        return None if self._quality is None else self._quality.result()

    @property
    def by_class(self) -> dict[Hashable, tuple[int, FloatArray]] | None:
        """Number of rows and mean importances of each class of the target; None if not known."""
        if not self._classes or not 2 <= len(self._classes) <= MOST_CLASSES:
            return None
        return {label: (n, _mean(total, w)) for label, (n, w, total) in self._classes.items()}

    def _add_classes(self, part: Explained, *, weight: FloatArray, values: FloatArray) -> None:
        import numpy as np

        from localmdi._validation import is_missing

        if part.target is None or self._classes is None or len(self._classes) > MOST_CLASSES:
            return
        labels = part.target.tolist()
        for label in dict.fromkeys(one for one in labels if not is_missing(one)):
            rows = np.array([one == label for one in labels])
            n, w, total = self._classes.get(label, (0, 0.0, np.zeros(values.shape[1])))
            own = weight[rows]
            total = total + (own[:, None] * values[rows]).sum(axis=0)
            self._classes[label] = (n + int(rows.sum()), w + float(own.sum()), total)

    def add(self, part: Explained) -> None:
        """Add the next rows."""
        import numpy as np

        from localmdi.results.fields import dense

        if self._quality is not None and part.prediction is not None and part.target is not None:
            self._quality.add(part.prediction, part.target, chances=part.chances)
        result = replace(part.result, data=None)
        if self.result is None:
            # Only what the rows have in common is needed.
            self.result = result[:0]
        self.n_rows += len(part.rows)
        self.n_expected += 0 if part.expected is None else int(part.expected.sum())
        # Rows without honest values are NaN, and have no weight.
        weight = np.ones(len(part.rows)) if result.row_weight is None else result.row_weight
        known = weight > 0
        if not known.all():
            result = result[np.flatnonzero(known)]
        values = np.zeros(part.result.shape)
        values[known] = dense(result.values)
        self._add_classes(part, weight=weight, values=values)
        self._weight += float(weight.sum())
        self._values = self._values + (weight[:, None] * values).sum(axis=0)
        if result.baseline is not None and result.residual is not None:
            levels = np.broadcast_to(result.baseline, len(result))
            self._baseline += float((weight[known] * levels).sum())
            self._residual += float((weight[known] * result.residual).sum())
            self.additivity_error = max(self.additivity_error, result.additivity_error())
            left = np.abs(result.residual).max(initial=0.0)
            _check_sums(self.additivity_error, max(np.abs(levels).max(initial=0.0), left))
        wanted = self._show - len(self.first)
        if wanted > 0:
            first = part.take(np.arange(min(wanted, len(part.rows))))
            self.first += self._direct(first).describe()
        if self._reservoir is not None:
            self._reservoir.add(part, len(part.rows))

    @property
    def mean(self) -> FloatArray:
        """Mean importances over all rows, by their weights."""
        values: FloatArray = _mean(self._values, self._weight)
        return values

    @property
    def mean_baseline(self) -> float | None:
        """Mean impurity at the root; None for a measure without such an account."""
        if isinstance(self.result.baseline, float | None):
            return self.result.baseline
        return float(_mean(self._baseline, self._weight))

    @property
    def mean_residual(self) -> float | None:
        """Mean impurity that is left; None for a measure without such an account."""
        return None if self.result.baseline is None else float(_mean(self._residual, self._weight))

    def levels(self, quality: Quality | None) -> tuple[float, float] | None:
        """Return how much there was and is left, on average; None if the measure has no levels.

        Of an account these are the figures of `quality`, which no answer of these rows alone moves.
        """
        known = None
        if self.result.measure == "loss" and quality is not None:
            known = quality.levels(self.result.unit)
        before, left = self.mean_baseline, self.mean_residual
        return known or (None if before is None or left is None else (before, left))

    @property
    def whole(self) -> Whole:
        """All rows, for the report of a sample of them."""
        from localmdi.report.sections import Whole

        return Whole(self.n_rows, self.mean, self.by_class)

    def sample(self) -> Explained:
        """Return the rows drawn at random."""
        if self._reservoir is None:
            raise ValueError("the summary has no sample; it was made with sample=0.")
        return self._direct(self._reservoir.result()[0])

    def describe(self) -> dict[str, Any]:
        """Return what ``--json`` prints about the rows."""
        result = self.result
        return {
            "rows": self.n_rows,
            "unit": result.unit,
            "measure": result.measure,
            "honest": result.honest,
            "baseline": self.mean_baseline,
            "mean_residual": self.mean_residual,
            "additivity_error": None if result.baseline is None else self.additivity_error,
            "mean": dict(zip(result.feature_names, self.mean.tolist(), strict=True)),
            "by_class": None
            if self.by_class is None
            else {
                str(label): {
                    "rows": n,
                    "mean": dict(zip(result.feature_names, mean.tolist(), strict=True)),
                }
                for label, (n, mean) in self.by_class.items()
            },
            "first_rows": self.first,
        }


def _mean(total: Any, weight: float) -> Any:
    """Return a weighted mean; NaN of rows none of which has a value."""
    return total / weight if weight > 0 else total * float("nan")


def _check_sums(error: float, level: float) -> None:
    """Refuse importances that do not add up: some node of the model has absurd numbers."""
    if not error <= _MOST_ERROR * level:
        raise ValueError(
            "the importances of a row must add up to the impurity that was removed; they miss it "
            f"by {error:.3g}, and the impurity is {level:.3g}. The model has nodes "
            "with impossible numbers: save it again."
        )


def _join(columns: Sequence[AnyArray | None]) -> Any:
    import numpy as np

    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None
