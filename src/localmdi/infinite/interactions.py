"""Pairwise interactions in the infinite forest (the paper's future work)."""

from __future__ import annotations

from math import comb, factorial
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from localmdi._progress import progress_bar
from localmdi._validation import count_threads
from localmdi.infinite.categorical_sample import RowsAt, Sample, read_sample
from localmdi.infinite.exact import BUDGET, LIMIT, Method, Run, cheapest, refuse
from localmdi.infinite.sampled_paths import check_n_paths, seed_of, standard_error
from localmdi.results import InteractionImportance
from localmdi.results.fields import as_choice

if TYPE_CHECKING:
    from localmdi.infinite.binning import Bins
    from localmdi.infinite.encoder import Codes, Missing
    from localmdi.infinite.sampled_paths import RandomState
    from localmdi.typing import ArrayLike, FloatArray, IntArray, RowsLike

__all__ = ["infinite_interactions"]

Index: TypeAlias = Literal["SII", "STII", "FSII"]

_INDICES: tuple[Index, ...] = get_args(Index)
_MAX_VALUES = 1e8
_DEFAULT_PATHS = 1000


def infinite_interactions(  # noqa: PLR0913 - the public API fixed these names
    X: RowsLike,
    y: ArrayLike,
    at: RowsLike | None = None,
    *,
    index: Index = "SII",
    method: Method = "auto",
    criterion: str = "entropy",
    n_paths: int | None = None,
    sample_weight: ArrayLike | None = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    progress: bool = False,
) -> InteractionImportance:
    """Return how much more two features tell together than each alone, in the infinite forest.

    The interaction of i and j at x is a weighted sum over contexts S of
    v(S+i+j) − v(S+i) − v(S+j) + v(S), where v(S) = i(Y) − i(Y | S = x_S) is the game whose Shapley
    value is the local MDI. Synergy is positive (an exclusive or: +1 bit), redundancy negative
    (copies: −1 bit).

    Parameters
    ----------
    X, y, criterion, sample_weight, bins, missing, n_jobs, random_state, progress
        As for `infinite_mdi`.
    at : like X, optional
        Rows of the sample; X itself by default. Required when n·p² > 1e8.
    index : {"SII", "STII", "FSII"}
        Shapley interaction index, Shapley–Taylor of order two, Faith-Shap of order two.
    method : {"auto", "exact", "sampled"}
        As for `infinite_mdi`.
    n_paths : int, optional
        Number of sampled paths per row; 1000 by default.

    Returns
    -------
    InteractionImportance
        `values` (n_rows, p, p), symmetric, NaN on the diagonal; `standard_error` if sampled.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> infinite_interactions(X, y).mean()
    array([[nan,  1.],
           [ 1., nan]])
    """
    as_choice("index", index, choices=_INDICES)
    as_choice("method", method, choices=get_args(Method))
    n_paths = _DEFAULT_PATHS if n_paths is None else check_n_paths(n_paths)
    sample = read_sample(
        X, y, criterion=criterion, sample_weight=sample_weight, bins=bins, missing=missing
    )
    n, p = sample.given.columns.shape
    if at is None and n * p * p > _MAX_VALUES:
        raise ValueError(
            f"at must be given when n·p² > 1e8, because the result has that many values; got n={n} "
            f"and p={p}. Choose the rows to explain, for example at=X[:10]."
        )
    rows = sample.rows_at(at)
    if (rows.row < 0).any():
        raise ValueError(
            "at must hold rows of the sample, because contexts without rows have no impurity; got "
            f"{int((rows.row[rows.inverse] < 0).sum())} others. Leave them out."
        )
    with progress_bar(progress, len(rows.row), unit="row") as advance:
        run = Run(count_threads(n_jobs), advance)
        if _is_exact(sample, rows.row, method=method):
            values, error = _exact(sample, rows.row, index=index, run=run), None
        else:
            work = _Paths(index, (n_paths + 1) // 2)
            values, error = work.sample(sample, rows.codes, seed=seed_of(random_state), run=run)
    weight = sample.row_weight if at is None else None
    return _result(sample, rows, index=index, values=values, error=error, row_weight=weight)


def _result(
    sample: Sample,
    rows: RowsAt,
    *,
    index: Index,
    values: FloatArray,
    error: FloatArray | None,
    row_weight: FloatArray | None,
) -> InteractionImportance:
    return InteractionImportance(
        values[rows.inverse],
        sample.encoder.names,
        unit=sample.unit,
        index=index,
        standard_error=None if error is None else error[rows.inverse],
        row_weight=row_weight,
        row_labels=rows.columns.row_labels,
        frame_type=rows.columns.frame_type,
        method="exact (block search)" if error is None else "sampled",
    )


def _is_exact(sample: Sample, rows: IntArray, *, method: Method) -> bool:
    if method == "sampled" or not rows.size:
        return method != "sampled"
    plan = cheapest(sample, rows, all_features=True)
    if plan.operations > LIMIT and method == "exact":
        raise refuse(plan)
    return plan.operations <= (BUDGET if method == "auto" else LIMIT)


def _exact(sample: Sample, rows: IntArray, *, index: Index, run: Run) -> FloatArray:
    p = sample.shape[1]
    values = np.full((len(rows), p, p), np.nan)
    weight = np.array([_weight(index, s, p=p) for s in range(p - 1)] + [0.0, 0.0])
    for k, row in enumerate(rows.tolist()):
        features, total, member, pair = sample.kernel.lattice(row, True, True, run.n_threads)
        both = pair.reshape(p + 1, p, p)
        both = both + both.transpose(0, 2, 1)
        one = member.reshape(p + 1, p)
        only = one[:, :, np.newaxis] - both
        neither = total[:, np.newaxis, np.newaxis] - only - one[:, np.newaxis, :]
        # v(S) = constant − g(S), so the synergy of v is minus that of g.
        found = np.tensordot(weight[:-1], only[1:] + only.transpose(0, 2, 1)[1:], axes=1)
        found -= np.tensordot(weight, neither, axes=1)
        found -= np.tensordot(weight[:-2], both[2:], axes=1)
        np.fill_diagonal(found, np.nan)
        values[k][np.ix_(features, features)] = found
        run.advance(1)
    return values


def _weight(index: Index, s: int, *, p: int) -> float:
    """Return the weight of a context of s of the other p − 2 features."""
    if index == "SII":
        return 1.0 / ((p - 1) * comb(p - 2, s))
    if index == "STII":
        return 2.0 / (p * comb(p - 1, s))
    return 6.0 * factorial(s + 1) * factorial(p - s - 1) / factorial(p + 1)


class _Paths:
    """Sampled paths: at every node the synergies of all pairs that split it."""

    def __init__(self, index: Index, n_pairs: int) -> None:
        self.index, self.n_pairs = _INDICES.index(index), n_pairs

    def sample(
        self, sample: Sample, codes: Codes, *, seed: int, run: Run
    ) -> tuple[FloatArray, FloatArray]:
        p, n = sample.shape[1], self.n_pairs
        values, error = np.zeros((len(codes), p, p)), np.zeros((len(codes), p, p))
        job = np.array([seed, 0, n], dtype=np.uint64)
        for k, x in enumerate(codes):
            sums, squares = np.zeros((p, p)), np.zeros((p, p))
            sample.kernel.sampled_pairs(x, self.index, job, sums, squares, run.n_threads)
            values[k] = _symmetric(sums / n)
            error[k] = _symmetric(standard_error(sums / n, squares / n, n=n))
            run.advance(1)
        return values, error


def _symmetric(lower: FloatArray) -> FloatArray:
    table: FloatArray = lower + lower.T
    np.fill_diagonal(table, np.nan)
    return table
