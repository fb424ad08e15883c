"""A model ready for a stream: batches of rows are explained and predicted."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._explainer import ModelRows
from localmdi._validation import RowSource, count_threads
from localmdi.adapters import adapt
from localmdi.forest import Forest
from localmdi.forest.packing import Packing
from localmdi.importance import LocalRequest, explain

if TYPE_CHECKING:
    from localmdi.cli.plan import Plan
    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray

__all__ = ["Engine"]

# Ends of this many (row, tree) pairs are held at a time.
_PAIRS = 1 << 21


class Engine:
    """Explains batches with a model that is packed once.

    Parameters
    ----------
    model : fitted estimator or Forest
        The model.
    jobs : int
        Number of threads.
    predict : bool
        Whether rows are predicted too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from localmdi.cli.kinds import Kind
    >>> from localmdi.cli.plan import Plan
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> frame = pa.table({"age": [31.0, 47.0]})
    >>> model = RandomizedForestClassifier(5, random_state=0).fit(frame, ["no", "yes"])
    >>> engine = Engine(model.forest_, jobs=1)
    >>> result, prediction = engine(frame, Plan(("age",), {"age": Kind.NUMBER}))
    >>> result.values.tolist(), prediction.tolist()
    ([[1.0], [1.0]], ['no', 'yes'])
    """

    def __init__(self, model: Any, *, jobs: int, predict: bool = True) -> None:
        self.adapted = adapt(model, values=predict and isinstance(model, Forest))
        self.forest = self.adapted.forest
        self._model = model
        self._predict = predict
        self._n_threads = count_threads(jobs)
        self._reader = ModelRows(self.adapted)
        self._packing = Packing(self.forest)

    def __call__(self, frame: Any, plan: Plan) -> tuple[LocalImportance, AnyArray | None]:
        """Explain and predict the rows of an Arrow table whose columns are those of the plan."""
        rows = self._reader.read(self._model_input(frame, plan))
        request = LocalRequest(self._n_threads, self._reader.rules)
        try:
            result = explain(self._packing, rows, request=request)
        except ValueError as error:
            raise ValueError(self._with_names(str(error), plan)) from error
        if self.adapted.transform is None:
            # The rows as the file has them, under its names where the model has none.
            names = result.feature_names if plan.named else plan.columns
            result = replace(result, data=frame, frame_type="pyarrow", feature_names=names)
        else:
            result = replace(result, data=None, frame_type="pyarrow", row_labels=None)
        return result, self._prediction(rows, frame) if self._predict else None

    def _model_input(self, frame: Any, plan: Plan) -> Any:
        if self.adapted.transform is not None:
            # Steps choose columns by name and expect the frames that scikit-learn knows best.
            return frame.to_pandas()
        if plan.named or self.forest.categories is not None:
            return frame
        return np.column_stack([column.to_numpy() for column in frame.columns])

    def _prediction(self, rows: RowSource, frame: Any) -> AnyArray | None:
        if isinstance(self._model, Forest):
            return self._forest_prediction(rows)
        if not hasattr(self._model, "predict"):
            return None
        if self.adapted.transform is not None or self.forest.categories is not None:
            return _one_column(self._model.predict(frame.to_pandas()))
        array = np.column_stack([column.to_numpy() for column in frame.columns])
        with warnings.catch_warnings():
            # The columns were found by name already.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return _one_column(self._model.predict(array))

    def _forest_prediction(self, rows: RowSource) -> AnyArray | None:
        """Return the class with the largest mean share, or the mean of the trees' values."""
        forest = self.forest
        several = forest.classes is not None and len(forest.classes) > 1
        if forest.value is None or forest.aggregation != "mean" or forest.boosted or several:
            return None
        share = forest.tree_weight / forest.tree_weight.sum()
        total = np.zeros((rows.shape[0], forest.value.shape[1]))
        for start, stop, batch in self._packing.batches(rows, self._reader.rules):
            step = max(1, _PAIRS // max(1, stop - start))
            for first in range(0, forest.n_trees, step):
                last = min(first + step, forest.n_trees)
                ends = self._packing.ends(batch, first, last=last, n_threads=self._n_threads)
                for tree in range(first, last):
                    total[start:stop] += share[tree] * forest.value[ends[:, tree - first]]
        if forest.classes is not None:
            return np.asarray(forest.classes[0][total.argmax(axis=1)])
        return _one_column(total)

    def _with_names(self, message: str, plan: Plan) -> str:
        """Name the column where the check of the values only has its number."""

        def name(found: re.Match[str]) -> str:
            number = int(found[1])
            known = plan.columns if self.adapted.transform is None else self.forest.feature_names
            return f"column {known[number]!r:.80}" if number < len(known) else found[0]

        return re.sub(r"^feature (\d+)", name, message)


def _one_column(prediction: Any) -> AnyArray | None:
    array = np.asarray(prediction)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    return array if array.ndim == 1 else None
