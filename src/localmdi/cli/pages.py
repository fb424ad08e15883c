"""The report of explained rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localmdi.exceptions import MissingStatisticsError
from localmdi.importance import global_importance as importance_of_forest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from localmdi.cli.summary import Explained
    from localmdi.forest import Forest
    from localmdi.results import GlobalImportance, LocalImportance

__all__ = ["REPORT_ROWS", "importance_of", "write_page"]

REPORT_ROWS = 1000
REPORT_FEATURES = 100


def importance_of(forest: Forest, result: LocalImportance) -> GlobalImportance | None:
    """Return the global importance of a forest under the names of a result.

    None if the forest does not know the weight of its nodes.

    Examples
    --------
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> model = RandomizedForestClassifier(5, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> importance_of(model.forest_, model.local_importances_).values.tolist()
    [1.0]
    """
    try:
        importance = importance_of_forest(forest)
    except MissingStatisticsError:
        return None
    return replace(importance, feature_names=result.feature_names)


def write_page(
    rows: Explained,
    path: Path | None,
    *,
    global_importance: GlobalImportance | None,
    title: str,
    notes: Sequence[str],
) -> None:
    """Write the report of these rows, if a path says where.

    Examples
    --------
    >>> write_page(None, None, global_importance=None, title="", notes=())
    """
    if path is None:
        return
    from localmdi.report import write_report

    write_report(
        rows.result,
        path,
        global_importance=global_importance,
        prediction=_listed(rows.prediction),
        target=_listed(rows.target),
        title=title,
        notes=tuple(notes),
        max_shape=(REPORT_ROWS, REPORT_FEATURES),
    )


def _listed(column: Any) -> list[Any] | None:
    return None if column is None else list(column.tolist())
