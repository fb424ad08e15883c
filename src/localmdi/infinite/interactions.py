"""Pairwise interactions in the infinite forest (the paper's future work)."""

from __future__ import annotations

from dataclasses import replace
from math import comb, factorial
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from localmdi._progress import progress_bar
from localmdi._validation import count_threads
from localmdi.infinite.categorical_sample import Sample, read_samples
from localmdi.infinite.exact import BUDGET, LIMIT, Method, Run, cheapest, refuse
from localmdi.infinite.sampled_paths import check_n_paths, seeds_of, standard_error
from localmdi.results import InteractionImportance
from localmdi.results.fields import as_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localmdi.infinite.encoder import Bins, Codes, Missing
    from localmdi.infinite.sampled_paths import RandomState
    from localmdi.typing import ArrayLike, FloatArray, IntArray, RowsLike

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
        Number of sampled paths per row and output; 1000 by default.

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
    samples = read_samples(
        X, y, criterion=criterion, sample_weight=sample_weight, bins=bins, missing=missing
    )
    sample, n_outputs = samples[0], len(samples)
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
    with progress_bar(progress, len(rows.row) * n_outputs, unit="row") as advance:
        run = Run(count_threads(n_jobs), advance)
        values, error = np.zeros((len(rows.row), p, p)), None
        if _is_exact(samples, rows.row, method=method):
            for one in samples:
                values += _exact(replace(one), rows.row, index=index, run=run) / n_outputs
        else:
            squares, seeds = np.zeros_like(values), seeds_of(random_state, n_outputs)
            for one, seed in zip(samples, seeds, strict=True):
                job = np.array([seed, 0, (n_paths + 1) // 2], dtype=np.uint64)
                found, own = _sampled(replace(one), rows.codes, index=index, job=job, run=run)
                values += found / n_outputs
                squares += (own / n_outputs) ** 2
            error = np.sqrt(squares)
    return InteractionImportance(
        values[rows.inverse],
        sample.encoder.names,
        unit=sample.unit,
        index=index,
        standard_error=None if error is None else error[rows.inverse],
        row_weight=sample.row_weight if at is None else None,
        row_labels=rows.columns.row_labels,
        frame_type=rows.columns.frame_type,
        method="exact (block search)" if error is None else "sampled",
    )


def _is_exact(samples: list[Sample], rows: IntArray, *, method: Method) -> bool:
    if method == "sampled" or not rows.size:
        return method != "sampled"
    plans = [cheapest(sample, rows, all_features=True) for sample in samples]
    operations = sum(plan.operations for plan in plans)
    if operations > LIMIT and method == "exact":
        raise refuse(replace(plans[0], operations=operations))
    return operations <= (BUDGET if method == "auto" else LIMIT)


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


def _sampled(
    sample: Sample, codes: Codes, *, index: Index, job: NDArray[np.uint64], run: Run
) -> tuple[FloatArray, FloatArray]:
    """Follow sampled paths: at every node the synergies of all pairs that split it."""
    p, n = sample.shape[1], int(job[2])
    values, error = np.zeros((len(codes), p, p)), np.zeros((len(codes), p, p))
    for k, x in enumerate(codes):
        sums, squares = np.zeros((p, p)), np.zeros((p, p))
        sample.kernel.sampled_pairs(x, _INDICES.index(index), job, sums, squares, run.n_threads)
        values[k] = _symmetric(sums / n)
        error[k] = _symmetric(standard_error(sums / n, squares / n, n=n))
        run.advance(1)
    return values, error


def _symmetric(lower: FloatArray) -> FloatArray:
    table: FloatArray = lower + lower.T
    np.fill_diagonal(table, np.nan)
    return table
