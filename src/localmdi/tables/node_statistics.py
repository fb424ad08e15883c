"""Node statistics of boosted trees, from a table: what its rows say about their target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localmdi._text import count
from localmdi.tables.columns import convert_columns
from localmdi.tables.row_selection import Reservoir, no_rows
from localmdi.tables.training import read_target

if TYPE_CHECKING:
    from localmdi.adapters import AdaptedModel
    from localmdi.forest import Forest
    from localmdi.tables.columns import TypedTable
    from localmdi.tables.model_columns import ModelColumns
    from localmdi.tables.settings import Listener, TableSettings

_BATCH_ROWS = 1 << 16


def needs_table(forest: Forest, target: str | None, *, plain: bool = False) -> bool:
    """Tell whether the rows of a table are to say how uncertain the target is at every node.

    Boosted trees store at most how much of a loss is left, not what their rows say about a target.
    """
    return forest.impurity is None or (forest.boosted and target is not None and not plain)


def measure_on_table(
    adapted: AdaptedModel,
    table: TypedTable,
    *,
    columns: ModelColumns,
    settings: TableSettings,
    console: Listener,
) -> AdaptedModel:
    """Return a model whose nodes say what the rows of a table say about its target.

    Parameters
    ----------
    adapted : AdaptedModel
        The model.
    table : TypedTable
        Rows with a target. Of more than `max_fit_rows` a sample is drawn.
    columns : ModelColumns
        The columns that the model gets.
    settings, console
        The target and its task, and where notes go.
    """
    import pyarrow as pa

    if settings.target is None:
        raise ValueError(
            "the model does not store how uncertain the target is at its nodes. Name the target "
            "with target=: the rows of the table then tell."
        )
    names, target_name = list(columns.names), settings.target
    reservoir: Reservoir[Any] = Reservoir(
        settings.max_fit_rows, seed=settings.seed, concat=pa.concat_tables
    )
    for batch in table.batches([*names, target_name], _BATCH_ROWS):
        reservoir.add(batch, batch.num_rows)
    if reservoir.n_seen == 0:
        raise no_rows(table)
    sample, _ = reservoir.result()
    kind = table.kinds[target_name]
    target = read_target(sample[target_name], kind, name=target_name, task=settings.task)
    known = sample.select(names).filter(pa.array(target.known))
    X = columns.read(convert_columns(known, columns.kinds))
    console.note(
        "boosted trees do not store how uncertain the target is at their nodes; "
        f"{count(known.num_rows, 'row')} of {table.path.name!r} tell."
    )
    forest = adapted.forest.with_statistics(
        X if adapted.transform is None else adapted.transform(X),
        target.values,
        criterion="entropy" if target.task == "classification" else "squared_error",
        n_jobs=settings.jobs,
    )
    return replace(adapted, forest=forest)
