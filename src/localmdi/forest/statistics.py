"""Node statistics from rows: route them, add up, and measure the impurity of every node.

All that is needed is a sum over the rows that end in each node: of weights by class, or of w, wy
and wy². Sums that could be rounded are kept as pairs of doubles, some 106 bits
(``double_double.hpp``), so that neither the order of the rows nor how they are cut into parts
shows, and no common centre of y must be known beforehand.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from localmdi import _core
from localmdi._criteria import criterion_names, find_criterion
from localmdi._text import count, quote_names
from localmdi._validation import (
    RowRules,
    check_names,
    check_sample_weight,
    check_target,
    count_threads,
    find_missing,
    read_encoded_rows,
)
from localmdi.forest.packing import Packing
from localmdi.forest.rules import STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi._criteria import Criterion
    from localmdi.forest.forest import Forest
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray, RowsLike

# So many sums are worked on at a time.
_BLOCK = 1 << 21


class NodeStatistics:
    """Weights, impurities and values of a forest's nodes, from rows that come in parts.

    Rows are added part by part, on one machine or on many, and the parts are merged. Neither their
    order nor how the rows are cut into parts changes the result: counts are exact, and other sums
    keep twice the digits of a double. `Forest.with_statistics` is one part alone.

    Parameters
    ----------
    forest : Forest
        The trees; only where they send a row counts, not the statistics that they have.
    criterion : {"entropy", "log_loss", "gini", "squared_error", "variance"} or None
        The impurity; None: the forest's own.
    classes : array-like, a sequence of array-likes for several outputs, or None
        The labels of y, for a criterion of classes; another label is then an error. None: those
        that are found, and parts may have seen different ones.

    Attributes
    ----------
    criterion : str
        The impurity.
    n_rows : int
        Number of rows added so far.

    Notes
    -----
    A pickle holds the sums of the nodes where rows ended, and a fingerprint of the trees instead of
    the forest, so that parts are cheap to send. Send the forest once to each worker, and merge
    what comes back into ``NodeStatistics(forest)``. A copy (``copy.copy``) shares the forest and
    what has been prepared of it; one that is still empty serves as the beginning of every part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from localmdi import NodeStatistics, as_forest
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((1000, 3)), rng.integers(0, 2, 1000)
    >>> forest = as_forest(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:50], y[:50]))
    >>> whole = NodeStatistics(forest).add(X, y)
    >>> parts = [NodeStatistics(forest).add(X[i::4], y[i::4]) for i in range(4)]
    >>> merged = NodeStatistics(forest)
    >>> for part in parts:
    ...     _ = merged.merge(part)
    >>> merged
    NodeStatistics: 1,000 rows at the nodes of 1 tree, gini
    >>> merged.forest() == whole.forest() == forest.with_statistics(X, y)
    True
    """

    def __init__(
        self, forest: Forest, criterion: str | None = None, *, classes: Any = None
    ) -> None:
        if not hasattr(forest, "node_table"):
            raise TypeError(
                f"forest must be a Forest; got a {type(forest).__name__}. Pass as_forest(model)."
            )
        self.criterion = forest.criterion if criterion is None else criterion
        measured = find_criterion(self.criterion, among=criterion_names(computed=True))
        if classes is not None and measured.target != "classes":
            raise ValueError(
                f"classes must be None for criterion {self.criterion!r}, which measures numbers. "
                "Leave it out, or use criterion='entropy' or 'gini'."
            )
        labels = [] if classes is None else _read_labels(classes)
        self._forest: Forest | None = forest
        self._sums = EndSums(measured, forest.n_nodes, labels, fixed=classes is not None)
        self._complete = True
        self.n_rows = 0

    def __repr__(self) -> str:
        trees = "" if self._forest is None else f" of {count(self._forest.n_trees, 'tree')}"
        return f"NodeStatistics: {count(self.n_rows, 'row')} at the nodes{trees}, {self.criterion}"

    def __getstate__(self) -> dict[str, Any]:
        self._check_complete()
        return {
            "criterion": self.criterion,
            "n_rows": self.n_rows,
            "_fingerprint": self._fingerprint,
            "_sums": self._sums,
            "_complete": True,
            "_forest": None,
        }

    def __copy__(self) -> Self:
        return self._of(vars(self) | {"_sums": self._sums.copy()})

    @classmethod
    def _of(cls, own: dict[str, Any]) -> Self:
        new = cls.__new__(cls)
        vars(new).update(own)
        return new

    def add(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Self:
        """Send rows down every tree and add them to the nodes that they reach.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or pandas, polars or pyarrow table
            The rows; there may be none.
        y : array-like, shape (n_rows,) or (n_rows, n_outputs)
            Their targets.
        sample_weight : array-like, shape (n_rows,), or None
            Weights of the rows.
        n_jobs : int or None
            Number of threads, as in `local_mdi`.

        Returns
        -------
        NodeStatistics
            This one.

        Examples
        --------
        >>> from localmdi import NodeStatistics, build_forest
        >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
        ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2],
        ...     child=[1, 2])
        >>> NodeStatistics(stump, "entropy").add([[0], [1]], ["a", "b"]).add([[1]], ["b"])
        NodeStatistics: 3 rows at the nodes of 1 tree, entropy
        """
        packing = self._packing
        forest = packing.forest
        rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
        if rows.names is not None and forest.feature_names is not None:
            check_names(rows.names, forest.feature_names)
        n_rows = rows.shape[0]
        target = check_target(y, n_rows)
        weight = check_sample_weight(sample_weight, n_rows, all_zero=True)
        n_threads = count_threads(n_jobs)
        if n_rows == 0 or rows.batch_rows < n_rows:
            packing.check(rows, RowRules())  # so that no row is added if a later one is refused
        if n_rows == 0:
            return self
        batches = packing.batches(rows, RowRules())
        checked = next(batches)
        targets, sums = self._sums.accept(target, weight)
        with self._unfinished():
            for start, stop, batch in chain([checked], batches):
                part = targets.part(start, stop)
                packing.kernel.add_end_sums(
                    packing.rows(batch), *part, sums=sums, n_threads=n_threads
                )
        self.n_rows += n_rows
        return self

    def merge(self, other: NodeStatistics) -> Self:
        """Add the rows of other statistics of the same trees.

        Parameters
        ----------
        other : NodeStatistics
            It stays as it is.

        Returns
        -------
        NodeStatistics
            This one.

        Examples
        --------
        >>> import pickle
        >>> from localmdi import NodeStatistics, build_forest
        >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
        ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2],
        ...     child=[1, 2])
        >>> sent = pickle.dumps(NodeStatistics(stump, "variance").add([[0], [1]], [1.0, 3.0]))
        >>> whole = NodeStatistics(stump, "variance").add([[1]], [5.0])
        >>> whole.merge(pickle.loads(sent)).forest().weight
        array([3., 1., 2.])
        """
        if not isinstance(other, NodeStatistics):
            raise TypeError(
                f"other must be a NodeStatistics; got a {type(other).__name__}. "
                "Merge statistics of parts of the rows, each made by add."
            )
        self._check_complete()
        other._check_complete()
        if other._sums.criterion.name != self._sums.criterion.name:
            raise ValueError(
                f"other must be measured by criterion {self.criterion!r}; got "
                f"{other.criterion!r}. Use one criterion for all parts."
            )
        same = self._forest is not None and self._forest is other._forest
        if not same and self._fingerprint != other._fingerprint:
            raise ValueError(
                "other must belong to the same trees; its forest is another. "
                "Make all parts with one forest."
            )
        self._sums.merge(other._sums)
        self.n_rows += other.n_rows
        return self

    def forest(self) -> Forest:
        """Return the forest with the statistics of all rows added so far.

        A node that no row reached takes its parent's impurity and value: nothing is known to change
        there. More rows may be added afterwards.

        Returns
        -------
        Forest

        Examples
        --------
        >>> from localmdi import NodeStatistics, build_forest
        >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
        ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2],
        ...     child=[1, 2])
        >>> statistics = NodeStatistics(stump, "variance")
        >>> statistics.add([[0], [0]], [1.0, 3.0]).add([[1]], [8.0]).forest().impurity
        array([8.66666667, 1.        , 0.        ])
        """
        self._check_complete()
        forest, sums = self._trees(), self._sums
        if sums.sums is None or sums.total <= 0:
            raise ValueError(
                "statistics need rows: sample_weight must be not all zero, and there must be at "
                f"least one row; got {count(self.n_rows, 'row')} of total weight "
                f"{sums.total:g}. Add rows first."
            )
        weight, impurity = np.empty(forest.n_nodes), np.empty(forest.n_nodes)
        value = np.empty((forest.n_nodes, sums.n_values))
        for nodes, part in self._blocks(sums.sums):
            weight[nodes], impurity[nodes], value[nodes] = sums.moments(part)
        if not np.isfinite(impurity).all():
            raise ValueError(
                "the sums of y² must be finite; y or sample_weight is too large. Scale it down."
            )
        nearest = _nearest_visited(forest, weight)
        return replace(
            forest,
            weight=weight,
            impurity=impurity[nearest],
            value=value[nearest],
            criterion=self.criterion,
            classes=tuple(sums.classes) or None,
            aggregation="mean",
            base_value=None,
        )

    def _blocks(self, sums: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield nodes of whole trees with the sums of the rows that reach them."""
        forest = self._trees()
        offset = forest.tree_offset
        first = 0
        while first < forest.n_trees:
            end = offset[first] + max(1, _BLOCK // sums[0].size)
            last = max(first + 1, int(np.searchsorted(offset, end, side="right")) - 1)
            nodes = slice(int(offset[first]), int(offset[last]))
            part = sums[nodes].copy()
            _core.add_subtrees(forest.node_table, first, last, part)
            yield nodes, part
            first = last

    @cached_property
    def _packing(self) -> Packing:
        return Packing(self._trees())

    @cached_property
    def _fingerprint(self) -> bytes:
        """What tells one table of nodes from another."""
        forest = self._trees()
        found = hashlib.blake2b(f"{forest.n_features} {forest.row_dtype}".encode(), digest_size=16)
        for name in STRUCTURE:
            found.update(np.ascontiguousarray(getattr(forest, name)).data)
        return found.digest()

    def _trees(self) -> Forest:
        if self._forest is None:
            raise ValueError(
                "these statistics came without their forest, as pickles of them do. "
                "Use NodeStatistics(forest).merge(statistics)."
            )
        return self._forest

    def _check_complete(self) -> None:
        if not self._complete:
            raise ValueError(
                "these statistics are incomplete, because adding rows to them was interrupted. "
                "Begin again with a new NodeStatistics."
            )

    @contextmanager
    def _unfinished(self) -> Iterator[None]:
        self._check_complete()
        self._complete = False
        yield
        self._complete = True


def _read_labels(classes: Any) -> list[AnyArray]:
    lists = classes if isinstance(classes, list | tuple) or np.ndim(classes) > 0 else ()
    several = bool(len(lists)) and all(np.ndim(labels) == 1 for labels in lists)
    found = [np.unique(np.asarray(labels)) for labels in (lists if several else [lists])]
    if any(len(labels) == 0 for labels in found):
        raise ValueError(
            "classes must be a list of labels, or one list for every output; got "
            f"{classes!r:.60}. Pass for example classes=[0, 1]."
        )
    return found


def _nearest_visited(forest: Forest, node_weight: FloatArray) -> IntArray:
    """For each node the nearest node at or above it that a row reached (itself, mostly)."""
    parent = np.arange(forest.n_nodes)
    parent[forest.child] = np.repeat(parent, np.diff(forest.child_offset))
    above = np.where(node_weight > 0, np.arange(forest.n_nodes), parent)
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further


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

    def copy(self) -> EndSums:
        """Return sums that can be added to on their own."""
        sums = None if self.sums is None else self.sums.copy()
        return replace(self, classes=list(self.classes), sums=sums)

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
