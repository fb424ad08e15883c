"""Honest values of a table: every row is explained by trees that have not seen it.

Of a table without a model two forests are fitted: each is grown on one of two folds, and explains
the other. A model from a file tells itself which rows its trees have not seen, if it was fitted to
this table with bootstrap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from localmdi._text import count
from localmdi.cli.explained import Explained
from localmdi.cli.table_model import Predicted, add_direction, follow_paths, why_no_direction
from localmdi.tables.columns import convert_columns
from localmdi.tables.model_columns import ModelColumns
from localmdi.tables.row_selection import no_rows
from localmdi.tables.training import fit_forest, target_like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localmdi._quality import Quality
    from localmdi.cli.console import Console
    from localmdi.cli.table_model import TableModel
    from localmdi.forest import Forest
    from localmdi.honest.api import HonestMeasure
    from localmdi.honest.folds import Fold
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.tables.columns import TypedTable
    from localmdi.tables.settings import FitSettings, TableSettings
    from localmdi.tables.training import TrainingData
    from localmdi.typing import AnyArray, BoolArray, IntArray


# Of fewer rows, half of them held out, hardly a node below the root would get ten.
FEWEST_ROWS = 40
_BATCH_ROWS = 1 << 16


class Trust(NamedTuple):
    """What is known about unseen rows, to show beside explained ones.

    Parameters
    ----------
    importance : GlobalImportance or None
        Honest importances of the features; None for plain values.
    quality : Quality or None
        How well rows are predicted; None if that is not known.
    from_table : bool
        Whether plain values come from the rows of the table.
    """

    importance: GlobalImportance | None = None
    quality: Quality | None = None
    from_table: bool = False

    @classmethod
    def of(cls, model: TableModel | HeldOutModel, quality: Quality | None = None) -> Trust:
        """Return what a model knows; `quality` is that of the predictions of the shown rows."""
        if isinstance(model, HeldOutModel):
            return cls(model.importance, model.quality)
        return cls(quality=quality, from_table=model.from_table)

    def describe(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        known = self.importance
        features = None
        if known is not None:
            columns: dict[str, Any] = {
                "feature": known.feature_names,
                "importance": known.values,
                "standard_error": known.standard_error,
                "p_value": known.p_values(),
                "significant": known.significant(),
            }
            lines = zip(*columns.values(), strict=True)
            features = [dict(zip(columns, line, strict=True)) for line in lines]
        quality = self.quality
        return {"features": features, "quality": None if quality is None else quality.describe()}

    def lines(self) -> list[str]:
        """Return what to say in words.

        Examples
        --------
        >>> from localmdi._quality import Quality
        >>> Trust(quality=Quality({"r2": 0.5}, n_rows=40, unseen=True)).lines()[1]
        'Unseen rows are predicted with R² 0.500.'
        """
        lines = [
            "These values are honest: measured on rows that the trees have not seen."
            if self.importance is not None
            else "These values are plain: measured on rows of the table; trees know more about "
            "those that they learned from than about new ones."
            if self.from_table
            else "These values are plain: measured on the rows that the trees learned from, about "
            "which trees know more than about new ones."
        ]
        return lines if self.quality is None else [*lines, self.quality.sentence()]


class HeldOutModel:
    """Explains the rows of a table honestly; stands where a `TableModel` stands.

    Parameters
    ----------
    folds : sequence of Fold
        Trees, and rows with a target that some or all of them have not seen.
    columns : ModelColumns
        The columns that the trees get.
    forest : Forest
        Trees of the first fold; their categories and criterion are those of all folds.
    read : callable
        What the trees get for an Arrow table with these columns.
    predict : callable or None
        Predicts the rows of such a table by all trees; None: no row is predicted.
    measure : {"loss", "gain"}
        What a row's values are.
    jobs : int
        Number of threads.
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        columns: ModelColumns,
        *,
        forest: Forest,
        read: Callable[[Any], Any],
        predict: Callable[[Any], Predicted] | None,
        measure: HonestMeasure,
        jobs: int,
    ) -> None:
        import numpy as np

        from localmdi.honest.folds import explain_folds, rank_folds

        self.columns = columns
        self.forest = forest
        self.n_trees = forest.n_trees * len(folds)
        self._folds = folds
        self._rows = np.sort(np.concatenate([fold.rows for fold in folds]))
        self._read = read
        self._measure = measure
        self._jobs = jobs
        account = explain_folds(folds, n_jobs=jobs)
        self.quality = account.quality()
        self._prediction = None if predict is None else account.prediction
        self._predict = predict
        # Of a number, its forecast is the prediction.
        self._sure = None if forest.classes is None else (account.scores or {}).get("forecast")
        known = account if measure == "loss" else explain_folds(folds, measure="gain", n_jobs=jobs)
        self._known = self._adjusted(replace(known, prediction=None, scores=None))
        found = rank_folds(folds, n_jobs=jobs)
        names = self._known.feature_names
        self.importance = replace(found, feature_names=names, n_trees=self.n_trees)

    def explain(self, frame: Any, rows: IntArray) -> Explained:
        """Explain and predict rows, an Arrow table with the model's columns.

        What rows without a target tell is an expectation.
        """
        import numpy as np
        import pyarrow as pa

        is_known = np.isin(rows, self._rows)
        result = self._known[np.searchsorted(self._rows, rows[is_known])]
        if not is_known.all():
            other = self._expect(frame.filter(pa.array(~is_known)))
            place = np.concatenate([np.flatnonzero(is_known), np.flatnonzero(~is_known)])
            result = type(other).concat([result, other])[np.argsort(place)]
        said = self._say(frame, rows, is_known=is_known)
        return Explained(
            replace(result, data=frame),
            rows,
            said.prediction,
            sure=said.sure,
            expected=~is_known if self._measure == "loss" else None,
        )

    def with_direction(self, part: Explained) -> Explained:
        """Add which way each feature pushed the prediction, in trees that have not seen the row.

        Trees of a model with bootstrap count all, as they do when the model predicts.
        """
        if self.why_no_direction() is not None:
            return part
        classes = self.forest.classes
        labels = None if classes is None else classes[0]
        return add_direction(part, labels=labels, follow=self._follow)

    def why_no_direction(self) -> str | None:
        """Say why it is not known which way features pushed the prediction; None if it is."""
        from localmdi.adapters import adapt

        return why_no_direction(adapt(self._folds[0].model, values=True).forest, None)

    def _follow(self, frame: Any, rows: IntArray) -> AnyArray:
        import numpy as np

        member = np.stack([np.isin(rows, fold.rows) for fold in self._folds], axis=1)
        member |= ~member.any(axis=1, keepdims=True)
        weight = member / member.sum(axis=1, keepdims=True)
        X = self._read(frame)
        moves = [follow_paths(fold.model, X, jobs=self._jobs) for fold in self._folds]
        mean: AnyArray = np.einsum("ij,jikl->ikl", weight, np.stack(moves))
        return mean

    def _say(self, frame: Any, rows: IntArray, *, is_known: BoolArray) -> Predicted:
        """Return the account's predictions, and for rows that it has none of those of all trees.

        How sure these are of a row that every tree has seen is not known.
        """
        import numpy as np
        import pyarrow as pa

        from localmdi._validation import find_missing

        if self._predict is None or self._prediction is None:
            return Predicted()
        place = np.searchsorted(self._rows, rows[is_known])
        labels = self.forest.classes
        said = np.empty(len(rows), dtype=np.float64 if labels is None else labels[0].dtype)
        missing = np.ones(len(rows), dtype=bool)
        own = self._prediction[place]
        missing[is_known] = find_missing(own)
        said[~missing] = own[~missing[is_known]]
        sure = np.full(len(rows), np.nan)
        if self._sure is not None:
            sure[is_known] = self._sure[place]
        if missing.any():
            others = self._predict(frame.filter(pa.array(missing)))
            said[missing] = others.prediction
            if others.sure is not None:
                sure[~is_known] = others.sure[~is_known[missing]]
        return Predicted(said, None if self._sure is None else sure)

    def _expect(self, frame: Any) -> LocalImportance:
        """Explain rows whose target is not known: the mean over all trees."""
        import numpy as np

        from localmdi.honest.folds import explain_folds

        result = explain_folds(
            self._folds, at=self._read(frame), measure=self._measure, n_jobs=self._jobs
        )
        weight = None if self._known.row_weight is None else np.ones(len(result))
        return self._adjusted(replace(result, row_weight=weight, caveat=None))

    def _adjusted(self, result: LocalImportance) -> LocalImportance:
        """Return a result of one fold, or of all, under the names in the file."""
        own = self.columns.by_name or self.columns.transformed
        return replace(
            result,
            feature_names=result.feature_names if own else self.columns.names,
            n_trees=self.n_trees,
            data=None,
            row_labels=None,
            frame_type="pyarrow",
        )


def fit_folds(
    training: TrainingData,
    settings: FitSettings,
    *,
    console: Console,
    measure: HonestMeasure,
    predict: bool,
) -> HeldOutModel:
    """Return forests that are grown without one fold of the rows each, and explain it.

    Two halves; with groups five folds of whole groups, with time ten blocks of it.
    """
    import numpy as np
    import pyarrow as pa

    from localmdi.honest.folds import Fold, assign_folds
    from localmdi.honest.unseen import read_groups

    target, frame = training.target, training.frame
    groups = read_groups(training.groups, len(target.values))
    n_folds = 2 if groups is None else min(5, int(groups.max()) + 1)
    if training.time is not None:
        n_folds = 10
    of_row = assign_folds(
        target.values, n_folds, groups=groups, time=training.time, seed=settings.seed
    )
    folds, fitted = [], []
    for k in range(n_folds):
        held = of_row == k
        # A seed each, so that no tree of one fold is the twin of one of another.
        seeded = replace(settings, seed=(settings.seed + k) % 2**32)
        model = fit_forest(
            training, seeded, console=console, keep_forest=True, inside=~held, n_folds=n_folds
        )
        fitted.append(model)
        part = frame.filter(pa.array(held))
        own = None if groups is None else groups[held]
        folds.append(Fold(model.forest_, part, target.values[held], training.rows[held], own))

    def expect(frame: Any) -> Predicted:
        if target.task == "regression":
            mean = np.mean([model.predict(frame) for model in fitted], axis=0)
            return Predicted.of(mean[:, None], None)
        shares = np.mean([model.predict_proba(frame) for model in fitted], axis=0)
        return Predicted.of(shares, fitted[0].classes_)

    return HeldOutModel(
        folds,
        ModelColumns(tuple(frame.column_names), training.kinds),
        forest=folds[0].model,
        read=lambda frame: frame,
        predict=expect if predict else None,
        measure=measure,
        jobs=settings.jobs,
    )


def use_out_of_bag(
    model: TableModel,
    table: TypedTable,
    *,
    settings: TableSettings,
    measure: HonestMeasure,
    predict: bool,
    console: Console,
) -> HeldOutModel | None:
    """Return a model whose trees tell which rows of the table they have not seen.

    None, and a note that says why, if they do not: then only plain values are possible.
    """
    from localmdi.exceptions import LocalMDIError

    fold = _read_whole(model, table, settings=settings, console=console)
    if fold is None:
        return None
    try:
        return HeldOutModel(
            [fold],
            model.columns,
            forest=model.forest,
            read=model.read,
            predict=model.predict if predict else None,
            measure=measure,
            jobs=settings.jobs,
        )
    except (LocalMDIError, ValueError) as error:
        console.note(f"plain values, because honest ones are not possible: {error}")
        return None


def _read_whole(
    model: TableModel, table: TypedTable, *, settings: TableSettings, console: Console
) -> Fold | None:
    """Return all rows with a target; None, and a note, if they are too many or too few."""
    import numpy as np
    import pyarrow as pa

    from localmdi._validation import find_missing
    from localmdi.honest.folds import Fold

    target, features = str(settings.target), list(model.columns.names)
    batches, n_rows = [], 0
    for batch in table.batches([*features, target], _BATCH_ROWS):
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows > settings.max_fit_rows:
            console.note(
                f"plain values: honest ones need the whole table in memory, and it has more than "
                f"{count(settings.max_fit_rows, 'row')}. Use a larger --max-fit-rows to allow it."
            )
            return None
    if n_rows == 0:
        raise no_rows(table)
    whole = pa.concat_tables(batches)
    classes = model.forest.classes
    y = target_like(whole[target], np.empty(0) if classes is None else classes[0], name=target)
    known = ~find_missing(y)
    if known.sum() < FEWEST_ROWS:
        console.note(too_few(int(known.sum())))
        return None
    frame = convert_columns(whole.select(features), model.columns.kinds).filter(pa.array(known))
    labels = np.array(y[known].tolist())
    return Fold(model.model, model.read(frame), labels, np.flatnonzero(known), held_out=False)


def too_few(n_rows: int) -> str:
    """Return the note that so few rows with a target have no honest values."""
    return (
        f"plain values: {count(n_rows, 'row')} with a target {'is' if n_rows == 1 else 'are'} too "
        f"few to hold some of them out; honest values need {FEWEST_ROWS}."
    )
