"""The public functions: what a forest really knew about rows that its trees have not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from localmdi._validation import check_sample_weight, count_threads
from localmdi.adapters import adapt
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import Forest
from localmdi.forest.packing import Packing
from localmdi.honest.account import account_at, account_rows, find_ends, mean_over_sample
from localmdi.honest.checks import check_bags, warn_of_gaps, warn_of_likeness
from localmdi.honest.gain import GainRules, gain_at, gain_rows
from localmdi.honest.global_gain import global_gain
from localmdi.honest.literature import mdi_oob, ufi
from localmdi.honest.scores import account_scores
from localmdi.honest.unseen import Unseen, out_of_bag, read_groups, read_responses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi._validation import RowSource
    from localmdi.adapters import AdaptedModel
    from localmdi.honest.account import Ends
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import AnyArray, ArrayLike, FittedModel, FloatArray, RowsLike

HonestMeasure: TypeAlias = Literal["gain", "loss"]


def honest_mdi(  # noqa: PLR0913 - the API fixes these parameters
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    at: RowsLike | None = None,
    held_out: tuple[Any, ...] | bool | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    measure: HonestMeasure = "gain",
    criterion: str | None = None,
    loss: Literal["log", "brier"] | None = None,
    min_rows: int = 10,
    standard_error: bool | Literal["trees", "labels", "both"] = False,
    many_trees: bool = False,
    n_refits: int | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> LocalImportance:
    """Explain rows by what the forest really knew: measured where its trees have not looked.

    Plain importances reward noise: a fully grown tree explains the labels that it was grown on,
    whatever they are. Honest ones take every row's account from the trees that have not seen it.

    Parameters
    ----------
    model : fitted estimator
        A forest that averages its trees, fitted with bootstrap or bagging; any other, boosted trees
        or a `Forest`, with `held_out`.
    X, y
        What ``fit`` got. The rows of X are explained unless `at` is given.
    at : array, sparse matrix or data frame, or None
        Other rows to explain, whose answers are not known, by all trees. Their "loss" is an
        expectation.
    held_out : tuple (X, y) or (X, y, sample_weight), True, or None
        Rows that no tree has seen, in place of those out of bag. True: X and y themselves are such
        rows.
    groups : array-like of shape (n_rows,), or None
        Labels of rows that belong together, patients for example: a tree that has seen one of a
        group has seen all of it, and errors are summed by group.
    sample_weight : array-like or None
        Weights of the rows of X, as ``fit`` got them.
    measure : {"gain", "loss"}
        "gain" finds features: the product of what a split told the tree and what it tells about
        unseen rows, without the row's own label. "loss" keeps accounts: how surprising a row's
        answer is when nothing is known (``baseline``), how surprising it still is to the forest
        (``residual``), and which feature took how much of it away. A feature below zero made the
        forest worse.
    criterion : {"entropy", "gini"} or None
        Measure by this criterion, from the nodes' class frequencies; None: the model's own.
    loss : {"log", "brier"} or None
        For measure="loss" and classes: the log loss in bits, or the Brier score. None: by the
        criterion, bits for the entropy, Brier for Gini. Numbers have the squared error.
    min_rows : int
        For the gain: a path ends where fewer unseen rows arrive.
    standard_error : bool or {"trees", "labels", "both"}
        What error to give. "labels", for the gain only: the unseen labels as the random part,
        which `LocalImportance.significant` needs, at 33 times the cost. "trees": the choice of the
        trees. True: "labels" for the gain, "trees" for the loss.
    many_trees : bool
        For measure="loss": what a forest of many more such trees would have. With few trees, noise
        costs more; ``residual`` is then the loss of that larger forest.
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
        With ``honest=True``. Rows that every tree has seen have NaN and no weight in the mean. Of
        measure="loss" `LocalImportance.quality` says how well the same rows are predicted.

    Examples
    --------
    Labels that are noise: the plain values explain them fully; to the forest they are as surprising
    as before, and more so, because it believed what it had seen.

    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import localmdi as lm
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((500, 3)), rng.integers(0, 2, 500)
    >>> model = RandomForestClassifier(100, criterion="entropy", random_state=0).fit(X, y)
    >>> plain = lm.local_mdi(model, X)
    >>> print(f"{plain.baseline:.2f} bits before, {plain.residual.mean():.2f} left")
    1.00 bits before, 0.00 left
    >>> account = honest_mdi(model, X, y, measure="loss")
    >>> print(f"{account.baseline.mean():.2f} bits before, {account.residual.mean():.2f} left")
    1.00 bits before, 1.06 left
    """
    rules = _rules(measure, min_rows=min_rows, error=standard_error, seed=random_state)
    _check_loss(measure, loss, many_trees=many_trees)
    if n_refits is not None:
        options: dict[str, Any] = {"at": at, "measure": measure, "criterion": criterion,
                   "loss": loss, "min_rows": min_rows, "many_trees": many_trees,
                   "n_jobs": n_jobs}  # fmt: skip
        given = held_out is not None or sample_weight is not None or groups is not None
        _check_refits(n_refits, given=given)
        result = honest_mdi(model, X, y, **options)
        return _with_refits(result, model, X=X, y=y, n=n_refits, seed=rules.seed, options=options)
    asked = _read(
        model,
        X,
        y=y,
        at=at,
        held_out=held_out,
        groups=groups,
        sample_weight=sample_weight,
        criterion=criterion,
        scores=measure == "loss",
        n_threads=count_threads(n_jobs),
    )
    if asked.unseen.forest.boosted and rules.error in ("trees", "both"):
        raise ValueError(
            "standard_error must be 'labels' for boosted trees, with measure='gain': each depends "
            f"on those before it, so that they are no sample of trees; got {rules.error!r}."
        )
    if measure == "loss":
        errors = rules.error is not None
        result, ends = _account(model, asked, loss=loss, errors=errors, many_trees=many_trees)
    elif asked.at is None:
        result, ends = gain_rows(asked.unseen, rules)
    else:
        result, ends = gain_at(asked.unseen, rules, at=asked.at)
    residual = result.residual if asked.at is None else None
    _check(asked.unseen, ends, residual=residual, many_trees=many_trees)
    return result if asked.weight is None else replace(result, row_weight=asked.weight)


def honest_global_mdi(  # noqa: PLR0913 - the API fixes these parameters
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    held_out: tuple[Any, ...] | bool | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    measure: HonestMeasure = "gain",
    method: Literal["mdi_oob", "ufi"] | None = None,
    criterion: str | None = None,
    loss: Literal["log", "brier"] | None = None,
    min_rows: int | None = None,
    n_jobs: int | None = None,
) -> GlobalImportance:
    """Return the honest importance of every feature, with the error of the sample.

    Parameters
    ----------
    model, X, y, held_out, groups, sample_weight, criterion, loss, n_jobs
        As for `honest_mdi`.
    measure : {"gain", "loss"}
        "gain" finds features: ``significant()`` tests which tell anything. "loss" keeps accounts:
        the mean of what `honest_mdi` divides, whose error says whether the forest profits from a
        feature, which asks more than whether the feature tells anything.
    method : {"mdi_oob", "ufi"} or None
        A measure of the literature instead, by its published formula and with the error over trees:
        MDI-oob (Li et al. 2019) or UFI (Zhou and Hooker 2021).
    min_rows : int or None
        For the gain: a path ends where fewer unseen rows arrive. None: 10.

    Returns
    -------
    GlobalImportance
        With ``honest=True``.

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
    rules = _rules(measure, min_rows=10 if min_rows is None else min_rows, error=False, seed=0)
    _check_loss(measure, loss, many_trees=False)
    if method not in (None, "mdi_oob", "ufi"):
        raise ValueError(
            f"method must be None, 'mdi_oob' or 'ufi'; got {method!r}. Use None to test features."
        )
    if method is not None and (measure == "loss" or min_rows is not None):
        raise ValueError(
            f"method={method!r} is a measure of its own; got measure={measure!r} and "
            f"min_rows={min_rows!r} too. Leave them out."
        )
    asked = _read(
        model,
        X,
        y=y,
        at=None,
        held_out=held_out,
        groups=groups,
        sample_weight=sample_weight,
        criterion=criterion,
        scores=measure == "loss",
        n_threads=count_threads(n_jobs),
    )
    unseen = asked.unseen
    if method is not None:
        return mdi_oob(unseen) if method == "mdi_oob" else ufi(unseen)
    residual = None
    if measure == "loss":
        told = asked._replace(at=None)
        local, ends = _account(model, told, loss=loss, errors=False, many_trees=False)
        residual = local.residual
        importance = mean_over_sample(local, unseen.groups)
    else:
        importance, ends = global_gain(unseen, rules.min_rows)
    _check(unseen, ends, residual=residual, many_trees=False)
    return importance


class _Asked(NamedTuple):
    """The rows that tell, and those that are to be explained."""

    unseen: Unseen
    at: RowSource | None
    """Other rows than the unseen ones."""
    weight: FloatArray | None
    """Their weights, if they differ."""
    classes: Sequence[AnyArray] | None
    """Of each target."""


def _read(
    model: Any,
    X: Any,
    *,
    y: Any,
    at: Any,
    held_out: Any,
    groups: Any,
    sample_weight: Any,
    criterion: str | None,
    scores: bool,
    n_threads: int,
) -> _Asked:
    """Read the model and all rows; `scores`: boosted trees may stay what they are."""
    held_out = _read_held_out(held_out, X=X, y=y, sample_weight=sample_weight)
    own = held_out is None or held_out[0] is X
    adapted = adapt(model, values=True)
    if adapted.forest.boosted and held_out is None:
        raise UnsupportedModelError(
            "boosted trees have seen all rows of X. Pass rows that they have not seen: X and y "
            "with held_out=True for measure='loss'; for the gain what fit got as X and y, and "
            "held_out=(X, y)."
        )
    if adapted.forest.boosted and not scores and not isinstance(model, Forest):
        adapted = _measured_on(
            adapted, model, X=X, y=y, sample_weight=sample_weight, held_out=not own
        )
    if criterion is not None:
        adapted = replace(adapted, forest=adapted.forest.with_criterion(criterion))
    rows = adapted.read(X)
    weight = check_sample_weight(sample_weight, rows.shape[0])
    told, answers, told_weight = (rows, y, weight) if held_out is None else held_out
    if held_out is not None:
        told = rows if own else adapted.read(told)
        if told_weight is not None or not own:
            told_weight = check_sample_weight(told_weight, told.shape[0])
    if rows.shape[0] == 0 or told.shape[0] == 0:
        raise ValueError("X must hold at least one row, and so must held_out; got none.")
    forest, classes = adapted.forest, _classes_of(adapted.forest, model)
    packing = Packing(forest)
    n_numbers = forest.statistic("value").shape[1]
    candidate = None
    responses = read_responses(answers, told.shape[0], classes=classes, n_numbers=n_numbers)
    if held_out is None:
        candidate = out_of_bag(
            adapted, packing, rows=rows, rules=adapted.rules, y=y, sample_weight=weight
        )
    unseen = Unseen(
        packing,
        told,
        adapted.rules,
        responses,
        weight if told_weight is None else told_weight,
        candidate,
        read_groups(groups, told.shape[0]),
        n_threads,
    )
    if at is not None:
        return _Asked(unseen, adapted.read(at), None, classes)
    unequal = None if own or (weight == weight[0]).all() else weight
    return _Asked(unseen, None if own else rows, unequal, classes)


def _account(
    model: Any, asked: _Asked, *, loss: str | None, errors: bool, many_trees: bool
) -> tuple[LocalImportance, Ends | None]:
    unseen, forest, rows = asked.unseen, asked.unseen.forest, asked.at
    if forest.boosted:
        if rows is not None or many_trees or loss == "brier":
            raise UnsupportedModelError(
                "the account of boosted trees is that of rows whose labels are known, in the loss "
                "of their scores; got at=, many_trees or loss='brier'. Leave them out and pass the "
                "rows with held_out=True."
            )
        return account_scores(unseen, model=model, classes=asked.classes), None
    found = _loss_of(forest, loss)
    ends = find_ends(unseen)
    if rows is None:
        result = account_rows(unseen, ends, loss=found, errors=errors, many_trees=many_trees)
    elif errors or many_trees:
        raise ValueError(
            "standard_error and many_trees need the labels of the rows; got rows without, at=. "
            "Leave them out."
        )
    else:
        result = account_at(unseen, ends, at=rows, loss=found)
    return result, ends


def _check(
    unseen: Unseen, ends: Ends | None, *, residual: FloatArray | None, many_trees: bool
) -> None:
    """Refuse, or warn of, what makes out-of-bag values say less than they seem to."""
    if ends is None:
        return
    if unseen.candidate is not None:
        check_bags(unseen, ends)
    warn_of_gaps(unseen, ends, residual=residual, many_trees=many_trees)
    if unseen.candidate is not None:
        warn_of_likeness(unseen, ends)


def _loss_of(forest: Forest, loss: str | None) -> str:
    if forest.boosted and forest.aggregation == "mean":
        raise UnsupportedModelError(
            "the account needs trees whose values make the prediction; these are votes, or what "
            "rows tell about a target. Use measure='gain'."
        )
    if forest.classes is None:
        if loss is not None:
            raise ValueError(
                f"loss is for classes; got {loss!r}, and the model predicts numbers, whose loss is "
                "the squared error. Leave it out."
            )
        return "squared_error"
    shares = np.add.reduceat(
        forest.statistic("value"), np.cumsum([0, *map(len, forest.classes[:-1])]), axis=1
    )
    if not np.allclose(shares, 1.0):
        raise UnsupportedModelError(
            "the account of classes needs nodes whose values are their shares; those of this model "
            "are not. Use as_forest(model).with_statistics(X, y, criterion='entropy') with what "
            "fit got, and rows that no tree has seen, held_out=(X, y)."
        )
    return loss or ("log" if forest.unit == "bits" else "brier")


def _classes_of(forest: Forest, model: Any) -> Sequence[AnyArray] | None:
    """Return the classes of each target; those of a booster are known to the model alone."""
    labels = getattr(model, "classes_", ())
    if forest.classes is None and forest.boosted and np.size(labels) > 1:
        return (np.asarray(labels),)
    return forest.classes


def _read_held_out(held_out: Any, *, X: Any, y: Any, sample_weight: Any) -> Any:
    if held_out is None or held_out is False:
        return None
    if held_out is True:
        return X, y, sample_weight
    if not isinstance(held_out, tuple) or len(held_out) not in (2, 3):
        raise TypeError(
            "held_out must be (X, y), (X, y, sample_weight), True or None; got a "
            f"{type(held_out).__name__}. Pass rows that the model has not seen."
        )
    return (*held_out, None)[:3]


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
        rows, y, sample_weight=sample_weight, criterion=criterion
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


def _check_refits(n_refits: Any, *, given: bool) -> None:
    if isinstance(n_refits, bool) or not isinstance(n_refits, int | np.integer) or n_refits < 2:
        raise ValueError(f"n_refits must be a whole number of at least 2; got {n_refits!r}.")
    if given:
        raise ValueError(
            "n_refits fits the model again to halves of X and y; it cannot be used with held_out, "
            "groups or sample_weight. Use standard_error='labels' instead."
        )


def _with_refits(
    result: LocalImportance,
    model: FittedModel,
    *,
    X: Any,
    y: Any,
    n: int,
    seed: int,
    options: dict[str, Any],
) -> LocalImportance:
    """Return honest values with their spread over fits to halves of the rows.

    The spread of a statistic over random halves of n rows estimates its spread over samples of n
    rows: half as many rows double the variance, and halves of one sample share half of it.
    """
    from sklearn.base import clone
    from sklearn.utils import resample

    rng = np.random.default_rng(seed)
    at = X if options["at"] is None else options["at"]
    half, values = np.shape(y)[0] // 2, []
    for _ in range(n):
        draw = int(rng.integers(2**31))
        rows, labels = resample(X, y, replace=False, n_samples=half, random_state=draw)
        again = clone(model).fit(rows, labels)
        values.append(honest_mdi(again, rows, labels, **options | {"at": at}).values)
    return replace(result, standard_error=np.std(values, axis=0, ddof=1), error_kind="refits")


def _rules(measure: Any, *, min_rows: Any, error: Any, seed: Any) -> GainRules:
    if measure not in ("gain", "loss"):
        raise ValueError(
            f"measure must be 'gain' or 'loss'; got {measure!r}. Use 'gain' to find features, "
            "'loss' to see what the forest knows and what is left."
        )
    whole = isinstance(min_rows, (int, np.integer)) and not isinstance(min_rows, bool)
    if not whole or min_rows < 1:
        raise ValueError(
            f"min_rows must be a positive whole number; got {min_rows!r}. Use 10 if in doubt."
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"random_state must be a whole number; got {seed!r}. Use 0 if in doubt.")
    if not any(error is known for known in (True, False, None)) and error not in (
        "trees",
        "labels",
        "both",
    ):
        raise ValueError(
            "standard_error must be False, True, 'trees', 'labels' or 'both'; "
            f"got {error!r}. Use 'labels' to test whether a feature tells anything."
        )
    if error is True:
        error = "labels" if measure == "gain" else "trees"
    if measure == "loss" and error in ("labels", "both"):
        raise ValueError(
            f"label errors need measure='gain'; got {error!r} with measure='loss', whose values "
            "are not 0 on average where a feature tells nothing. Use standard_error='trees'."
        )
    return GainRules(int(min_rows), error or None, int(seed))


def _check_loss(measure: str, loss: Any, *, many_trees: Any) -> None:
    if loss not in (None, "log", "brier"):
        raise ValueError(f"loss must be 'log', 'brier' or None; got {loss!r}. Use None in doubt.")
    if not isinstance(many_trees, bool | np.bool):
        raise TypeError(f"many_trees must be True or False; got {many_trees!r}. Pass a bool.")
    if measure != "loss" and (loss is not None or many_trees):
        raise ValueError(
            "loss and many_trees belong to measure='loss'; got measure='gain'. Leave them out."
        )
