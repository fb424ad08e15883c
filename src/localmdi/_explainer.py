"""The explainer: a model read and packed once, then rows of any kind and number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi._pipeline_step import PipelineStep
from localmdi._validation import check_flags, check_measure, count_threads
from localmdi.adapters import adapt
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest.packing import Packing
from localmdi.importance import LocalRequest, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi._validation import RowSource
    from localmdi.forest import Forest
    from localmdi.results import LocalImportance, TopFeatures
    from localmdi.typing import AnyArray, FittedModel, FloatArray, Measure, RowsLike

# Values of a batch when the user does not say how many rows; and from how many features on a row is
# kept without its zeros.
_BATCH_VALUES = 1 << 22
_WIDE = 4096


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
    measure, criterion
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

    def __init__(
        self, model: FittedModel, *, measure: Measure = "drop", criterion: str | None = None
    ) -> None:
        # The gain needs the distributions of the nodes, which their values are.
        self.measure = check_measure(measure)
        adapted = adapt(model, values=measure == "gain", criterion=criterion)
        self._packing = Packing(adapted.forest, self.measure)
        # Without the model itself, which knows its training rows.
        self._adapted = replace(adapted, in_bag_steps=None)
        self._output = None

    @property
    def forest(self) -> Forest:
        """The trees; those of scikit-learn's models are read when they are asked for."""
        return self._adapted.forest

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
        check_flags(standard_error=standard_error, progress=progress)
        rows = self._adapted.read(X)
        n_threads = count_threads(n_jobs, n_rows=rows.shape[0])
        request = LocalRequest(
            n_threads,
            self._adapted.rules,
            standard_error,
            output,
            out,
            progress,
            self._adapted.note,
        )
        return explain(self._packing, rows, request=request)

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
        check_flags(standard_error=standard_error)
        step = _check_batch_rows(batch_rows, self.forest.n_features)
        request = LocalRequest(
            count_threads(n_jobs),
            self._adapted.rules,
            standard_error,
            output,
            note=self._adapted.note,
        )
        return self._batches(self._adapted.read(X), step, request=request)

    def _batches(
        self, rows: RowSource, step: int, *, request: LocalRequest
    ) -> Iterator[LocalImportance]:
        for start in range(0, rows.shape[0], step):
            part = rows.part(start, min(start + step, rows.shape[0]))
            yield explain(self._packing, part, request=request)

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
        rows = self._adapted.read(X)
        wide = self.forest.n_features > _WIDE
        request = LocalRequest(
            count_threads(n_jobs), self._adapted.rules, output="sparse" if wide else "dense"
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
        forest = self.forest
        if forest.boosted and forest.aggregation == "mean":
            raise UnsupportedModelError(
                "the values of boosted trees must be their steps to predict; these are statistics "
                "of rows, or votes. Use the model's own predict."
            )
        if forest.base_value is not None and np.isnan(forest.base_value).any():
            raise UnsupportedModelError(
                "boosting must start from the same score for all rows to predict; this model "
                "starts from another model (init=...). Use the model's own predict."
            )
        rows, n_threads = self._adapted.read(X), count_threads(n_jobs)
        values = self._packing.predict(rows, self._adapted.rules, n_threads=n_threads)
        if forest.classes is None:
            return values[:, 0] if values.shape[1] == 1 else values
        ends = np.cumsum([len(labels) for labels in forest.classes])
        shares = np.split(values, ends[:-1], axis=1)
        labels = [
            known[share.argmax(axis=1)] for known, share in zip(forest.classes, shares, strict=True)
        ]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def _check_batch_rows(batch_rows: Any, n_features: int) -> int:
    if batch_rows is None:
        return max(64, _BATCH_VALUES // n_features)
    if not isinstance(batch_rows, (int, np.integer)) or batch_rows < 1:
        raise ValueError(
            f"batch_rows must be a positive whole number or None; got {batch_rows!r}. "
            "Use None to let the number of features decide."
        )
    return int(batch_rows)
