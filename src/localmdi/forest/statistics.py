"""Node statistics from rows: route them, add up, and measure the impurity of every node."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from localmdi import _core
from localmdi._criteria import criterion_names, find_criterion
from localmdi._text import count
from localmdi._validation import (
    RowRules,
    check_names,
    check_sample_weight,
    check_target,
    count_threads,
    read_encoded_rows,
)
from localmdi.forest.end_sums import EndSums
from localmdi.forest.packing import Packing
from localmdi.forest.schema import STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest.forest import Forest
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray, RowsLike

__all__ = ["NodeStatistics"]

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
        new = type(self).__new__(type(self))
        vars(new).update(vars(self))
        new._sums = replace(self._sums, classes=list(self._sums.classes))
        if new._sums.sums is not None:
            new._sums.sums = new._sums.sums.copy()
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
        for field in STRUCTURE:
            found.update(np.ascontiguousarray(getattr(forest, field)).data)
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
