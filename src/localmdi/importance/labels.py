"""What a result is labelled with: its unit and its feature names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localmdi._validation import RowSource, default_names
from localmdi.exceptions import MissingStatisticsError

if TYPE_CHECKING:
    from localmdi.forest import Forest

__all__ = ["names_for", "unit_of"]


def unit_of(forest: Forest) -> str:
    """Return the forest's unit; impurities whose criterion nobody knows cannot be interpreted.

    Examples
    --------
    >>> from localmdi.forest import build_forest
    >>> unit_of(build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...         threshold=[0.0], child_offset=[0, 0], child=[], criterion="entropy"))
    'bits'
    """
    if forest.unit is None:
        raise MissingStatisticsError(
            "the forest must say what its impurities measure; its criterion is None. "
            "Build it with criterion=..., or use forest.with_statistics(X, y, criterion=...)."
        )
    return forest.unit


def names_for(forest: Forest, rows: RowSource) -> tuple[str, ...]:
    """Return the forest's feature names or, if it was built without any, those of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from localmdi._validation import read_rows
    >>> from localmdi.forest import build_forest
    >>> forest = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                       threshold=[0.0], child_offset=[0, 0], child=[])
    >>> names_for(forest, read_rows(pd.DataFrame({"age": [3.5]}), "float64"))
    ('age',)
    """
    if rows.names is None or forest.feature_names != default_names(forest.n_features):
        return forest.feature_names
    return rows.names
