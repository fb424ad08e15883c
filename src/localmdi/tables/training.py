"""Training data: which columns and rows of a table a forest learns from, and the fit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._text import count, quote_names
from localmdi.exceptions import TableError
from localmdi.tables.cells import Kind
from localmdi.tables.columns import as_kind, convert_columns, has_missing
from localmdi.tables.open import columns_of
from localmdi.tables.row_selection import Reservoir, no_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localmdi.tables.columns import TypedTable
    from localmdi.tables.settings import FitSettings, Listener, TableSettings, Task
    from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor
    from localmdi.typing import AnyArray, BoolArray, IntArray

_BATCH_ROWS = 1 << 16
# Integers with at most this many distinct values are classes.
_MOST_CLASSES = 20
_FLOAT32_MAX = 3.4028234663852886e38
# Trees times rows: beyond this many the nodes of the forest take gigabytes.
_MOST_PATHS = 10_000_000
_FEWEST_TREES = 100
_YEARS = (1500, 2500)


@dataclass(frozen=True, eq=False)
class Target:
    """The column to learn.

    Parameters
    ----------
    name : str
        Its column.
    task : {"classification", "regression"}
        What it asks for.
    known : ndarray of bool
        Which rows have a value.
    values : ndarray
        The values of these rows: strings, integers or floats.
    reason : str
        Why it is that task, for the user.
    """

    name: str
    task: Task
    known: BoolArray
    values: AnyArray
    reason: str


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a forest learns from.

    Parameters
    ----------
    frame : pyarrow.Table
        The features of the rows whose target is known: float64 and strings.
    target : Target
        Their target.
    kinds : dict of str to Kind
        What each feature holds.
    rows : ndarray of int
        The numbers of the rows in the file.
    gaps : tuple of str
        Numeric features that are missing in some rows of the file, but in none of these.
    groups, time : ndarray or None
        Which rows belong together, and by what they follow each other.
    """

    frame: Any
    target: Target
    kinds: dict[str, Kind]
    rows: IntArray
    gaps: tuple[str, ...] = ()
    groups: AnyArray | None = None
    time: AnyArray | None = None

    def describe(self) -> dict[str, Any]:
        """Return what the target and the columns were taken for, for the user."""
        columns = {}
        for name, kind in self.kinds.items():
            column = self.frame[name]
            text = "number"
            if kind == Kind.CATEGORY:
                text = count(len(column.drop_null().unique()), "category")
            missing = column.null_count
            columns[name] = f"{text}, {missing:,} missing" if missing else text
        return {
            "target": self.target.name,
            "task": self.target.task,
            "task_reason": self.target.reason,
            "columns": columns,
            "fitted_rows": self.frame.num_rows,
        }


def choose_features(table: TypedTable, settings: TableSettings, *, console: Listener) -> list[str]:
    """Return the columns to learn from: all but the target and those that number the rows."""
    names, labels = columns_of(table)
    if labels:
        console.note("a column without a name is ignored; it only numbers the rows.")
    if settings.target is None:
        raise TableError(
            "target", f"must name the column to predict; the table has {quote_names(names)}."
        )
    written = columns_of(table.file)[0]
    for parameter, name in _named(settings):
        if name not in written:
            hint = " Use separator= to set the delimiter." if len(names) == 1 else ""
            raise TableError(
                parameter,
                f"no column {quote_names([name])}; {table.path.name!r} has "
                f"{quote_names(written)}.{hint}",
            )
    if settings.target in (*settings.exclude, *settings.categorical):
        raise TableError(
            "target",
            "must not be named by exclude= or categorical= too. To learn classes, use "
            "task=classification.",
        )
    features = [
        name
        for name in names
        if name not in (settings.target, settings.groups)
        and (table.date_of(name) or name) not in settings.exclude
    ]
    if not features:
        raise ValueError(f"{table.path.name!r} has no column to learn from besides the target.")
    return features


def read_training_data(
    table: TypedTable, features: Sequence[str], *, settings: TableSettings, console: Listener
) -> TrainingData:
    """Read the whole file once, and draw the rows to learn from."""
    import pyarrow as pa

    target_name = str(settings.target)
    moment = None if settings.time is None else table.moment_of(settings.time)
    beside = [name for name in (settings.groups, moment) if name is not None]
    names = list(dict.fromkeys([*features, target_name, *beside]))
    reservoir: Reservoir[Any] = Reservoir(
        settings.max_fit_rows, seed=settings.seed, concat=pa.concat_tables
    )
    missing: set[str] = set()
    for batch in table.batches(names, _BATCH_ROWS):
        missing |= {name for name in features if has_missing(batch[name])}
        reservoir.add(batch, batch.num_rows)
    n_rows = reservoir.n_seen
    if n_rows == 0:
        raise no_rows(table)
    kinds = {
        name: Kind.CATEGORY if name in settings.categorical else table.kinds[name]
        for name in features
    }
    for text in table.file.notes:
        console.note(text)
    sample, rows = reservoir.result()
    target = read_target(
        sample[target_name], table.kinds[target_name], name=target_name, task=settings.task
    )
    kinds = _without_structures(kinds, console)
    frame = convert_columns(sample.select(list(kinds)), kinds).filter(pa.array(target.known))
    left_out = _find_unusable(frame, console=console)
    left_out += _find_identifiers(frame, kinds, table=table, settings=settings, console=console)
    if len(set(left_out)) == len(features):
        raise ValueError(f"{table.path.name!r} has no column to learn from besides the target.")
    frame = frame.drop_columns(left_out)
    kinds = {name: kind for name, kind in kinds.items() if name not in left_out}
    _say_which_rows(target, n_rows, n_sampled=len(rows), console=console)
    numbers = [name for name in kinds if kinds[name] == Kind.NUMBER and name in missing]
    gaps = tuple(name for name in numbers if not frame[name].null_count)
    groups, time = (
        None if name is None else sample[name].filter(pa.array(target.known)).to_numpy()
        for name in (settings.groups, moment)
    )
    return TrainingData(frame, target, kinds, rows[target.known], gaps, groups, time)


def read_target(column: Any, kind: Kind, *, name: str, task: Task | None = None) -> Target:
    """Read the column to learn; without a task, take the one that its values suggest."""
    import numpy as np

    if kind in (Kind.DATE, Kind.OTHER):
        what = "dates" if kind == Kind.DATE else "lists or other structures"
        raise ValueError(
            f"the target {quote_names([name])} must hold classes or numbers, not {what}. "
            "Choose another column, or convert it to numbers."
        )
    is_number = kind == Kind.NUMBER
    if task == "regression" and not is_number:
        raise ValueError(
            f"the target {quote_names([name])} of a regression must hold numbers, not strings. "
            "Correct it, or use task=classification."
        )
    read = as_kind(column, kind, name=name)
    known = np.asarray(read.is_valid().to_numpy())
    values = np.asarray(read.drop_null().to_numpy())
    if is_number:
        known[known] = finite = ~np.isnan(values)
        values = values[finite]
    n_values = len(np.unique(values)) if is_number else len(set(values.tolist()))
    if n_values < 2:
        raise ValueError(
            f"the target {quote_names([name])} must have at least two distinct values; got "
            f"{'one' if n_values else 'none'}. Choose another column, or add rows."
        )
    if not is_number:
        return Target(name, "classification", known, values, "strings")
    integers = bool((values == np.rint(values)).all()) and bool((np.abs(values) < 2**53).all())
    looks: Task = "classification" if integers and n_values <= _MOST_CLASSES else "regression"
    reason = count(n_values, "distinct integer") if integers else "numbers with decimals"
    if task == "classification" and not integers:
        values = np.array([f"{value:g}" for value in values.tolist()], dtype=object)
    elif integers and (task or looks) == "classification":
        values = values.astype(np.int64)
    return Target(name, task or looks, known, values, reason)


def target_like(column: Any, prediction: AnyArray | None, *, name: str) -> AnyArray:
    """Return a column of targets in the type of the predictions beside it."""
    import numpy as np

    cells = column.to_pylist()
    if prediction is not None and prediction.dtype.kind in "iuf":
        with suppress(ValueError):
            cells = as_kind(column, Kind.NUMBER, name=name).to_pylist()
            if prediction.dtype.kind in "iu":
                whole = all(cell is None or cell.is_integer() for cell in cells)
                cells = [int(cell) if whole and cell is not None else cell for cell in cells]
    elif prediction is not None and prediction.dtype.kind != "b":
        cells = as_kind(column, Kind.CATEGORY, name=name).to_pylist()
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return values


def fit_forest(
    training: TrainingData,
    settings: FitSettings,
    *,
    console: Listener,
    keep_forest: bool,
    inside: BoolArray | None = None,
    n_folds: int = 1,
) -> RandomizedForestClassifier | RandomizedForestRegressor:
    """Return a fitted forest of totally randomized trees, or of the best of K splits.

    With `inside`, one of `n_folds` parts of the trees, grown on these rows alone.
    """
    import numpy as np
    import pyarrow as pa

    from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

    classes = training.target.task == "classification"
    kind = RandomizedForestClassifier if classes else RandomizedForestRegressor
    n_rows = training.frame.num_rows
    trees = settings.trees or 1000
    if settings.trees is None and keep_forest and trees * n_rows > _MOST_PATHS:
        trees = max(_FEWEST_TREES, _MOST_PATHS // n_rows)
        console.note(
            f"growing {count(trees, 'tree')} instead of 1,000, to save memory with "
            f"{count(n_rows, 'row')}. Use trees= to grow more, or max_fit_rows= for fewer rows."
        )
    model = kind(
        -(-trees // n_folds),
        max_features=settings.max_features,
        keep_forest=keep_forest,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        progress=console.progress,
    )
    # A row without weight teaches nothing but which classes and categories there are, and that
    # values can be missing: each split then draws a side for them.
    weight = None if inside is None else inside.astype(np.float64)
    if not training.gaps or not keep_forest:
        return model.fit(training.frame, training.target.values, sample_weight=weight)
    frame = pa.concat_tables([training.frame, _row_with_gaps(training)])
    values = np.append(training.target.values, training.target.values[:1])
    weight = np.ones(n_rows) if weight is None else weight
    return model.fit(frame, values, sample_weight=np.append(weight, 0.0))


def _row_with_gaps(training: TrainingData) -> Any:
    import pyarrow as pa

    row = training.frame.slice(0, 1)
    for name in training.gaps:
        position = row.column_names.index(name)
        row = row.set_column(position, name, pa.nulls(1, pa.float64()))
    return row


def _without_structures(kinds: Mapping[str, Kind], console: Listener) -> dict[str, Kind]:
    """Leave out columns that are not numbers or categories, and say so."""
    reasons = {
        Kind.OTHER: "lists or other structures",
        Kind.DATE: "dates, and there are columns with the names of their parts",
    }
    for reason, what in reasons.items():
        wrong = [name for name, kind in kinds.items() if kind == reason]
        if wrong:
            has, out = ("holds", "is") if len(wrong) == 1 else ("hold", "are")
            console.note(f"{quote_names(wrong, most=3)} {has} {what}; {out} left out.")
    return {name: kind for name, kind in kinds.items() if kind not in reasons}


def _find_unusable(frame: Any, *, console: Listener) -> list[str]:
    """Return columns with what float32, in which trees compare, does not hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for name, column in zip(frame.column_names, frame.columns, strict=True):
        if not pa.types.is_floating(column.type):
            continue
        largest = pc.max(pc.abs(column)).as_py()
        if largest is not None and largest > _FLOAT32_MAX:
            found.append(name)
            console.note(
                f"column {quote_names([name])} has infinity or a number beyond 3.4e38, and is left "
                "out. Leave such cells empty to learn from it."
            )
    return found


def _find_identifiers(
    frame: Any,
    kinds: Mapping[str, Kind],
    *,
    table: TypedTable,
    settings: TableSettings,
    console: Listener,
) -> list[str]:
    """Return the columns that only name the rows, and say so; name those that may."""
    found = {
        name: _identity(frame[name], kind)
        for name, kind in kinds.items()
        if name not in settings.keep and table.date_of(name) is None
    }
    names = [name for name, (_, sure) in found.items() if sure]
    # With no other column there would be nothing to learn from.
    names = names if len(names) < len(kinds) else []
    for name, (what, _) in found.items():
        if what is None:
            continue
        if name in names:
            console.note(
                f"column {quote_names([name])} {what}, and is left out. Use keep= to learn from it."
            )
            continue
        console.note(
            f"column {quote_names([name])} {what}: trees can learn single rows from it, which "
            "says nothing about new rows. Leave it out with exclude= if it only names the rows."
        )
    return names


def _identity(column: Any, kind: Kind) -> tuple[str | None, bool]:
    """Return what is suspicious about a column, and whether it surely only names the rows.

    Text surely does if no two rows share one, whole numbers if they also count upwards and are not
    years: amounts, such as populations, may all differ too.
    """
    import numpy as np
    import pyarrow.compute as pc

    from localmdi.results.own_data import too_many_values

    present = column.drop_null()
    numbers = kind == Kind.NUMBER
    if not len(present) or (numbers and not pc.all(pc.equal(pc.round(present), present)).as_py()):
        return None, False
    n_values = len(present.unique())
    what = too_many_values(n_values, len(column), whole_numbers=numbers)
    sure = what is not None and n_values == len(column)
    if sure and numbers:
        values = present.to_numpy()
        years = _YEARS[0] <= values[0] and values[-1] <= _YEARS[1]
        sure = bool((np.diff(values) > 0).all()) and not years
    return what, sure


def _named(settings: TableSettings) -> list[tuple[str, str]]:
    return [
        ("target", str(settings.target)),
        *(("exclude", name) for name in settings.exclude),
        *(("categorical", name) for name in settings.categorical),
        *(("keep", name) for name in settings.keep),
        *(("groups", name) for name in (settings.groups,) if name is not None),
        *(("time", name) for name in (settings.time,) if name is not None),
    ]


def _say_which_rows(target: Target, n_rows: int, *, n_sampled: int, console: Listener) -> None:
    if n_sampled < n_rows:
        console.note(
            f"learning from {count(n_sampled, 'row')} drawn at random from {n_rows:,}. "
            "Use max_fit_rows= to change that."
        )
    unknown = n_sampled - int(target.known.sum())
    if unknown:
        console.note(
            f"{count(unknown, 'row')} without a value of {quote_names([target.name])} "
            f"{'is' if unknown == 1 else 'are'} not learned from."
        )
