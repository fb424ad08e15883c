"""Local MDI of infinitely many totally randomized trees, without growing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from localmdi._progress import progress_bar
from localmdi._validation import check_sample_weight, count_threads
from localmdi.infinite.exact import UNSEEN, Run
from localmdi.infinite.result import InfiniteImportance
from localmdi.infinite.sample import read_sample
from localmdi.infinite.sampled import read_stopping, seed_of
from localmdi.infinite.search import Search

if TYPE_CHECKING:
    from localmdi.typing import FloatArray

__all__ = ["infinite_mdi"]


def infinite_mdi(  # noqa: PLR0913 - the public API fixed these names
    X: Any,
    y: Any,
    at: Any = None,
    *,
    method: Literal["auto", "exact", "sampled"] = "auto",
    criterion: str = "entropy",
    tol: float | None = None,
    n_paths: int | None = None,
    unseen: Literal["skip", "stop", "tree"] = "skip",
    sample_weight: Any = None,
    bins: Any = None,
    missing: Literal["error", "category"] = "error",
    profile: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> InfiniteImportance:
    """Return the local MDI of infinitely many totally randomized trees on a categorical sample.

    Such trees split on a feature drawn at random, with one branch per category, until nothing is
    left to split. A forest of them only samples the contexts in which a feature is met; here the
    mean over all of them is computed (Theorem 2 of the paper on the empirical law of the sample).
    The mean over the rows, ``infinite_mdi(X, y).mean()``, is the global MDI of that forest.

    Parameters
    ----------
    X : array, list of rows, or pandas, polars or pyarrow table
        Integers, integer-valued floats, booleans, texts and categorical columns are categories.
    y : array-like of shape (n_rows,)
        Classes, or numbers for ``criterion="variance"``.
    at : like X, optional
        The rows to explain; X itself by default.
    method : {"auto", "exact", "sampled"}
        "auto" is exact if that takes few enough counted operations (a few seconds), else sampled.
        "exact" goes on for minutes, and raises with an estimate if that were not enough.
    criterion : {"entropy", "gini", "variance"}
        Also scikit-learn's "log_loss" and "squared_error".
    tol : float, optional
        Sampled paths stop for a row when all its 95 % intervals reach at most this far to both
        sides. By default one percent of the baseline.
    n_paths : int, optional
        Largest number of sampled paths; 20,000 by default. Given without `tol`, all are used.
    unseen : {"skip", "stop", "tree"}
        At a node without rows that have x's value: ignore the feature ("skip"); end the path
        ("stop"); ignore the feature if it is constant in the node, else end the path ("tree").
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the sample's rows.
    bins : int, sequence of float or dict, optional
        Cuts columns of measured numbers into categories: a number of quantile bins, or rising
        edges, for every such column; a dict does so for the columns that it names.
    missing : {"error", "category"}
        Whether missing values are refused or are a category of their own.
    profile : bool
        Whether to keep the importances by size of the context (exact only, rows of the sample).
    n_jobs : int or None
        Number of threads; the result has the same bits for any number.
    random_state : int, RandomState, Generator or None
        Of the sampled paths.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    InfiniteImportance
        A `LocalImportance` with ``n_trees=0``; ``method`` says what was used, ``standard_error`` is
        None if all values are exact, and `support` tells how far unseen rows were known.

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
    """
    _check_choices(method, unseen)
    sample = read_sample(
        X, y, criterion=criterion, sample_weight=sample_weight, bins=bins, missing=missing
    )
    rows = sample.rows_at(at)
    stopping = read_stopping(tol, n_paths, baseline=sample.baseline)
    with progress_bar(progress, len(rows.codes), unit="row") as advance:
        run = Run(count_threads(n_jobs), advance)
        search = Search(sample, rows, method=method, unseen=unseen, run=run)
        if profile:
            search.find_profile()
        else:
            search.find_exact()
            search.sample_the_rest(stopping, seed_of(random_state))
    weight = None
    if at is None and sample_weight is not None:
        weight = check_sample_weight(sample_weight, rows.columns.n_rows)
    return _result(search, row_weight=weight)


def _result(search: Search, *, row_weight: FloatArray | None) -> InfiniteImportance:
    sample, columns, index = search.sample, search.rows.columns, search.rows.inverse
    error = search.standard_error[index] if "sampled" in search.methods else None
    return InfiniteImportance(
        search.values[index],
        sample.baseline,
        residual=search.residual[index],
        unit=sample.output.unit,
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


def _check_choices(method: str, unseen: str) -> None:
    for name, value, choices in (
        ("method", method, ("auto", "exact", "sampled")),
        ("unseen", unseen, tuple(UNSEEN)),
    ):
        if value not in choices:
            raise ValueError(
                f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}. "
                f"Use the default, {choices[0]!r}, if in doubt."
            )
