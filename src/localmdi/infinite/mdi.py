"""Local MDI of infinitely many totally randomized trees, without growing one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from localmdi._criteria import CRITERIA
from localmdi._progress import progress_bar
from localmdi._text import count, quote_names
from localmdi._validation import count_threads
from localmdi.infinite.categorical_sample import joint_output, read_samples
from localmdi.infinite.exact import (
    BUDGET,
    LIMIT,
    Method,
    Plan,
    Run,
    Unseen,
    cheapest,
    exact_rows,
    refuse,
    unseen_rows,
)
from localmdi.infinite.sampled_paths import read_stopping, sampled_rows, seeds_of
from localmdi.results import LocalImportance
from localmdi.results.axes import split_key
from localmdi.results.fields import as_choice
from localmdi.results.own_data import is_everything
from localmdi.typing import Measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.infinite.categorical_sample import RowsAt, Sample
    from localmdi.infinite.encoder import Bins, Missing, Numeric
    from localmdi.infinite.sampled_paths import RandomState, Stopping
    from localmdi.results.axes import Choice
    from localmdi.typing import ArrayLike, BoolArray, FloatArray, IntArray, RowsLike


@dataclass(frozen=True, eq=False, repr=False)
class InfiniteImportance(LocalImportance):
    """Local importances of the infinite forest.

    Everything that a `LocalImportance` has and does; ``n_trees`` is 0. Grouped, joined and saved
    results are plain `LocalImportance`, without the fields below.

    Parameters
    ----------
    support : ndarray of float64, shape (n_rows,), or None
        Probability that a tree follows the row to the end of its path without meeting a node that
        holds no row with its value: 1 for rows of the sample.
    profile : ndarray of float64, shape (n_rows, n_features, n_features), or None
        ``profile[i, m, k]``: the part of ``values[i, m]`` from contexts of k features, those that
        were asked before.
    bins : dict of str to tuple of float, or None
        Edges of the columns that were cut into categories.

    Examples
    --------
    >>> from localmdi.infinite import infinite_mdi
    >>> infinite_mdi([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    InfiniteImportance: 4 rows, 2 features, in bits
      baseline 1, mean residual 0
      largest by mean value:
        x0  0.5
        x1  0.5
    """

    support: FloatArray | None = None
    profile: FloatArray | None = None
    bins: Mapping[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n_rows, n_features = self.shape
        for name, shape in (("support", (n_rows,)), ("profile", (n_rows, n_features, n_features))):
            value = getattr(self, name)
            if value is None:
                continue
            if np.shape(value) != shape:
                raise ValueError(
                    f"{name} must have shape {shape}; got {np.shape(value)}. To join results use "
                    "InfiniteImportance.concat."
                )
            view = np.asarray(value).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def mean_profile(self) -> FloatArray:
        """Return the degree profile of the global importance, (n_features, n_features).

        Examples
        --------
        An exclusive or says nothing until the other input is known:

        >>> from localmdi.infinite import infinite_mdi
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> infinite_mdi(X, y, profile=True).mean_profile()
        array([[0. , 0.5],
               [0. , 0.5]])
        """
        if self.profile is None:
            raise ValueError("the result has no profile. Compute it with profile=True.")
        return np.asarray(np.average(self.profile, axis=0, weights=self.row_weight))

    def plain(self) -> LocalImportance:
        """Return the same values as a plain `LocalImportance`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> type(infinite_mdi([[0], [1]], [0, 1]).plain()).__name__
        'LocalImportance'
        """
        kept = {field.name: getattr(self, field.name) for field in fields(LocalImportance)}
        return LocalImportance(**kept)

    def __getitem__(self, key: Choice | tuple[Choice, Choice]) -> InfiniteImportance:
        chosen = self.plain()[key]
        rows, columns = split_key(key, len(self), names=self.feature_names)
        everything = is_everything(columns)
        return InfiniteImportance(
            **{field.name: getattr(chosen, field.name) for field in fields(LocalImportance)},
            support=None if self.support is None else self.support[rows],
            profile=self.profile[rows] if self.profile is not None and everything else None,
            bins=self.bins,
        )

    def group(
        self, mapping: Mapping[str, Sequence[str]] | Literal["auto"] = "auto"
    ) -> LocalImportance:
        """Add up the values of features that belong together; see `LocalImportance.group`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> result = infinite_mdi([[0, 0], [1, 1]], [0, 1])
        >>> result.group({"both": ["x0", "x1"]}).values
        array([[1.],
               [1.]])
        """
        return self.plain().group(mapping)

    @classmethod
    def concat(cls, parts: Iterable[LocalImportance]) -> LocalImportance:
        """Join results of different rows; see `LocalImportance.concat`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> part = infinite_mdi([[0], [1]], [0, 1])
        >>> InfiniteImportance.concat([part, part]).shape
        (4, 1)
        """
        return LocalImportance.concat(
            [part.plain() if isinstance(part, InfiniteImportance) else part for part in parts]
        )


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
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Classes, or numbers for ``criterion="variance"``. With several outputs all numbers are means
        over the outputs, as the impurities of such trees are.
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
        Largest number of sampled paths, for each output; 20,000 by default. Given without `tol`,
        all are used.
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

    Two outputs, each a copy of one of the features: half of a bit each.

    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> infinite_mdi(X, X).mean().values
    array([0.5, 0.5])
    """
    as_choice("method", method, choices=get_args(Method))
    as_choice("measure", measure, choices=get_args(Measure))
    as_choice("unseen", unseen, choices=get_args(Unseen))
    samples = read_samples(
        X,
        y,
        criterion=criterion,
        sample_weight=sample_weight,
        bins=bins,
        missing=missing,
        numeric_features=numeric_features,
    )
    rows = samples[0].rows_at(at)
    baseline = float(np.mean([sample.baseline for sample in samples]))
    stopping = read_stopping(tol, n_paths, baseline=baseline)
    with progress_bar(progress, len(rows.codes) * len(samples), unit="row") as advance:
        run = Run(count_threads(n_jobs), advance)
        question = _Question(rows, method, measure, unseen, profile, len(samples), run)
        seeds = seeds_of(random_state, len(samples) + 1)
        found = _of_outputs(samples, question, stopping=stopping, seeds=seeds)
    return _result(found, question, sample=samples[0], baseline=baseline, at_sample=at is None)


def _result(
    found: _Found, question: _Question, *, sample: Sample, baseline: float, at_sample: bool
) -> InfiniteImportance:
    columns, index = question.rows.columns, question.rows.inverse
    telescopes = question.measure == "drop"
    return InfiniteImportance(
        found.values[index],
        baseline if telescopes else None,
        residual=found.residual[index] if telescopes else None,
        measure=question.measure,
        unit=sample.unit,
        feature_names=sample.encoder.names,
        n_trees=0,
        data=columns.data,
        row_weight=sample.row_weight if at_sample else None,
        standard_error=found.standard_error[index] if "sampled" in found.methods else None,
        row_labels=columns.row_labels,
        frame_type=columns.frame_type,
        method=" + ".join(found.methods),
        support=found.support[index],
        profile=None if found.profile is None else found.profile[index],
        bins=sample.encoder.bins or None,
    )


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked about every output: the same rows, with the same rules."""

    rows: RowsAt
    method: Method
    measure: Measure
    unseen: Unseen
    profile: bool
    n_outputs: int
    run: Run

    @property
    def limit(self) -> float:
        """Operations that exact values of one output may take."""
        quick = self.method == "auto" and not self.profile
        return (BUDGET if quick else LIMIT) / self.n_outputs

    def refuse(self, plan: Plan) -> ValueError:
        """Return the error for exact values that would take too long."""
        return refuse(replace(plan, operations=plan.operations * self.n_outputs))


def _of_outputs(
    samples: list[Sample], question: _Question, *, stopping: Stopping, seeds: list[int]
) -> _Found:
    """Return the mean over outputs: such trees are the same for all of them."""
    n = len(samples)
    if n == 1:
        return _of_one(samples[0], question, stopping=stopping, seed=seeds[0])
    # Own paths for each output make their errors independent, and that of the mean what tol says.
    each = replace(stopping, tol=stopping.tol * n**0.5)
    # A copy: what a sample has made for the kernels goes when its output is done.
    parts = [
        _of_one(replace(sample), question, stopping=each, seed=own)
        for sample, own in zip(samples, seeds, strict=False)
    ]
    mean = _Found(question, samples[0].shape[1])
    mean.values = np.mean([part.values for part in parts], axis=0)
    mean.residual = np.mean([part.residual for part in parts], axis=0)
    mean.standard_error = np.sqrt(np.sum([part.standard_error**2 for part in parts], axis=0)) / n
    if question.profile:
        mean.profile = np.mean([part.profile for part in parts if part.profile is not None], axis=0)
    mean.methods = tuple(dict.fromkeys(method for part in parts for method in part.methods))
    unseen = np.flatnonzero(question.rows.row < 0)
    if unseen.size:
        # A path ends where all outputs are known, so that these meet unknown values together.
        joint = replace(samples[0], output=joint_output([sample.output for sample in samples]))
        asked = replace(question, rows=question.rows.select(unseen), profile=False, measure="drop")
        stopping = read_stopping(None, 2 * stopping.n_pairs, baseline=joint.baseline)
        mean.support[unseen] = _of_one(joint, asked, stopping=stopping, seed=seeds[-1]).support
    return mean


def _of_one(sample: Sample, question: _Question, *, stopping: Stopping, seed: int) -> _Found:
    n_features = sample.shape[1]
    # Paths hold, for every feature, a bit for each row that shares x's value.
    if 2.0 * sample.sums.size * n_features / 8 > _MAX_BYTES:
        raise ValueError(
            f"X must fit {_MAX_BYTES / 1e9:.0f} GB as bits, one per distinct row, feature and "
            f"sum; got {count(sample.shape[0], 'distinct row')} of {count(n_features, 'feature')}. "
            "Leave out features or rows."
        )
    found = _Found(question, n_features)
    if question.profile:
        found.find_profile(sample)
    else:
        found.find_exact(sample)
        found.sample_the_rest(sample, stopping, seed=seed)
    return found


class _Found:
    """What is known of distinct rows in one output, filled in one way after the other.

    Or the mean of that over several outputs.
    """

    def __init__(self, question: _Question, n_features: int) -> None:
        self.question, self.rows, self.run = question, question.rows, question.run
        n = len(self.rows.codes)
        self.values: FloatArray = np.zeros((n, n_features))
        self.standard_error: FloatArray = np.zeros((n, n_features))
        self.residual: FloatArray = np.zeros(n)
        self.support: FloatArray = np.ones(n)
        self.profile: FloatArray | None = None
        self.methods: tuple[str, ...] = ()
        self.left: IntArray = np.arange(n)

    def find_exact(self, sample: Sample) -> None:
        """Fill in what can be exact within the budget."""
        if self.question.method == "sampled":
            return
        if sample.mixed is not None:
            # Whether one row is feasible tells about all: they meet the same sets.
            self._find_unseen(sample, self.left[:1])
            if not self.left.size or self.left[0] != 0:
                self._find_unseen(sample, self.left)
            return
        known = self.rows.row >= 0
        self._find_known(sample, np.flatnonzero(known))
        self._find_unseen(sample, np.flatnonzero(~known))

    def find_profile(self, sample: Sample) -> None:
        """Fill in exact values by size of the context."""
        if self.question.method == "sampled":
            raise ValueError(
                "profile=True needs exact values; got method='sampled'. Pass method='exact'."
            )
        if sample.mixed is not None:
            raise ValueError(
                "profile=True needs categories, because a number can be asked more than once; got "
                "numeric columns. Pass bins= to cut them."
            )
        n, p = self.values.shape
        self.profile = np.zeros((n, p, p))
        self._find_known(sample, np.flatnonzero(self.rows.row >= 0))
        self._find_unseen(sample, np.flatnonzero(self.rows.row < 0))
        self.values = np.asarray(self.profile.sum(axis=2))

    def sample_the_rest(self, sample: Sample, stopping: Stopping, *, seed: int) -> None:
        """Fill in sampled values where there are no exact ones."""
        if not self.left.size and self.methods:
            return
        part = sampled_rows(
            sample,
            self.rows.codes[self.left],
            unseen=self.question.unseen,
            stopping=stopping,
            seed=seed,
            run=self.run,
            measure=self.question.measure,
            numbers=self.rows.numbers[self.left],
        )
        self.values[self.left], self.standard_error[self.left] = part.values, part.standard_error
        self.residual[self.left], self.support[self.left] = part.residual, part.support
        self.methods += ("sampled",)

    def _find_known(self, sample: Sample, chosen: IntArray) -> None:
        if not chosen.size:
            return
        rows, by_size = self.rows.row[chosen], self.profile is not None
        plan = cheapest(sample, rows, all_features=by_size, measure=self.question.measure)
        if plan.operations > self.question.limit:
            if self.question.method == "exact" or by_size:
                raise self.question.refuse(plan)
            return
        into = self.values if self.profile is None else self.profile
        into[chosen] = exact_rows(
            sample, rows, plan=plan, run=self.run, measure=self.question.measure, by_size=by_size
        )
        self.residual[chosen] = sample.impurity(sample.sums[rows])
        self.left = np.setdiff1d(self.left, chosen)
        self.methods += (f"exact ({plan.method})",)

    def _find_unseen(self, sample: Sample, chosen: IntArray) -> None:
        if not chosen.size:
            return
        by_size = self.profile is not None
        # All rows have the same budget, whether they are asked for together or one by one.
        n_rows = len(self.rows.codes) if sample.mixed is not None else len(chosen)
        # By size, a set has a probability for every size of the context.
        most = _MAX_ROW_SET_OPERATIONS / (sample.shape[1] if by_size else 1)
        found, ends = unseen_rows(
            sample,
            self.rows.codes[chosen],
            unseen=self.question.unseen,
            budget=most if by_size else min(self.question.limit / n_rows, most),
            run=self.run,
            measure=self.question.measure,
            numbers=np.ascontiguousarray(self.rows.numbers[chosen]),
            by_size=by_size,
        )
        complete = ends[:, 2] > 0
        if (self.question.method == "exact" or by_size) and not complete.all():
            n_sets = 2.0 ** min(sample.shape[1], 1000)
            raise self.question.refuse(
                Plan("row sets", n_sets * sample.shape[1] * 100, n_sets * 64)
            )
        done = chosen[complete]
        into = self.values if self.profile is None else self.profile
        into[done] = found[complete]
        self.residual[done], self.support[done] = ends[complete, 0], ends[complete, 1]
        self.left = np.setdiff1d(self.left, done)
        if done.size and "exact (row sets)" not in self.methods:
            self.methods += ("exact (row sets)",)


@dataclass(frozen=True, eq=False)
class ForestGap:
    """A forest's importances beside those of the infinite forest; made by `measure_gap`.

    Parameters
    ----------
    forest, infinite : LocalImportance
        Of the same rows and features.
    masked_below : float
        A feature counts as masked if the forest gives it less than this share of its importance.

    Examples
    --------
    A single stump on one of two copies hides the other:

    >>> from localmdi.infinite import infinite_mdi
    >>> from localmdi.results import LocalImportance
    >>> X, y = [[0, 0], [1, 1]], [0, 1]
    >>> stump = LocalImportance(np.array([[1.0, 0.0], [1.0, 0.0]]), 1.0, residual=np.zeros(2),
    ...                         unit="bits", feature_names=("x0", "x1"), n_trees=1)
    >>> gap = ForestGap(stump, infinite_mdi(X, y))
    >>> gap.masked, gap.rows
    (array([False,  True]), array([0.5, 0.5]))
    """

    forest: LocalImportance
    infinite: LocalImportance
    masked_below: float = 0.1

    @property
    def features(self) -> FloatArray:
        """Global importance of the forest minus that of the infinite one, (n_features,)."""
        return np.asarray(self.forest.mean().values - self.infinite.mean().values)

    @property
    def rows(self) -> FloatArray:
        """Largest difference of a local importance, for each row."""
        return np.asarray(np.abs(self._difference).max(axis=1, initial=0.0))

    @property
    def masked(self) -> BoolArray:
        """Which features matter in the infinite forest and are nearly absent from the real one.

        Features with less than a hundredth of the baseline do not count.
        """
        ours, theirs = self.infinite.mean(), self.forest.mean().values
        matters = ours.values > 0.01 * (ours.baseline or 0.0)
        return np.asarray(matters & (theirs < self.masked_below * ours.values))

    @property
    def _difference(self) -> FloatArray:
        difference: FloatArray = np.asarray(self.forest) - np.asarray(self.infinite)
        return difference

    def table(self) -> dict[str, dict[str, Any]]:
        """Return one line per feature; ``pandas.DataFrame(table).T`` shows it.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> result = infinite_mdi([[0], [1]], [0, 1])
        >>> ForestGap(result, result).table()["x0"]
        {'forest': 1.0, 'infinite': 1.0, 'gap': 0.0, 'mean_local_gap': 0.0, 'masked': False}
        """
        columns = {
            "forest": self.forest.mean().values,
            "infinite": self.infinite.mean().values,
            "gap": self.features,
            "mean_local_gap": np.abs(self._difference).mean(axis=0),
            "masked": self.masked,
        }
        names = self.infinite.feature_names
        return {
            name: {key: column[m].item() for key, column in columns.items()}
            for m, name in enumerate(names)
        }


def measure_gap(forest: LocalImportance, X: RowsLike, *, y: ArrayLike, **options: Any) -> ForestGap:
    """Compare a forest's local importances of its training rows with the infinite forest's.

    Parameters
    ----------
    forest : LocalImportance
        ``decompose_global(model, X)`` or ``local_mdi(model, X)`` of a forest grown on (X, y).
    X, y
        The sample, with categorical columns only.
    **options
        As for `infinite_mdi`; criterion and measure are those of `forest`.

    Examples
    --------
    >>> from localmdi.infinite import infinite_mdi
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> measure_gap(infinite_mdi(X, y), X, y=y).features
    array([0., 0.])
    """
    computed = {criterion.unit: criterion for criterion in CRITERIA if criterion.formula}
    if forest.unit not in computed:
        names = ", ".join(criterion.name for criterion in computed.values())
        raise ValueError(
            f"the forest's importances must be in one of {quote_names(computed)}; "
            f"got {forest.unit!r}. "
            f"Grow the forest with one of these criteria: {names}."
        )
    if forest.measure != "drop":
        raise ValueError(
            f"the forest's importances must be of measure 'drop'; got {forest.measure!r}. "
            "Explain the forest with measure='drop'."
        )
    criterion = computed[forest.unit].name
    infinite = infinite_mdi(X, y, criterion=criterion, measure=forest.measure, **options)
    if forest.shape != infinite.shape:
        raise ValueError(
            f"the forest's importances must be those of X, {infinite.shape}; got {forest.shape}. "
            "Explain the same rows, with the features that the forest was grown on."
        )
    return ForestGap(forest, infinite)
