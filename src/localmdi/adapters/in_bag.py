"""The training rows' weights in each tree: candidates, and the check that one of them is right.

A model does not store the weights its trees were grown with. They are rebuilt from what it does
store, by rules that differ between versions of a library. The node weights, which the trees do
store, show which rule was used: "Weight check" in ``docs/theory/algorithms.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from localmdi._text import count
from localmdi._validation import check_sample_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localmdi.forest import Forest
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray


@dataclass(frozen=True)
class TrainingRows:
    """What one ``fit`` got: the rows' weights, and their labels if they are known."""

    weight: FloatArray
    y: AnyArray | None
    once: FloatArray | None = None
    """What a row would weigh if it were taken once; None: its weight."""

    @property
    def taken_once(self) -> FloatArray:
        """What each row would weigh if it were taken once."""
        return self.weight if self.once is None else self.once


class Rule(NamedTuple):
    """What a version of the library does with weights; by default what the newest does."""

    forest_draws: bool = True
    """Weights bias which rows a forest draws; else they multiply the counts of the rows drawn."""
    bagging_draws: bool = True
    """Likewise in Bagging."""
    balance: bool = True
    """Balanced class weights of a forest count rows by weight; else every row is one."""


class Step(Protocol):
    """From what an ensemble's ``fit`` got to what it handed to one of its members."""

    @property
    def needs_y(self) -> bool:
        """Whether weights depend on the labels here."""

    @property
    def depends_on(self) -> str | None:
        """The part of a rule that matters here, if there are weights."""

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""


@dataclass(frozen=True, eq=False)
class CountsStep:
    """A tree of a model with ``__row_counts__(tree)`` counts its rows as often as that says."""

    row_counts: Callable[[], ArrayLike]
    needs_y = False
    depends_on = None

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the tree got."""
        counts = np.asarray(self.row_counts(), dtype=np.float64)
        if counts.shape != rows.weight.shape:
            raise ValueError(
                f"X must be the rows that were passed to fit, {count(len(counts), 'row')}; got "
                f"{len(rows.weight):,}."
            )
        return replace(rows, weight=rows.weight * counts, once=rows.weight)


class InBag:
    """The training rows' weights in each tree of a model.

    Parameters
    ----------
    build : callable
        Returns for each tree, in the order of the forest, the steps from the model's ``fit`` to
        that tree; raises `UnsupportedModelError` with the reason if they cannot be known.
    """

    def __init__(self, build: Callable[[], Sequence[Sequence[Step]]]) -> None:
        self._build = build

    def candidates(
        self, n_rows: int, *, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> list[Candidate]:
        """Return the weights by every rule that may have been used, the newest first.

        The caller takes the first one that agrees with the forest: see `in_bag_disagreement`.

        Parameters
        ----------
        n_rows : int
            Number of training rows.
        y : array-like or None
            The targets given to ``fit``; needed when ``class_weight`` is set.
        sample_weight : array-like or None
            The weights given to ``fit``.

        Raises
        ------
        UnsupportedModelError
            The weights of this model cannot be rebuilt.
        ValueError
            y or sample_weight is missing or does not fit the rows.
        """
        chains = self._build()
        steps = {id(step): step for chain in chains for step in chain}.values()
        needs_y = any(step.needs_y for step in steps)
        if needs_y and y is None:
            raise ValueError(
                "y must be given when the model has class_weight, because the rows' weights "
                "depend on their classes. Pass the y that was passed to fit."
            )
        rows = TrainingRows(check_sample_weight(sample_weight, n_rows), _labels(y, n_rows))
        is_weighted = needs_y or sample_weight is not None
        unknown = {step.depends_on for step in steps} if is_weighted else set()
        options = [(True, False) if part in unknown else (True,) for part in Rule._fields]
        return [Candidate(chains, rows, rule=Rule(*rule)) for rule in product(*options)]


class Candidate:
    """The training rows' weights in each tree, by one rule.

    Parameters
    ----------
    chains : sequence of sequences of steps
        For each tree the steps from the model's ``fit`` to it.
    rows : TrainingRows
        What the model's ``fit`` got.
    rule : Rule
        What is done with weights.
    """

    def __init__(self, chains: Sequence[Sequence[Step]], rows: TrainingRows, *, rule: Rule) -> None:
        self.rule = rule
        self._chains = chains
        self._rows = rows
        # Trees of one ensemble share their first steps: those of the last tree are kept.
        self._path: list[tuple[Step, TrainingRows]] = []

    def weights(self, first_tree: int, last_tree: int) -> FloatArray:
        """Return each row's weight in the trees from `first_tree` to before `last_tree`.

        Returns
        -------
        ndarray of shape (last_tree - first_tree, n_rows)
        """
        return self.split(first_tree, last_tree)[0]

    def split(self, first_tree: int, last_tree: int) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the rows that each tree saw, and of those that it did not see.

        Returns
        -------
        in_bag, held_out : ndarrays of shape (last_tree - first_tree, n_rows)
            A row has a weight in one of them; what it did not see counts as if taken once.
        """
        trees = self._chains[first_tree:last_tree]
        in_bag = np.empty((len(trees), len(self._rows.weight)))
        held_out = np.empty_like(in_bag)
        for tree, chain in enumerate(trees):
            rows = self._follow(chain)
            in_bag[tree] = rows.weight
            held_out[tree] = np.where(rows.weight == 0, rows.taken_once, 0.0)
        return in_bag, held_out

    def row_weight(self) -> FloatArray:
        """Return what each row would weigh in the first tree if it were taken once."""
        return self._follow(self._chains[0]).taken_once

    def _follow(self, chain: Sequence[Step]) -> TrainingRows:
        known = 0
        while known < min(len(chain), len(self._path)) and chain[known] is self._path[known][0]:
            known += 1
        del self._path[known:]
        rows = self._path[-1][1] if self._path else self._rows
        for step in chain[known:]:
            rows = step(rows, self.rule)
            self._path.append((step, rows))
        return rows


def in_bag_disagreement(
    forest: Forest, first_tree: int, *, leaf: IntArray, weight: FloatArray
) -> int | None:
    """Return a node whose weight is not the sum of the weights of the rows that reach it.

    Parameters
    ----------
    forest : Forest
        The trees with their node weights.
    first_tree : int
        The tree of the first row of `leaf`.
    leaf : ndarray of int of shape (n_trees, n_rows)
        The leaf that each training row reaches in this tree and the following ones, numbered over
        the whole forest.
    weight : ndarray of shape (n_trees, n_rows)
        The rows' weights in these trees, from `Candidate.weights`.

    Returns
    -------
    int or None
        None: the weights agree at every node of these trees.
    """
    first, end = forest.tree_offset[[first_tree, first_tree + len(leaf)]].tolist()
    stored = forest.statistic("weight")
    nodes = np.arange(first, end)
    n_children = np.diff(forest.child_offset[first : end + 1])
    reached = np.bincount((leaf - first).ravel(), weights=weight.ravel(), minlength=end - first)
    # Leaves by the rows, other nodes by their children: if both hold, so does every node by rows.
    splits = nodes[n_children > 0]
    if len(splits):
        start, stop = forest.child_offset[[first, end]].tolist()
        below = stored[forest.child[start:stop]]
        reached[splits - first] += np.add.reduceat(below, forest.child_offset[splits] - start)
    roots = forest.tree_offset[first_tree : first_tree + len(leaf)]
    # Sums of n terms in another order differ by rounding only; any wrong rule differs by far more.
    tolerance = 1e-9 * np.repeat(np.abs(stored[roots]), np.diff(np.append(roots, end)))
    wrong = np.flatnonzero(~(np.abs(reached - stored[first:end]) <= tolerance))
    return int(nodes[wrong[0]]) if len(wrong) else None


def _labels(y: ArrayLike | None, n_rows: int) -> AnyArray | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or len(labels) != n_rows:
        raise ValueError(
            f"y must have one entry per row of X ({n_rows}); got shape {labels.shape}. "
            "Pass the X and y that were passed to fit."
        )
    return labels.ravel() if labels.shape[1:] == (1,) else labels
