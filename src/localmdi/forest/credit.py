"""Credit: the one form in which a local measure reaches the kernels.

Every local measure gives the split feature an amount for each edge parent → child on a row's path.
The kernels add these amounts up; what they mean is decided here and wherever else a `Credit` is
made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from localmdi import _core
from localmdi._criteria import criterion_names, find_criterion
from localmdi._validation import check_measure
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError

if TYPE_CHECKING:
    from localmdi._criteria import Criterion
    from localmdi.forest.forest import Forest
    from localmdi.typing import FloatArray, Measure


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


def credit_of(forest: Forest, measure: Measure) -> Credit:
    """Return the credits of a measure, from the statistics that the forest has.

    Parameters
    ----------
    forest : Forest
        The trees.
    measure : {"drop", "gain"}
        See `impurity_drop` and `divergence_gain`.
    """
    return (impurity_drop if check_measure(measure) == "drop" else divergence_gain)(forest)


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
    impurity = forest.statistic("impurity")
    if forest.unit is None:
        raise MissingStatisticsError(
            "the forest must say what its impurities measure; its criterion is None. "
            "Build it with criterion=..., or use forest.with_statistics(X, y, criterion='entropy') "
            "(for numbers 'squared_error')."
        )
    amount = np.empty(forest.n_nodes)
    _core.edge_drops(forest.node_table, impurity, amount)
    return Credit(amount, forest.unit, remainder=impurity)


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


def class_impurity(forest: Forest, criterion: Criterion) -> FloatArray:
    """Return the nodes' impurities by another criterion, from the class frequencies they hold.

    Examples
    --------
    >>> from localmdi._criteria import find_criterion
    >>> from localmdi.forest import build_forest
    >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...     threshold=[0.0], child_offset=[0, 0], child=[], impurity=[0.375], criterion="gini",
    ...     value=[[0.75, 0.25]], classes=[["a", "b"]])
    >>> class_impurity(leaf, find_criterion("entropy"))
    array([0.81127812])
    """
    _check_counts_classes(forest, criterion)
    value = forest.statistic("value")
    ends = np.cumsum([len(labels) for labels in forest.classes or ()])[:-1]
    outputs = np.split(value, ends, axis=1)
    n_outputs = np.full(forest.n_trees, len(outputs))
    own = None if forest.criterion is None else find_criterion(forest.criterion)
    if own is None or own.target != "classes" or forest.impurity is None:
        shares = np.stack([output.sum(axis=1) for output in outputs])
        are_laws = value.min() >= 0 and np.allclose(shares, 1.0)
    else:
        # The impurities that are known tell whether these are the frequencies behind them, and
        # over how many outputs they are a mean: all, or the one that a tree was grown for.
        known = np.sum([own.impurity(output) for output in outputs], axis=0)
        sums = np.add.reduceat(np.stack([known, forest.impurity]), forest.tree_offset[:-1], axis=1)
        ratio = np.divide(sums[0], sums[1], out=np.ones(forest.n_trees), where=sums[1] > 0)
        n_outputs = np.clip(np.round(ratio), 1, len(outputs))
        expected = forest.impurity * np.repeat(n_outputs, np.diff(forest.tree_offset))
        are_laws = value.min() >= 0 and np.allclose(known, expected, rtol=1e-6, atol=1e-9)
    if not are_laws:
        raise MissingStatisticsError(
            f"criterion={criterion.name!r} needs the frequencies of the classes at every node; the "
            "values of this model are something else. Leave criterion out, or use "
            f"as_forest(model).with_statistics(X, y, criterion={criterion.name!r})."
        )
    total = np.sum([criterion.impurity(output) for output in outputs], axis=0)
    impurity: FloatArray = total / np.repeat(n_outputs, np.diff(forest.tree_offset))
    return impurity


def _check_counts_classes(forest: Forest, criterion: Criterion) -> None:
    """Refuse criteria that do not follow from what the nodes of a forest hold."""
    by_rows = f"as_forest(model).with_statistics(X, y, criterion={criterion.name!r})"
    if criterion.formula is None:
        names = ", ".join(map(repr, criterion_names(target="classes")))
        raise ValueError(
            f"criterion must be one of {names} for nodes that were measured by another; got "
            f"{criterion.name!r}. Leave it out, or use one of these."
        )
    if forest.boosted and forest.aggregation == "sum":
        raise UnsupportedModelError(
            f"criterion={criterion.name!r} needs nodes that hold frequencies of classes; those of "
            f"boosted trees hold steps of a score. Leave criterion out, or use {by_rows}."
        )
    if criterion.target != "classes" or forest.classes is None:
        wanted = "numbers" if criterion.target == "numbers" else "classes"
        found = "numbers" if forest.classes is None else "classes"
        if wanted != found:
            raise ValueError(
                f"criterion={criterion.name!r} is for {wanted}; the model predicts {found}, "
                f"measured by {forest.criterion!r}. Leave criterion out."
            )
        raise UnsupportedModelError(
            f"criterion={criterion.name!r} does not follow from what the nodes of a model with "
            f"criterion {forest.criterion!r} hold. Leave criterion out, or use {by_rows}."
        )
