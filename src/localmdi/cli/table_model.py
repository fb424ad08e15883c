"""A fitted model and the columns of a table that it gets: explains and predicts batches of rows."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from localmdi._text import quote_names
from localmdi.cli.explained import Chances, Explained
from localmdi.tables.model_columns import as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi._explainer import Explainer
    from localmdi.adapters import AdaptedModel
    from localmdi.forest import Forest
    from localmdi.forest.packing import Packing
    from localmdi.tables.model_columns import ModelColumns
    from localmdi.typing import AnyArray, FloatArray, IntArray


# Rows, features and classes whose moves are computed at a time.
_BLOCK = 1 << 22


class Predicted(NamedTuple):
    """What is predicted for rows, how sure the class is, and the shares of all classes."""

    prediction: AnyArray | None = None
    sure: FloatArray | None = None
    chances: Chances | None = None

    @classmethod
    def of(cls, expected: FloatArray, classes: AnyArray | None) -> Predicted:
        """Return the most likely classes, or the numbers."""
        if classes is None:
            return cls(expected[:, 0])
        said, sure = classes[expected.argmax(axis=1)], expected.max(axis=1)
        return cls(said, sure, Chances(expected, classes))


class TableModel:
    """A model and the columns of a table that it gets.

    Parameters
    ----------
    model : fitted estimator or Forest
        The model.
    columns : ModelColumns
        What it gets.
    explainer : Explainer
        The explainer of the model.
    jobs : int
        Number of threads.
    predict : bool
        Whether rows are predicted too.
    from_table : bool
        Whether the statistics of the nodes come from the table, not from the model.
    """

    def __init__(
        self,
        model: Any,
        columns: ModelColumns,
        *,
        explainer: Explainer,
        jobs: int,
        predict: bool,
        from_table: bool = False,
    ) -> None:
        self.columns = columns
        self.from_table = from_table
        self.model = model
        self.explainer = explainer
        self._jobs = jobs
        self._predict = predict
        self._routes: tuple[Packing, AdaptedModel] | None = None

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.explainer.forest

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.forest.n_trees

    @property
    def predictions_are(self) -> str | None:
        """What the predictions of boosted trees are, if that is not what the target is."""
        from localmdi.forest import Forest

        forest = self.model
        is_score = isinstance(forest, Forest) and forest.boosted and forest.classes is None
        if not self._predict or not is_score or not _has_prediction(forest):
            return None
        labels = self._labels_of_scores(forest)
        if labels is None:
            return "predictions are the sums of the trees, before any link function."
        if forest.statistic("value").shape[1] == 1:
            return (
                "the trees of the model add up to one score, taken for log-odds: above 0 the "
                f"prediction is {quote_names([labels[1]])}, below it {quote_names([labels[0]])}."
            )
        return "the trees of the model add up to a score for each class, in the classes' order."

    def explain(self, frame: Any, rows: IntArray) -> Explained:
        """Explain and predict rows, an Arrow table with the model's columns."""
        try:
            result = self.explainer(self.read(frame), n_jobs=self._jobs)
        except ValueError as error:
            raise ValueError(self._with_column_name(str(error), frame)) from error
        # The cells as the file has them, under its names where the model has none.
        own = self.columns.by_name or self.columns.transformed
        names = result.feature_names if own else self.columns.names
        result = replace(
            result, data=frame, frame_type="pyarrow", feature_names=names, row_labels=None
        )
        said = self.predict(frame)
        return Explained(result, rows, said.prediction, sure=said.sure, chances=said.chances)

    def read(self, frame: Any) -> Any:
        """Return what the model gets for an Arrow table with its columns."""
        return self.columns.read(frame)

    def with_direction(self, part: Explained) -> Explained:
        """Add which way each feature pushed the prediction, where the model can tell."""
        if self.why_no_direction() is not None:
            return part
        return add_direction(part, labels=_labels(self.forest), follow=self._follow)

    def why_no_direction(self) -> str | None:
        """Say why it is not known which way features pushed the prediction; None if it is."""
        from localmdi.adapters import adapt

        return why_no_direction(adapt(self.model, values=True).forest, _labels(self.forest))

    def _follow(self, frame: Any, rows: IntArray) -> AnyArray:
        return follow_paths(self.model, self.read(frame), jobs=self._jobs)

    def predict(self, frame: Any) -> Predicted:
        """Predict rows; nothing if that is not wanted, or if the model cannot."""
        from localmdi.forest import Forest

        if not self._predict:
            return Predicted()
        if isinstance(self.model, Forest):
            known = _has_prediction(self.model)
            return self._predict_forest(self.read(frame)) if known else Predicted()
        if not hasattr(self.model, "predict"):
            return Predicted()
        if self.columns.transformed or self.forest.categories is not None:
            return _predict_estimator(self.model, frame.to_pandas())
        with warnings.catch_warnings():
            # The columns were matched by name already.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return _predict_estimator(self.model, as_array(frame))

    def _predict_forest(self, X: Any) -> Predicted:
        """Predict with the trees as they were loaded; explained ones may have other values."""
        from localmdi._validation import count_threads
        from localmdi.adapters import adapt
        from localmdi.forest.packing import Packing

        if self._routes is None:
            self._routes = Packing(self.model), adapt(self.model)
        packing, reader = self._routes
        scores = packing.predict(reader.read(X), reader.rules, n_threads=count_threads(self._jobs))
        classes = _labels(self.model)
        if not self.model.boosted:
            return _of_scores(scores) if classes is None else Predicted.of(scores, classes)
        named = self._labels_of_scores(self.model) if classes is None else classes
        return _of_scores(scores, named)

    def _labels_of_scores(self, forest: Forest) -> AnyArray | None:
        """Return the classes of the table's target, if a model without names has scores for them.

        Libraries number classes in their sorted order; of two the score is that of the second.
        """
        labels = _labels(self.forest)
        n_scores = forest.statistic("value").shape[1]
        fits = labels is not None and len(labels) == (2 if n_scores == 1 else n_scores)
        return labels if fits else None

    def _with_column_name(self, message: str, frame: Any) -> str:
        """Name the column where the check of the values only has its number, or only the value."""
        text = re.search(r"could not convert string to float: '(.*)'", message)
        if text is not None:
            for column, cells in zip(frame.column_names, frame.columns, strict=True):
                if text[1] in map(str, cells.unique().to_pylist()):
                    return (
                        f"column {quote_names([column])} must hold numbers, as in the rows that "
                        f"the model was fitted to; got {quote_names([text[1]])}. Correct it, or "
                        "leave the cell empty if the value is missing."
                    )
        names = self.forest.names_for(None) if self.columns.transformed else self.columns.names

        def name(found: re.Match[str]) -> str:
            number = int(found[1])
            return f"column {quote_names([names[number]])}" if number < len(names) else found[0]

        return re.sub(r"^feature (\d+)", name, message)


def why_no_direction(forest: Forest, labels: AnyArray | None) -> str | None:
    """Say why the values of a forest do not tell which way features pushed the prediction.

    `labels` are the classes of the target; None for numbers. None: they tell.
    """
    if forest.value is None:
        return "no arrows: the forest does not keep what its nodes predict."
    if forest.classes is not None and len(forest.classes) > 1:
        return "no arrows: the model predicts several targets."
    if forest.boosted and forest.aggregation == "mean":
        return "no arrows: the model's trees vote, and the weight of a vote has no direction."
    own = _labels(forest)
    labels = labels if own is None else own
    n_scores = forest.value.shape[1]
    if labels is None and n_scores > 1:
        return "no arrows: the model predicts several numbers."
    if labels is not None and n_scores not in (len(labels), 1 if len(labels) == 2 else -1):
        return (
            f"no arrows: the model has {n_scores} scores for {len(labels)} classes, and which "
            "belongs to which is not known."
        )
    return None


def add_direction(
    part: Explained,
    *,
    labels: AnyArray | None,
    follow: Callable[[Any, IntArray], AnyArray],
) -> Explained:
    """Add how each feature moved the class, or the number, that is predicted.

    Of averaged trees that is the share of the predicted class, of boosted ones its score. Rows
    without a prediction stay as they are. `follow` returns the moves of some rows for every
    class, or of the one score of two classes, `labels`.
    """
    import numpy as np

    result, prediction = part.result, part.prediction
    if result.data is None or prediction is None or not len(part.rows):
        return part
    step = max(1, _BLOCK // (result.shape[1] * (1 if labels is None else len(labels))))
    moves = np.empty(result.shape)
    for start in range(0, len(part.rows), step):
        some = slice(start, start + step)
        every = follow(result.data.slice(start, step), part.rows[some])
        if labels is None:
            moves[some] = every[:, :, 0]
        elif every.shape[2] == 1:
            away = prediction[some] != labels[1]
            moves[some] = np.where(away[:, None], -every[:, :, 0], every[:, :, 0])
        else:
            towards = (prediction[some, None] == labels[None, :]).argmax(axis=1)
            moves[some] = np.take_along_axis(every, towards[:, None, None], axis=2)[:, :, 0]
    return replace(part, result=replace(result, direction=moves, prediction=prediction))


def follow_paths(model: Any, X: Any, *, jobs: int) -> AnyArray:
    """Return how each feature moved what a model of one target predicts, for every class."""
    from localmdi._validation import count_threads
    from localmdi.adapters import adapt
    from localmdi.forest.packing import Packing
    from localmdi.importance.saabas import prediction_paths

    adapted = adapt(model, values=True)
    return prediction_paths(
        Packing(adapted.forest), adapted.read(X), rules=adapted.rules, n_threads=count_threads(jobs)
    )


def _labels(forest: Forest) -> AnyArray | None:
    """Return the classes of a forest of one target."""
    return None if forest.classes is None or len(forest.classes) > 1 else forest.classes[0]


def _has_prediction(forest: Forest) -> bool:
    """Tell whether a forest's values make one class or number per row."""
    import numpy as np

    several = forest.classes is not None and len(forest.classes) > 1
    from_rows = forest.boosted and forest.aggregation == "mean"
    start_known = forest.base_value is None or not np.isnan(forest.base_value).any()
    return forest.value is not None and not several and not from_rows and start_known


def _of_scores(scores: FloatArray, labels: AnyArray | None = None) -> Predicted:
    """Return what the scores of boosted trees predict: a number, or the class of the largest."""
    import numpy as np

    if labels is None:
        return Predicted(_one_column(scores))
    if scores.shape[1] > 1:
        return Predicted(labels[scores.argmax(axis=1)])
    # Of log-odds, without overflow.
    second = 0.5 * (1.0 + np.tanh(0.5 * scores[:, 0]))
    return Predicted.of(np.stack([1.0 - second, second], axis=1), labels)


def _predict_estimator(model: Any, X: Any) -> Predicted:
    import numpy as np

    classes = getattr(model, "classes_", None)
    if hasattr(model, "predict_proba") and isinstance(classes, np.ndarray) and classes.ndim == 1:
        shares = model.predict_proba(X)
        if isinstance(shares, np.ndarray) and shares.shape[1:] == classes.shape:
            return Predicted.of(shares, classes)
    return Predicted(_one_column(model.predict(X)))


def _one_column(prediction: Any) -> AnyArray | None:
    import numpy as np

    array = np.asarray(prediction)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    return array if array.ndim == 1 else None
