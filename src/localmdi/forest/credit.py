"""Credit: the one form in which a local measure reaches the kernels.

Every local measure gives the split feature an amount for each edge parent → child on a row's path.
The kernels add these amounts up; what they mean is decided here and wherever else a `Credit` is
made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localmdi import _core
from localmdi.exceptions import MissingStatisticsError

if TYPE_CHECKING:
    from localmdi.forest.forest import Forest
    from localmdi.typing import FloatArray, Measure

__all__ = ["Credit", "impurity_drop"]


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
            "Build it with criterion=..., or use forest.with_statistics(X, y, criterion=...)."
        )
    amount = np.empty(forest.n_nodes)
    _core.edge_drops(forest.node_table, impurity, amount)
    return Credit(amount, forest.unit, remainder=impurity)
