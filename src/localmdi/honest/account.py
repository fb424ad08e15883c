"""The account: the loss of the forest's own prediction, divided exactly among the features.

Before is the loss of the prior, the mean of the roots; after is that of the prediction by the trees
that have not seen the row. See "The account" in ``docs/theory/algorithms.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi.exceptions import UnsupportedModelError
from localmdi.honest.losses import Answers, divide, predicted, row_figures
from localmdi.importance.saabas import prediction_paths
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi._validation import RowSource
    from localmdi.forest import Forest
    from localmdi.honest.unseen import Block, Responses, Unseen
    from localmdi.results import GlobalImportance
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray

_ALL_SEEN = (
    "some tree must not have seen some row, but every tree saw all of them. Fit with "
    "bootstrap=True, or pass rows that the model has not seen: held_out=(X, y)."
)
_ALL_GROUPS = (
    "some tree must not have seen any row of some of the groups=, but every tree saw one of each. "
    "Hold out whole groups: honest_folds(model, X, y, groups=...), or held_out=(X, y)."
)

# Rows × trees whose leaves are held at a time, and rows × features × columns of paths.
_PAIRS = 1 << 22
_PATHS = 1 << 22
# With fewer rows for each coefficient of the expectation, all features share one.
_ROWS_PER_SLOPE = 20


@dataclass(frozen=True, eq=False)
class Ends:
    """What the trees that have not seen a row predict for it, before and after.

    Parameters
    ----------
    start, end : ndarray of shape (n_rows, n_columns)
        Mean values of the roots and of the leaves; numbers less the mean of all roots.
    weight, n_trees : ndarray of shape (n_rows,)
        The total weight and the number of these trees; 0 where every tree has seen the row.
    row_weight : ndarray of shape (n_rows,)
        The mean weight of the row in the law whose means the roots are.
    unseen_share : ndarray of shape (n_trees,)
        The share of the rows that each tree has not seen.
    bits : ndarray of uint8, shape (n_trees, n_rows / 8)
        Which rows each tree has not seen.
    leaf : ndarray of int64, shape (n_rows, n_trees), or None
        Where the rows end, if that is small.
    """

    start: FloatArray
    end: FloatArray
    weight: FloatArray
    n_trees: FloatArray
    row_weight: FloatArray
    unseen_share: FloatArray
    bits: AnyArray
    leaf: IntArray | None

    @property
    def known(self) -> BoolArray:
        """Which rows some tree has not seen."""
        return self.n_trees > 0

    def unequal_weight(self, known: BoolArray) -> FloatArray | None:
        """Return the rows' weights in a mean; None if all count alike."""
        weight = np.where(known, self.row_weight, 0.0)
        return None if (weight == weight[0]).all() else weight


class EndSums:
    """Adds up, block by block, what the trees that have not seen a row predict for it.

    Parameters
    ----------
    unseen : Unseen
        The rows and the trees.
    """

    def __init__(self, unseen: Unseen) -> None:
        forest, n_rows = unseen.forest, len(unseen)
        shape = (n_rows, forest.statistic("value").shape[1])
        self._unseen = unseen
        self._kernel = _kernel(forest)
        self._start, self._end = np.zeros(shape), np.zeros(shape)
        self._weight, self._n_trees = np.zeros(n_rows), np.zeros(n_rows)
        self._own = np.zeros(n_rows)
        self._share = np.empty(forest.n_trees)
        self._bits = np.zeros((forest.n_trees, -(-n_rows // 8)), dtype=np.uint8)
        self._leaf: IntArray | None = None

    def add(self, block: Block) -> None:
        """Add some trees."""
        forest = self._unseen.forest
        mask = (block.held > 0).astype(np.uint8)
        rows = _core.UnseenRows(block.trees.start, block.leaf, mask)
        self._kernel.add_ends(rows, self._start, self._end, self._weight, self._unseen.n_threads)
        self._n_trees += mask.sum(axis=0)
        self._own += forest.tree_weight[block.trees] @ block.held
        self._share[block.trees] = mask.mean(axis=1)
        self._bits[block.trees] = np.packbits(mask, axis=1)
        self._leaf = block.leaf if len(mask) == forest.n_trees else None

    def result(self) -> Ends:
        """Return the means; NaN for rows that every tree has seen."""
        if not self._n_trees.any():
            raise UnsupportedModelError(_ALL_SEEN if self._unseen.groups is None else _ALL_GROUPS)
        weight = self._weight
        divisor = np.where(weight > 0, weight, np.nan)
        return Ends(
            self._start / divisor[:, None],
            self._end / divisor[:, None],
            weight,
            self._n_trees,
            np.where(weight > 0, self._own / divisor, 0.0),
            self._share,
            self._bits,
            self._leaf,
        )


def find_ends(unseen: Unseen) -> Ends:
    """Return the predictions of all rows by the trees that have not seen them."""
    sums = EndSums(unseen)
    for block in unseen.blocks():
        sums.add(block)
    return sums.result()


def account_rows(
    unseen: Unseen, ends: Ends, *, loss: str, errors: bool, many_trees: bool
) -> LocalImportance:
    """Divide each row's own loss among the features."""
    forest, shape = unseen.forest, (len(unseen), unseen.forest.n_features)
    values, before, after = np.zeros(shape), np.empty(shape[0]), np.empty(shape[0])
    error = np.empty(shape) if errors else None
    figures: list[dict[str, FloatArray]] = []
    kernel = _kernel(forest)
    frequency = _frequencies(unseen, np.where(ends.known, ends.row_weight, 0.0))
    for part, rows in _tiles(unseen, ends):
        answers = answers_of(unseen.responses, forest, part=part)
        start, end, n_trees = ends.start[part], ends.end[part], ends.n_trees[part]
        found = divide(loss, answers, start=start, end=end, n_trees=n_trees)
        before[part], after[part] = found.before, found.after
        figures.append(row_figures(answers, frequency, start=start, end=end, n_trees=n_trees))
        weight = np.nan_to_num(found.weight, nan=0.0, posinf=0.0, neginf=0.0)
        scale = np.where(ends.weight[part] > 0, ends.weight[part], 1.0)[:, None]
        kernel.add_credits(rows, found.column, weight / scale, values[part], unseen.n_threads)
        if errors or many_trees:
            variance, excess = np.empty((len(start), shape[1])), np.empty((len(start), shape[1]))
            slope = np.nan_to_num(found.slope)
            kernel.measure_spread(
                rows, found.column, weight, slope, variance, excess, unseen.n_threads
            )
            if error is not None:
                error[part] = np.sqrt(variance)
            if many_trees:
                values[part] -= excess
                after[part] = before[part] - values[part].sum(axis=1)
    # A class that no tree knows surprises without bound: such rows are left out as well.
    known = ends.known & np.isfinite(before) & np.isfinite(after)
    values[~known] = before[~known] = after[~known] = np.nan
    scores = {name: np.concatenate([part[name] for part in figures]) for name in figures[0]}
    if forest.classes is None and "forecast" in scores:
        for name in ("forecast", "outcome"):
            scores[name] += np.ravel(_origin(forest))[0]
    return LocalImportance(
        values,
        before,
        residual=after,
        standard_error=error,
        row_weight=ends.unequal_weight(known),
        unit=_UNITS[loss],
        measure="loss",
        honest=True,
        prediction=predicted(ends.end + _origin(forest), forest.classes, known=ends.known),
        scores={name: np.where(known, score, np.nan) for name, score in scores.items()},
        **fixed_fields(forest, unseen.rows),
    )


def _frequencies(unseen: Unseen, weight: FloatArray) -> FloatArray:
    """Return the frequencies of the classes, or the means of the numbers, over all rows."""
    column, value = unseen.responses
    own = (value * weight[:, None]).ravel()
    n_columns = unseen.forest.statistic("value").shape[1]
    sums = np.bincount(column.ravel(), weights=own, minlength=n_columns)
    means: FloatArray = sums / weight.sum() - _origin(unseen.forest)
    return means


_UNITS = {"log": "bits", "brier": "gini", "squared_error": "variance"}


def account_at(unseen: Unseen, ends: Ends, *, at: RowSource, loss: str) -> LocalImportance:
    """Divide the expected loss of other rows, whose answers are not known, by all trees.

    What is expected is a linear function of what every feature moved, fitted to the rows whose
    answers are known: ŷ = f0 + Σ_m b_m φ_m.
    """
    forest = unseen.forest
    slopes, noise = _expectation(unseen, ends)
    starts = target_starts(forest)
    target = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    shape = (at.shape[0], forest.n_features)
    values, before, after = np.empty(shape), np.empty(shape[0]), np.empty(shape[0])
    roots = forest.statistic("value")[forest.tree_offset[:-1]] - _origin(forest)
    prior = forest.tree_weight @ roots / forest.tree_weight.sum()
    step = max(1, _PATHS // max(1, shape[1] * len(target)))
    for first in range(0, shape[0], step):
        part = slice(first, min(first + step, shape[0]))
        phi = prediction_paths(
            unseen.packing,
            at.part(part.start, part.stop),
            rules=unseen.rules,
            n_threads=unseen.n_threads,
        )
        start = np.tile(prior, (len(phi), 1))
        expected = start + np.einsum("rpk,kp->rk", phi, slopes[target])
        if forest.classes is not None:
            expected = _as_chances(expected, starts)
        answers = Answers(expected, starts, forest.classes is not None, noise)
        n_trees = np.full(len(phi), float(np.count_nonzero(forest.tree_weight)))
        found = divide(loss, answers, start=start, end=start + phi.sum(axis=1), n_trees=n_trees)
        before[part], after[part] = found.before, found.after
        moves = np.take_along_axis(phi, found.column[:, None, :].astype(np.int64), axis=2)
        values[part] = np.einsum("rpe,re->rp", moves, found.weight)
    return LocalImportance(
        values,
        before,
        residual=after,
        unit=_UNITS[loss],
        measure="loss",
        honest=True,
        caveat="expected: the answers of these rows are not known.",
        **fixed_fields(forest, at),
    )


def _expectation(unseen: Unseen, ends: Ends) -> tuple[FloatArray, float]:
    """Return the slopes b by target and feature, and the mean squared error over all targets."""
    forest, p = unseen.forest, unseen.forest.n_features
    starts = target_starts(forest)
    n_targets = len(starts) - 1
    gram, right, squares = np.zeros((n_targets, p, p)), np.zeros((n_targets, p)), 0.0
    weight = np.where(ends.known, ends.row_weight, 0.0)
    kernel = _kernel(forest)
    for part, rows in _tiles(unseen, ends):
        scale = np.where(ends.weight[part] > 0, ends.weight[part], 1.0)[:, None]
        rest = answers_of(unseen.responses, forest, part=part).chance - ends.start[part]
        rest[~ends.known[part]] = 0.0
        for target, (a, b) in enumerate(pairwise(starts)):
            # Of two classes one tells all.
            for k in range(a + 1 if b - a == 2 and forest.classes is not None else a, b):
                phi = np.zeros((len(rest), p))
                column = np.full((len(rest), 1), k, dtype=np.int32)
                kernel.add_credits(rows, column, 1.0 / scale, phi, unseen.n_threads)
                gram[target] += phi.T @ (weight[part, None] * phi)
                right[target] += phi.T @ (weight[part] * rest[:, k])
                squares += float(weight[part] @ rest[:, k] ** 2)
    slopes = np.zeros((n_targets, p))
    for target in range(n_targets):
        if ends.known.sum() < _ROWS_PER_SLOPE * p:
            spread = gram[target].sum()
            slopes[target] = right[target].sum() / spread if spread > 0 else 0.0
        else:
            slopes[target] = np.linalg.lstsq(gram[target], right[target], rcond=None)[0]
    explained = np.einsum("tp,tp->", slopes, 2.0 * right - np.einsum("tpq,tq->tp", gram, slopes))
    return slopes, max(0.0, float(squares - explained)) / float(weight.sum())


def _as_chances(expected: FloatArray, starts: Sequence[int]) -> FloatArray:
    """Return chances: not negative, and of each target with the sum 1."""
    chance = np.clip(expected, 0.0, None)
    for a, b in pairwise(starts):
        chance[:, a:b] /= chance[:, a:b].sum(axis=1, keepdims=True)
    return chance


def _tiles(unseen: Unseen, ends: Ends) -> Iterator[tuple[slice, _core.UnseenRows]]:
    """Yield some rows with their leaves in all trees."""
    n_rows, n_trees = len(unseen), unseen.forest.n_trees
    if ends.leaf is not None:
        bits = np.unpackbits(ends.bits, axis=1, count=n_rows)
        yield slice(0, n_rows), _core.UnseenRows(0, ends.leaf, bits)
        return
    step = max(8, _PAIRS // n_trees // 8 * 8)  # whole bytes
    for first in range(0, n_rows, step):
        part = slice(first, min(first + step, n_rows))
        leaf = unseen.find_leaves(part)
        bits = np.unpackbits(
            ends.bits[:, first // 8 : -(-part.stop // 8)], axis=1, count=part.stop - first
        )
        yield part, _core.UnseenRows(0, leaf, np.ascontiguousarray(bits))


def mean_over_sample(result: LocalImportance, groups: IntArray | None) -> GlobalImportance:
    """Return the mean over rows, with the error of the sample of rows, or of groups of them."""
    mean = result.mean()
    weight = np.ones(len(result)) if result.row_weight is None else result.row_weight
    parts = np.where(weight[:, None] > 0, weight[:, None] * (result.values - mean.values), 0.0)
    if groups is not None:
        sums = np.zeros((int(groups.max()) + 1, parts.shape[1]))
        np.add.at(sums, groups, parts)
        parts = sums
    n = int((np.abs(parts).max(axis=1) > 0).sum())
    error = np.sqrt((parts**2).sum(axis=0) * n / max(1, n - 1)) / weight.sum()
    return replace(mean, standard_error=error, error_kind="sample")


def answers_of(responses: Responses, forest: Forest, *, part: slice) -> Answers:
    """Return what some rows answered, by column of the nodes' values; numbers from `_origin`."""
    starts = target_starts(forest)
    if forest.classes is None:
        return Answers(responses.value[part] - _origin(forest), starts, of_classes=False)
    column = responses.column[part].astype(np.int64)
    chance = np.zeros((len(column), starts[-1]))
    np.put_along_axis(chance, column, 1.0, axis=1)
    return Answers(chance, starts, of_classes=True)


def target_starts(forest: Forest) -> list[int]:
    """Return where the columns of each target start, and the end."""
    if forest.classes is None:
        return list(range(forest.statistic("value").shape[1] + 1))
    return [0, *np.cumsum([len(labels) for labels in forest.classes]).tolist()]


def _origin(forest: Forest) -> FloatArray | float:
    """Return from where numbers count: far from zero, their differences would lose digits."""
    if forest.classes is not None:
        return 0.0
    origin: FloatArray = forest.statistic("value")[forest.tree_offset[:-1]].mean(axis=0)
    return origin


def _kernel(forest: Forest) -> _core.Account:
    value = np.ascontiguousarray(forest.statistic("value") - _origin(forest))
    return _core.Account(forest.node_table, value, np.ascontiguousarray(forest.tree_weight))


def fixed_fields(forest: Forest, rows: RowSource) -> dict[str, Any]:
    """Return the fields of a result that tell about the forest and the rows."""
    return {
        "feature_names": forest.names_for(rows.names),
        "n_trees": forest.n_trees,
        "data": rows.data,
        "row_labels": rows.row_labels,
        "frame_type": rows.frame_type,
        "groups": rows.groups,
    }
