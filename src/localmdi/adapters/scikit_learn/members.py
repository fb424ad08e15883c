"""The trees of a model, flat: what each weighs, which columns it saw, where its values belong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.scikit_learn.refusals import refuse
from localmdi.forest.schema import UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localmdi.typing import AnyArray, IntArray

__all__ = ["Members", "Part", "TreeMember", "common_criterion", "join"]


@dataclass(frozen=True, slots=True)
class TreeMember:
    """One tree of a model.

    Parameters
    ----------
    tree : object
        The fitted tree's ``tree_``.
    weight : float
        In the mean over trees, up to a common factor.
    scale : float
        Factor of the tree's values in the model's prediction, where that is linear in them.
    columns : ndarray of int or None
        Column of X for each feature of the tree; None: the same.
    targets : ndarray of int or None
        Value column of the model for each of the tree's, -1: none; None: the same.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> TreeMember(DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_).weight
    1.0
    """

    tree: Any
    weight: float = 1.0
    scale: float = 1.0
    columns: IntArray | None = None
    targets: IntArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """All trees of a model, in its order, and what they have in common.

    Parameters
    ----------
    trees : list of TreeMember
        The trees.
    criterion : str
        What their impurities measure.
    n_values : int
        Number of value columns.
    classes : tuple of ndarray or None
        Class labels of each output.
    missing : bool
        Whether the model accepts missing values.
    summed : bool
        Whether the prediction is the sum of scaled values; else their weighted mean.
    boosted : bool
        Whether trees were grown one upon the other.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from localmdi.adapters.scikit_learn.collect import collect
    >>> members = collect(DecisionTreeRegressor().fit([[0.0]], [0.0]))
    >>> len(members.trees), members.criterion
    (1, 'squared_error')
    """

    trees: list[TreeMember]
    criterion: str
    n_values: int
    classes: tuple[AnyArray, ...] | None
    missing: bool
    summed: bool = False
    boosted: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an ensemble, itself one tree or many, and its place in the ensemble.

    Parameters
    ----------
    members : Members
        Its trees.
    weight : float
        In the mean over members, up to a common factor.
    scale : float
        Factor of its prediction in the ensemble's.
    columns, targets : ndarray of int or None
        As in `TreeMember`, for all its trees.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from localmdi.adapters.scikit_learn.collect import collect
    >>> Part(collect(DecisionTreeRegressor().fit([[0.0]], [0.0])), weight=3.0).scale
    1.0
    """

    members: Members
    weight: float = 1.0
    scale: float = 1.0
    columns: IntArray | None = None
    targets: IntArray | None = None

    def trees(self) -> list[TreeMember]:
        """Return its trees as the ensemble's; together they weigh what the member weighs."""
        total = sum(tree.weight for tree in self.members.trees)
        share = self.weight / total
        return [
            TreeMember(
                tree.tree,
                tree.weight * share,
                tree.scale * self.scale,
                _through(self.columns, tree.columns),
                _through(self.targets, tree.targets),
            )
            for tree in self.members.trees
        ]


def join(
    model: Any,
    parts: Sequence[Part],
    *,
    n_values: int,
    classes: tuple[AnyArray, ...] | None,
) -> Members:
    """Return the trees of an ensemble, from those of its members.

    Examples
    --------
    >>> from sklearn.ensemble import VotingRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from localmdi.adapters.scikit_learn.collect import collect
    >>> tree = DecisionTreeRegressor()
    >>> model = VotingRegressor([("a", tree), ("b", tree)], weights=[3, 1]).fit([[0.0]], [0.0])
    >>> [(tree.weight, tree.scale) for tree in collect(model).trees]
    [(3.0, 0.75), (1.0, 0.25)]
    """
    members = [part.members for part in parts]
    _check_units(model, [member.criterion for member in members])
    widths = {part.members.n_values for part in parts if part.targets is None} | {n_values}
    if len(widths) > 1:
        refuse(
            model,
            f"must have members that predict the same columns, but they predict {sorted(widths)}. "
            "Explain each of them alone.",
        )
    return Members(
        trees=[tree for part in parts for tree in part.trees()],
        criterion=members[0].criterion,
        n_values=n_values,
        classes=classes,
        missing=all(member.missing for member in members),
        summed=any(member.summed for member in members),
        boosted=any(member.boosted for member in members),
    )


def common_criterion(model: Any, estimators: Sequence[Any]) -> str:
    """Return what the impurities of tree estimators measure.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> common_criterion(None, [DecisionTreeClassifier(criterion="entropy")])
    'entropy'
    """
    criteria = {str(getattr(estimator, "criterion", None)) for estimator in estimators}
    for criterion in criteria:
        if criterion not in UNITS:
            refuse(
                model,
                f"must have trees of a criterion whose impurity is known ({', '.join(UNITS)}), "
                f"but it is {criterion}. Fit it with one of these.",
            )
    _check_units(model, criteria)
    return min(criteria)


def _check_units(model: Any, criteria: Iterable[str]) -> None:
    units = sorted({UNITS[criterion] for criterion in criteria})
    if len(units) > 1:
        refuse(
            model,
            f"must have trees whose impurities share one unit, but they are in "
            f"{' and '.join(units)}. Fit all with the same criterion, or explain each alone.",
        )


def _through(outer: IntArray | None, inner: IntArray | None) -> IntArray | None:
    """Return where an index goes by `inner`, then by `outer`; -1 stays -1."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return np.where(inner < 0, -1, outer[inner])
