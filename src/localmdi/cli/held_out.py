"""Honest values of a table: every row is explained by trees that have not seen it.

A forest that is fitted here grows half of its trees on one half of the rows and half on the other;
each half of the rows then tells what the splits of the other half's trees are worth. A model from a
file tells itself which rows its trees have not seen, if it was fitted to this table with bootstrap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from localmdi._quality import Quality, quality_of
from localmdi._text import count
from localmdi.cli.explained import Explained
from localmdi.cli.table_model import Predicted, add_direction, follow_paths, why_no_direction
from localmdi.cli.tables.kinds import convert_columns
from localmdi.cli.tables.model_columns import ModelColumns
from localmdi.cli.tables.row_selection import no_rows
from localmdi.cli.tables.training import fit_forest, target_like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localmdi.cli.commands.options import FitSettings, TableSettings
    from localmdi.cli.console import Console
    from localmdi.cli.table_model import TableModel
    from localmdi.cli.tables.open import TableFile
    from localmdi.cli.tables.training import Target, TrainingData
    from localmdi.forest import Forest
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import AnyArray, BoolArray, FloatArray, IntArray, Measure

__all__ = ["FEWEST_ROWS", "HeldOutModel", "Trust", "fit_halves", "too_few", "use_out_of_bag"]

# Of fewer rows, half of them held out, hardly a node below the root would get ten.
FEWEST_ROWS = 40
_MIN_ROWS = 10
_BATCH_ROWS = 1 << 16


class Part(NamedTuple):
    """Trees, and rows with a target that some or all of them have not seen.

    Parameters
    ----------
    model : fitted estimator or Forest
        The trees.
    X, y
        The rows: what ``fit`` got, or rows that are held out.
    rows : ndarray of int
        Their numbers in the file.
    held_out : bool
        Whether no tree has seen them.
    """

    model: Any
    X: Any
    y: AnyArray
    rows: IntArray
    held_out: bool


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
    parts : sequence of Part
        Rows of different parts are different.
    columns : ModelColumns
        The columns that the trees get.
    forest : Forest
        Trees of the first part; their categories and criterion are those of all parts.
    read : callable
        What the trees get for an Arrow table with these columns.
    predict : callable or None
        Predicts the rows of such a table with these numbers in the file, and says how sure of the
        class it is.
    measure : {"drop", "gain"}
        What a row's values are.
    jobs : int
        Number of threads.
    quality : Quality or None
        How well unseen rows are predicted.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        columns: ModelColumns,
        *,
        forest: Forest,
        read: Callable[[Any], Any],
        predict: Callable[[Any, IntArray], Predicted] | None,
        measure: Measure,
        jobs: int,
        quality: Quality | None = None,
    ) -> None:
        import numpy as np

        from localmdi.results import LocalImportance

        self.columns = columns
        self.forest = forest
        self.n_trees = forest.n_trees * len(parts)
        self.quality = quality
        self._parts = parts
        self._read = read
        self._predict = predict
        self._measure: Measure = measure
        self._jobs = jobs
        results = [self._explain(part) for part in parts]
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows)
        self._rows = rows[order]
        self._known = LocalImportance.concat(results)[order]
        self.is_complete = self._known.row_weight is None
        self.importance = self._mean_gain()

    def explain(self, frame: Any, rows: IntArray) -> Explained:
        """Explain and predict rows, an Arrow table with the model's columns."""
        import numpy as np
        import pyarrow as pa

        is_known = np.isin(rows, self._rows)
        result = self._known[np.searchsorted(self._rows, rows[is_known])]
        if not is_known.all():
            other = self._explain_others(frame.filter(pa.array(~is_known)))
            place = np.concatenate([np.flatnonzero(is_known), np.flatnonzero(~is_known)])
            result = type(other).concat([result, other])[np.argsort(place)]
        result = replace(result, data=frame)
        said = self._predict(frame, rows) if self._predict else Predicted()
        return Explained(result, rows, said.prediction, sure=said.sure)

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

        return why_no_direction(adapt(self._parts[0].model, values=True).forest, None)

    def _follow(self, frame: Any, rows: IntArray) -> AnyArray:
        import numpy as np

        member = np.stack([np.isin(rows, part.rows) for part in self._parts], axis=1)
        member |= ~member.any(axis=1, keepdims=True)
        weight = member / member.sum(axis=1, keepdims=True)
        X = self._read(frame)
        moves = [follow_paths(part.model, X, jobs=self._jobs) for part in self._parts]
        mean: AnyArray = np.einsum("ij,jikl->ikl", weight, np.stack(moves))
        return mean

    def _explain(self, part: Part, at: Any = None) -> LocalImportance:
        import numpy as np

        from localmdi._honest import honest_mdi

        result = honest_mdi(
            part.model,
            part.X,
            part.y,
            at=at,
            held_out=part.held_out,
            measure=self._measure,
            min_rows=_MIN_ROWS,
            n_jobs=self._jobs,
        )
        baseline = result.baseline
        if baseline is not None:
            baseline = np.broadcast_to(baseline, len(result)).astype(np.float64)
        return replace(
            result,
            baseline=baseline,
            feature_names=self._names(result.feature_names),
            n_trees=self.n_trees,
            data=None,
            row_labels=None,
            frame_type="pyarrow",
        )

    def _explain_others(self, frame: Any) -> LocalImportance:
        """Explain rows that no tree has seen: the mean over all trees."""
        import numpy as np

        X = self._read(frame)
        results = [self._explain(part, at=X) for part in self._parts]
        fields = ("values", "baseline", "residual") if self._measure == "drop" else ("values",)
        means = {
            field: np.mean([getattr(result, field) for result in results], axis=0)
            for field in fields
        }
        return replace(results[0], **means)

    def _mean_gain(self) -> GlobalImportance:
        """Return the importances of the features: their gains, which are 0 on average for noise."""
        import numpy as np

        from localmdi._honest import honest_global_mdi

        found = [
            honest_global_mdi(
                part.model,
                part.X,
                part.y,
                held_out=part.held_out,
                measure="gain",
                min_rows=_MIN_ROWS,
                n_jobs=self._jobs,
            )
            for part in self._parts
        ]
        share = np.array([len(part.rows) for part in self._parts]) / len(self._rows)
        return replace(
            found[0],
            values=share @ np.stack([part.values for part in found]),
            # What one half learned from the other and the reverse may be the same accident: errors
            # are added as they are, not their squares.
            standard_error=share @ np.stack([np.asarray(part.standard_error) for part in found]),
            feature_names=self._names(found[0].feature_names),
            n_trees=self.n_trees,
        )

    def _names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the features: those in the file where the model has none."""
        own = self.columns.by_name or self.columns.transformed
        return names if own else self.columns.names


def fit_halves(
    training: TrainingData,
    settings: FitSettings,
    *,
    console: Console,
    measure: Measure,
    predict: bool,
) -> HeldOutModel:
    """Return half of the trees grown on one half of the rows, and half on the other."""
    import numpy as np
    import pyarrow as pa

    target, frame = training.target, training.frame
    first = _choose_half(target, seed=settings.seed)
    halves = (first, ~first)
    # Two seeds, so that no tree of one half is the twin of one of the other.
    seeds = (settings.seed, (settings.seed + 1) % 2**32)
    fitted = [
        fit_forest(
            training, replace(settings, seed=seed), console=console, keep_forest=True, half=half
        )
        for half, seed in zip(halves, seeds, strict=True)
    ]
    parts = [
        Part(
            model.forest_,
            frame.filter(pa.array(~half)),
            target.values[~half],
            training.rows[~half],
            held_out=True,
        )
        for model, half in zip(fitted, halves, strict=True)
    ]

    classes = None if target.task == "regression" else fitted[0].classes_

    def expect(frame: Any, rows: IntArray) -> FloatArray:
        """Return what trees that have not seen a row expect: shares of the classes, or a number."""
        unseen = np.stack([~np.isin(rows, training.rows[half]) for half in halves], axis=1)
        weight = unseen / unseen.sum(axis=1, keepdims=True)
        expected = np.stack([_expected(model, frame) for model in fitted], axis=1)
        mean: FloatArray = np.einsum("ij,ijk->ik", weight, expected)
        return mean

    return HeldOutModel(
        parts,
        ModelColumns(tuple(frame.column_names), training.kinds),
        forest=fitted[0].forest_,
        read=lambda frame: frame,
        predict=(lambda frame, rows: Predicted.of(expect(frame, rows), classes))
        if predict
        else None,
        measure=measure,
        jobs=settings.jobs,
        quality=quality_of(
            target.values, expect(frame, training.rows), classes=classes, unseen=True
        ),
    )


def use_out_of_bag(
    model: TableModel,
    table: TableFile,
    *,
    settings: TableSettings,
    measure: Measure,
    console: Console,
) -> HeldOutModel | None:
    """Return a model whose trees tell which rows of the table they have not seen.

    None, and a note that says why, if they do not: then only plain values are possible.
    """
    from localmdi._honest import out_of_bag_values
    from localmdi.exceptions import LocalMDIError

    part = _read_whole(model, table, settings=settings, console=console)
    if part is None:
        return None
    try:
        expected = out_of_bag_values(part.model, part.X, y=part.y, n_jobs=settings.jobs)
        honest = HeldOutModel(
            [part],
            model.columns,
            forest=model.forest,
            read=model.read,
            predict=_predict_out_of_bag(model, part, expected=expected),
            measure=measure,
            jobs=settings.jobs,
            quality=quality_of(part.y, expected, classes=_labels(model), unseen=True),
        )
    except (LocalMDIError, ValueError) as error:
        console.note(f"plain values, because honest ones are not possible: {error}")
        return None
    if not honest.is_complete:
        console.note("plain values, because rows that every tree has seen have no honest ones.")
        return None
    return honest


def _labels(model: TableModel) -> AnyArray | None:
    classes = model.forest.classes
    return None if classes is None else classes[0]


def _predict_out_of_bag(
    model: TableModel, part: Part, *, expected: FloatArray
) -> Callable[[Any, IntArray], Predicted]:
    """Return a function that predicts a row by the trees that have not seen it."""
    import numpy as np

    known = Predicted.of(expected, _labels(model))

    def predict(frame: Any, rows: IntArray) -> Predicted:
        found = model.predict(frame).prediction
        if found is None or known.prediction is None:
            return Predicted()
        place = np.searchsorted(part.rows, rows)
        held = np.isin(rows, part.rows)
        found = found.astype(np.result_type(found.dtype, known.prediction.dtype))
        found[held] = known.prediction[place[held]]
        if known.sure is None:
            return Predicted(found)
        sure = np.full(len(rows), np.nan)
        sure[held] = known.sure[place[held]]
        return Predicted(found, sure)

    return predict


def _read_whole(
    model: TableModel, table: TableFile, *, settings: TableSettings, console: Console
) -> Part | None:
    """Return all rows with a target; None, and a note, if they are too many or too few."""
    import numpy as np
    import pyarrow as pa

    from localmdi._validation import find_missing

    target, features = str(settings.target), list(model.columns.names)
    batches, n_rows = [], 0
    for batch in table.batches([*features, target], _BATCH_ROWS):
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows > settings.fit_rows:
            console.note(
                f"plain values: honest ones need the whole table in memory, and it has more than "
                f"{count(settings.fit_rows, 'row')}. Use a larger --fit-rows to allow it."
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
    return Part(model.model, model.read(frame), labels, np.flatnonzero(known), held_out=False)


def too_few(n_rows: int) -> str:
    """Return the note that so few rows with a target have no honest values."""
    return (
        f"plain values: {count(n_rows, 'row')} with a target {'is' if n_rows == 1 else 'are'} too "
        f"few to hold some of them out; honest values need {FEWEST_ROWS}."
    )


def _choose_half(target: Target, *, seed: int) -> BoolArray:
    """Draw half of the rows, of every class half of its rows."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(target.values))
    if target.task == "classification":
        _, code = np.unique(target.values.astype(str), return_inverse=True)
        order = order[np.argsort(code[order], kind="stable")]
    half = np.zeros(len(order), dtype=bool)
    half[order[::2]] = True
    return half


def _expected(model: Any, frame: Any) -> FloatArray:
    import numpy as np

    shares: FloatArray
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(frame)
    else:
        shares = np.asarray(model.predict(frame))[:, None]
    return shares
