"""The public functions: a model and rows go in, a result comes out. Nothing is computed here."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from localmdi._validation import check_flags, check_keywords, check_measure, count_threads
from localmdi.adapters import Candidate, adapt, in_bag_disagreement
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest.credit import credit_of, impurity_drop
from localmdi.forest.packing import Packing
from localmdi.importance import (
    LocalRequest,
    changes_of_target,
    decompose,
    explain,
    explain_classes,
    follow_prediction,
    global_importance,
    prediction_paths,
)
from localmdi.infinite import infinite_mdi, measure_gap

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from localmdi.forest import Forest
    from localmdi.forest.packing import LeafBlock
    from localmdi.infinite import ForestGap
    from localmdi.results import ClassImportance, GlobalImportance, LocalImportance
    from localmdi.typing import AnyArray, ArrayLike, FittedModel, FloatArray, Measure, RowsLike


def as_forest(model: FittedModel, *, values: bool = True) -> Forest:
    """Turn a fitted model into a `Forest`: the table of nodes that every measure works on.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        scikit-learn's trees, forests, bagging, boosting, voting, searches, calibrated and
        multi-output models and pipelines of them (the last step's forest), models of other
        libraries with the same public attributes, and whatever `register_adapter` was told.
    values : bool
        Whether to keep the nodes' predictions, which only `saabas` needs and which are the larger
        part of a model with many classes.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> as_forest(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    Forest: 1 tree, 5 nodes, 4 features
      criterion: gini, in gini
      node statistics: weight, impurity, value
      classes: 0, 1, 2
    """
    check_flags(values=values)
    forest = adapt(model, values=values).forest
    # Whoever asks for a forest gets one that has been read and checked.
    return forest if forest.source is None else replace(forest)


def local_mdi(
    model: FittedModel,
    X: RowsLike,
    *,
    measure: Measure = "drop",
    criterion: str | None = None,
    n_jobs: int | None = None,
    standard_error: bool = False,
    output: Literal["dense", "sparse"] = "dense",
    out: FloatArray | None = None,
    progress: bool = False,
    direction: bool = False,
) -> LocalImportance:
    """Explain rows: how much uncertainty about the target each feature removed on their paths.

    Definition 1 of the paper: a row walks down every tree; at each node the impurity changes from
    i(t) to i(child), and that difference is credited to the split feature; the mean over trees is
    the row's local importance. The values of a row add up to ``baseline - residual``.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        See `as_forest`. To explain many sets of rows with one model, use `Explainer`.
    X : array, SciPy sparse matrix, or pandas, polars or pyarrow table, shape (n_rows, n_features)
        The rows; a sparse X is never made dense as a whole.
    measure : {"drop", "gain"}
        What an edge from a node t to the child on the row's path credits to the split feature.
        "drop" is Definition 1, i(t) − i(child). "gain" is the divergence between the distributions
        of child and node (KL for the entropy, squared distance for Gini, squared difference of
        means for the variance): never negative, and zero only where the feature changes nothing.
        Both have the same mean over the training rows; the gains of one row do not add up to
        anything, so that its result has neither baseline nor residual.
    criterion : {"entropy", "log_loss", "gini"} or None
        Measure by this criterion, from the class frequencies of the nodes: "entropy" gives bits,
        whatever the trees were grown with. None: the model's own. See `Forest.with_criterion`.
    n_jobs : int or None
        Number of threads: None is one, unless in a joblib context; -1 is all processors. The result
        has the same bits for any number.
    standard_error : bool
        Whether to compute the standard error over trees of every value too. It is not defined for
        boosting, whose result then has None.
    output : {"dense", "sparse"}
        "sparse" gives ``values`` as a CSR array, for very many features.
    out : ndarray of float64, shape (n_rows, n_features), or None
        Where to write the values, for example a memory map.
    progress : bool
        Whether to show a tqdm bar.
    direction : bool
        Whether to tell too which way each feature pushed the prediction (Saabas' method): the
        result's ``direction`` is how the share of the predicted class, or the predicted number,
        moved at the feature's splits, of boosted trees the score of the predicted class;
        ``prediction`` is what is predicted. For models of one target.

    Returns
    -------
    LocalImportance

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ExtraTreesClassifier(100, criterion="entropy", random_state=0).fit(X, y)
    >>> result = local_mdi(model, X)
    >>> result.shape, result.unit, round(result.baseline, 3)
    ((150, 4), 'bits', 1.585)
    >>> bool(np.allclose(result.values.sum(axis=1), result.baseline - result.residual))
    True
    >>> [name for name, value in result.mean().top(2)]
    ['petal width (cm)', 'petal length (cm)']
    """
    check_flags(standard_error=standard_error, progress=progress, direction=direction)
    measure, n_threads = check_measure(measure), count_threads(n_jobs)
    # The gain needs the distributions of the nodes, which their values are; so does a direction.
    values = bool(direction) or measure == "gain"
    adapted = adapt(model, values=values, criterion=criterion)
    packing = Packing(adapted.forest, measure, n_threads=n_threads)
    rows, rules = adapted.read(X), adapted.rules
    request = LocalRequest(n_threads, rules, standard_error, output, out, progress, adapted.note)
    result = explain(packing, rows, request=request)
    if not direction:
        return result
    moves, prediction = follow_prediction(
        packing, rows, rules=rules, n_threads=n_threads, two_classes=_two_classes(model)
    )
    return replace(result, direction=moves, prediction=prediction)


def _two_classes(model: FittedModel) -> AnyArray | None:
    """Return the classes of a classifier of two; None for any other model."""
    classes = getattr(model, "classes_", None)
    is_pair = isinstance(classes, np.ndarray) and classes.shape == (2,)
    return classes if is_pair else None


def local_mdi_by_class(
    model: FittedModel, X: RowsLike, *, criterion: str | None = None, n_jobs: int | None = None
) -> ClassImportance:
    """Explain rows class by class: how much uncertainty about each class every feature removed.

    Entropy and Gini impurity are sums over the classes; the parts of a row and feature add up to
    what `local_mdi` gives.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        A classifier; see `as_forest`. Of several targets, the parts are those of the targets.
    X : array, SciPy sparse matrix, or pandas, polars or pyarrow table
        The rows.
    criterion, n_jobs
        As in `local_mdi`.

    Returns
    -------
    ClassImportance

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(100, random_state=0).fit(X, y)
    >>> parts = local_mdi_by_class(model, X, criterion="entropy")
    >>> parts.shape, parts.classes, parts.unit
    ((150, 4, 3), (0, 1, 2), 'bits')
    >>> whole = local_mdi(model, X, criterion="entropy")
    >>> bool(np.allclose(parts.values.sum(axis=2), whole.values))
    True
    """
    adapted = adapt(model, values=True, criterion=criterion)
    return explain_classes(
        adapted.forest, adapted.read(X), rules=adapted.rules, n_threads=count_threads(n_jobs)
    )


def global_mdi(model: FittedModel, *, criterion: str | None = None) -> GlobalImportance:
    """Return the global MDI importance of every feature, not normalised.

    The mean over trees of ``tree_.compute_feature_importances(normalize=False)``. scikit-learn's
    ``feature_importances_`` is something else: the mean of the trees' normalised importances.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        See `as_forest`.
    criterion : {"entropy", "log_loss", "gini"} or None
        As in `local_mdi`.

    Returns
    -------
    GlobalImportance
        With the standard error over trees, except for boosting.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(100, criterion="entropy", random_state=0).fit(X, y)
    >>> trees = [tree.tree_.compute_feature_importances(normalize=False) for tree in model]
    >>> bool(np.allclose(global_mdi(model).values, np.mean(trees, axis=0)))
    True
    """
    adapted = adapt(model, criterion=criterion)
    importance = global_importance(adapted.forest, impurity_drop(adapted.forest))
    return replace(importance, caveat=adapted.note)


def decompose_global(
    model: FittedModel,
    X: RowsLike,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    measure: Measure = "drop",
    criterion: str | None = None,
    n_jobs: int | None = None,
) -> LocalImportance:
    """Return the training rows' shares of the global importance: their mean is `global_mdi`.

    Every tree counts a row with the weight that it had when the tree was grown, so that the ledger
    is exact with bootstrap too; the plain mean of `local_mdi` over the training rows is exact only
    without it. The weights are rebuilt from what the model tells about its samples, and checked
    against the weight of every node.

    Parameters
    ----------
    model : fitted estimator
        A model that tells which rows each tree got.
    X, y, sample_weight
        What ``fit`` got; y is needed when ``class_weight`` is set.
    measure : {"drop", "gain"}
        As in `local_mdi`; the mean is the same.
    criterion, n_jobs
        As in `local_mdi`.

    Returns
    -------
    LocalImportance
        ``baseline`` and ``residual`` are arrays: the same weighted means as ``values``; None for
        the gain.

    Raises
    ------
    UnsupportedModelError
        The weights cannot be rebuilt, or they do not fit the nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> shares = decompose_global(model, X)
    >>> bool(np.allclose(shares.values.mean(axis=0), global_mdi(model).values, atol=1e-12))
    True
    """
    adapted = adapt(model, values=measure == "gain", criterion=criterion)
    rows, rules = adapted.read(X), adapted.rules
    n = rows.shape[0]
    if n == 0:
        raise ValueError("X must hold the training rows; got none. Pass the X that fit got.")
    packing = Packing(adapted.forest, credit_of(adapted.forest, measure))
    packing.check(rows, rules)
    n_threads = count_threads(n_jobs)
    candidates = adapted.in_bag.candidates(n, y=y, sample_weight=sample_weight)
    blocks = packing.leaf_blocks(rows, rules, n_threads=n_threads, batch_rows=n)
    weights = _agreeing(adapted.forest, blocks, candidates=candidates)
    ((_, _, batch),) = packing.batches(rows, rules, batch_rows=n)
    return decompose(packing, rows, batch=batch, weights=weights.weights, n_threads=n_threads)


def _agreeing(
    forest: Forest, blocks: Iterable[LeafBlock], *, candidates: list[Candidate]
) -> Candidate:
    """Return the first candidate whose weights add up to the weight of every node.

    See "Weight check" in ``docs/theory/algorithms.md``.
    """
    for block in blocks:
        first, last = block.trees.start, block.trees.stop
        candidates = [
            candidate
            for candidate in candidates
            if in_bag_disagreement(
                forest, first, leaf=block.leaf.T, weight=candidate.weights(first, last)
            )
            is None
        ]
        if not candidates:
            raise UnsupportedModelError(
                "the rows' weights must add up to the weight of every node, but they do not in "
                f"trees {first} to {last - 1}: X, y or sample_weight are not what fit got, or the "
                "model does not tell how it weighted its rows. Pass exactly what fit got."
            )
    return candidates[0]


@overload
def saabas(
    model: FittedModel, X: RowsLike, *, target: None = None, n_jobs: int | None = None
) -> FloatArray | list[FloatArray]: ...
@overload
def saabas(
    model: FittedModel, X: RowsLike, *, target: Hashable, n_jobs: int | None = None
) -> LocalImportance: ...
def saabas(
    model: FittedModel, X: RowsLike, *, target: Hashable = None, n_jobs: int | None = None
) -> FloatArray | list[FloatArray] | LocalImportance:
    """Split each row's prediction by feature, along the same paths (Saabas' method).

    The values of a row add up to its prediction minus the mean value at the roots.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        See `as_forest`.
    X : array, SciPy sparse matrix, or pandas, polars or pyarrow table
        The rows.
    target : class label, int or None
        One class, or the place of one target of a regressor: its part alone is returned, as a
        result that every display accepts.
    n_jobs : int or None
        As in `local_mdi`.

    Returns
    -------
    ndarray of shape (n_rows, n_features, n_outputs), or LocalImportance with `target`
        The last axis holds the classes of a classifier or the targets of a regressor; boosting
        decomposes the raw score. A multi-output classifier gives a list, one array per target.
        A result has the measure "saabas", and ``prediction`` is what the values lead to.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(100, random_state=0).fit(X, y)
    >>> moves = saabas(model, X)
    >>> bool(np.allclose(1 / 3 + moves.sum(axis=1), model.predict_proba(X)))
    True
    >>> saabas(model, X, target=2).plot.beeswarm().ax_.get_xlabel()
    'change of the prediction'
    """
    adapted, n_threads = adapt(model, values=True), count_threads(n_jobs)
    packing, rows, rules = Packing(adapted.forest), adapted.read(X), adapted.rules
    if target is not None:
        return changes_of_target(
            packing,
            rows,
            target=target,
            labels=getattr(model, "classes_", None),
            rules=rules,
            n_threads=n_threads,
        )
    moves = prediction_paths(packing, rows, rules=rules, n_threads=n_threads)
    classes = adapted.forest.classes
    if classes is None or len(classes) == 1:
        return moves
    return np.split(moves, np.cumsum([len(labels) for labels in classes])[:-1], axis=2)


def forest_gap(
    model: FittedModel, X: RowsLike, y: ArrayLike, *, n_jobs: int | None = None, **options: Any
) -> ForestGap:
    """Measure how far a forest is from the infinite totally randomized one on its own sample.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        A forest grown on (X, y) with criterion entropy, gini or squared_error.
    X, y
        The sample, as for `infinite_mdi`.
    n_jobs : int or None
        As in `local_mdi`.
    **options
        As for `infinite_mdi`; the criterion is the model's.

    Returns
    -------
    ForestGap
        Which features are masked, which rows differ, and a table of both importances.

    Examples
    --------
    With K = p the best segment wins at every split; the others are masked.

    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from localmdi.datasets import make_led
    >>> X, y = make_led()
    >>> model = ExtraTreesClassifier(100, criterion="entropy", max_features=7, random_state=0)
    >>> gap = forest_gap(model.fit(X, y), X, y)
    >>> bool(gap.features[4] > 0.1), bool(gap.features[5] < -0.05)
    (True, True)
    """
    known = signature(infinite_mdi).parameters.keys() - {"X", "y", "at", "criterion", "measure"}
    check_keywords("forest_gap", options, known=sorted(known))
    local = local_mdi(model, X, n_jobs=n_jobs)
    return measure_gap(local, X, y=y, n_jobs=n_jobs, **options)
