"""Which columns of a table a fitted model gets, in which order, and as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._text import count, cut, quote_names
from localmdi.tables.cells import Kind
from localmdi.tables.columns import holds_flags
from localmdi.tables.open import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.adapters import AdaptedModel
    from localmdi.forest import Forest
    from localmdi.tables.columns import TypedTable
    from localmdi.tables.settings import Listener, TableSettings
    from localmdi.typing import AnyArray

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class ModelColumns:
    """The columns of a model's rows.

    Parameters
    ----------
    names : tuple of str
        Names in the table, in the order of the model's features.
    kinds : mapping of str to Kind
        What the model was fitted with.
    by_name : bool
        Whether the model knows its features by these names.
    transformed : bool
        Whether earlier steps of a Pipeline change the rows before the trees get them.
    encoded : bool
        Whether the trees have categories, which frames hold by value.
    """

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    by_name: bool = True
    transformed: bool = False
    encoded: bool = False

    def read(self, frame: Any) -> Any:
        """Return what the model gets for an Arrow table with these columns."""
        if self.transformed:
            # Steps choose columns by name and expect the frames that scikit-learn knows best.
            return frame.to_pandas()
        return frame if self.by_name or self.encoded else as_array(frame)


def as_array(frame: Any) -> AnyArray:
    """Return an Arrow table of numbers as an array."""
    import numpy as np

    return np.column_stack([column.to_numpy() for column in frame.columns])


def match_columns(
    adapted: AdaptedModel, table: TypedTable, *, settings: TableSettings, console: Listener
) -> tuple[ModelColumns, TypedTable]:
    """Find the model's features among the columns of a table, by name if the model has names.

    Returns them, and the table as the model wants it: categories as they are written.
    """
    expected = _expected_names(adapted)
    # What has become parts of dates may be categories to the model.
    hidden = set(table.file.names) - set(table.names)
    table = table.with_text(hidden & set(expected or ()))
    every, _ = columns_of(table)
    out = (settings.target, *settings.exclude)
    present = [name for name in every if (table.date_of(name) or name) not in out]
    if expected is None:
        names = _by_position(present, adapted, table=table, console=console)
    else:
        names = _by_name(present, expected, settings=settings, table=table)
        extra = [name for name in present if name not in set(expected)]
        if extra:
            console.note(f"ignoring columns that the model does not know: {quote_names(extra)}.")
    if adapted.transform is not None:
        kinds = _kinds_in_table(adapted, table, names=names)
    else:
        categories = adapted.forest.categories or (None,) * len(names)
        kinds = {name: _kind(labels) for name, labels in zip(names, categories, strict=True)}
    words = [name for name in names if kinds[name] in (Kind.CATEGORY, Kind.BOOLEAN)]
    columns = ModelColumns(
        names,
        kinds,
        by_name=expected is not None,
        transformed=adapted.transform is not None,
        encoded=adapted.forest.categories is not None,
    )
    return columns, table.with_text(name for name in words if table.date_of(name) is None)


def _expected_names(adapted: AdaptedModel) -> tuple[str, ...] | None:
    if adapted.input_names is not None or adapted.transform is not None:
        return adapted.input_names
    return adapted.forest.feature_names


def _by_name(
    present: Sequence[str],
    expected: tuple[str, ...],
    *,
    settings: TableSettings,
    table: TypedTable,
) -> tuple[str, ...]:
    missing = [name for name in expected if name not in set(present)]
    if settings.target in missing:
        raise ValueError(
            f"target= must not be a feature of the model; {quote_names([settings.target])} is "
            "one. Leave out target=."
        )
    if missing:
        raise ValueError(
            f"{table.path.name!r} must have the columns that the model was fitted with; missing: "
            f"{quote_names(missing)}. Add or rename columns."
        )
    return expected


def _by_position(
    present: list[str], adapted: AdaptedModel, *, table: TypedTable, console: Listener
) -> tuple[str, ...]:
    n_features = adapted.n_features_in
    if n_features is not None and len(present) != n_features:
        raise ValueError(
            f"the model has {count(n_features, 'feature')} without names, so {table.path.name!r} "
            f"must have as many columns; it has {len(present):,}: {quote_names(present)}. "
            "Leave out columns with target= and exclude=."
        )
    console.note("the model has no feature names; columns are taken in the file's order.")
    return tuple(present)


def _kind(labels: AnyArray | None) -> Kind:
    """Return what a feature with these categories was read from."""
    if labels is None or labels.dtype.kind in "iuf":
        return Kind.NUMBER
    known = [label for label in labels.tolist() if label is not None]
    if known and all(isinstance(label, bool) for label in known):
        return Kind.BOOLEAN
    numbers = known and not any(isinstance(label, (str, bool)) for label in known)
    return Kind.NUMBER if numbers else Kind.CATEGORY


def _kinds_in_table(
    adapted: AdaptedModel, table: TypedTable, *, names: Sequence[str]
) -> dict[str, Kind]:
    """Return what the columns hold: the steps of a Pipeline take what they were fitted with.

    Columns of true and false are booleans, as pandas reads them, unless a step learned the words.
    """
    flags = set(names)
    for batch in table.batches(names, _BATCH_ROWS):
        flags = {name for name in flags if holds_flags(batch[name])}
        if not flags:
            break
    steps = () if adapted.transform is None else adapted.transform.steps
    flags -= _learned_words(steps, names)
    return {
        name: Kind.BOOLEAN
        if name in flags
        else Kind.NUMBER
        if table.kinds[name] == Kind.NUMBER
        else Kind.CATEGORY
        for name in names
    }


def _learned_words(steps: Sequence[Any], names: Sequence[str]) -> set[str]:
    """Return the columns whose categories some encoder among the steps learned as text."""
    found: set[str] = set()
    for step in steps:
        for _, encoder, columns in getattr(step, "transformers_", ()):
            chosen = [columns] if isinstance(columns, str | int) else columns
            if isinstance(chosen, slice):
                chosen = list(names)[chosen]
            part = [names[c] if isinstance(c, int) else str(c) for c in chosen]
            found |= _learned_words(_parts_of(encoder), part)
        for name, labels in zip(names, getattr(step, "categories_", ()), strict=False):
            if any(isinstance(label, str) for label in list(labels)):
                found.add(name)
    return found


def _parts_of(encoder: Any) -> list[Any]:
    return [part for _, part in getattr(encoder, "steps", [("", encoder)])]


class UnseenCategories:
    """Counts, column by column, the cells whose category no training row had."""

    def __init__(self, forest: Forest, columns: ModelColumns) -> None:
        import pyarrow as pa

        from localmdi.forest import SplitKind

        multiway = bool((forest.split_kind == SplitKind.MULTIWAY).any())
        self._fate = "paths end" if multiway else "they go where the model sends unknown ones"
        categories = forest.categories or ()
        self._known = {
            name: pa.array(labels.tolist(), pa.string())
            for name, labels in zip(columns.names, categories, strict=False)
            if labels is not None and columns.kinds[name] == Kind.CATEGORY
        }
        self._found: dict[str, tuple[int, Any]] = {}

    def see(self, frame: Any) -> None:
        """Look at the next rows."""
        import pyarrow.compute as pc

        for name, known in self._known.items():
            column = frame[name]
            unseen = column.filter(pc.invert(pc.is_in(column, value_set=known)))
            if len(unseen):
                n, example = self._found.get(name, (0, unseen[0].as_py()))
                self._found[name] = n + len(unseen), example

    def report(self, console: Listener) -> None:
        """Say what was found."""
        for name, (n, example) in self._found.items():
            what = "a missing value" if example is None else quote_names([cut(example, 40)])
            console.note(
                f"column {quote_names([name])} has {count(n, 'cell')} with categories that the "
                f"model has never seen, such as {what}; {self._fate} at splits on them."
            )
