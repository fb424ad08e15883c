"""Credit: the one form in which a local measure reaches the kernels.

Every local measure gives the split feature an amount for each edge parent → child on a row's path.
The kernels add these amounts up; what they mean is decided here and wherever else a `Credit` is
made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from localmdi import _core
from localmdi._criteria import find_criterion
from localmdi.exceptions import MissingStatisticsError

if TYPE_CHECKING:
    from localmdi.forest.deferred import NodeSource
    from localmdi.forest.forest import Forest
    from localmdi.typing import FloatArray, Measure

__all__ = ["Credit", "Laws", "credit_of", "divergence_gain", "find_laws", "impurity_drop"]


@dataclass(frozen=True, eq=False)
class Credit:
    """What a measure gives for every edge of a forest.

    Parameters
    ----------
    amount : ndarray of shape (n_nodes,)
        At each node the amount for the edge from its parent; roots are not read.
    unit : str
        The unit of the amounts.
    remainder : ndarray of shape (n_nodes,) or None
        What is left at each node, where the amounts telescope: on every path they sum to the
        remainder of the root minus that of the end. None: the measure has no such account, and
        its results have neither baseline nor residual.
    measure : {"drop", "gain"}
        Which measure it is.
    honest : bool
        Whether the amounts come from rows that the trees did not see.
    """

    amount: FloatArray
    unit: str
    remainder: FloatArray | None = None
    measure: Measure = "drop"
    honest: bool = False

    @property
    def telescopes(self) -> bool:
        """Whether there is a remainder."""
        return self.remainder is not None

    def root_remainder(self, forest: Forest) -> FloatArray | None:
        """Return the remainder of each tree's root; None if there is none."""
        return None if self.remainder is None else self.remainder[forest.tree_offset[:-1]]

    def pack(self, forest: Forest, n_threads: int) -> _core.Packed32 | _core.Packed64:
        """Return the forest in the form that the kernels walk, with these credits."""
        return pack_table(forest, self.amount, remainder=self.remainder)

    def records(self, forest: Forest) -> _core.TreeRecords | None:
        """Return the trees where a model keeps them, if kernels can take the amounts from there."""
        return None


class _DeferredDrop(Credit):
    """The drop in a forest whose nodes are still in the model: they are packed from there."""

    _forest: Forest
    _source: NodeSource

    def __init__(self, forest: Forest, source: NodeSource, *, unit: str) -> None:
        vars(self).update(unit=unit, measure="drop", honest=False, _forest=forest, _source=source)

    @cached_property
    def amount(self) -> FloatArray:
        return _drops(self._forest)

    @cached_property
    def remainder(self) -> FloatArray:
        return self._forest.statistic("impurity")

    @property
    def telescopes(self) -> bool:
        return True

    def root_remainder(self, forest: Forest) -> FloatArray:
        return self._source.root_impurity()

    def pack(self, forest: Forest, n_threads: int) -> _core.Packed32 | _core.Packed64:
        records = self.records(forest)
        packed = None if records is None else records.pack(n_threads)
        # The table says what is wrong, or has more ways to read a tree.
        return super().pack(forest, n_threads) if packed is None else packed

    def records(self, forest: Forest) -> _core.TreeRecords | None:
        return self._source.records(forest.tree_weight, n_features=forest.n_features)


def pack_table(
    forest: Forest, amount: FloatArray | None = None, *, remainder: FloatArray | None = None
) -> _core.Packed32 | _core.Packed64:
    """Return the packed form of a forest's table; without amounts, the kernels only route."""
    kind = _core.Packed32 if forest.row_dtype == "float32" else _core.Packed64
    return kind(forest.node_table, amount, remainder, forest.tree_weight)


def credit_of(forest: Forest, measure: Measure) -> Credit:
    """Return the credits of a measure, from the statistics that the forest has.

    Parameters
    ----------
    forest : Forest
        The trees.
    measure : {"drop", "gain"}
        See `impurity_drop` and `divergence_gain`.
    """
    if measure == "drop":
        return impurity_drop(forest)
    if measure == "gain":
        return divergence_gain(forest)
    raise ValueError(
        f"measure must be 'drop' or 'gain'; got {measure!r}. Use 'drop' for Definition 1."
    )


def impurity_drop(forest: Forest) -> Credit:
    """Return Definition 1 of the paper: i(parent) − i(child).

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     impurity=[0.75, 1.0, 0.0], criterion="entropy")
    >>> impurity_drop(stump).amount
    array([ 0.  , -0.25,  0.75])
    """
    source = forest.source
    impurity = forest.statistic("impurity") if source is None else None
    if forest.unit is None:
        raise MissingStatisticsError(
            "the forest must say what its impurities measure; its criterion is None. "
            "Build it with criterion=..., or use forest.with_statistics(X, y, criterion='entropy') "
            "(for numbers 'squared_error')."
        )
    if source is not None:
        return _DeferredDrop(forest, source, unit=forest.unit)
    return Credit(_drops(forest), forest.unit, remainder=impurity)


def _drops(forest: Forest) -> FloatArray:
    amount = np.empty(forest.n_nodes)
    _core.edge_drops(forest.node_table, forest.statistic("impurity"), amount)
    return amount


def divergence_gain(forest: Forest) -> Credit:
    """Return the Bregman divergence of the criterion between child and parent.

    KL(child ‖ parent) for the entropy, the squared distance of the class frequencies for Gini, the
    squared difference of the means for the variance. Never negative; the mean over the training
    rows is the global importance, as for the drop, but a row's amounts do not telescope. See "Gain"
    in ``docs/theory/algorithms.md``.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     weight=[4, 2, 2], impurity=[0.375, 0.5, 0.0], criterion="gini",
    ...     value=[[0.75, 0.25], [0.5, 0.5], [1.0, 0.0]])
    >>> divergence_gain(stump).amount
    array([0.   , 0.125, 0.125])
    """
    drop = impurity_drop(forest)
    if forest.criterion == "loss" or (forest.boosted and forest.aggregation == "sum"):
        # A booster's impurities are potentials: their drops add up to the library's own gain.
        return replace(drop, measure="gain")
    criterion = find_criterion(forest.criterion)
    if criterion.kernel is None:
        raise MissingStatisticsError(
            f"measure='gain' needs the criterion entropy, gini or squared_error; the forest has "
            f"{forest.criterion!r}. Use measure='drop'."
        )
    laws = find_laws(forest, drop)
    if laws is not None:
        return Credit(laws.gain, drop.unit, measure="gain")
    amount = None if criterion.name == "entropy" else _sibling_gains(forest, drop.amount)
    if amount is None:
        raise MissingStatisticsError(
            "measure='gain' needs the distribution of the target at every node, which this forest "
            "does not have. Use measure='drop', or forest.with_statistics(X, y) first."
        )
    return Credit(amount, drop.unit, measure="gain")


def _tree_decreases(forest: Forest, amount: FloatArray) -> FloatArray:
    """Return for each tree Σ w(child) · amount(edge), which drop and gain must have in common."""
    per_node = forest.statistic("weight") * amount
    return np.add.reduceat(per_node, forest.tree_offset[:-1])


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws of the target at the nodes that their impurities come from.

    Parameters
    ----------
    law : ndarray of shape (n_nodes, n_columns)
        Class frequencies, or mean responses.
    n_outputs : ndarray of shape (n_trees,)
        Over how many outputs the impurity of each tree is a mean.
    gain : ndarray of shape (n_nodes,)
        The gain of the edge from each node's parent.
    """

    law: FloatArray
    n_outputs: FloatArray
    gain: FloatArray


def find_laws(forest: Forest, drop: Credit) -> Laws | None:
    """Return the laws of the nodes, if their values are these; else None.

    Leaves of gradient boosting and members of some ensembles predict something else. The values are
    the laws if each tree's gains have the sum of its drops; a tree of several outputs, whose
    impurity is the mean over outputs, shows by a whole factor how many it has.
    """
    criterion = find_criterion(forest.criterion)
    if forest.value is None or criterion.kernel is None:
        return None
    decrease = _tree_decreases(forest, drop.amount)
    amount = np.empty(forest.n_nodes)
    law = np.ascontiguousarray(forest.value)
    _core.edge_gains(forest.node_table, law, _core.Criterion(criterion.kernel), amount)
    total = _tree_decreases(forest, amount)
    n_outputs = law.shape[1] if forest.classes is None else len(forest.classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        outputs = np.clip(np.nan_to_num(np.round(total / decrease), nan=1.0), 1, n_outputs)
    weight = forest.statistic("weight")[forest.tree_offset[:-1]]
    scale = np.abs(forest.statistic("impurity")[forest.tree_offset[:-1]]) * weight
    if not np.allclose(total, outputs * decrease, rtol=1e-6, atol=1e-9 * scale.max(initial=0.0)):
        return None
    return Laws(law, outputs, amount / np.repeat(outputs, np.diff(forest.tree_offset)))


def _sibling_gains(forest: Forest, drop: FloatArray) -> FloatArray | None:
    """Return the gains of quadratic criteria in binary trees, from weights and impurities alone.

    With D = Σ w(c) · drop(c) the weighted decrease of a split, and because w(l)·d(l) = −w(r)·d(r),
    the squared distance of child c is D · w(sibling) / (w(c) · w(parent)).
    """
    n_children = np.diff(forest.child_offset)
    if not np.isin(n_children, (0, 2)).all():
        return None
    weight = forest.statistic("weight")
    pair = forest.child.reshape(-1, 2)
    split = (weight[pair] * drop[pair]).sum(axis=1, keepdims=True)
    own, sibling = weight[pair], weight[pair[:, ::-1]]
    both = own * (own + sibling)
    amount = np.zeros(forest.n_nodes)
    amount[pair] = np.maximum(
        np.divide(split * sibling, both, out=np.zeros(pair.shape), where=both > 0), 0.0
    )
    return amount
