"""Folds: rows that are held out together, and explained by a model that was fitted to the others.

For models without bootstrap, and for rows that belong together, which a bootstrap of rows tears
apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from localmdi._text import count
from localmdi._validation import find_missing
from localmdi.honest.api import honest_global_mdi, honest_mdi
from localmdi.honest.unseen import read_groups
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.results import GlobalImportance
    from localmdi.typing import AnyArray, ArrayLike, IntArray, RowsLike


class Fold(NamedTuple):
    """A model, and rows with their answers that it has not seen.

    Parameters
    ----------
    model : fitted estimator or Forest
        The model.
    X, y
        The rows.
    rows : ndarray of int
        Their numbers in the whole table.
    groups : ndarray of int or None
        Rows that belong together.
    held_out : bool
        Whether no tree has seen them. If not, they are what ``fit`` got, and each tree has seen
        those in its bag.
    """

    model: Any
    X: Any
    y: AnyArray
    rows: IntArray
    groups: IntArray | None = None
    held_out: bool = True

    def given(self) -> dict[str, Any]:
        """Return what `honest_mdi` gets."""
        return {
            "model": self.model,
            "X": self.X,
            "y": self.y,
            "groups": self.groups,
            "held_out": self.held_out,
        }


class HonestFolds(NamedTuple):
    """What was learned from all folds.

    Parameters
    ----------
    local : LocalImportance
        All rows, each explained by the model that has not seen its fold.
    importance : GlobalImportance
        The honest gain of every feature, with a test.
    fold : ndarray of int, shape (n_rows,)
        The fold of every row.
    models : tuple of fitted estimators
        The model of every fold, fitted to the rows outside it.
    """

    local: LocalImportance
    importance: GlobalImportance
    fold: IntArray
    models: tuple[Any, ...]


def honest_folds(
    model: Any,
    X: RowsLike,
    y: ArrayLike,
    *,
    n_folds: int = 5,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    measure: Literal["gain", "loss"] = "loss",
    criterion: str | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> HonestFolds:
    """Fit the model again without the rows of each fold in turn, and explain them honestly.

    Parameters
    ----------
    model : estimator
        Copies of it are fitted; it is not changed.
    X, y
        All rows.
    n_folds : int
        How many folds. Of blocks of time ten or more are better than few.
    groups : array-like of shape (n_rows,), or None
        Labels of rows that belong together, patients for example: a fold holds whole groups, and
        errors are summed by group.
    time : array-like of shape (n_rows,), or None
        By what the rows follow each other: a fold is a block of time.
    measure, criterion, n_jobs
        As for `honest_mdi`; what `local` holds.
    random_state : int
        Of the folds.

    Returns
    -------
    HonestFolds

    Examples
    --------
    Ten patients with thirty rows each, whose answers have nothing to do with the columns:

    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(10), 30)
    >>> X = rng.normal(size=(10, 4))[patient] + rng.normal(size=(300, 4)) / 10
    >>> y = np.arange(10)[patient] % 2
    >>> model = RandomForestClassifier(50, criterion="entropy", random_state=0)
    >>> found = honest_folds(model, X, y, groups=patient)
    >>> found.local.quality().figures["accuracy"] < 0.7, found.importance.top(1)[0][1] < 0.1
    (True, True)
    """
    target = np.asarray(y)
    whole = isinstance(n_folds, (int, np.integer)) and not isinstance(n_folds, bool)
    if not whole or n_folds < 2:
        raise ValueError(
            f"n_folds must be a whole number of at least 2; got {n_folds!r}. Use 5 if in doubt."
        )
    group = read_groups(groups, len(target))
    fold = assign_folds(target, int(n_folds), groups=group, time=time, seed=random_state)
    parts = []
    for k in range(int(n_folds)):
        inside, outside = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        fitted = clone(model).fit(_safe_indexing(X, outside), target[outside])
        own = None if group is None else group[inside]
        parts.append(Fold(fitted, _safe_indexing(X, inside), target[inside], inside, own))
    return HonestFolds(
        explain_folds(parts, measure=measure, criterion=criterion, n_jobs=n_jobs),
        rank_folds(parts, criterion=criterion, n_jobs=n_jobs),
        fold,
        tuple(part.model for part in parts),
    )


def explain_folds(
    folds: Sequence[Fold],
    *,
    at: RowsLike | None = None,
    measure: Literal["gain", "loss"] = "loss",
    criterion: str | None = None,
    n_jobs: int | None = None,
) -> LocalImportance:
    """Explain the rows of all folds, in the order of their numbers.

    Parameters
    ----------
    folds : sequence of Fold
        Rows of different folds are different.
    at : array, sparse matrix or data frame, or None
        Other rows, whose answers are not known: the mean over the models of what is expected.
    measure, criterion, n_jobs
        As for `honest_mdi`.
    """
    results = [
        honest_mdi(**part.given(), at=at, measure=measure, criterion=criterion, n_jobs=n_jobs)
        for part in folds
    ]
    if at is not None:
        levels = ("values", "baseline", "residual") if measure == "loss" else ("values",)
        means = {name: np.mean([getattr(one, name) for one in results], axis=0) for name in levels}
        return replace(results[0], **means)
    if any(one.row_weight is not None for one in results):
        # Rows without a value weigh nothing; those of a fold where all have one weigh 1.
        results = [
            one if one.row_weight is not None else replace(one, row_weight=np.ones(len(one)))
            for one in results
        ]
    order = np.argsort(np.concatenate([part.rows for part in folds]))
    return LocalImportance.concat(results)[order]


def rank_folds(
    folds: Sequence[Fold], *, criterion: str | None = None, n_jobs: int | None = None
) -> GlobalImportance:
    """Return the mean gain over folds, with an error that is not too small.

    What the models of two folds learned may be the same accident: errors are added as they are, not
    their squares.
    """
    gains = [
        honest_global_mdi(**part.given(), criterion=criterion, n_jobs=n_jobs) for part in folds
    ]
    n_rows = sum(len(part.rows) for part in folds)
    share = np.array([len(part.rows) for part in folds]) / n_rows
    return replace(
        gains[0],
        values=share @ np.stack([part.values for part in gains]),
        standard_error=share @ np.stack([np.asarray(part.standard_error) for part in gains]),
        weight=float(n_rows),
    )


def assign_folds(
    y: AnyArray, n_folds: int, *, groups: IntArray | None = None, time: Any = None, seed: int = 0
) -> IntArray:
    """Return the fold of every row.

    Whole groups, or blocks of time in their order; else at random, each class spread evenly.

    Parameters
    ----------
    y : ndarray
        The target.
    n_folds : int
        How many folds.
    groups : ndarray of int or None
        Rows that must be in the same fold.
    time : array-like or None
        Values by which rows follow each other; equal ones are in the same fold.
    seed : int
        Of the draw.

    Examples
    --------
    >>> assign_folds(np.zeros(6), 2, time=[3, 1, 2, 6, 5, 4])
    array([0, 0, 0, 1, 1, 1])
    >>> folds = assign_folds(np.array(list("aabb")), 2)
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    n_rows = len(y)
    rng = np.random.default_rng(seed)
    if time is not None:
        moment = np.asarray(time)
        if moment.shape != (n_rows,) or find_missing(moment).any():
            raise ValueError(
                f"time must have one entry per row ({n_rows}), none missing; got shape "
                f"{moment.shape}. Pass the column by which the rows follow each other."
            )
        _, place, size = np.unique(moment, return_inverse=True, return_counts=True)
        # The middle of each moment's rows decides, so that blocks hold about as many rows.
        middle = np.cumsum(size) - size / 2.0
        fold: IntArray = (middle * n_folds / n_rows).astype(np.int64)[place]
    elif groups is not None:
        size = np.bincount(groups)
        load, of_group = np.zeros(n_folds), np.empty(len(size), dtype=np.int64)
        shuffled = rng.permutation(len(size))
        # The largest first, each into the fold that has least.
        for group in shuffled[np.argsort(-size[shuffled], kind="stable")]:
            of_group[group] = int(load.argmin())
            load[of_group[group]] += size[group]
        fold = of_group[groups]
    else:
        order = rng.permutation(n_rows)
        if y.dtype.kind not in "fc" and y.ndim == 1:
            _, code = np.unique(y, return_inverse=True)
            order = order[np.argsort(code[order], kind="stable")]
        fold = np.empty(n_rows, dtype=np.int64)
        fold[order] = np.arange(n_rows) % n_folds
    if len(np.unique(fold)) < n_folds:
        raise ValueError(
            f"every fold must have rows; {count(n_folds, 'fold')} are too many for these "
            f"{'groups' if groups is not None else 'rows'}. Use fewer."
        )
    return fold
