"""Sampled paths: unbiased values with standard errors, where exact ones are too expensive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from localmdi.infinite.exact import Run, path_rules

if TYPE_CHECKING:
    from localmdi.infinite.categorical_sample import Sample
    from localmdi.infinite.encoder import Codes
    from localmdi.infinite.exact import Unseen
    from localmdi.typing import BoolArray, FloatArray, IntArray, Measure

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None

_Z = 1.959963984540054  # 97.5 % of the normal law lie below
_FIRST_ROUND = 64  # pairs; fewer than 50 give intervals that are too short
_MAX_PAIRS = 10_000
_DEFAULT_TOL = 0.01


@dataclass(frozen=True)
class Stopping:
    """When to stop: half of each 95 % interval of a row is at most `tol`, or after `n_pairs`."""

    tol: float
    n_pairs: int


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Means over paths at distinct rows."""

    values: FloatArray
    standard_error: FloatArray
    residual: FloatArray
    support: FloatArray


def read_stopping(tol: float | None, n_paths: int | None, *, baseline: float) -> Stopping:
    """Check the stopping rule; by default one percent of the baseline, or 20,000 paths.

    Examples
    --------
    >>> read_stopping(None, 1000, baseline=2.0)
    Stopping(tol=0.0, n_pairs=500)
    """
    if tol is not None and (isinstance(tol, bool) or not np.isreal(tol) or not 0 <= tol < np.inf):
        raise ValueError(
            f"tol must be a number, at least 0; got {tol!r}. It is half the length of the 95 % "
            "intervals, in the unit of the values."
        )
    if n_paths is None:
        return Stopping(_DEFAULT_TOL * baseline if tol is None else float(tol), _MAX_PAIRS)
    return Stopping(0.0 if tol is None else float(tol), (check_n_paths(n_paths) + 1) // 2)


def check_n_paths(n_paths: int) -> int:
    """Check the number of sampled paths; two pairs are the fewest with a standard error."""
    whole = isinstance(n_paths, int | np.integer) and not isinstance(n_paths, bool)
    if not whole or n_paths < 4:
        raise ValueError(
            f"n_paths must be a whole number, at least 4; got {n_paths!r}. "
            "About 1000 give three digits; standard errors are reliable from 100 on."
        )
    return int(n_paths)


def seeds_of(random_state: RandomState, n: int) -> list[int]:
    """Return n seeds from None, an int, a RandomState or a Generator.

    Examples
    --------
    >>> len(set(seeds_of(0, 3)))
    3
    """
    if isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(2**31))
    else:
        from sklearn.utils import check_random_state

        seed = int(check_random_state(random_state).randint(2**31 - 1))
    more: list[int] = np.random.SeedSequence(seed).generate_state(n - 1).tolist()
    return [seed, *more]


def sampled_rows(
    sample: Sample,
    codes: Codes,
    *,
    unseen: Unseen,
    stopping: Stopping,
    seed: int,
    run: Run,
    measure: Measure = "drop",
    numbers: FloatArray | None = None,
) -> SampledRows:
    """Sample pairs of antithetic paths at distinct rows until their intervals are short enough.

    `numbers` are the rows' numeric features, for a sample that has some.

    All rows follow the same random orders or cuts, and each stops on its own account: the values
    of a row depend on the seed, not on the rows beside it or on the number of threads.

    Examples
    --------
    >>> from localmdi.infinite.categorical_sample import read_samples
    >>> (sample,) = read_samples([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> sampled_rows(sample, sample.codes[:1], unseen="skip", stopping=Stopping(0.1, 64), seed=0,
    ...              run=Run()).values
    array([[0.5, 0.5]])
    """
    sums, squares = np.zeros(codes.shape), np.zeros(codes.shape)
    ends = np.zeros((2, len(codes)))
    n_pairs = np.zeros(len(codes), dtype=np.int64)
    active = np.arange(len(codes))
    rules = path_rules(unseen, measure)
    kernel = sample.kernel if sample.mixed is None else sample.mixed
    done = 0
    while active.size and done < stopping.n_pairs:
        count = min(max(_FIRST_ROUND, done), stopping.n_pairs - done)
        part = np.concatenate([sums[active], squares[active]])
        part_ends = np.ascontiguousarray(ends[:, active])
        job = np.array([seed, done, count], dtype=np.uint64)
        rows = np.ascontiguousarray(codes[active])
        measured = None if numbers is None else np.ascontiguousarray(numbers[active])
        kernel.sampled_paths(rows, measured, rules, job, part, part_ends, run.n_threads)
        sums[active], squares[active] = np.split(part, 2)
        ends[:, active] = part_ends
        done += count
        n_pairs[active] = done
        finished = _is_short(sums[active] / done, squares[active] / done, n=done, tol=stopping.tol)
        run.advance(int(finished.sum()) if done < stopping.n_pairs else len(active))
        active = active[~finished]
    n = n_pairs[:, np.newaxis]
    error = standard_error(sums / n, squares / n, n=n)
    return SampledRows(sums / n, error, ends[0] / n_pairs, ends[1] / n_pairs)


def standard_error(mean: FloatArray, square: FloatArray, *, n: int | IntArray) -> FloatArray:
    """Return the standard error of means over n pairs, from the means and those of the squares."""
    # What cancels in the difference is rounding, not variance.
    spread = square - mean**2
    spread = np.where(spread > 1e-14 * square, spread, 0.0)
    return np.asarray(np.sqrt(spread / (n - 1)))


def _is_short(mean: FloatArray, square: FloatArray, *, n: int, tol: float) -> BoolArray:
    if tol == 0.0:
        return np.zeros(len(mean), dtype=bool)
    return np.asarray((_Z * standard_error(mean, square, n=n) <= tol).all(axis=1))
