"""The rows about which most is left open, and what a single one of them is about."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, number_text, with_unit
from localmdi.results.axes import row_positions
from localmdi.results.fields import as_count, as_number, dense
from localmdi.results.frames import FrameType, columns_to_frame
from localmdi.results.own_data import cell_text, read_table

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.results.own_data import DataColumn
    from localmdi.typing import AnyArray, FloatArray, IntArray


# Numbers differ if they are further apart than this share of what most rows span.
_ALIKE = 0.1
_SPAN = (5, 95)
_N_NAMED = 3
_N_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class UncertainRows:
    """The rows about which most is left open, the most uncertain first.

    Parameters
    ----------
    positions : ndarray of int64, shape (k,)
        Where the rows stand in the result.
    residual, baseline : ndarray of float64, shape (k,)
        What is left, and what there was before: of an account how surprising the row's answer
        still is to the forest, and how surprising it is when nothing is known.
    feature : ndarray of object, shape (k,)
        The feature with the lowest value: it raised the uncertainty most, or removed least.
    value : ndarray of float64, shape (k,)
        Its value.
    unit : str
        Unit of residual, baseline and value.
    prediction, row_labels
        Of these rows, where the result has them.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives; None: pandas.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10, unit="bits",
    ...     residual=np.array([0.25, 1.0]), feature_names=("age", "dose")).most_uncertain(1)
    UncertainRows: 1 row, in bits
      row 1: 1 of 1 bit left; lowest value: dose −0.25
    """

    positions: IntArray
    residual: FloatArray
    _: KW_ONLY
    baseline: FloatArray
    feature: AnyArray
    value: FloatArray
    unit: str
    prediction: AnyArray | None = None
    row_labels: Any = None
    frame_type: FrameType = None

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        symbol = unit_of(self.unit).symbol
        lines = [f"UncertainRows: {count(len(self), 'row')}, in {self.unit}"]
        for i in range(min(len(self), _N_SHOWN)):
            label = self.positions[i] if self.row_labels is None else self.row_labels[i]
            left = _left(float(self.residual[i]), float(self.baseline[i]), symbol=symbol)
            low = f"{clean(self.feature[i])} {number_text(float(self.value[i]), 3)}"
            lines.append(f"  row {clean(label)}: {left}; lowest value: {low}")
        return "\n".join(lines + ["  ..."] * (len(self) > _N_SHOWN))

    def to_frame(self) -> Any:
        """Return one line per row: residual, baseline, prediction, and the lowest value's feature.

        Examples
        --------
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"))
        >>> result.most_uncertain().to_frame()
           row  residual  baseline feature  value
        0    1      1.00       1.0    dose  -0.25
        1    0      0.25       1.0    dose   0.25
        """
        columns: dict[str, AnyArray] = {
            "row": self.positions if self.row_labels is None else self.row_labels,
            "residual": self.residual,
            "baseline": self.baseline,
        }
        if self.prediction is not None:
            columns["prediction"] = self.prediction
        columns |= {"feature": self.feature, "value": self.value}
        return columns_to_frame(columns, self.frame_type)


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A confident row that is like an uncertain one; part of `UncertainRow`.

    Parameters
    ----------
    position : int
        Where it stands in the result.
    label : object
        Its label, or else its position.
    residual : float
        What is left open about it.
    differs : dict of str to tuple of two str
        What differs: column → what the neighbour holds, what the uncertain row holds.

    Examples
    --------
    >>> Neighbour(7, "anna", residual=0.0, differs={"smoker": ("no", "yes")}).differs
    {'smoker': ('no', 'yes')}
    """

    position: int
    label: Any
    _: KW_ONLY
    residual: float
    differs: dict[str, tuple[str, str]]


@dataclass(frozen=True, eq=False, repr=False)
class UncertainRow:
    """Why one row is uncertain; from ``result.explain_uncertainty(row)``.

    Parameters
    ----------
    position : int
        Where the row stands in the result.
    label : object
        Its label, or else its position.
    residual, baseline : float
        What is left, and what there was before.
    rank : float
        Share of the rows about which less is left.
    values, usual : ndarray of float64, shape (n_features,)
        The row's values, and their means over all rows.
    held : tuple of str or None
        What the row holds in every feature, in words, where that is known.
    feature_names : tuple of str
        Names of the features.
    neighbours : tuple of Neighbour
        Confident rows that differ in few columns, the most alike first.
    unit : str
        Unit of all values.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type of the tables; None: pandas.

    Examples
    --------
    >>> import localmdi as lm
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    >>> result = lm.honest_mdi(model, X, y, measure="loss")
    >>> result.explain_uncertainty(int(result.most_uncertain(1).positions[0]), n_neighbours=2)
    Row 77: 6.97 bits left (1.61 before), more than in 99 % of the rows
      petal width (cm) = 1.7 raised it by 4.07 bits
      petal length (cm) = 5 raised it by 0.773 bits
      sepal width (cm) = 3 raised it by 0.53 bits
      sepal length (cm) = 6.7 removed 0.0202 bits instead of 0.0871
      confident rows that differ in few columns:
        row 86 (0.0208 bits left): the same
        row 52 (0.158 bits left): the same
    """

    position: int
    label: Any
    _: KW_ONLY
    residual: float
    baseline: float
    rank: float
    values: FloatArray
    usual: FloatArray
    held: tuple[str, ...] | None
    feature_names: tuple[str, ...]
    neighbours: tuple[Neighbour, ...]
    unit: str
    frame_type: FrameType = None

    def __repr__(self) -> str:
        left = _left(self.residual, self.baseline, symbol=unit_of(self.unit).symbol)
        share = f"{100 * self.rank:.0f} % of the rows"
        head = f"Row {clean(self.label)}: {left}, more than in {share}"
        return "\n".join([head, *self._steps(), *self._alike()])

    def to_frame(self) -> Any:
        """Return one line per feature, what raised the uncertainty first.

        Columns: feature, its value for this row, the mean over rows, and what the row holds.

        Examples
        --------
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"),
        ...     data=np.array([[61, 2], [61, 5]]))
        >>> result.explain_uncertainty(1).to_frame()
          feature  value   mean data
        0    dose  -0.25  0.000    5
        1     age   0.25  0.375   61
        """
        order = np.argsort(self.values, kind="stable")
        columns: dict[str, AnyArray] = {
            "feature": np.array(self.feature_names, dtype=object)[order],
            "value": self.values[order],
            "mean": self.usual[order],
        }
        if self.held is not None:
            columns["data"] = np.array(self.held, dtype=object)[order]
        return columns_to_frame(columns, self.frame_type)

    def neighbours_to_frame(self) -> Any:
        """Return one line for every column in which a confident neighbour differs.

        Columns: the neighbour's row and residual, the feature, what the neighbour holds (there)
        and what this row holds (here).

        Examples
        --------
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"),
        ...     data=np.array([[61, 2], [61, 5]]))
        >>> result.explain_uncertainty(1).neighbours_to_frame()
           row  residual feature there here
        0    0      0.25    dose     2    5
        """
        lines = [
            (neighbour.label, neighbour.residual, name, there, here)
            for neighbour in self.neighbours
            for name, (there, here) in neighbour.differs.items()
        ]
        names = ("row", "residual", "feature", "there", "here")
        columns = {name: [line[i] for line in lines] for i, name in enumerate(names)}
        arrays: dict[str, AnyArray] = {
            name: np.array(column, dtype=object if name in names[2:] else None)
            for name, column in columns.items()
        }
        return columns_to_frame(arrays, self.frame_type)

    def _steps(self) -> list[str]:
        symbol = unit_of(self.unit).symbol
        order = np.argsort(self.values, kind="stable")
        raised = [int(i) for i in order if self.values[i] < 0][:_N_NAMED]
        gap = self.usual - self.values
        short = [int(i) for i in np.argsort(-gap, kind="stable") if gap[i] > 0]
        short = [i for i in short if self.values[i] >= 0][:_N_NAMED]
        lines = [
            f"  {self._name(i)} raised it by "
            f"{with_unit(number_text(-float(self.values[i]), 3), symbol)}"
            for i in raised
        ]
        return lines + [
            f"  {self._name(i)} removed {with_unit(number_text(float(self.values[i]), 3), symbol)} "
            f"instead of {number_text(float(self.usual[i]), 3)}"
            for i in short
        ]

    def _alike(self) -> list[str]:
        symbol = unit_of(self.unit).symbol
        if not self.neighbours:
            return ["  no row is much more certain"]
        lines = ["  confident rows that differ in few columns:"]
        for neighbour in self.neighbours:
            left = with_unit(number_text(neighbour.residual, 3), symbol)
            said = ", ".join(
                f"{clean(name)} {clean(there)} instead of {clean(here)}"
                for name, (there, here) in neighbour.differs.items()
            )
            lines.append(f"    row {clean(neighbour.label)} ({left} left): {said or 'the same'}")
        return lines

    def _name(self, feature: int) -> str:
        name = clean(self.feature_names[feature])
        return name if self.held is None else f"{name} = {clean(self.held[feature])}"


def most_uncertain(result: LocalImportance, k: int) -> UncertainRows:
    """Return the rows with the largest residuals: `LocalImportance.most_uncertain`."""
    if as_count("k", k) == 0:
        raise ValueError("k must be at least 1; got 0. Pass the number of rows to list.")
    residual = _known_residual(result)
    known = int(np.isfinite(residual).sum())
    rows = np.argsort(-residual, kind="stable")[: min(k, known)].astype(np.int64)
    values = dense(result.values[rows])
    lowest = values.argmin(axis=1)
    return UncertainRows(
        rows,
        residual[rows],
        baseline=_baselines(result)[rows],
        feature=np.array(result.feature_names, dtype=object)[lowest],
        value=values[np.arange(len(rows)), lowest],
        unit=result.unit,
        prediction=None if result.prediction is None else result.prediction[rows],
        row_labels=None if result.row_labels is None else result.row_labels[rows],
        frame_type=result.frame_type,
    )


def explain_uncertainty(
    result: LocalImportance, row: int, *, n_neighbours: int, confident: float
) -> UncertainRow:
    """Return why one row is uncertain: `LocalImportance.explain_uncertainty`."""
    residual = _known_residual(result)
    if not isinstance(row, int | np.integer) or isinstance(row, bool):
        raise TypeError(
            f"row must be the position of a row, an integer; got {row!r}. "
            "Take one of result.most_uncertain().positions."
        )
    position = int(np.asarray(row_positions(int(row), len(result)))[0])
    if not np.isfinite(residual[position]):
        raise ValueError(
            f"what is left about row {position} must be known; it is not, because every tree has "
            "seen the row. Take one of result.most_uncertain().positions."
        )
    as_count("n_neighbours", n_neighbours)
    if not 0 < as_number("confident", confident) <= 1:
        raise ValueError(
            f"confident must be above 0 and at most 1; got {confident}. "
            "Pass 0.5 for rows about which at most half as much is left as about this one."
        )
    values = np.asarray(dense(result.values[[position]])[0])
    known = np.flatnonzero(np.isfinite(residual))
    names, columns = read_table(result)
    held = dict(zip(names, (cell_text(column, position) for column in columns), strict=True))
    own = [held.get(name) for name in result.feature_names]
    return UncertainRow(
        position,
        _label(result, position),
        residual=float(residual[position]),
        baseline=float(_baselines(result)[position]),
        rank=float((residual[known] < residual[position]).mean()),
        values=values,
        usual=result[known].mean().values,
        held=None if any(text is None for text in own) else tuple(map(str, own)),
        feature_names=result.feature_names,
        neighbours=_neighbours(
            result,
            position,
            columns=dict(zip(names, columns, strict=True)),
            candidates=np.flatnonzero(residual <= confident * residual[position]),
            most=n_neighbours,
        ),
        unit=result.unit,
        frame_type=result.frame_type,
    )


def _known_residual(result: LocalImportance) -> FloatArray:
    residual = result.residual
    if residual is None:
        raise ValueError(
            "uncertain rows are those with the largest residual, and this result has none: values "
            f"of measure {result.measure!r} add up to no fixed total. Use measure='loss'."
        )
    if not (np.isfinite(residual).any() and all(result.shape)):
        raise ValueError(
            "uncertain rows need at least one feature and one row whose residual is known; got "
            "none. Explain some rows."
        )
    if not np.nanmax(residual) > 0:
        raise ValueError(
            "no row is uncertain: no residual is above 0. Fully grown trees leave nothing of the "
            "rows that they were grown on; use lm.honest_mdi(model, X, y, measure='loss')."
        )
    return residual


def _baselines(result: LocalImportance) -> FloatArray:
    level = np.nan if result.baseline is None else result.baseline
    return np.asarray(np.broadcast_to(level, len(result)), dtype=np.float64)


def _label(result: LocalImportance, position: int) -> Any:
    return position if result.row_labels is None else result.row_labels[position]


def _left(residual: float, baseline: float, *, symbol: str) -> str:
    before, left = (number_text(level, 3) for level in (baseline, residual))
    if residual > baseline:
        return f"{with_unit(left, symbol)} left ({before} before)"
    return f"{left} of {with_unit(before, symbol)} left"


def _neighbours(
    result: LocalImportance,
    position: int,
    *,
    columns: dict[str, DataColumn],
    candidates: IntArray,
    most: int,
) -> tuple[Neighbour, ...]:
    """Return confident rows, those that differ in the fewest columns first, then the nearest."""
    candidates = candidates[candidates != position]
    # Behind a pipeline the columns are not the features, and all of them may matter.
    used = np.nan_to_num(dense(abs(result.values).max(axis=0))).ravel() > 0
    idle = {name for name, asked in zip(result.feature_names, used, strict=True) if not asked}
    names = [name for name in columns if name not in idle]
    distance = np.zeros((len(candidates), len(names)))
    for j, name in enumerate(names):
        distance[:, j] = _distance(columns[name], position, candidates=candidates)
    differs = distance > _ALIKE
    order = np.lexsort((distance.sum(axis=1), differs.sum(axis=1)))
    residual = _known_residual(result)
    found = []
    for i in order[:most]:
        row = int(candidates[i])
        chosen = [names[j] for j in np.flatnonzero(differs[i])]
        apart = {
            name: (cell_text(columns[name], row), cell_text(columns[name], position))
            for name in chosen
        }
        found.append(
            Neighbour(row, _label(result, row), residual=float(residual[row]), differs=apart)
        )
    return tuple(found)


def _distance(column: DataColumn, position: int, *, candidates: IntArray) -> FloatArray:
    """Return how far rows are from one: 0 to 1 for categories, in spans of most rows else."""
    own, others = column.position[position], column.position[candidates]
    if column.categories is not None and column.raw.dtype.kind != "M":
        apart = np.asarray(others != own, dtype=np.float64)
    else:
        apart = np.abs(others - own) / _span(column.position)
    both = np.isnan(others) & np.isnan(own)
    return np.where(both, 0.0, np.where(np.isnan(apart) | np.isnan(others), 1.0, apart))


def _span(numbers: FloatArray) -> float:
    known = numbers[np.isfinite(numbers)]
    low, high = np.percentile(known, _SPAN) if len(known) else (0.0, 0.0)
    width = high - low or (np.ptp(known) if len(known) else 0.0)
    return float(width) if width > 0 else 1.0
