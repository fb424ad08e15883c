"""The explainer: a model read and packed once, then rows of any kind and number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi._pipeline_step import PipelineStep
from localmdi._validation import (
    RowRules,
    RowSource,
    check_names,
    count_threads,
    frame_labels,
    frame_type,
    read_encoded_rows,
    read_frame,
)
from localmdi.adapters import AdaptedModel, adapt
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest.credit import credit_of
from localmdi.forest.packing import Packing
from localmdi.importance import LocalRequest, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest import Forest
    from localmdi.results import LocalImportance, TopFeatures
    from localmdi.typing import AnyArray, FittedModel, FloatArray, Measure, RowsLike

__all__ = ["Explainer", "ModelRows", "caution", "explainer_of", "predict_rows"]

# Values of a batch when the user does not say how many rows; and from how many features on a row is
# kept without its zeros.
_BATCH_VALUES = 1 << 22
_WIDE = 4096


class ModelRows:
    """What happens to X on its way to a model's forest: a Pipeline's steps, names, value rules."""

    def __init__(self, adapted: AdaptedModel) -> None:
        self._transform = adapted.transform
        self._is_estimator = adapted.finite
        self._names = adapted.input_names
        self._forest_names = adapted.forest.feature_names
        self._dtype = adapted.forest.row_dtype
        self._categories = adapted.forest.categories
        self._groups = adapted.groups
        self.rules = RowRules(adapted.finite, adapted.missing, adapted.sparse_missing)

    def read(self, X: Any) -> RowSource:
        """Return the rows that the forest gets for X."""
        if self._transform is None:
            rows = read_encoded_rows(X, self._dtype, categories=self._categories)
            self._check_names(rows.names)
            return rows
        # The steps check X themselves: it may be anything that they accept, text for example.
        frame = read_frame(X)
        rows = read_encoded_rows(self._transform(X), self._dtype, categories=self._categories)
        rows = replace(rows, groups=self._groups)
        if frame is None:
            return replace(rows, frame_type=None, row_labels=None)
        return replace(rows, frame_type=frame_type(frame), row_labels=frame_labels(frame))

    def _check_names(self, given: tuple[str, ...] | None) -> None:
        if self._is_estimator:
            check_names(given, self._names)
        elif given is not None and self._forest_names is not None:
            check_names(given, self._forest_names)


class Explainer(PipelineStep):
    """Local MDI of a model that is read and packed once.

    ``Explainer(model)(X)`` equals ``local_mdi(model, X)``, to the last bit; use it when the same
    model explains many sets of rows, or rows that arrive one at a time. It can be pickled, and used
    from several threads at once. In a Pipeline it is a step that turns rows into their importances,
    to find clusters of explanations for example.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        The model to explain. It is not changed. Its trees are packed now, so that the values do not
        change if it is fitted again; `forest` reads the trees of scikit-learn's models when it is
        first asked for. The earlier steps of a Pipeline are used as they are.
    measure : {"drop", "gain"}
        As in `local_mdi`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    >>> explainer = Explainer(model)
    >>> [explainer(row).shape for row in (X[:1], X[1:3], X)]
    [(1, 4), (2, 4), (150, 4)]
    """

    def __init__(self, model: FittedModel, *, measure: Measure = "drop") -> None:
        # The gain needs the distributions of the nodes, which their values are.
        adapted = adapt(model, values=measure == "gain")
        note = caution(model, adapted.forest)
        self._set(adapted.forest, ModelRows(adapted), measure=measure, note=note)

    def _set(
        self,
        forest: Forest,
        reader: ModelRows,
        *,
        measure: Measure,
        note: str | None = None,
        n_threads: int = 1,
        once: bool = False,
    ) -> None:
        self.forest = forest
        self.measure: Measure = measure
        self._note = note
        self._reader = reader
        credit = credit_of(forest, measure)
        self._packing = Packing(forest, credit, n_threads=n_threads, once=once)
        self._output = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.forest, self._reader, self.measure, self._note, self._output)

    def __repr__(self) -> str:
        return f"Explainer of a {self.forest!r}"

    def __call__(
        self,
        X: RowsLike,
        *,
        n_jobs: int | None = None,
        standard_error: bool = False,
        output: Literal["dense", "sparse"] = "dense",
        out: FloatArray | None = None,
        progress: bool = False,
    ) -> LocalImportance:
        """Explain the rows of X; the parameters are those of `local_mdi`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> Explainer(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))(X).shape
        (150, 4)
        """
        rows = self._reader.read(X)
        n_threads = count_threads(n_jobs, n_rows=rows.shape[0])
        request = LocalRequest(n_threads, self._reader.rules, standard_error, output, out, progress)
        return self._noted(explain(self._packing, rows, request=request))

    def _noted(self, result: LocalImportance) -> LocalImportance:
        return result if self._note is None else replace(result, caveat=self._note)

    def iter_batches(
        self,
        X: RowsLike,
        *,
        batch_rows: int | None = None,
        n_jobs: int | None = None,
        standard_error: bool = False,
        output: Literal["dense", "sparse"] = "dense",
    ) -> Iterator[LocalImportance]:
        """Explain X in batches of rows, in order, so that memory holds one batch of results.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The rows.
        batch_rows : int or None
            Rows in a batch; None: as many as make about 32 MB of values.
        n_jobs, standard_error, output
            As in `local_mdi`.

        Yields
        ------
        LocalImportance
            The next rows, with the same bits as in one call for all rows.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> [len(part) for part in explainer.iter_batches(X, batch_rows=100)]
        [100, 50]
        """
        step = _check_batch_rows(batch_rows, self.forest.n_features)
        request = LocalRequest(count_threads(n_jobs), self._reader.rules, standard_error, output)
        return self._batches(self._reader.read(X), step, request=request)

    def _batches(
        self, rows: RowSource, step: int, *, request: LocalRequest
    ) -> Iterator[LocalImportance]:
        for start in range(0, rows.shape[0], step):
            part = rows.part(start, min(start + step, rows.shape[0]))
            yield self._noted(explain(self._packing, part, request=request))

    def top(self, X: RowsLike, k: int, *, n_jobs: int | None = None) -> TopFeatures:
        """Return each row's k features with the largest absolute values, of any number.

        Rows are explained in batches; no table of all rows and features is made.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The rows.
        k : int
            How many features to name for each row.
        n_jobs : int or None
            As in `local_mdi`.

        Returns
        -------
        TopFeatures
            ``indices`` and signed ``values`` of shape (n_rows, k).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> explainer.top(X[:1], 1).values.round(3)
        array([[0.667]])
        """
        rows = self._reader.read(X)
        wide = self.forest.n_features > _WIDE
        request = LocalRequest(
            count_threads(n_jobs), self._reader.rules, output="sparse" if wide else "dense"
        )
        # An empty result gives the names and the shape when there is not a single row.
        parts = [explain(self._packing, rows.part(0, 0), request=request).top(k)]
        step = _check_batch_rows(None, self.forest.n_features)
        parts += [part.top(k) for part in self._batches(rows, step, request=request)]
        return replace(
            parts[0],
            indices=np.concatenate([part.indices for part in parts]),
            values=np.concatenate([part.values for part in parts]),
            row_labels=rows.row_labels,
        )

    def predict(self, X: RowsLike, *, n_jobs: int | None = None) -> AnyArray:
        """Predict the rows of X from the nodes' values, for forests that have them.

        A `Forest` from a file or another library predicts through this method; a fitted estimator
        has its own ``predict``, which this one equals wherever trees are averaged.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The rows.
        n_jobs : int or None
            As in `local_mdi`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Class labels of a classifier, numbers of a regressor. Of boosted trees the raw score,
            before any link: log-odds for two classes; the class of the largest score, if the
            forest has a score and a name for each.

        Raises
        ------
        MissingStatisticsError
            The nodes have no values; ``Explainer(as_forest(model))`` keeps them.
        UnsupportedModelError
            The values do not make the prediction: those of AdaBoost, of boosted trees
            ``with_statistics``, or of GradientBoosting that starts from another model (``init``).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import as_forest
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = as_forest(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> Explainer(forest).predict(X[[0, 149]])
        array([0, 1])
        """
        return predict_rows(
            self._packing, self._reader.read(X), rules=self._reader.rules, n_jobs=n_jobs
        )


def predict_rows(
    packing: Packing, rows: RowSource, *, rules: RowRules, n_jobs: int | None
) -> AnyArray:
    """Predict rows from the values of a forest; see `Explainer.predict`."""
    forest = packing.forest
    if forest.boosted and forest.aggregation == "mean":
        raise UnsupportedModelError(
            "the values of boosted trees must be their steps to predict; these are statistics of "
            "rows, or votes. Use the model's own predict."
        )
    if forest.base_value is not None and np.isnan(forest.base_value).any():
        raise UnsupportedModelError(
            "boosting must start from the same score for all rows to predict; this model starts "
            "from another model (init=...). Use the model's own predict."
        )
    values = packing.predict(rows, rules, n_threads=count_threads(n_jobs))
    if forest.classes is None:
        return values[:, 0] if values.shape[1] == 1 else values
    ends = np.cumsum([len(labels) for labels in forest.classes])
    shares = np.split(values, ends[:-1], axis=1)
    labels = [
        known[share.argmax(axis=1)] for known, share in zip(forest.classes, shares, strict=True)
    ]
    return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def explainer_of(
    adapted: AdaptedModel,
    measure: Measure = "drop",
    *,
    model: FittedModel | None = None,
    n_threads: int = 1,
    once: bool = False,
) -> Explainer:
    """Return the explainer of a model that has been read already.

    Parameters
    ----------
    adapted : AdaptedModel
        What was read.
    measure : {"drop", "gain"}
        As in `local_mdi`.
    model : fitted model or None
        What it was read from, to caution its readers.
    n_threads, once
        As in `Packing`.
    """
    note = None if model is None else caution(model, adapted.forest)
    explainer = Explainer.__new__(Explainer)
    reader = ModelRows(adapted)
    explainer._set(
        adapted.forest, reader, measure=measure, note=note, n_threads=n_threads, once=once
    )
    return explainer


def caution(model: FittedModel, forest: Forest) -> str | None:
    """Return what a reader of a model's importances must know so as not to misread them.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> model = RandomForestRegressor(2).fit([[0.0], [1.0]], [[0.0, 0.0], [1.0, 100.0]])
    >>> caution(model, adapt(model).forest)
    'mean over 2 targets, each in its own unit; scale targets alike to compare what they add.'
    """
    if isinstance(model, type(forest)):
        return None
    if forest.boosted and forest.unit == "variance":
        return (
            "each tree fits what the trees before it left over: this is variance of that, not of "
            "the target."
        )
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    n_targets = int(getattr(last, "n_outputs_", 1) or 1)
    if n_targets < 2:
        return None
    units = "" if forest.classes is not None else ", each in its own unit"
    advice = "" if forest.classes is not None else "; scale targets alike to compare what they add"
    return f"mean over {n_targets} targets{units}{advice}."


def _restore(*state: Any) -> Explainer:
    forest, reader, measure, note, output = state
    explainer = Explainer.__new__(Explainer)
    explainer._set(forest, reader, measure=measure, note=note)
    explainer._output = output
    return explainer


def _check_batch_rows(batch_rows: Any, n_features: int) -> int:
    if batch_rows is None:
        return max(64, _BATCH_VALUES // n_features)
    if not isinstance(batch_rows, (int, np.integer)) or batch_rows < 1:
        raise ValueError(
            f"batch_rows must be a positive whole number or None; got {batch_rows!r}. "
            "Use None to let the number of features decide."
        )
    return int(batch_rows)
