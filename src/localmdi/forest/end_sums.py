"""Sums over the rows that end in each node, added up in parts and in any order.

All that statistics of nodes need is a sum over rows: of weights by class, or of w, wy and wy². Sums
that could be rounded are kept as pairs of doubles, some 106 bits (``double_double.hpp``), so that
how rows are cut into parts does not show, and no common centre of y must be known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi import _core
from localmdi._text import count, quote_names
from localmdi._validation import find_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi._criteria import Criterion
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["EndSums", "NodeMoments", "RowTargets"]

# Whole numbers up to here add up in a double without rounding.
_WHOLE = 2.0**53


class RowTargets(NamedTuple):
    """What rows add: their weight, in the columns of their classes or with their numbers."""

    weight: FloatArray
    column: AnyArray | None
    value: FloatArray | None

    def part(self, start: int, stop: int) -> RowTargets:
        """Return what the rows start..stop add."""
        return RowTargets(
            self.weight[start:stop],
            None if self.column is None else self.column[start:stop],
            None if self.value is None else self.value[start:stop],
        )


class NodeMoments(NamedTuple):
    """Statistics of some nodes, from the sums of all rows that reach them."""

    weight: FloatArray
    impurity: FloatArray
    value: FloatArray


@dataclass(eq=False)
class EndSums:
    """The sums of one forest's nodes for one criterion.

    Parameters
    ----------
    criterion : Criterion
        What the sums are for.
    n_nodes : int
        Number of nodes of the forest.
    classes : list of ndarray
        The sorted labels of each output so far; empty for numbers.
    fixed : bool
        Whether labels that are not among the classes are an error.
    n_outputs : int or None
        Number of outputs; None: not known yet.
    sums : ndarray of shape (n_nodes, n_sums, n_parts), or None
        A column per class of each output, or w and then wy and wy² of each output; None: no row
        has been added. Two parts make a number of twice the digits.
    total : float
        The weight of all rows.
    """

    criterion: Criterion
    n_nodes: int
    classes: list[AnyArray] = field(default_factory=list)
    fixed: bool = False
    n_outputs: int | None = None
    sums: FloatArray | None = None
    total: float = 0.0

    def accept(self, target: AnyArray, weight: FloatArray) -> tuple[RowTargets, FloatArray]:
        """Check the targets of rows; return what the rows add, and the sums with room for it."""
        outputs = target[:, None] if target.ndim == 1 else target
        if self.criterion.target == "numbers":
            value = _read_numbers(outputs, self.criterion)
            self._accept_outputs(outputs.shape[1])
            self.total += float(weight.sum())
            room = self._make_room(1 + 2 * outputs.shape[1], n_parts=2)
            return RowTargets(weight, None, value), room
        found = [_read_classes(output) for output in outputs.T]
        self._accept_outputs(outputs.shape[1])
        self._accept_classes([labels for labels, _ in found])
        total = self.total + float(weight.sum())
        whole = total < _WHOLE and bool((weight == np.rint(weight)).all())
        room = self._make_room(sum(map(len, self.classes)), n_parts=1 if whole else 2)
        self.total = total
        column = np.empty(outputs.shape, dtype=np.int32)
        for k, (labels, codes) in enumerate(found):
            place = self._starts[k] + np.searchsorted(self.classes[k], labels)
            column[:, k] = place[codes]
        return RowTargets(weight, column, None), room

    def merge(self, other: EndSums) -> None:
        """Add the sums of other rows."""
        if other.sums is None or other.n_outputs is None:
            return
        self._accept_outputs(other.n_outputs)
        self._accept_classes(other.classes)
        theirs = other._spread(self.classes) if self.classes else other.sums
        total = self.total + other.total
        n_parts = 2 if total >= _WHOLE else theirs.shape[2]
        mine = self._make_room(theirs.shape[1], n_parts=n_parts)
        theirs = np.ascontiguousarray(_in_parts(theirs, mine.shape[2]))
        if mine.shape[2] == 1:
            mine += theirs
        else:
            _core.merge_sums(mine, theirs)
        self.total = total

    def moments(self, sums: FloatArray) -> NodeMoments:
        """Return the statistics of nodes from the sums of all rows that reach them."""
        if self.criterion.target == "numbers":
            moments = np.empty((len(sums), (sums.shape[1] - 1) // 2, 4))
            _core.center_moments(sums, moments)
            weight = moments[:, 0, 1]
            each = [self.criterion.impurity(output[:, 1:]) for output in moments.swapaxes(0, 1)]
            divisor = np.where(weight > 0, weight, 1.0)[:, None]
            value = moments[:, :, 0] + moments[:, :, 2] / divisor
            return NodeMoments(weight, np.mean(each, axis=0), value)
        counts = sums[:, :, 0]
        parts = np.split(counts, self._starts[1:-1], axis=1)
        weight = self.criterion.weight(parts[0])
        # Multi-output impurity is the mean over outputs, as in scikit-learn.
        impurity = np.mean([self.criterion.impurity(part) for part in parts], axis=0)
        return NodeMoments(weight, impurity, counts / np.where(weight > 0, weight, 1.0)[:, None])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self.sums is not None:
            # Only nodes where a row ended: half of them are splits, and rows may be few.
            nodes = np.flatnonzero(self.sums.any(axis=(1, 2)))
            state["sums"] = (nodes, self.sums[nodes])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.sums is not None:
            nodes, sums = state["sums"]
            self.sums = np.zeros((self.n_nodes, *sums.shape[1:]))
            self.sums[nodes] = sums

    @property
    def n_values(self) -> int:
        """Number of columns of the nodes' values: one per class of each output, or per output."""
        return sum(map(len, self.classes)) if self.classes else self.n_outputs or 0

    @property
    def _starts(self) -> IntArray:
        return np.cumsum([0, *map(len, self.classes)])

    def _accept_outputs(self, n_outputs: int) -> None:
        expected = self.n_outputs or len(self.classes) or n_outputs
        if n_outputs != expected:
            raise ValueError(
                f"y must have {count(expected, 'output')}, as before; got {n_outputs}. "
                "Pass the same targets for all rows."
            )
        self.n_outputs = n_outputs

    def _accept_classes(self, found: Sequence[AnyArray]) -> None:
        """Add the labels that are new, and their columns."""
        if not self.classes:
            self.classes = list(found)
            return
        joined = [_join(*labels) for labels in zip(self.classes, found, strict=True)]
        if list(map(len, joined)) == list(map(len, self.classes)):
            return
        if self.fixed:
            raise ValueError(_unknown_label(self.classes, joined))
        if self.sums is not None:
            self.sums = self._spread(joined)
        self.classes = joined

    def _spread(self, classes: list[AnyArray]) -> FloatArray:
        """Return the sums with columns for these classes, all of ours among them."""
        assert self.sums is not None
        starts = np.cumsum([0, *map(len, classes)])
        places = [
            start + np.searchsorted(labels, ours)
            for start, labels, ours in zip(starts[:-1], classes, self.classes, strict=True)
        ]
        out = np.zeros((self.n_nodes, starts[-1], self.sums.shape[2]))
        out[:, np.concatenate(places)] = self.sums
        return out

    def _make_room(self, n_sums: int, *, n_parts: int) -> FloatArray:
        if self.sums is None:
            self.sums = np.zeros((self.n_nodes, n_sums, n_parts))
        elif self.sums.shape[2] < n_parts:
            self.sums = _in_parts(self.sums, n_parts)
        return self.sums


def _in_parts(sums: FloatArray, n_parts: int) -> FloatArray:
    if sums.shape[2] >= n_parts:
        return sums
    out = np.zeros((*sums.shape[:2], n_parts))
    out[:, :, :1] = sums
    return out


def _read_numbers(outputs: AnyArray, criterion: Criterion) -> FloatArray:
    try:
        value = np.ascontiguousarray(outputs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numeric for criterion {criterion.name!r}; got dtype {outputs.dtype}. "
            "Use criterion='entropy' or 'gini' for classes."
        ) from error
    if not np.isfinite(value).all():
        raise ValueError("y must be finite; it contains NaN or infinity. Remove those rows.")
    return value


def _read_classes(output: AnyArray) -> tuple[AnyArray, IntArray]:
    if find_missing(output).any():
        raise ValueError("y must not contain missing labels. Remove the rows that have none.")
    try:
        return np.unique(output, return_inverse=True)
    except TypeError as error:
        raise ValueError(_MIXED) from error


def _join(ours: AnyArray, theirs: AnyArray) -> AnyArray:
    """Return all labels, sorted; numbers and strings do not mix."""
    if _family(ours) != _family(theirs):
        raise ValueError(_MIXED)
    try:
        return np.union1d(ours, theirs)
    except TypeError as error:
        raise ValueError(_MIXED) from error


_MIXED = (
    "the labels in y must be of one kind, so that they can be sorted; got a mixture, such as "
    "numbers and strings. Convert them, for example to strings."
)


def _family(labels: AnyArray) -> str:
    kind = labels.dtype.kind
    if kind == "O" and len(labels):
        kind = np.asarray(labels[:1].tolist()).dtype.kind
    return "number" if kind in "biuf" else "string" if kind in "UT" else kind


def _unknown_label(classes: list[AnyArray], joined: list[AnyArray]) -> str:
    for known, labels in zip(classes, joined, strict=True):
        unknown = [label for label in labels.tolist() if label not in set(known.tolist())]
        if unknown:
            break
    return (
        f"y must hold the given classes only; {quote_names(unknown, most=3)} "
        f"{'is none' if len(unknown) == 1 else 'are none'} of {quote_names(known.tolist())}. "
        "Pass all labels in classes, or None to find them in y."
    )
