"""The sample (X, y) as the kernels see it: distinct rows, and what is known of y in each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from localmdi import _core
from localmdi._criteria import Criterion, criterion_names, find_criterion
from localmdi._validation import (
    Columns,
    check_names,
    check_sample_weight,
    check_target,
    find_missing,
    learn_categories,
    read_columns,
)
from localmdi.infinite.encoder import Encoder, learn_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.infinite.encoder import Bins, Codes, Missing, Numeric
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray, RowsLike

_HEAVY = 1e150  # the square of a sum of such weights would overflow


@dataclass(frozen=True, eq=False)
class Output:
    """One output of every row of a sample; made by `read_outputs`.

    Parameters
    ----------
    criterion : Criterion
        The impurity; it says which sums are needed.
    label : ndarray of int64
        The class, or the number of the distinct value, of every row.
    numbers : ndarray of float64 or None
        For the variance: the values, minus their mean so that squares keep their digits.
    n_classes : int
        Number of distinct values.
    """

    criterion: Criterion
    label: IntArray
    numbers: FloatArray | None
    n_classes: int

    @property
    def n_sums(self) -> int:
        """How many sums an impurity needs: one per class, or weight, sum and sum of squares."""
        return 3 if self.numbers is not None else self.n_classes

    def of_rows(self, rows: IntArray) -> Output:
        """Return the output of some rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, label=self.label[rows], numbers=numbers)

    def sums(self, group: IntArray, n_groups: int, *, weight: FloatArray) -> FloatArray:
        """Return the sums of groups of rows, (n_groups, n_sums).

        Examples
        --------
        >>> (output,) = read_outputs(["no", "yes", "yes"], 3, criterion="entropy")
        >>> output.sums(np.array([0, 0, 1]), 2, weight=np.ones(3))
        array([[1., 1.],
               [0., 1.]])
        """
        if self.numbers is not None:
            parts = (weight, weight * self.numbers, weight * self.numbers**2)
            return np.stack([np.bincount(group, part, n_groups) for part in parts], axis=1)
        cell = group * self.n_sums + self.label
        sums: FloatArray = np.bincount(cell, weight, n_groups * self.n_sums).astype(np.float64)
        return sums.reshape(n_groups, self.n_sums)


@dataclass(frozen=True, eq=False)
class RowsAt:
    """The rows to explain.

    Parameters
    ----------
    columns : Columns
        As they were given.
    codes : ndarray of int32, shape (n_distinct, n_features)
        The distinct ones among them.
    row : ndarray of int64, shape (n_distinct,)
        Their positions among the distinct rows of the sample; −1 if they are not in it.
    inverse : ndarray of int64, shape (n_rows,)
        Which of the distinct ones each row is.
    numbers : ndarray of float64, shape (n_distinct, n_numeric)
        The numeric features of the distinct ones.

    Examples
    --------
    >>> (sample,) = read_samples([[0], [1]], [0, 1])
    >>> sample.rows_at([[1], [2], [1]]).row
    array([ 1, -1])
    """

    columns: Columns
    codes: Codes
    row: IntArray
    inverse: IntArray
    numbers: FloatArray

    def select(self, chosen: IntArray) -> RowsAt:
        """Return some of the distinct rows."""
        of = {name: getattr(self, name)[chosen] for name in ("codes", "row", "numbers")}
        return replace(self, inverse=np.arange(len(chosen)), **of)


@dataclass(frozen=True, eq=False)
class Sample:
    """A categorical sample with one output; made by `read_samples`, one for each output.

    Parameters
    ----------
    given : RowsAt
        The rows of X, those of weight zero included.
    row_weight : ndarray of float64, shape (n_rows,), or None
        `sample_weight` as it was given.
    encoder : Encoder
        How columns become codes.
    output : Output
        y of the rows with a positive weight.
    group : ndarray of int64
        Which of the distinct ones each of these rows is.
    weight : ndarray of float64
        What each of them weighs.
    """

    given: RowsAt
    row_weight: FloatArray | None
    encoder: Encoder
    output: Output
    group: IntArray
    weight: FloatArray

    @cached_property
    def codes(self) -> Codes:
        """The distinct rows with a positive weight, (n_distinct, n_features)."""
        return self.given.codes[self.given.row >= 0]

    @cached_property
    def sums(self) -> FloatArray:
        """What is known of the output in each of them, (n_distinct, n_sums)."""
        return self.output.sums(self.group, len(self.codes), weight=self.weight)

    @cached_property
    def kernel(self) -> _core.Sample:
        """The same for the kernels."""
        label, n = self.output.label.astype(np.int32), len(self.codes)
        smallest = np.full(n, self.output.n_classes, dtype=np.int32)
        largest = np.full(n, -1, dtype=np.int32)
        np.minimum.at(smallest, self.group, label)
        np.maximum.at(largest, self.group, label)
        keep = (self.sums > 0) | (self.output.numbers is not None)
        row, slot = np.nonzero(keep)
        offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        return _core.Sample(
            self.codes,
            offset.astype(np.int64),
            slot.astype(np.int32),
            self.sums[row, slot],
            np.where(smallest == largest, smallest, -1).astype(np.int32),
            self.output.n_sums,
            _core.Criterion(self.output.criterion.kernel),
        )

    @cached_property
    def mixed(self) -> _core.Sample | None:
        """The same with the numeric features, if there are any."""
        numeric = self.encoder.numeric
        if not numeric:
            return None
        column = np.full(len(self.encoder.names), -1, dtype=np.int32)
        column[list(numeric)] = np.arange(len(numeric))
        numbers = self.given.numbers[self.given.row >= 0]
        return _core.Sample(self.kernel, np.ascontiguousarray(numbers), column)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of distinct rows and number of features."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def unit(self) -> str:
        """The unit of the impurity."""
        return self.output.criterion.unit

    @cached_property
    def baseline(self) -> float:
        """The impurity of the whole sample."""
        return float(self.impurity(self.sums.sum(axis=0, keepdims=True))[0])

    def impurity(self, sums: FloatArray) -> FloatArray:
        """Return the impurities of sums, (n, n_sums)."""
        return self.output.criterion.impurity(sums)

    def rows_at(self, at: RowsLike | None) -> RowsAt:
        """Find the rows to explain among the rows of the sample; None means X itself."""
        if at is None:
            return self.given
        columns = read_columns(at)
        if columns.shape[1] != self.shape[1]:
            raise ValueError(
                f"at must have the columns of X, {self.shape[1]}; got {columns.shape[1]}. "
                "Pass rows with the same features in the same order."
            )
        check_names(columns.names, self.given.columns.names)
        every, measured = self.encoder.encode(columns), self.encoder.numbers(columns)
        # Numbers outside the sample have no code, so that their bits tell rows apart.
        first, inverse = _distinct(np.hstack([every, measured.view(np.int32)]))
        codes, numbers = every[first], measured[first]
        known = {row.tobytes(): i for i, row in enumerate(self.codes)}
        row = np.array([known.get(code.tobytes(), -1) for code in codes], dtype=np.int64)
        return RowsAt(columns, codes, row, inverse, numbers)


def read_samples(
    X: RowsLike,
    y: ArrayLike,
    *,
    criterion: str = "entropy",
    sample_weight: ArrayLike | None = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    numeric_features: Numeric | None = None,
) -> list[Sample]:
    """Check and encode a sample, once for all outputs; rows of weight zero do not belong to it.

    Examples
    --------
    >>> (sample,) = read_samples([["a"], ["b"], ["a"]], [0, 1, 1], sample_weight=[1, 0, 1])
    >>> sample.codes, sample.sums, sample.given.row
    (array([[0]], dtype=int32), array([[1., 1.]]), array([ 0, -1]))
    """
    columns = read_columns(X)
    n, p = columns.shape
    if n == 0 or p == 0:
        raise ValueError(
            f"X must have at least one row and one feature; got shape {(n, p)}. "
            "Pass the sample that a forest would be grown on."
        )
    outputs = read_outputs(y, n, criterion=criterion)
    weight = check_sample_weight(sample_weight, n, any_sum=True)
    row_weight = None if sample_weight is None else weight
    if weight.max() > _HEAVY / n:
        weight = weight / weight.max()
    encoder, every = learn_encoder(
        columns, bins=bins, missing=missing, numeric_features=numeric_features
    )
    for note in encoder.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    first, inverse = _distinct(every)
    distinct, numbers = every[first], encoder.numbers(columns)[first]
    used = np.flatnonzero(weight > 0)
    belongs = np.bincount(inverse[used], minlength=len(distinct)) > 0
    row = np.where(belongs, np.cumsum(belongs) - 1, -1)
    given = RowsAt(columns, distinct, row, inverse, numbers)
    group, weight = row[inverse[used]], weight[used]
    return [
        Sample(given, row_weight, encoder, output.of_rows(used), group, weight)
        for output in outputs
    ]


def read_outputs(y: ArrayLike, n_rows: int, *, criterion: str) -> list[Output]:
    """Check y against the criterion; every column of a table is an output.

    Examples
    --------
    >>> [output.n_classes for output in read_outputs([["a", 0], ["b", 0]], 2, criterion="gini")]
    [2, 1]
    >>> read_outputs([0.5, 1.5], 2, criterion="entropy")
    Traceback (most recent call last):
        ...
    ValueError: y must hold classes for criterion 'entropy'; got measured numbers. ...
    """
    found = find_criterion(criterion, among=criterion_names(computed=True))
    target = check_target(y, n_rows)
    if target.ndim == 1:
        return [_read_output(target, found)]
    if target.shape[1] == 0:
        raise ValueError(
            f"y must have at least one output; got shape {target.shape}. Pass one value per row, "
            "or a column for each output."
        )
    return [_read_output(_plain(column), found) for column in target.T]


def _plain(column: AnyArray) -> AnyArray:
    """Return numbers as numbers: the columns of a table of several kinds are all objects."""
    plain = np.asarray(column.tolist()) if column.dtype.kind == "O" else column
    return plain if plain.dtype.kind in "biuf" else column


def _read_output(target: AnyArray, criterion: Criterion) -> Output:
    if find_missing(target).any():
        raise ValueError("y must not contain missing values. Remove the rows without a value.")
    numbers = _check_numbers(target) if criterion.target == "numbers" else None
    if numbers is None and target.dtype.kind == "f" and (target != np.floor(target)).any():
        raise ValueError(
            f"y must hold classes for criterion {criterion.name!r}; got measured numbers. "
            "Use criterion='variance', or cut y into classes."
        )
    learned = learn_categories(target)
    return Output(criterion, learned.encode(target), numbers, len(learned.values))


def joint_output(outputs: Sequence[Output]) -> Output:
    """Return all outputs as one, in whose trees a path ends where every output is known.

    Examples
    --------
    >>> joint_output(read_outputs([[0, 0], [0, 1], [0, 1]], 3, criterion="gini")).label
    array([0, 1, 1])
    """
    labels = np.stack([output.label for output in outputs])
    distinct, label = np.unique(labels, axis=1, return_inverse=True)
    label = label.ravel().astype(np.int64)
    # The variance needs three sums, however many combinations there are.
    numbers = label - label.mean()
    return Output(find_criterion("variance"), label, numbers, distinct.shape[1])


def _check_numbers(target: AnyArray) -> FloatArray:
    try:
        numbers = target.astype(np.float64) if target.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or not np.isfinite(numbers).all():
        raise ValueError(
            "y must hold finite numbers for criterion 'variance'; got other values. "
            "Use criterion='entropy' or 'gini' for classes."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        centred: FloatArray = numbers - numbers.mean()
        if not np.isfinite(centred @ centred):
            raise ValueError(
                "the squares of y must have a finite sum; got numbers too large. Rescale y."
            )
    return centred


def _distinct(codes: Codes) -> tuple[IntArray, IntArray]:
    """Return the first of every kind of row, and of which kind each row is."""
    # Rows as blocks of bytes sort much faster than np.unique over an axis.
    codes = np.ascontiguousarray(codes)
    if len(codes) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    block = codes.view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).ravel()
    _, first, inverse = np.unique(block, return_index=True, return_inverse=True)
    return first, inverse.ravel().astype(np.int64)
