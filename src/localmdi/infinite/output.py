"""The output as numbers that add up over rows, which is all that an impurity needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import check_target, find_missing, learn_categories

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray, IntArray

__all__ = ["CRITERIA", "Output", "read_output"]

# scikit-learn's names beside the paper's; kernels know a criterion by its number.
CRITERIA = {"entropy": 0, "log_loss": 0, "gini": 1, "variance": 2, "squared_error": 2}
_UNITS = ("bits", "gini", "variance")


@dataclass(frozen=True, eq=False)
class Output:
    """The output of every row of a sample; made by `read_output`.

    Parameters
    ----------
    criterion : int
        0 entropy, 1 Gini, 2 variance.
    label : ndarray of int64
        The class, or the number of the distinct value, of every row.
    numbers : ndarray of float64 or None
        For the variance: the values, minus their mean so that squares keep their digits.
    n_classes : int
        Number of distinct values.

    Examples
    --------
    >>> read_output(["no", "yes", "no"], 3, criterion="gini").label
    array([0, 1, 0])
    """

    criterion: int
    label: IntArray
    numbers: FloatArray | None
    n_classes: int

    @property
    def unit(self) -> str:
        """The unit of the impurity."""
        return _UNITS[self.criterion]

    @property
    def n_slots(self) -> int:
        """How many sums an impurity needs: one per class, or weight, sum and sum of squares."""
        return 3 if self.numbers is not None else self.n_classes

    def sums(self, group: IntArray, n_groups: int, *, weight: FloatArray) -> FloatArray:
        """Return the sums of groups of rows, (n_groups, n_slots).

        Examples
        --------
        >>> output = read_output([0, 1, 1], 3, criterion="entropy")
        >>> output.sums(np.array([0, 0, 1]), 2, weight=np.ones(3))
        array([[1., 1.],
               [0., 1.]])
        """
        if self.numbers is not None:
            parts = (weight, weight * self.numbers, weight * self.numbers**2)
            return np.stack([np.bincount(group, part, n_groups) for part in parts], axis=1)
        cell = group * self.n_slots + self.label
        sums: FloatArray = np.bincount(cell, weight, n_groups * self.n_slots).astype(np.float64)
        return sums.reshape(n_groups, self.n_slots)


def read_output(y: Any, n_rows: int, *, criterion: str) -> Output:
    """Check y against the criterion.

    Examples
    --------
    >>> read_output([0.5, 1.5], 2, criterion="entropy")
    Traceback (most recent call last):
        ...
    ValueError: y must hold classes for criterion 'entropy'; got measured numbers. ...
    """
    if criterion not in CRITERIA:
        raise ValueError(
            f"criterion must be one of {', '.join(map(repr, CRITERIA))}; got {criterion!r}. "
            "Use 'entropy' for classes, 'variance' for numbers."
        )
    number = CRITERIA[criterion]
    target = check_target(y, n_rows)
    if target.ndim != 1:
        raise ValueError(
            f"y must have one value per row; got shape {target.shape}. "
            "Pass one target at a time, for example y[:, 0]."
        )
    if find_missing(target).any():
        raise ValueError("y must not contain missing values. Remove the rows that have none.")
    numbers = _check_numbers(target) if number == 2 else None
    if number != 2 and target.dtype.kind == "f" and (target != np.floor(target)).any():
        raise ValueError(
            f"y must hold classes for criterion {criterion!r}; got measured numbers. "
            "Use criterion='variance', or cut y into classes."
        )
    learned = learn_categories(target)
    return Output(number, learned.encode(target), numbers, len(learned.values))


def _check_numbers(target: AnyArray) -> FloatArray:
    try:
        numbers = target.astype(np.float64) if target.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or not np.isfinite(numbers).all():
        raise ValueError(
            "y must hold finite numbers for criterion 'variance'; got other values. "
            "Use criterion='entropy' or 'gini' for classes."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        centred: FloatArray = numbers - numbers.mean()
        if not np.isfinite(centred @ centred):
            raise ValueError(
                "y must be small enough for its squares to be added; got larger numbers. Rescale y."
            )
    return centred
