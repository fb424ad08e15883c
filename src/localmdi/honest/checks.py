"""What must be refused or said before honest values are believed.

Rows that were never out of bag, and rows that belong together.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from localmdi._text import count, quote_names
from localmdi.exceptions import UnsupportedModelError
from localmdi.honest.account import answers_of, target_starts

if TYPE_CHECKING:
    from localmdi._validation import RowSource
    from localmdi.honest.account import Ends
    from localmdi.honest.unseen import Unseen
    from localmdi.typing import AnyArray, FloatArray, IntArray

# Chance leaves a share of the rows in every bag; much more than that is the work of weights.
_NEVER_OUT = 0.05
# Residuals of unrelated rows that follow each other correlate by .1 at most. Those of rows most
# alike share what the forest blurs: up to .3 among unrelated ones, except where classes keep apart
# (tests/honest/test_likeness.py has both kinds).
_IN_ORDER, _ALIKE = 0.2, 0.4
_QUERIES, _FEWEST_QUERIES, _WORK, _AT_ONCE = 500, 100, 5e8, 32
# Of a class that keeps apart, three fifths of the rows or more decide about each of them; where
# rows belong together, .3 of them or less.
_FEW_OF_CLASS, _ASKED = 0.4, 50

_ADVICE = (
    "Pass rows that the model has not seen, held_out=(X, y); or fit more trees, and without "
    "weights that decide which rows are drawn."
)


def check_bags(unseen: Unseen, ends: Ends) -> None:
    """Refuse trees whose out-of-bag rows speak for a part of the rows only.

    Weights that bias the bootstrap put heavy rows into every bag; those that are left are others.
    """
    forest = unseen.forest
    never = np.ones(target_starts(forest)[-1], dtype=bool)
    never[unseen.responses.column[ends.known]] = False
    for (start, stop), labels in zip(
        pairwise(target_starts(forest)), forest.classes or (), strict=False
    ):
        given = np.isin(np.arange(start, stop), unseen.responses.column)
        if (never[start:stop] & given).any():
            names = quote_names(labels[never[start:stop] & given].tolist(), most=3)
            raise UnsupportedModelError(
                f"every class must have rows out of bag; those of {names} are in every tree's bag. "
                f"{_ADVICE}"
            )
    weight = _row_weight(unseen)
    share = float(weight[~ends.known].sum() / weight.sum())
    grouped = unseen.groups is not None
    by_chance = 0.0 if grouped else float(np.prod(1.0 - ends.unseen_share))
    if share > 2.0 * by_chance + _NEVER_OUT:
        raise UnsupportedModelError(
            f"{share:.0%} of the rows' weight {_IN_GROUPS if grouped else 'is in'} every tree's "
            f"bag, where chance leaves {by_chance:.0%}: what is out of bag does not stand for all "
            f"rows. {_ADVICE}"
        )


def _row_weight(unseen: Unseen) -> FloatArray:
    return unseen.weight if unseen.candidate is None else unseen.candidate.row_weight()


_IN_GROUPS = "belongs to groups that are, with one row at least, in"


def warn_of_gaps(
    unseen: Unseen, ends: Ends, *, residual: FloatArray | None, many_trees: bool
) -> None:
    """Say how many rows have no value, and why."""
    none, single = ends.n_trees == 0, (ends.n_trees == 1) & many_trees
    reasons = [
        (none & (_row_weight(unseen) > 0), "seen by every tree", "Use more trees."),
        (single, "unseen by a single tree, too few to correct", "Use more trees."),
    ]
    if residual is not None:
        endless = np.isnan(residual) & ~none & ~single
        why = "of a class that no tree knows without them, infinitely surprising"
        reasons.append((endless, why, "Use loss='brier', or join rare classes."))
    for which, why, advice in reasons:
        if which.any():
            n = int(which.sum())
            warnings.warn(
                f"{count(n, 'row')} of {len(unseen):,} {'was' if n == 1 else 'were'} {why}: no "
                f"honest value (NaN). {advice}",
                UserWarning,
                stacklevel=4,
            )


def warn_of_likeness(unseen: Unseen, ends: Ends) -> None:
    """Say it if rows resemble those next to them by more than the forest knows.

    Then out of bag is not unseen: a tree knows a row by its neighbours, as it will not know new
    ones.
    """
    if unseen.groups is not None:
        return None
    known = np.flatnonzero(ends.known)
    residual = answers_of(unseen.responses, unseen.forest, part=slice(None)).chance - ends.end
    residual = residual[known]
    residual -= residual.mean(axis=0)
    if not _is_sorted(unseen.responses.value[known] + unseen.responses.column[known]):
        in_order = _correlation(residual[1:], residual[:-1])
        if in_order > (most := _beyond_chance(_IN_ORDER, len(known))):
            return _warn("the row before it", in_order, most=most)
    pairs = _nearest(unseen.rows, known)
    if pairs is not None:
        alike = _correlation(residual[pairs[0]], residual[pairs[1]])
        most = _beyond_chance(_ALIKE, len(pairs[0]))
        if alike > most and _few_decide(unseen, known[pairs[0]]):
            return _warn("the row most like it", alike, most=most)
    return None


def _few_decide(unseen: Unseen, rows: IntArray) -> bool:
    """Tell whether few rows of its class decide what is predicted for a row.

    A forest that is right, but never sure, misses the same of all rows of a class: their residuals
    are alike although the rows have nothing to do with each other. Numbers have no such classes.
    """
    forest = unseen.forest
    if forest.classes is None:
        return True
    code = unseen.responses.column[:, 0]
    n_asked = int(np.clip(_WORK / (len(unseen) * forest.n_trees), 5, _ASKED))
    asked = rows[np.linspace(0, len(rows) - 1, min(n_asked, len(rows))).astype(np.int64)]
    share = np.zeros((len(asked), len(unseen)))
    within, n_trees = np.zeros(len(asked)), np.zeros(len(asked))
    for block in unseen.blocks():
        in_bag = np.asarray(block.in_bag).T
        for one, row in enumerate(asked):
            together = np.where(block.leaf == block.leaf[row], in_bag, 0.0)
            total = together.sum(axis=0)
            unseen_by = (block.held[:, row] > 0) & (total > 0)
            own = together[:, unseen_by] / total[unseen_by]
            share[one] += own.sum(axis=1)
            within[one] += (own**2).sum()
            n_trees[one] += np.count_nonzero(unseen_by)
    # The chance that two trees decide by the same row: of few trees too, one over their number.
    pairs = n_trees * (n_trees - 1.0)
    same = ((share**2).sum(axis=1) - within)[pairs > 0] / pairs[pairs > 0]
    size = np.bincount(code)[code[asked]][pairs > 0]
    return bool(len(same) > 0 and np.median(same * size) > 1.0 / _FEW_OF_CLASS)


def _beyond_chance(most: float, n: int) -> float:
    """Return what n pairs must exceed: three standard errors of their correlation at least."""
    return max(most, 3.0 / float(np.sqrt(n)))


def _warn(neighbour: str, likeness: float, *, most: float) -> None:
    warnings.warn(
        f"what the forest misses of a row it tends to miss of {neighbour} too (correlation "
        f"{likeness:.2f}, where unrelated rows stay below {most:.1f}). If rows belong together, "
        "several of one patient or days in a row, out-of-bag values are too good: hold whole "
        "patients or blocks of time out, honest_folds(model, X, y, groups=...) or time=....",
        UserWarning,
        stacklevel=5,
    )


def _correlation(a: FloatArray, b: FloatArray) -> float:
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / scale) if scale > 0 else 0.0


def _is_sorted(target: AnyArray) -> bool:
    """Tell whether a file is sorted by its target: then its residuals follow each other anyway."""
    steps = np.diff(target[:, 0])
    runs = np.count_nonzero(steps) + 1
    in_blocks = runs < min(2 * len(np.unique(target[:, 0])), len(target) / 4)
    return bool(in_blocks or (steps >= 0).all() or (steps <= 0).all())


def _nearest(rows: RowSource, known: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return some of these rows and the one most like each, as positions; None if it costs much."""
    n, p = len(known), rows.shape[1]
    n_queries = int(min(n, _QUERIES, _WORK / max(1, n * p)))
    if rows.sparse or n_queries < min(n, _FEWEST_QUERIES) or n < 3:
        return None
    table = np.asarray(rows.batch(0, rows.shape[0]), dtype=np.float32)[known]
    with np.errstate(all="ignore"):
        scale = np.nanstd(table, axis=0)
        table = (table - np.nanmean(table, axis=0)) / np.where(scale > 0, scale, 1.0)
    table = np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0)
    query = np.linspace(0, n - 1, n_queries).astype(np.int64)
    square = (table**2).sum(axis=1)
    nearest = np.empty(n_queries, dtype=np.int64)
    for first in range(0, n_queries, _AT_ONCE):
        some = query[first : first + _AT_ONCE]
        distance = square[None, :] - 2.0 * table[some] @ table.T
        distance[np.arange(len(some)), some] = np.inf
        nearest[first : first + _AT_ONCE] = distance.argmin(axis=1)
    return query, nearest
