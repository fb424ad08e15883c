"""A forest of our own, fitted to a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

if TYPE_CHECKING:
    from localmdi.cli.console import Console
    from localmdi.cli.lessons import Lesson
    from localmdi.cli.settings import TableSettings

__all__ = ["fit_forest"]

# Trees times rows: beyond this many the nodes of the forest take gigabytes.
_MOST_PATHS = 10_000_000
_FEWEST_TREES = 100


def fit_forest(
    lesson: Lesson, settings: TableSettings, *, console: Console, keep_forest: bool
) -> Any:
    """Return a fitted forest of totally randomized trees, or of the best of K splits.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from localmdi.cli.console import Console
    >>> from localmdi.cli.kinds import Kind
    >>> from localmdi.cli.lessons import Lesson
    >>> from localmdi.cli.settings import TableSettings
    >>> from localmdi.cli.targets import Target
    >>> target = Target("y", "classification", np.ones(2, bool), np.array([0, 1]), "")
    >>> lesson = Lesson(pa.table({"x": [0.0, 1.0]}), target, {"x": Kind.NUMBER}, np.arange(2))
    >>> settings = TableSettings(seed=0, jobs=1, quiet=True, as_json=False, data=None, trees=10)
    >>> console = Console(quiet=True, as_json=False)
    >>> fit_forest(lesson, settings, console=console, keep_forest=True).n_estimators_
    10
    """
    import pyarrow as pa

    classes = lesson.target.task == "classification"
    kind: Any = RandomizedForestClassifier if classes else RandomizedForestRegressor
    n_rows = lesson.frame.num_rows
    trees = settings.trees or 1000
    if settings.trees is None and keep_forest and trees * n_rows > _MOST_PATHS:
        trees = max(_FEWEST_TREES, _MOST_PATHS // n_rows)
        console.note(
            f"{trees} trees are grown instead of 1,000, because a forest of {n_rows:,} rows is "
            "large; --trees changes that, --fit-rows makes it smaller."
        )
    model = kind(
        trees,
        max_features=settings.max_features,
        keep_forest=keep_forest,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        progress=console.progress,
    )
    if not lesson.gaps or not keep_forest:
        return model.fit(lesson.frame, lesson.target.values)
    # A row without weight teaches nothing but that there are gaps: trees draw a way for them.
    frame = pa.concat_tables([lesson.frame, _with_gaps(lesson)])
    values = np.append(lesson.target.values, lesson.target.values[:1])
    weight = np.append(np.ones(n_rows), 0.0)
    return model.fit(frame, values, sample_weight=weight)


def _with_gaps(lesson: Lesson) -> Any:
    import pyarrow as pa

    row = lesson.frame.slice(0, 1)
    for name in lesson.gaps:
        position = row.column_names.index(name)
        row = row.set_column(position, name, pa.nulls(1, pa.float64()))
    return row
