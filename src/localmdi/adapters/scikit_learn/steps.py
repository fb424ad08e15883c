"""From what an ensemble's ``fit`` got to what it handed to a member: one step per way to do so."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from localmdi.adapters.in_bag import Rule, TrainingRows
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "BootstrapStep",
    "ClassWeightStep",
    "EncodeStep",
    "OneVsRestStep",
    "OutputStep",
    "SubsetStep",
    "drawn_rows",
]


class _Step:
    """A step that changes no weights."""

    needs_y: bool = False
    depends_on: str | None = None


@dataclass(frozen=True, eq=False)
class EncodeStep(_Step):
    """Labels become the positions of their classes.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> rows = TrainingRows(np.ones(2), np.array(["no", "yes"]))
    >>> EncodeStep(np.array(["no", "yes"]))(rows, Rule()).y
    array([0, 1])
    """

    classes: AnyArray

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        y = None if rows.y is None else np.searchsorted(self.classes, rows.y)
        return replace(rows, y=y)


@dataclass(frozen=True, eq=False)
class OutputStep(_Step):
    """A member gets one column of y.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> rows = TrainingRows(np.ones(2), np.array([[1, 2], [3, 4]]))
    >>> OutputStep(0)(rows, Rule()).y
    array([1, 3])
    """

    column: int

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        return replace(rows, y=None if rows.y is None else rows.y[:, self.column])


@dataclass(frozen=True, eq=False)
class OneVsRestStep(_Step):
    """A member gets 1 for the rows of its class, 0 for others.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> from sklearn.preprocessing import LabelBinarizer
    >>> step = OneVsRestStep(LabelBinarizer().fit(["a", "b", "c"]), 1)
    >>> step(TrainingRows(np.ones(2), np.array(["b", "c"])), Rule()).y
    array([1, 0])
    """

    binarizer: Any
    column: int

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        if rows.y is None:
            return rows
        labels = self.binarizer.transform(rows.y)
        # The binarizer of OneVsRestClassifier answers with a sparse matrix.
        dense = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
        return replace(rows, y=dense[:, self.column])


@dataclass(frozen=True, eq=False)
class ClassWeightStep(_Step):
    """Weights are multiplied by those of the rows' classes.

    Parameters
    ----------
    class_weight : dict, list of dicts or str
        As given to the estimator.
    depends_on : {"balance", None}
        Whether versions differ in how "balanced" counts rows; else every row is one.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> rows = TrainingRows(np.ones(3), np.array([0, 0, 1]))
    >>> ClassWeightStep("balanced")(rows, Rule()).weight
    array([0.75, 0.75, 1.5 ])
    """

    class_weight: Any
    depends_on: str | None = None
    needs_y = True

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        from sklearn.utils.class_weight import compute_sample_weight

        if self.class_weight == "balanced" and self.depends_on and rule.balance:
            factor = _balanced(rows)
        else:
            factor = compute_sample_weight(self.class_weight, rows.y)
        return replace(rows, weight=rows.weight * factor)


@dataclass(frozen=True, eq=False)
class BootstrapStep(_Step):
    """A tree of a forest counts the rows that were drawn for it.

    Parameters
    ----------
    model : estimator
        The forest.
    index : int
        Which tree.
    needs_y : bool
        Whether the classes are balanced among the rows drawn.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> model = RandomForestRegressor(2, random_state=0).fit([[0.0]] * 3, [0.0, 1.0, 2.0])
    >>> BootstrapStep(model, 0)(TrainingRows(np.ones(3), None), Rule()).weight.sum()
    np.float64(3.0)
    """

    model: Any
    index: int
    needs_y: bool = False
    depends_on = "forest_draws"

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        from sklearn.utils.class_weight import compute_sample_weight

        drawn = self._drawn()
        weight = _counted(rows, drawn, multiply=not rule.forest_draws)
        if self.needs_y:
            weight = weight * compute_sample_weight("balanced", rows.y, indices=drawn)
        return replace(rows, weight=weight)

    def _drawn(self) -> IntArray:
        # `estimators_samples_` draws again for every tree at each access: n_rows times n_trees
        # numbers. A copy with one tree draws for that one.
        alone = copy.copy(self.model)
        alone.estimators_ = [self.model.estimators_[self.index]]
        drawn = drawn_rows(alone)
        return drawn[0 if len(drawn) == 1 else self.index]


@dataclass(frozen=True, eq=False)
class SubsetStep(_Step):
    """A member counts the rows that were drawn for it.

    Examples
    --------
    >>> from localmdi.adapters.in_bag import Rule, TrainingRows
    >>> SubsetStep(np.array([2, 2, 0]))(TrainingRows(np.ones(3), None), Rule()).weight
    array([1., 0., 2.])
    """

    drawn: IntArray
    depends_on = "bagging_draws"

    def __call__(self, rows: TrainingRows, rule: Rule) -> TrainingRows:
        """Return what the member got."""
        return replace(rows, weight=_counted(rows, self.drawn, multiply=not rule.bagging_draws))


def drawn_rows(model: Any) -> list[IntArray]:
    """Return the rows that were drawn for each member of an ensemble.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingRegressor
    >>> model = BaggingRegressor(n_estimators=2).fit([[0.0]] * 3, [0.0, 1.0, 2.0])
    >>> [len(rows) for rows in drawn_rows(model)]
    [3, 3]
    """
    try:
        return list(model.estimators_samples_)
    except AttributeError as error:
        raise UnsupportedModelError(
            f"{type(model).__name__} must tell in estimators_samples_ which rows it drew, but does "
            "not, so that their weights cannot be rebuilt. Fit it with the installed scikit-learn."
        ) from error


def _counted(rows: TrainingRows, drawn: IntArray, *, multiply: bool) -> FloatArray:
    n_rows = len(rows.weight)
    counts = np.bincount(drawn, minlength=n_rows).astype(np.float64)
    if len(counts) > n_rows:
        raise ValueError(
            f"X must hold the training rows, at least {len(counts)}, but has {n_rows}. "
            "Pass the X that fit got."
        )
    return counts * rows.weight if multiply else counts


def _balanced(rows: TrainingRows) -> FloatArray:
    """Return weights that make the classes of each output equally heavy, by the rows' weights."""
    factor = np.ones(len(rows.weight))
    for labels in np.atleast_2d(np.asarray(rows.y).T):
        classes, codes = np.unique(labels, return_inverse=True)
        total = np.bincount(codes, weights=rows.weight)
        factor *= (total.sum() / (len(classes) * total))[codes]
    return factor
