"""Which columns of a table a model gets, in which order, and as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localmdi._validation import default_names
from localmdi.cli.kinds import Kind, KindGuess
from localmdi.cli.tables import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.adapters import AdaptedModel
    from localmdi.cli.console import Console
    from localmdi.cli.settings import ExplainSettings
    from localmdi.cli.tables import TableFile
    from localmdi.typing import AnyArray

__all__ = ["Plan", "plan_columns"]


@dataclass(frozen=True)
class Plan:
    """The columns of a model's rows.

    Parameters
    ----------
    columns : tuple of str
        Names in the table, in the order of the model's features.
    kinds : mapping of str to Kind
        What the model was fitted with.
    named : bool
        Whether the model knows its features by these names.

    Examples
    --------
    >>> Plan(("age",), {"age": Kind.NUMBER}).named
    True
    """

    columns: tuple[str, ...]
    kinds: Mapping[str, Kind]
    named: bool = True


def plan_columns(
    adapted: AdaptedModel, table: TableFile, *, settings: ExplainSettings, console: Console
) -> Plan:
    """Find the model's features among the columns of a table, by name if the model has names.

    Examples
    --------
    >>> from types import SimpleNamespace as Made
    >>> from localmdi.adapters import adapt
    >>> from localmdi.cli.console import Console
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> adapted = adapt(RandomizedForestClassifier(2).fit([[0.0], [1.0]], [0, 1]))
    >>> table = Made(names=("age", "sick"), path=Made(name="a.csv"))
    >>> options = Made(target="sick", drop=(), rows=None)
    >>> console = Console(quiet=True, as_json=False)
    >>> plan_columns(adapted, table, settings=options, console=console).columns
    ('age',)
    """
    names, _ = columns_of(table)
    present = [name for name in names if name != settings.target and name not in settings.drop]
    expected = _expected_names(adapted)
    if expected is None:
        columns = _by_position(present, adapted, table=table, console=console)
    else:
        columns = _by_name(present, expected, settings=settings, table=table)
        extra = [name for name in present if name not in set(expected)]
        if extra:
            console.note(f"columns that the model does not know are ignored: {_list(extra)}.")
    if adapted.transform is not None:
        return Plan(columns, _kinds_of_table(table, columns), expected is not None)
    categories = adapted.forest.categories or (None,) * len(columns)
    kinds = {name: _kind(labels) for name, labels in zip(columns, categories, strict=True)}
    return Plan(columns, kinds, expected is not None)


def _expected_names(adapted: AdaptedModel) -> tuple[str, ...] | None:
    if adapted.input_names is not None:
        return adapted.input_names
    names = adapted.forest.feature_names
    if adapted.transform is not None or names == default_names(len(names)):
        return None
    return names


def _by_name(
    present: Sequence[str],
    expected: tuple[str, ...],
    *,
    settings: ExplainSettings,
    table: TableFile,
) -> tuple[str, ...]:
    missing = [name for name in expected if name not in set(present)]
    if settings.target in missing:
        raise ValueError(
            f"the target must not be a feature of the model; {settings.target!r:.80} is one. "
            "Leave out --target."
        )
    if missing:
        raise ValueError(
            f"{table.path.name!r} must have the columns that the model was fitted with; missing: "
            f"{_list(missing)}. Add them, or rename the columns that they are."
        )
    return expected


def _by_position(
    present: list[str], adapted: AdaptedModel, *, table: TableFile, console: Console
) -> tuple[str, ...]:
    n_features = adapted.n_features_in
    if n_features is not None and len(present) != n_features:
        raise ValueError(
            f"the model knows no names of its {n_features} features, so {table.path.name!r} must "
            f"have as many columns; it has {len(present)}: {_list(present)}. Leave columns out "
            "with --target and --drop."
        )
    console.note("the model knows no feature names; it gets the columns in the file's order.")
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


def _kinds_of_table(table: TableFile, columns: Sequence[str]) -> dict[str, Kind]:
    """Return what the columns hold: the steps of a pipeline take what they were fitted with."""
    if table.kinds is not None:
        found = {name: table.kinds[name] for name in columns}
    else:
        guesses = {name: KindGuess() for name in columns}
        for batch in table.batches(columns, 1 << 16):
            for name, guess in guesses.items():
                guess.see(batch[name])
        found = {name: guess.kind for name, guess in guesses.items()}
    return {
        name: Kind.NUMBER if kind == Kind.NUMBER else Kind.CATEGORY for name, kind in found.items()
    }


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
