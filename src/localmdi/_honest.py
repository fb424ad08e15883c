"""Honest importances: the public functions, and which rows a model's trees have not seen."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from localmdi._explainer import ModelRows
from localmdi._text import count
from localmdi._validation import check_sample_weight, count_threads
from localmdi.adapters import adapt, in_bag_disagreement
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import Forest
from localmdi.forest.packing import Packing
from localmdi.importance import HeldOut, HonestRequest, honest_at, honest_global, honest_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.adapters import AdaptedModel, Candidate
    from localmdi.forest.packing import LeafBlock
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import ArrayLike, FittedModel, FloatArray, Measure, RowsLike

__all__ = ["honest_global_mdi", "honest_mdi", "out_of_bag_values"]

Result = TypeVar("Result")


def honest_mdi(  # noqa: PLR0913 - the API fixes these parameters
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    at: RowsLike | None = None,
    held_out: tuple[Any, ...] | bool | None = None,
    sample_weight: ArrayLike | None = None,
    measure: Measure = "gain",
    min_rows: int = 10,
    standard_error: bool | Literal["trees", "labels", "both"] = False,
    n_refits: int | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> LocalImportance:
    """Explain rows by what splits tell about rows that their trees have not seen.

    Plain importances reward noise: a fully grown tree explains the labels that it was grown on,
    whatever they are. Honest ones take the effect of every split from held-out rows, so that noise
    has the mean zero. Training rows are averaged over the trees that did not see them, without
    their own label; other rows over all trees.

    Parameters
    ----------
    model : fitted estimator
        A forest that averages its trees, fitted with bootstrap or bagging; any other, or a
        `Forest`, with `held_out`. Of boosted trees X and y tell how the target is spread over the
        nodes (`Forest.with_statistics`: entropy for classes, variance for numbers).
    X, y
        What ``fit`` got. The rows of X are explained unless `at` is given.
    at : array, sparse matrix or data frame, or None
        Other rows to explain.
    held_out : tuple (X, y) or (X, y, sample_weight), True, or None
        Rows that no tree has seen, in place of those out of bag; y above is then not needed, but
        for boosted trees. True: X and y themselves are such rows, and each is explained without its
        own label.
    sample_weight : array-like or None
        Weights of the rows of X, as ``fit`` got them.
    measure : {"gain", "drop"}
        "gain" finds features: the product of what a split told the tree and what it tells about
        held-out rows. "drop" keeps accounts: from the root's impurity to what is really left,
        which is the result's ``residual``; y counts from its mean.
    min_rows : int
        A path ends where fewer held-out rows arrive.
    standard_error : bool or {"trees", "labels", "both"}
        What error to give, given the trees. "labels": the held-out labels as the random part, which
        `LocalImportance.significant` needs; for the gain only, at 33 times the cost. "trees": the
        choice of the trees. True: "labels" for the gain, "trees" for the drop.
    n_refits : int or None
        Give instead the error over new training samples: the model is fitted so many times, at
        least 2, to random halves of the rows, and the spread of the values is their error.
    n_jobs : int or None
        As in `local_mdi`.
    random_state : int
        Seed of the label errors and of the halves.

    Returns
    -------
    LocalImportance
        With ``honest=True``. Rows that every tree has seen have NaN and no weight in the mean.

    Examples
    --------
    Labels that are noise: the plain values explain them fully, the honest ones not at all.

    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import localmdi as lm
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((500, 3)), rng.integers(0, 2, 500)
    >>> model = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> plain = lm.local_mdi(model, X)
    >>> print(f"{plain.baseline:.2f} before, {plain.residual.mean():.2f} left")
    0.50 before, 0.00 left
    >>> honest = honest_mdi(model, X, y, measure="drop")
    >>> print(f"{honest.baseline.mean():.2f} before, {honest.residual.mean():.2f} left")
    0.50 before, 0.50 left
    """
    if n_refits is not None:
        return _with_refits(
            model,
            X,
            y=y,
            n_refits=n_refits,
            rng=np.random.default_rng(_seed(random_state)),
            options={"at": at, "held_out": held_out, "measure": measure, "min_rows": min_rows,
                     "sample_weight": sample_weight, "n_jobs": n_jobs},
        )  # fmt: skip
    error = _error_of(standard_error, measure)
    request = HonestRequest(measure, min_rows, error, count_threads(n_jobs), _seed(random_state))
    source = _Source(model, X, y=y, sample_weight=sample_weight, held_out=held_out)
    if at is None and source.own:
        result = source.measured(lambda data: honest_rows(source.packing, data, request=request))
        _warn_of_unknown(result)
        return result
    rows = source.rows if at is None else source.reader.read(at)
    return source.measured(
        lambda data: honest_at(
            source.packing, data, rows=rows, rules=source.reader.rules, request=request
        )
    )


def honest_global_mdi(  # noqa: PLR0913 - the API fixes these parameters
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    held_out: tuple[Any, ...] | bool | None = None,
    sample_weight: ArrayLike | None = None,
    measure: Measure = "drop",
    over: Literal["held_out", "in_bag"] = "held_out",
    min_rows: int = 1,
    n_jobs: int | None = None,
) -> GlobalImportance:
    """Return the honest importance of every feature, with the error of the sample.

    Parameters
    ----------
    model, X, y, held_out, sample_weight, min_rows, n_jobs
        As for `honest_mdi`.
    measure : {"drop", "gain"}
        The mean of the honest drop is MDI-oob (Li et al. 2019) for Gini and the variance; numbers
        count from the mean of the tree's root, so that it does not depend on where y has its zero.
    over : {"held_out", "in_bag"}
        Over which rows to average. "in_bag" gives UFI (Zhou and Hooker 2021); its error is that
        over trees.

    Returns
    -------
    GlobalImportance
        With ``honest=True``; noise is at zero within its error, and ``significant()`` tests it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 3))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> model = RandomForestRegressor(100, random_state=0).fit(X, y)
    >>> honest_global_mdi(model, X, y).significant()
    array([ True, False, False])
    """
    if over not in ("held_out", "in_bag"):
        raise ValueError(
            f"over must be 'held_out' or 'in_bag'; got {over!r}. Use 'held_out' if in doubt."
        )
    request = HonestRequest(measure, min_rows, None, count_threads(n_jobs))
    source = _Source(model, X, y=y, sample_weight=sample_weight, held_out=held_out)
    return source.measured(
        lambda data: honest_global(source.packing, data, request=request, over=over)
    )


def out_of_bag_values(
    model: FittedModel, X: RowsLike, *, y: ArrayLike, n_jobs: int | None = None
) -> FloatArray:
    """Return for each training row the mean value of the leaves in trees that have not seen it.

    Shares of the classes or a number; NaN for a row that every tree has seen.
    """
    source = _Source(model, X, y=y, sample_weight=None, held_out=None)
    forest = source.packing.forest
    value, n_rows = forest.statistic("value"), source.rows.shape[0]
    n_threads = count_threads(n_jobs)

    def mean(held_out: HeldOut) -> FloatArray:
        total, weight = np.zeros((n_rows, value.shape[1])), np.zeros((n_rows, 1))
        blocks = source.packing.leaf_blocks(
            held_out.rows, held_out.rules, n_threads=n_threads, batch_rows=n_rows
        )
        for block in blocks:
            counts = held_out.weights(block) > 0
            for tree, (leaf, unseen) in enumerate(zip(block.leaf.T, counts, strict=True)):
                amount = forest.tree_weight[block.trees.start + tree] * unseen[:, None]
                total += amount * value[leaf]
                weight += amount
        return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)

    return source.measured(mean)


class _Source:
    """A model, the rows of X, and the rows that its trees have not seen."""

    def __init__(
        self, model: FittedModel, X: Any, *, y: Any, sample_weight: Any, held_out: Any
    ) -> None:
        self._adapted = adapt(model, values=True)
        if self._adapted.forest.boosted and not isinstance(model, Forest):
            given = isinstance(held_out, tuple) and held_out[0] is not X
            self._adapted = _measured_on(
                self._adapted, model, X=X, y=y, sample_weight=sample_weight, held_out=given
            )
        self.packing = Packing(self._adapted.forest)
        self.reader = ModelRows(self._adapted)
        self.rows = self.reader.read(X)
        if self.rows.shape[0] == 0:
            raise ValueError("X must hold at least one row; got none.")
        if held_out is True or held_out is False:
            held_out = (X, y, sample_weight) if held_out else None
        elif held_out is not None and (
            not isinstance(held_out, tuple) or len(held_out) not in (2, 3)
        ):
            raise TypeError(
                "held_out must be (X, y), (X, y, sample_weight), True or None; got a "
                f"{type(held_out).__name__}. Pass rows that the model has not seen."
            )
        self.own = held_out is None or held_out[0] is X
        self._training = (y, sample_weight)
        self._held_out = None if held_out is None else self._read(held_out, given=X)

    def _read(self, held_out: tuple[Any, ...], *, given: Any) -> HeldOut:
        X, y, sample_weight = (*held_out, None)[:3]
        rows = self.rows if X is given else self.reader.read(X)
        weight = check_sample_weight(sample_weight, rows.shape[0])

        def everywhere(block: LeafBlock) -> FloatArray:
            return np.tile(weight, (block.leaf.shape[1], 1))

        return HeldOut(rows, self.reader.rules, _required(y), everywhere)

    def measured(self, measure: Callable[[HeldOut], Result]) -> Result:
        """Return a measure of the held-out rows.

        Which rows are out of bag follows from rules that differ between versions of a library; the
        first rule that agrees with the weights of all nodes is the right one.
        """
        if self._held_out is not None:
            return measure(self._held_out)
        y, sample_weight = self._training
        rows, rules, forest = self.rows, self.reader.rules, self._adapted.forest
        target = _required(y)
        candidates = self._adapted.in_bag.candidates(
            rows.shape[0], y=y, sample_weight=sample_weight
        )
        for candidate in candidates:

            def out_of_bag(block: LeafBlock, candidate: Candidate = candidate) -> FloatArray:
                first = block.trees.start
                in_bag, held_out = candidate.split(first, block.trees.stop)
                if in_bag_disagreement(forest, first, leaf=block.leaf.T, weight=in_bag) is not None:
                    raise _DisagreementError
                return held_out

            with suppress(_DisagreementError):
                return measure(HeldOut(rows, rules, target, out_of_bag))
        raise UnsupportedModelError(
            "the rows' weights must add up to the weight of every node, but they do not: X, y or "
            "sample_weight are not what fit got, or the model does not tell how it weighted its "
            "rows. Pass exactly what fit got, or rows that it has not seen: held_out=(X, y)."
        )


def _measured_on(
    adapted: AdaptedModel, model: Any, *, X: Any, y: Any, sample_weight: Any, held_out: bool
) -> AdaptedModel:
    """Return a boosted model whose nodes tell how its training rows spread over the target."""
    by_name = "as_forest(model).with_statistics(X, y, criterion='entropy') with what fit got"
    if not held_out:
        raise UnsupportedModelError(
            "boosted trees have seen all rows of X, and do not store how the target is spread over "
            "them. Pass what fit got as X and y, and other rows as held_out=(X, y). To explain "
            f"those other rows, pass {by_name} as the model, and held_out=True."
        )
    criterion = {"classifier": "entropy", "regressor": "squared_error"}.get(_task(model))
    if criterion is None:
        raise UnsupportedModelError(
            f"a {type(model).__name__} does not tell whether its target is a class or a number. "
            f"Pass {by_name}, or 'squared_error' for numbers."
        )
    rows = X if adapted.transform is None else adapted.transform(X)
    forest = adapted.forest.with_statistics(
        rows, _required(y), sample_weight=sample_weight, criterion=criterion
    )
    return replace(adapted, forest=forest)


def _task(model: Any) -> str:
    """Return whether a model is a "classifier" or a "regressor", or nothing if it does not say."""
    from sklearn.base import BaseEstimator
    from sklearn.utils import get_tags

    if isinstance(model, BaseEstimator) or hasattr(model, "__sklearn_tags__"):
        return str(get_tags(model).estimator_type)
    if hasattr(model, "task"):
        # A model of ydf.
        return {"CLASSIFICATION": "classifier", "REGRESSION": "regressor"}.get(
            model.task().name, ""
        )
    return str(getattr(model, "_estimator_type", ""))


def _with_refits(
    model: FittedModel,
    X: Any,
    *,
    y: Any,
    n_refits: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> LocalImportance:
    """Return honest values with their spread over fits to halves of the rows.

    The spread of a statistic over random halves of n rows estimates its spread over samples of n
    rows: half as many rows double the variance, and halves of one sample share half of it.
    """
    from sklearn.base import clone
    from sklearn.utils import resample

    if isinstance(n_refits, bool) or not isinstance(n_refits, int | np.integer) or n_refits < 2:
        raise ValueError(f"n_refits must be a whole number of at least 2; got {n_refits!r}.")
    if options["held_out"] is not None or options["sample_weight"] is not None:
        raise ValueError(
            "n_refits fits the model again to halves of X and y; it cannot be used with held_out "
            "or sample_weight. Use standard_error='labels' instead."
        )
    result = honest_mdi(model, X, y, **options)
    at = X if options["at"] is None else options["at"]
    n_half = len(_required(y)) // 2
    values = []
    for _ in range(n_refits):
        seed = int(rng.integers(2**31))
        rows, labels = resample(X, y, replace=False, n_samples=n_half, random_state=seed)
        again = clone(model).fit(rows, labels)
        values.append(honest_mdi(again, rows, labels, **options | {"at": at}).values)
    error = np.std(values, axis=0, ddof=1)
    return replace(result, standard_error=error, error="refits")


class _DisagreementError(Exception):
    """The weights of the rows do not add up to those of the nodes."""


def _required(y: Any) -> Any:
    if y is None:
        raise ValueError("y must be given: honest values need the labels of rows. Pass y.")
    return y


def _error_of(standard_error: Any, measure: Measure) -> Literal["trees", "labels", "both"] | None:
    if standard_error is True:
        return "labels" if measure == "gain" else "trees"
    error: Literal["trees", "labels", "both"] | None = standard_error or None
    return error


def _seed(random_state: Any) -> int:
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            f"random_state must be a whole number; got {random_state!r}. Use 0 if in doubt."
        )
    return int(random_state)


def _warn_of_unknown(result: LocalImportance) -> None:
    if result.row_weight is not None:
        n = int((result.row_weight == 0).sum())
        warnings.warn(
            f"{count(n, 'row')} of {len(result):,} {'was' if n == 1 else 'were'} seen by every "
            "tree and {} no honest value (NaN). Use more trees.".format(
                "has" if n == 1 else "have"
            ),
            UserWarning,
            stacklevel=3,
        )
