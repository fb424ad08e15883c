"""Local MDI of infinitely many totally randomized trees, without growing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from localmdi._progress import progress_bar
from localmdi._text import count
from localmdi._validation import count_threads
from localmdi.infinite.categorical_sample import read_sample
from localmdi.infinite.exact import (
    BUDGET,
    LIMIT,
    Method,
    Plan,
    Run,
    Unseen,
    cheapest,
    exact_profile,
    exact_rows,
    refuse,
    unseen_profile,
    unseen_rows,
)
from localmdi.infinite.result import InfiniteImportance
from localmdi.infinite.sampled_paths import read_stopping, sampled_rows, seed_of
from localmdi.results.fields import as_choice
from localmdi.typing import Measure

if TYPE_CHECKING:
    from localmdi.infinite.binning import Bins
    from localmdi.infinite.categorical_sample import RowsAt, Sample
    from localmdi.infinite.encoder import Missing, Numeric
    from localmdi.infinite.sampled_paths import RandomState, Stopping
    from localmdi.typing import ArrayLike, FloatArray, IntArray, RowsLike

__all__ = ["infinite_mdi"]

# A forward pass over row sets keeps them all in memory: this many operations are some 100 MB.
_MAX_ROW_SET_OPERATIONS = 1e8
_MAX_BYTES = 8e9


def infinite_mdi(  # noqa: PLR0913 - the public API fixed these names
    X: RowsLike,
    y: ArrayLike,
    at: RowsLike | None = None,
    *,
    method: Method = "auto",
    criterion: str = "entropy",
    measure: Measure = "drop",
    tol: float | None = None,
    n_paths: int | None = None,
    unseen: Unseen = "skip",
    sample_weight: ArrayLike | None = None,
    bins: Bins | None = None,
    numeric_features: Numeric = (),
    missing: Missing = "error",
    profile: bool = False,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    progress: bool = False,
) -> InfiniteImportance:
    """Return the local MDI of infinitely many totally randomized trees on a sample.

    Such trees split on a feature drawn at random, with one branch per category, until nothing is
    left to split; a numeric feature is cut at a number drawn uniformly between the smallest and
    the largest value in the node, and can be cut again below. A forest of them only samples the
    contexts in which a feature is met; here the mean over all of them is computed (for categories
    Theorem 2 of the paper on the empirical law of the sample). The mean over the rows,
    ``infinite_mdi(X, y).mean()``, is the global MDI of that forest.

    Parameters
    ----------
    X : array, list of rows, or pandas, polars or pyarrow table
        Integers, integer-valued floats, booleans, strings and categorical columns are categories;
        columns with fractions are numeric, unless `bins` makes categories of them.
    y : array-like of shape (n_rows,)
        Classes, or numbers for ``criterion="variance"``.
    at : like X, optional
        The rows to explain; X itself by default.
    method : {"auto", "exact", "sampled"}
        "auto" is exact if that takes few enough counted operations (a few seconds), else sampled.
        "exact" may take minutes; if that is not enough, the error says how long it would take.
    criterion : {"entropy", "gini", "variance"}
        Also scikit-learn's other names: "log_loss", "squared_error" and "friedman_mse".
    measure : {"drop", "gain"}
        What knowing a feature counts for: how far it lowers the impurity ("drop", Definition 1 of
        the paper), or how far it moves the law of the output ("gain": the KL divergence of the law
        after from the law before, for Gini the squared distance, for the variance the squared
        difference of the means). The means over the rows of X are the same. A gain is never
        negative, and with entropy or Gini it is zero only where the feature is locally irrelevant;
        a row's gains add up to no fixed total.
    tol : float, optional
        Sampling stops for a row when half the length of each of its 95 % intervals is at most
        this. By default one percent of the baseline.
    n_paths : int, optional
        Largest number of sampled paths; 20,000 by default. Given without `tol`, all are used.
    unseen : {"skip", "stop", "tree"}
        At a node without rows that have x's value: ignore the feature ("skip"); end the path
        ("stop"); ignore the feature if it is constant in the node, else end the path ("tree").
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the sample's rows.
    bins : int, sequence of float or dict, optional
        Cuts columns of measured numbers into categories: a number of quantile bins, or rising
        edges, for every such column; a dict does so for the columns that it names, also for
        columns of whole numbers. Values that repeat can leave fewer bins, which a warning says.
    numeric_features : sequence of str or int
        Columns of whole numbers, by name or position, that are numbers and not categories.
    missing : {"error", "category"}
        Whether missing values are refused or are a category of their own. Numeric columns must
        not have any.
    profile : bool
        Whether to keep the importances by size of the context: the number of features that were
        asked before, also such that were ignored. Exact values and categories only.
    n_jobs : int or None
        Number of threads; the result has the same bits for any number.
    random_state : int, RandomState, Generator or None
        Seed of the sampled paths.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    InfiniteImportance
        A `LocalImportance` with ``n_trees=0``; ``method`` says what was used, ``standard_error`` is
        None if all values are exact; `support` says how far rows outside the sample were known.
        With ``measure="gain"`` there is no baseline and no residual.

    Examples
    --------
    The seven-segment display: what does the lower left segment tell about each digit?

    >>> from localmdi.datasets import make_led
    >>> X, y = make_led()
    >>> result = infinite_mdi(X, y)
    >>> result.method, result.values[:, 4].round(2).tolist()
    ('exact (shared partition)', [0.64, 0.18, 0.6, 0.55, 0.25, 0.96, 1.07, 0.27, 1.1, 0.95])
    >>> result.mean().values.round(6).tolist()
    [0.412693, 0.581541, 0.531156, 0.542129, 0.656582, 0.225816, 0.372011]

    A number beside a category; its first cut falls above 1.5 with probability 3/4.

    >>> infinite_mdi([[0.5, "f"], [1.5, "f"], [4.5, "m"]], [0, 1, 1]).values.round(3).tolist()
    [[0.959, -0.041], [0.959, -0.041], [0.459, 0.459]]
    """
    as_choice("method", method, choices=get_args(Method))
    as_choice("measure", measure, choices=get_args(Measure))
    as_choice("unseen", unseen, choices=get_args(Unseen))
    sample = read_sample(
        X,
        y,
        criterion=criterion,
        sample_weight=sample_weight,
        bins=bins,
        missing=missing,
        numeric_features=numeric_features,
    )
    rows = sample.rows_at(at)
    stopping = read_stopping(tol, n_paths, baseline=sample.baseline)
    with progress_bar(progress, len(rows.codes), unit="row") as advance:
        run = Run(count_threads(n_jobs), advance)
        search = _Search(sample, rows, method=method, measure=measure, unseen=unseen, run=run)
        if profile:
            search.find_profile()
        else:
            search.find_exact()
            search.sample_the_rest(stopping, seed_of(random_state))
    return _result(search, row_weight=sample.row_weight if at is None else None)


def _result(search: _Search, *, row_weight: FloatArray | None) -> InfiniteImportance:
    sample, columns, index = search.sample, search.rows.columns, search.rows.inverse
    error = search.standard_error[index] if "sampled" in search.methods else None
    telescopes = search.measure == "drop"
    return InfiniteImportance(
        search.values[index],
        sample.baseline if telescopes else None,
        residual=search.residual[index] if telescopes else None,
        measure=search.measure,
        unit=sample.unit,
        feature_names=sample.encoder.names,
        n_trees=0,
        data=columns.data,
        row_weight=row_weight,
        standard_error=error,
        row_labels=columns.row_labels,
        frame_type=columns.frame_type,
        method=" + ".join(search.methods),
        support=search.support[index],
        profile=None if search.profile is None else search.profile[index],
        bins=sample.encoder.bins or None,
    )


class _Search:
    """The values at distinct rows, filled in one way after the other.

    Parameters
    ----------
    sample : Sample
        The sample.
    rows : RowsAt
        The rows to explain.
    method : {"auto", "exact", "sampled"}
        What is allowed.
    measure : {"drop", "gain"}
        What an edge of the path counts for.
    unseen : {"skip", "stop", "tree"}
        What to do where the sample has no row with x's value.
    run : Run
        Threads and progress.
    """

    def __init__(
        self,
        sample: Sample,
        rows: RowsAt,
        *,
        method: Method,
        measure: Measure,
        unseen: Unseen,
        run: Run,
    ) -> None:
        self.sample, self.rows, self.run = sample, rows, run
        self.method, self.measure, self.unseen = method, measure, unseen
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
                f"X must fit {_MAX_BYTES / 1e9:.0f} GB as bits, one per distinct row, feature and "
                f"sum; got {count(sample.shape[0], 'distinct row')} of {count(p, 'feature')}. "
                "Leave out features or rows."
            )

    def find_exact(self) -> None:
        """Fill in what can be exact within the budget."""
        if self.method == "sampled":
            return
        if self.sample.mixed is not None:
            # Whether one row is feasible tells about all: they meet the same sets.
            self._find_unseen(self.left[:1])
            if not self.left.size or self.left[0] != 0:
                self._find_unseen(self.left)
            return
        known = self.rows.row >= 0
        self._find_known(np.flatnonzero(known))
        self._find_unseen(np.flatnonzero(~known))

    def find_profile(self) -> None:
        """Fill in exact values by size of the context."""
        if self.method == "sampled":
            raise ValueError(
                "profile=True needs exact values; got method='sampled'. Pass method='exact'."
            )
        if self.sample.mixed is not None:
            raise ValueError(
                "profile=True needs categories, because a number can be asked more than once; got "
                "numeric columns. Pass bins= to cut them."
            )
        n, p = self.values.shape
        self.profile = np.zeros((n, p, p))
        known = np.flatnonzero(self.rows.row >= 0)
        rows = self.rows.row[known]
        if known.size:
            plan = cheapest(self.sample, rows, all_features=True, measure=self.measure)
            if plan.operations > LIMIT:
                raise refuse(plan)
            self.profile[known] = exact_profile(
                self.sample, rows, run=self.run, measure=self.measure
            )
            self.residual[known] = self.sample.impurity(self.sample.sums[rows])
            self.methods = (f"exact ({plan.method})",)
        self._find_unseen_profile(np.flatnonzero(self.rows.row < 0))
        self.values = np.asarray(self.profile.sum(axis=2))

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
            measure=self.measure,
            numbers=self.rows.numbers[self.left],
        )
        self.values[self.left], self.standard_error[self.left] = part.values, part.standard_error
        self.residual[self.left], self.support[self.left] = part.residual, part.support
        self.methods += ("sampled",)

    def _find_unseen_profile(self, chosen: IntArray) -> None:
        if not chosen.size or self.profile is None:
            return
        self.profile[chosen], ends = unseen_profile(
            self.sample,
            self.rows.codes[chosen],
            unseen=self.unseen,
            # A set has a probability for every size of the context.
            budget=_MAX_ROW_SET_OPERATIONS / self.sample.shape[1],
            run=self.run,
            measure=self.measure,
        )
        if not (ends[:, 2] > 0).all():
            raise self._too_many_sets()
        self.residual[chosen], self.support[chosen] = ends[:, 0], ends[:, 1]
        self.methods += ("exact (row sets)",)

    def _too_many_sets(self) -> ValueError:
        n_sets = 2.0 ** min(self.sample.shape[1], 1000)
        return refuse(Plan("row sets", n_sets * self.sample.shape[1] * 100, n_sets * 64))

    @property
    def _limit(self) -> float:
        return BUDGET if self.method == "auto" else LIMIT

    def _find_known(self, chosen: IntArray) -> None:
        if not chosen.size:
            return
        rows = self.rows.row[chosen]
        plan = cheapest(self.sample, rows, measure=self.measure)
        if plan.operations > self._limit:
            if self.method == "exact":
                raise refuse(plan)
            return
        self.values[chosen] = exact_rows(
            self.sample, rows, plan=plan, run=self.run, measure=self.measure
        )
        self.residual[chosen] = self.sample.impurity(self.sample.sums[rows])
        self.left = np.setdiff1d(self.left, chosen)
        self.methods += (f"exact ({plan.method})",)

    def _find_unseen(self, chosen: IntArray) -> None:
        if not chosen.size:
            return
        # All rows have the same budget, whether they are asked for together or one by one.
        n_rows = len(self.rows.codes) if self.sample.mixed is not None else len(chosen)
        values, ends = unseen_rows(
            self.sample,
            self.rows.codes[chosen],
            unseen=self.unseen,
            budget=min(self._limit / n_rows, _MAX_ROW_SET_OPERATIONS),
            run=self.run,
            measure=self.measure,
            numbers=np.ascontiguousarray(self.rows.numbers[chosen]),
        )
        complete = ends[:, 2] > 0
        if self.method == "exact" and not complete.all():
            raise self._too_many_sets()
        done = chosen[complete]
        self.values[done] = values[complete]
        self.residual[done], self.support[done] = ends[complete, 0], ends[complete, 1]
        self.left = np.setdiff1d(self.left, done)
        if done.size and "exact (row sets)" not in self.methods:
            self.methods += ("exact (row sets)",)
