"""Importances at the distinct rows that were asked for: exact where that is cheap, else sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.infinite.exact import Run, exact_profile, exact_rows, unseen_rows
from localmdi.infinite.plan import BUDGET, LIMIT, Plan, cheapest, refuse
from localmdi.infinite.sampled import Stopping, sampled_rows

if TYPE_CHECKING:
    from localmdi.infinite.sample import RowsAt, Sample
    from localmdi.typing import FloatArray, IntArray

__all__ = ["Search"]

# A forward pass over row sets keeps them all in memory: this many operations are some 100 MB.
_MAX_ROW_SET_OPERATIONS = 1e8
_MAX_BYTES = 8e9


class Search:
    """The numbers at distinct rows, filled in way by way.

    Parameters
    ----------
    sample : Sample
        The sample.
    rows : RowsAt
        The rows to explain.
    method : {"auto", "exact", "sampled"}
        What is allowed.
    unseen : {"skip", "stop", "tree"}
        What to do where the sample has no row with x's value.
    run : Run
        Threads and progress.

    Examples
    --------
    >>> from localmdi.infinite.sample import read_sample
    >>> sample = read_sample([[0], [1]], [0, 1])
    >>> search = Search(sample, sample.rows_at(None), method="exact", unseen="skip", run=Run())
    >>> search.find_exact()
    >>> search.values, search.left
    (array([[1.],
           [1.]]), array([], dtype=int64))
    """

    def __init__(self, sample: Sample, rows: RowsAt, *, method: str, unseen: str, run: Run) -> None:
        self.sample, self.rows, self.run = sample, rows, run
        self.method, self.unseen = method, unseen
        n, p = len(rows.codes), sample.shape[1]
        self.values: FloatArray = np.zeros((n, p))
        self.standard_error: FloatArray = np.zeros((n, p))
        self.residual: FloatArray = np.zeros(n)
        self.support: FloatArray = np.ones(n)
        self.profile: FloatArray | None = None
        self.methods: tuple[str, ...] = ()
        self.left: IntArray = np.arange(n)
        # Paths hold, for every feature, a bit for each row that shares x's value.
        if 2.0 * sample.sums.size * p / 8 > _MAX_BYTES:
            raise ValueError(
                f"X must be small enough for its bits to fit {_MAX_BYTES / 1e9:.0f} GB; got "
                f"{sample.shape[0]} distinct rows of {p} features. Leave out features or rows."
            )

    def find_exact(self) -> None:
        """Fill in what can be exact within the budget."""
        if self.method == "sampled":
            return
        known = self.rows.row >= 0
        self._find_known(np.flatnonzero(known))
        self._find_unseen(np.flatnonzero(~known))

    def find_profile(self) -> None:
        """Fill in exact values by size of the context."""
        rows = self.rows.row
        if self.method == "sampled" or (rows < 0).any():
            given = "method='sampled'" if self.method == "sampled" else "rows that are not in X"
            raise ValueError(
                "profile=True needs exact values at rows of the sample (the size of a context is "
                f"defined for them); got {given}. Pass method='exact' and rows of X."
            )
        plan = cheapest(self.sample, rows, all_features=True)
        if plan.operations > LIMIT:
            raise refuse(plan)
        self.profile = exact_profile(self.sample, rows, run=self.run)
        self.values = np.asarray(self.profile.sum(axis=2))
        self.residual = self.sample.impurity(self.sample.sums[rows])
        self.methods = (f"exact ({plan.method})",)

    def sample_the_rest(self, stopping: Stopping, seed: int) -> None:
        """Fill in sampled values where there are no exact ones."""
        if not self.left.size and self.methods:
            return
        part = sampled_rows(
            self.sample,
            self.rows.codes[self.left],
            unseen=self.unseen,
            stopping=stopping,
            seed=seed,
            run=self.run,
        )
        self.values[self.left], self.standard_error[self.left] = part.values, part.standard_error
        self.residual[self.left], self.support[self.left] = part.residual, part.support
        self.methods += ("sampled",)

    @property
    def _limit(self) -> float:
        return BUDGET if self.method == "auto" else LIMIT

    def _find_known(self, chosen: IntArray) -> None:
        if not chosen.size:
            return
        rows = self.rows.row[chosen]
        plan = cheapest(self.sample, rows)
        if plan.operations > self._limit:
            if self.method == "exact":
                raise refuse(plan)
            return
        self.values[chosen] = exact_rows(self.sample, rows, plan=plan, run=self.run)
        self.residual[chosen] = self.sample.impurity(self.sample.sums[rows])
        self.left = np.setdiff1d(self.left, chosen)
        self.methods += (f"exact ({plan.method})",)

    def _find_unseen(self, chosen: IntArray) -> None:
        if not chosen.size:
            return
        budget = min(self._limit / len(chosen), _MAX_ROW_SET_OPERATIONS)
        values, ends = unseen_rows(
            self.sample, self.rows.codes[chosen], unseen=self.unseen, budget=budget, run=self.run
        )
        complete = ends[:, 2] > 0
        if self.method == "exact" and not complete.all():
            n_sets = 2.0 ** min(self.sample.shape[1], 1000)
            raise refuse(Plan("row sets", n_sets * self.sample.shape[1] * 100, n_sets * 64))
        done = chosen[complete]
        self.values[done] = values[complete]
        self.residual[done], self.support[done] = ends[complete, 0], ends[complete, 1]
        self.left = np.setdiff1d(self.left, done)
        if done.size:
            self.methods += ("exact (row sets)",)
