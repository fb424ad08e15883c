"""Growing: trees are added batch by batch to sums, until there are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._progress import progress_bar

if TYPE_CHECKING:
    from localmdi.typing import FloatArray

__all__ = ["Growth", "GrowthPlan", "grow"]

# Where a bar must move or a tolerance be looked at, a call of the kernel grows this many trees; a
# multiple of its chunk, so that the sums do not depend on it.
_BATCH = 64
# Standard errors from fewer chunks than this are too noisy to stop upon.
_MIN_CHUNKS = 32


@dataclass(frozen=True)
class GrowthPlan:
    """How many trees, and how.

    Examples
    --------
    >>> GrowthPlan(_core.GrowRules(), last=100).tol is None
    True
    """

    rules: _core.GrowRules
    last: int
    first: int = 0
    n_threads: int = 1
    tol: float | None = None
    progress: bool = False
    keep_trees: bool = True
    out_of_bag: bool = False


class Growth:
    """Sums over the trees grown so far.

    Parameters
    ----------
    n_rows, n_features, n_values : int
        Rows, features, and classes or outputs.
    plan : GrowthPlan
        Which sums are needed.

    Examples
    --------
    >>> Growth(3, 2, n_values=1, plan=GrowthPlan(_core.GrowRules(), last=8)).values.shape
    (3, 2)
    """

    def __init__(self, n_rows: int, n_features: int, *, n_values: int, plan: GrowthPlan) -> None:
        self.values = np.zeros((n_rows, n_features))
        self.residual = np.zeros(n_rows)
        self.feature = np.zeros((3, n_features))
        self.root = np.zeros(2)
        self.chunk_squares = None if plan.tol is None else np.zeros((n_rows, n_features))
        self.out_of_bag = np.zeros((n_rows, n_values + 1)) if plan.out_of_bag else None
        self.trees = _core.GrownTrees(n_values) if plan.keep_trees else None
        self.n_trees = 0

    def add(self, rows: Any, target: Any, *, plan: GrowthPlan, count: int) -> None:
        """Grow the next trees."""
        sums = _core.GrowSums(
            self.values, self.residual, self.feature, self.root, self.chunk_squares, self.out_of_bag
        )
        first = plan.first + self.n_trees
        _core.grow(rows, target, plan.rules, (first, count), sums, self.trees, plan.n_threads)
        self.n_trees += count

    def largest_error(self) -> float:
        """Return the largest standard error of a local importance; infinite from few trees.

        Trees are independent, so the spread of the chunks' sums tells that of the mean over trees.
        """
        n_chunks = self.n_trees // _core.GROW_CHUNK
        if self.chunk_squares is None or n_chunks < _MIN_CHUNKS:
            return float("inf")
        spread = self.chunk_squares - self.values**2 / n_chunks
        variance = float(spread.max(initial=0.0)) / (n_chunks - 1)
        return float(np.sqrt(variance * n_chunks)) / self.n_trees

    @property
    def importances_error(self) -> FloatArray:
        """Standard error over trees of the global importances; NaN for one tree."""
        total, square = self.feature[0], self.feature[1]
        if self.n_trees < 2:
            return np.full(len(total), np.nan)
        spread = np.maximum(square - total**2 / self.n_trees, 0.0)
        error: FloatArray = np.sqrt(spread / (self.n_trees - 1) / self.n_trees)
        return error


def grow(rows: Any, target: Any, *, plan: GrowthPlan, growth: Growth) -> bool:
    """Grow the trees of a plan; return whether the tolerance, if there is one, was reached.

    Examples
    --------
    >>> rows = _core.TrainingRows(np.array([[0, 1, 2]], np.float32), np.zeros(1, np.uint8),
    ...                           np.zeros(1, np.uint8), np.ones(3))
    >>> target = _core.Target(np.array([0, 0, 1], np.uint32), 2, _core.Criterion.entropy)
    >>> plan = GrowthPlan(_core.GrowRules(), last=10)
    >>> growth = Growth(3, 1, n_values=2, plan=plan)
    >>> grow(rows, target, plan=plan, growth=growth), growth.n_trees
    (True, 10)
    >>> (growth.values / growth.n_trees).ravel().round(3).tolist()
    [0.918, 0.918, 0.918]
    """
    n_trees = plan.last - plan.first
    batch = _BATCH if plan.progress or plan.tol is not None else n_trees
    with progress_bar(plan.progress, n_trees, unit="tree") as advance:
        while growth.n_trees < n_trees:
            count = min(batch, n_trees - growth.n_trees)
            growth.add(rows, target, plan=plan, count=count)
            advance(count)
            if plan.tol is not None and growth.largest_error() <= plan.tol:
                return True
    return plan.tol is None
