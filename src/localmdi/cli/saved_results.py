"""Importances from files: what ``explain -o FILE.parquet`` wrote, and saved results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localmdi.io.child_process import reading

if TYPE_CHECKING:
    from pathlib import Path

    from localmdi.results import LocalImportance


_CONTAINER = b"\x89LMDI"
_PARQUET = b"PAR1"


def load_result(path: Path) -> LocalImportance:
    """Return the importances in a file; row labels are the rows' numbers, or saved labels."""
    with open(path, "rb") as file:
        start = file.read(len(_CONTAINER))
    with reading(path):
        if start == _CONTAINER:
            return _load_saved(path)
        if start.startswith(_PARQUET):
            return _load_parquet(path)
    raise ValueError(
        f"{path.name!r} must hold importances: a .parquet file that `localmdi explain DATA -o "
        "FILE.parquet` wrote, or a result that LocalImportance.save wrote. A CSV file does not "
        "say in which unit its numbers are."
    )


def _load_saved(path: Path) -> LocalImportance:
    import numpy as np

    from localmdi.results import LocalImportance, load_importance

    result = load_importance(path)
    if not isinstance(result, LocalImportance):
        raise ValueError(
            f"{path.name!r} must hold a value for every row and feature; it holds global "
            "importances. Save what local_mdi or honest_mdi returned."
        )
    labels = np.arange(len(result)) if result.row_labels is None else result.row_labels
    return replace(result, row_labels=np.asarray(labels), frame_type="pyarrow")


def _load_parquet(path: Path) -> LocalImportance:
    import numpy as np
    from pyarrow import ArrowException, parquet

    from localmdi.results import LocalImportance

    try:
        table = parquet.read_table(path, partitioning=None)
        about = {
            key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()
        }
        n_features = int(about["localmdi.features"])
        names = table.column_names[1 : n_features + 1]
        values = np.column_stack([_numbers(table, i) for i in range(1, n_features + 1)])
        rows = _numbers(table, 0).astype(np.int64)
        return LocalImportance(
            values,
            unit=about["localmdi.unit"],
            feature_names=tuple(names),
            n_trees=int(about.get("localmdi.trees", 0)),
            row_labels=rows,
            frame_type="pyarrow",
            # The levels at the start and the end are not compared.
            measure=about["localmdi.measure"],
            honest=about["localmdi.honest"] == "yes",
        )
    except (ArrowException, KeyError, IndexError, TypeError, ValueError, OSError) as error:
        raise ValueError(
            f"{path.name!r} is not a file of importances that `localmdi explain -o` wrote; "
            "write it again with this version."
        ) from error


def _numbers(table: Any, column: int) -> Any:
    import numpy as np

    return np.asarray(table.column(column).to_numpy(), dtype=np.float64)
