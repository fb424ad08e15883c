"""The sample (X, y) as the kernels see it: distinct rows and the output known in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._validation import Columns, check_names, check_sample_weight, read_columns
from localmdi.infinite.encoder import Encoder, learn_encoder
from localmdi.infinite.output import Output, read_output

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["RowsAt", "Sample", "read_sample"]

_HEAVY = 1e150  # the square of a sum of such weights would overflow


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

    Examples
    --------
    >>> sample = read_sample([[0], [1]], [0, 1])
    >>> sample.rows_at([[1], [2], [1]]).row
    array([ 1, -1])
    """

    columns: Columns
    codes: AnyArray
    row: IntArray
    inverse: IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """A categorical sample; made by `read_sample`.

    Parameters
    ----------
    columns : Columns
        X as it was given.
    encoder : Encoder
        How columns become codes.
    output : Output
        y.
    codes : ndarray of int32, shape (n_distinct, n_features)
        The distinct rows with a positive weight.
    sums : ndarray of float64, shape (n_distinct, n_slots)
        What is known of the output in each of them.
    kernel : _core.CategoricalSample
        The same for the kernels.

    Examples
    --------
    >>> read_sample([["a"], ["b"], ["a"]], [0, 1, 1]).sums
    array([[1., 1.],
           [0., 1.]])
    """

    columns: Columns
    encoder: Encoder
    output: Output
    codes: AnyArray
    sums: FloatArray
    kernel: _core.CategoricalSample

    @property
    def shape(self) -> tuple[int, int]:
        """Number of distinct rows and number of features."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def baseline(self) -> float:
        """The impurity of the whole sample."""
        return float(self.impurity(self.sums.sum(axis=0)))

    def impurity(self, sums: FloatArray) -> FloatArray:
        """Return the impurity of sums, (…, n_slots).

        Examples
        --------
        >>> sample = read_sample([[0], [1]], [0, 1])
        >>> float(sample.impurity(sample.sums.sum(axis=0)))
        1.0
        """
        if self.output.criterion == 2:
            mean = sums[..., 1] / sums[..., 0]
            return np.asarray(np.maximum(sums[..., 2] / sums[..., 0] - mean**2, 0.0))
        share = sums / sums.sum(axis=-1, keepdims=True)
        if self.output.criterion == 1:
            return np.asarray((share * (1.0 - share)).sum(axis=-1))
        bits = np.log2(share, out=np.zeros_like(share), where=share > 0)
        return np.asarray(0.0 - (share * bits).sum(axis=-1))

    def rows_at(self, at: Any) -> RowsAt:
        """Find the rows to explain among the rows of the sample; None means X itself.

        Examples
        --------
        >>> read_sample([[0], [1], [0]], [0, 1, 1]).rows_at(None).inverse
        array([0, 1, 0])
        """
        columns = self.columns if at is None else read_columns(at)
        if at is not None:
            if columns.shape[1] != self.shape[1]:
                raise ValueError(
                    f"at must have the columns of X, {self.shape[1]}; got {columns.shape[1]}. "
                    "Pass rows with the same features in the same order."
                )
            check_names(columns.names, self.columns.names)
        codes, inverse = _distinct(self.encoder.encode(columns))
        known = {row.tobytes(): i for i, row in enumerate(self.codes)}
        row = np.array([known.get(code.tobytes(), -1) for code in codes], dtype=np.int64)
        return RowsAt(columns, codes, row, inverse)


def read_sample(
    X: Any,
    y: Any,
    *,
    criterion: str = "entropy",
    sample_weight: Any = None,
    bins: Any = None,
    missing: str = "error",
) -> Sample:
    """Check and encode a sample; rows of weight zero do not belong to it.

    Examples
    --------
    >>> read_sample([[0], [1]], [0, 1], sample_weight=[1, 0]).shape
    (1, 1)
    """
    columns = read_columns(X)
    n, p = columns.shape
    if n == 0 or p == 0:
        raise ValueError(
            f"X must have at least one row and one feature; got shape {(n, p)}. "
            "Pass the sample that a forest would be grown on."
        )
    output = read_output(y, n, criterion=criterion)
    weight = check_sample_weight(sample_weight, n)
    if weight.max() > _HEAVY / n:
        weight = weight / weight.max()
    encoder = learn_encoder(columns, bins=bins, missing=missing)
    used = np.flatnonzero(weight > 0)
    codes, inverse = _distinct(encoder.encode(columns)[used])
    part = Output(output.criterion, output.label[used], None, output.n_classes)
    if output.numbers is not None:
        part = Output(output.criterion, part.label, output.numbers[used], output.n_classes)
    sums = part.sums(inverse, len(codes), weight=weight[used])
    return Sample(
        columns, encoder, output, codes, sums, _kernel(codes, part, inverse=inverse, sums=sums)
    )


def _distinct(codes: AnyArray) -> tuple[AnyArray, IntArray]:
    # Rows as blocks of bytes sort much faster than np.unique over an axis.
    codes = np.ascontiguousarray(codes)
    if len(codes) == 0:
        return codes, np.empty(0, dtype=np.int64)
    block = codes.view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).ravel()
    _, first, inverse = np.unique(block, return_index=True, return_inverse=True)
    return codes[first], inverse.ravel().astype(np.int64)


def _kernel(
    codes: AnyArray, output: Output, *, inverse: IntArray, sums: FloatArray
) -> _core.CategoricalSample:
    smallest = np.full(len(codes), output.n_classes, dtype=np.int32)
    largest = np.full(len(codes), -1, dtype=np.int32)
    np.minimum.at(smallest, inverse, output.label.astype(np.int32))
    np.maximum.at(largest, inverse, output.label.astype(np.int32))
    keep = np.ones(sums.shape, dtype=bool) if output.numbers is not None else sums > 0
    row, slot = np.nonzero(keep)
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(codes)))])
    return _core.CategoricalSample(
        codes,
        offset.astype(np.int64),
        slot.astype(np.int32),
        sums[row, slot],
        np.where(smallest == largest, smallest, -1).astype(np.int32),
        output.n_slots,
        _core.Criterion(output.criterion),
    )
