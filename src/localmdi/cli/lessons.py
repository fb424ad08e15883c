"""What a forest learns from: which columns, taken for what, and which rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi.cli.kinds import Kind, KindGuess, convert_columns, has_missing
from localmdi.cli.reservoir import Reservoir
from localmdi.cli.tables import columns_of
from localmdi.cli.targets import Target, read_target
from localmdi.cli.text import clean, count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.cli.console import Console
    from localmdi.cli.settings import TableSettings
    from localmdi.cli.tables import TableFile
    from localmdi.typing import IntArray

__all__ = ["Lesson", "choose_features", "describe_columns", "read_lesson"]

_BATCH_ROWS = 1 << 16
_MANY = 20
_LARGEST = 3.4028234663852886e38


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a forest learns from.

    Parameters
    ----------
    frame : pyarrow.Table
        The features of the rows whose target is known: float64 and texts.
    target : Target
        Their target.
    kinds : dict of str to Kind
        What each feature holds.
    rows : ndarray of int
        The numbers of the rows in the file.
    gaps : tuple of str
        Numeric features that are missing in some rows of the file, but in none of these.

    Examples
    --------
    >>> Lesson.__dataclass_fields__.keys() >= {"frame", "target", "kinds"}
    True
    """

    frame: Any
    target: Target
    kinds: dict[str, Kind]
    rows: IntArray
    gaps: tuple[str, ...] = ()


def choose_features(table: TableFile, settings: TableSettings, *, console: Console) -> list[str]:
    """Return the columns to learn from: all but the target and those that number the rows.

    Examples
    --------
    >>> from types import SimpleNamespace as Made
    >>> from localmdi.cli.console import Console
    >>> table = Made(names=("age", "sex", "sick"), path=Made(name="a.csv"))
    >>> options = Made(target="sick", drop=("sex",), categorical=())
    >>> choose_features(table, options, console=Console(quiet=True, as_json=False))
    ['age']
    """
    import click

    names, labels = columns_of(table)
    if labels:
        console.note("a column without a name only numbers the rows, so it is left out.")
    if settings.target is None:
        raise click.UsageError(
            "--target must name the column to learn, unless --model is given; the columns are "
            f"{_some(names)}."
        )
    for option, name in _named(settings):
        if name not in names:
            hint = ""
            if len(names) == 1:
                hint = " What stands between cells can be said with --separator."
            raise click.UsageError(
                f"{option} must name a column of {table.path.name!r}; {name!r:.80} is none: it has "
                f"{_some(names)}.{hint}"
            )
    if settings.target in (*settings.drop, *settings.categorical):
        raise click.UsageError(
            "--target must not be named by --drop or --categorical too; for classes use "
            "--task classification."
        )
    features = [name for name in names if name != settings.target and name not in settings.drop]
    if not features:
        raise ValueError(
            f"{table.path.name!r} must have a column besides the target; it has none. "
            "Add the columns to learn from."
        )
    return features


def read_lesson(
    table: TableFile, features: Sequence[str], *, settings: TableSettings, console: Console
) -> Lesson:
    r"""Read the whole file once: find out what its columns hold, and draw the rows to learn from.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli.console import Console
    >>> from localmdi.cli.csv_table import CsvTable
    >>> from localmdi.cli.settings import TableSettings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sick\n31,no\n47,yes\n")
    ...     settings = TableSettings(seed=0, jobs=1, quiet=True, as_json=False, data=path,
    ...                              target="sick")
    ...     lesson = read_lesson(CsvTable(path, ",", encoding="utf8"), ["age"], settings=settings,
    ...                          console=Console(quiet=True, as_json=False))
    >>> lesson.target.values.tolist(), lesson.kinds["age"].value
    (['no', 'yes'], 'number')
    """
    import pyarrow as pa

    target_name = str(settings.target)
    names = [*features, target_name]
    reservoir: Reservoir[Any] = Reservoir(
        settings.fit_rows, seed=settings.seed, concat=pa.concat_tables
    )
    guesses = {name: KindGuess() for name in names}
    missing: set[str] = set()
    for batch in table.batches(names, _BATCH_ROWS):
        if table.kinds is None:
            for name, guess in guesses.items():
                guess.see(batch[name])
        missing |= {name for name in features if has_missing(batch[name])}
        reservoir.add(batch, batch.num_rows)
    n_rows = reservoir.n_seen
    if n_rows == 0:
        raise ValueError(f"{table.path.name!r} must have rows; it has column names only.")
    found = table.kinds or {name: guess.kind for name, guess in guesses.items()}
    kinds = _feature_kinds(found, features, categorical=settings.categorical)
    sample, rows = reservoir.result()
    target = read_target(
        sample[target_name], found[target_name], name=target_name, task=settings.task
    )
    frame = convert_columns(sample.select(list(features)), kinds).filter(pa.array(target.known))
    _check_finite(frame)
    _find_labels(frame, kinds, console=console)
    _say_which_rows(target, n_rows, n_sampled=len(rows), console=console)
    numbers = [name for name in features if kinds[name] == Kind.NUMBER and name in missing]
    gaps = tuple(name for name in numbers if not frame[name].null_count)
    return Lesson(frame, target, kinds, rows[target.known], gaps)


def describe_columns(lesson: Lesson) -> dict[str, str]:
    """Return for each feature what it was taken for.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> target = Target("y", "classification", np.ones(2, bool), np.array([0, 1]), "")
    >>> frame = pa.table({"sex": ["f", None], "age": [31.0, 47.0]})
    >>> kinds = {"sex": Kind.CATEGORY, "age": Kind.NUMBER}
    >>> describe_columns(Lesson(frame, target, kinds, np.arange(2)))
    {'sex': '1 category, 1 missing', 'age': 'number'}
    """
    told = {}
    for name, kind in lesson.kinds.items():
        column = lesson.frame[name]
        text = "number"
        if kind == Kind.CATEGORY:
            text = count(len(column.drop_null().unique()), "category")
        missing = column.null_count
        told[name] = f"{text}, {missing:,} missing" if missing else text
    return told


def _feature_kinds(
    found: Mapping[str, Kind], features: Sequence[str], *, categorical: Sequence[str]
) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for name in features:
        kind = Kind.CATEGORY if name in categorical else found[name]
        if kind == Kind.DATE:
            raise ValueError(
                f"a feature must hold numbers or categories; column {name!r:.80} holds dates. Make "
                "numbers of them, such as the year or an age in days; or leave the column out with "
                "--drop, or take every date for a category with --categorical."
            )
        if kind == Kind.OTHER:
            raise ValueError(
                f"a feature must hold single values; column {name!r:.80} holds lists or other "
                "structures. Leave it out with --drop."
            )
        kinds[name] = kind
    return kinds


def _check_finite(frame: Any) -> None:
    """Refuse what float32, in which trees compare, does not hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(frame.column_names, frame.columns, strict=True):
        if not pa.types.is_floating(column.type):
            continue
        largest = pc.max(pc.abs(column)).as_py()
        if largest is not None and largest > _LARGEST:
            raise ValueError(
                f"a column of numbers must hold finite ones; column {name!r:.80} has infinity or "
                "a number beyond 3.4e38. Leave such cells empty, or leave out the column: --drop."
            )


def _find_labels(frame: Any, kinds: Mapping[str, Kind], *, console: Console) -> None:
    """Say which columns tell the rows apart: one split on such a column removes everything."""
    n_rows = frame.num_rows
    for name, kind in kinds.items():
        if kind == Kind.CATEGORY and n_rows >= _MANY and len(frame[name].unique()) == n_rows:
            console.note(
                f"column {name!r:.80} has another value in every row, as a name or a number of the "
                "row has: it explains everything and tells nothing. Leave it out with --drop."
            )


def _named(settings: TableSettings) -> list[tuple[str, str]]:
    return [
        ("--target", str(settings.target)),
        *(("--drop", name) for name in settings.drop),
        *(("--categorical", name) for name in settings.categorical),
    ]


def _say_which_rows(target: Target, n_rows: int, *, n_sampled: int, console: Console) -> None:
    if n_sampled < n_rows:
        console.note(
            f"the forest learns from {n_sampled:,} rows drawn at random from {n_rows:,}; "
            "--fit-rows changes that."
        )
    unknown = n_sampled - int(target.known.sum())
    if unknown:
        console.note(
            f"{count(unknown, 'row')} without a value of {target.name!r:.80} "
            f"{'teaches' if unknown == 1 else 'teach'} nothing."
        )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(clean(name)) for name in names[:8])
    return f"{shown}, …" if len(names) > 8 else shown or "none"
