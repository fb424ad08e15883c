"""Which adapter reads a model: `register_adapter` for third parties, and the order of trial."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from localmdi.adapters.adapted import AdaptedModel, count_targets
from localmdi.adapters.column_sources import groups_by_column
from localmdi.adapters.in_bag import CountsStep
from localmdi.adapters.pipelines import (
    Transform,
    has_samplers,
    names_after,
    plain_members,
    refuse_resampling,
    transformers,
)
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import Forest
from localmdi.forest.joining import join_forests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from localmdi.adapters.in_bag import Step
    from localmdi.typing import FittedModel, Names

_T = TypeVar("_T")
_SPARK = "localmdi.adapters.spark_ml"
# Libraries that are read without being imported: the class as its users know it, and the function
# that reads it, loaded on first use.
_LIBRARIES = {
    "lightgbm.Booster": ("localmdi.adapters.lightgbm", "adapt_lightgbm"),
    "lightgbm.LGBMModel": ("localmdi.adapters.lightgbm", "adapt_lightgbm"),
    "xgboost.Booster": ("localmdi.adapters.xgboost", "adapt_xgboost"),
    "xgboost.XGBModel": ("localmdi.adapters.xgboost", "adapt_xgboost"),
    "catboost.CatBoost": ("localmdi.adapters.catboost", "adapt_catboost"),
    "ydf.DecisionForestModel": ("localmdi.adapters.ydf", "adapt_ydf"),
    "ydf.RandomForestModel": ("localmdi.adapters.ydf", "adapt_ydf"),
    "ydf.GradientBoostedTreesModel": ("localmdi.adapters.ydf", "adapt_ydf"),
    "ydf.IsolationForestModel": ("localmdi.adapters.ydf", "adapt_ydf"),
    "pyspark.ml.classification.DecisionTreeClassificationModel": (
        _SPARK,
        "adapt_spark",
    ),
    "pyspark.ml.classification.GBTClassificationModel": (
        _SPARK,
        "adapt_spark",
    ),
    "pyspark.ml.classification.RandomForestClassificationModel": (
        _SPARK,
        "adapt_spark",
    ),
    "pyspark.ml.regression.DecisionTreeRegressionModel": (
        _SPARK,
        "adapt_spark",
    ),
    "pyspark.ml.regression.GBTRegressionModel": (_SPARK, "adapt_spark"),
    "pyspark.ml.regression.RandomForestRegressionModel": (
        _SPARK,
        "adapt_spark",
    ),
    "pyspark.ml.PipelineModel": (_SPARK, "adapt_spark_pipeline"),
    "pyspark.ml.tuning.CrossValidatorModel": (_SPARK, "adapt_spark_best"),
    "pyspark.ml.tuning.TrainValidationSplitModel": (_SPARK, "adapt_spark_best"),
    "sklearn.ensemble.HistGradientBoostingClassifier": (
        "localmdi.adapters.scikit_learn.hist_gradient_boosting",
        "adapt_hist_gradient_boosting",
    ),
    "sklearn.ensemble.HistGradientBoostingRegressor": (
        "localmdi.adapters.scikit_learn.hist_gradient_boosting",
        "adapt_hist_gradient_boosting",
    ),
}

# One registry per process by nature: a model says nothing about who can read it.
_ADAPTERS: dict[str | type, Callable[[Any], Forest]] = {}


def register_adapter(
    model_class: type | str, function: Callable[[FittedModel], Forest] | None
) -> None:
    """Register how models of a class become a forest, everywhere in this process.

    A class that you write yourself needs no registration: give it a ``__to_forest__()`` method.

    Parameters
    ----------
    model_class : type or str
        The class, or its name as one imports it ("package.Class"), so that the package need not be
        imported now. It applies to subclasses too, unless they are registered themselves.
    function : callable or None
        Takes a fitted model, returns a `Forest` (see `build_forest`). Replaces the function that
        was registered before; None removes it.

    Examples
    --------
    >>> from localmdi import as_forest
    >>> from localmdi.forest import build_forest
    >>> class Constant:
    ...     "Predicts the same for every row, from three columns."
    >>> def constant_to_forest(model):
    ...     return build_forest(n_features=3, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                         threshold=[0.0], child_offset=[0, 0], child=[], impurity=[0.5])
    >>> register_adapter(Constant, constant_to_forest)
    >>> as_forest(Constant()).n_features
    3
    >>> register_adapter(Constant, None)
    """
    if not isinstance(model_class, type | str):
        raise TypeError(
            f"model_class must be a class or its name; got {model_class!r}. "
            "Pass a class or 'package.Class'."
        )
    if function is None:
        _ADAPTERS.pop(model_class, None)
    elif callable(function):
        _ADAPTERS[model_class] = function
    else:
        raise TypeError(
            f"function must be callable or None; got {function!r}. "
            "Pass a function that takes a model and returns a Forest."
        )


def adapt(
    model: FittedModel, *, values: bool = False, criterion: str | None = None
) -> AdaptedModel:
    """Turn a fitted model into a forest; what has been adapted already stays as it is.

    Tried in this order: a `Forest` itself, an object with ``__to_forest__()``, a class registered
    with `register_adapter`, then scikit-learn's models by their public attributes.

    Parameters
    ----------
    model : object
        The fitted model. It is not changed.
    values : bool
        Whether to copy the nodes' values too; only Saabas' method and predictions need them, and
        for many classes they are the larger part of a model.
    criterion : str or None
        What the impurities shall measure, as in `Forest.with_criterion`; None: what the model has.

    Returns
    -------
    AdaptedModel

    Raises
    ------
    UnsupportedModelError
        The model cannot be explained; the message says why, and what to do.
    sklearn.exceptions.NotFittedError
        The model is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> adapt(RandomForestClassifier(10, random_state=0).fit(X, y)).forest
    Forest: 10 trees, 166 nodes, 4 features (sepal length (cm), ..., petal width (cm))
      criterion: gini, in gini
      node statistics: weight, impurity
      classes: 0, 1, 2
    """
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"model must be a fitted model; got the class {model.__name__}. "
            f"Pass {model.__name__}(...).fit(X, y)."
        )
    done = isinstance(model, AdaptedModel)
    adapted = model if done else _adapt(model, values=values, names=None)
    if criterion is None or adapted.forest.measures(criterion):
        return adapted
    if adapted.forest.value is None and not done:
        # They are where another criterion is computed from.
        adapted = _adapt(model, values=True, names=None)
    return replace(adapted, forest=adapted.forest.with_criterion(criterion))


def _adapt(model: Any, *, values: bool, names: Names | None) -> AdaptedModel:
    forest = _own_forest(model)
    if forest is not None:
        return AdaptedModel(
            forest=forest,
            in_bag_steps=partial(_own_steps, model, forest),
            input_names=_input_names(model),
            n_features_in=forest.n_features,
            n_targets=None if forest is model else count_targets(model),
            # The nodes of a forest say where missing values go, whichever form the rows have.
            sparse_missing=True,
        )
    from localmdi.adapters.scikit_learn import Kind, adapt_estimator, check_fitted, kind_of

    check_fitted(model)
    kind = kind_of(model)
    if kind is Kind.SEARCH:
        return _adapt(model.best_estimator_, values=values, names=names)
    if kind is Kind.PIPELINE:
        return _adapt_pipeline(model, values=values, names=names)
    means = (Kind.CALIBRATED, Kind.BAGGING, Kind.VOTING)
    if kind in means and any(_is_library_model(member) for member in plain_members(model)):
        return _adapt_members(model, values=values)
    return adapt_estimator(model, values=values, names=names)


def _own_forest(model: Any) -> Forest | None:
    """Return the forest that a model, or whoever registered its class, says it is."""
    if isinstance(model, Forest):
        return model
    if hasattr(model, "__to_forest__"):
        forest, source = model.__to_forest__(), "__to_forest__()"
    elif (function := _find_adapter(model)) is not None:
        forest, source = function(model), "the registered adapter"
    else:
        return None
    if not isinstance(forest, Forest):
        raise UnsupportedModelError(
            f"{source} of {type(model).__name__} must return a Forest; it returned a "
            f"{type(forest).__name__}. Make one with build_forest."
        )
    return forest


def _is_library_model(model: Any) -> bool:
    return not isinstance(model, Forest) and _of_class(model, _LIBRARIES) is not None


def _adapt_members(model: Any, *, values: bool) -> AdaptedModel:
    """Return an ensemble of models of other libraries: the mean of their raw predictions."""
    members = [_adapt(member, values=values, names=None) for member in plain_members(model)]
    if any(member.transform is not None for member in members):
        raise UnsupportedModelError(
            f"{type(model).__name__} has a member that transforms X for itself, so that the "
            "members have no columns in common. Put the ensemble at the end of one Pipeline."
        )
    columns = getattr(model, "estimators_features_", None)
    forest = join_forests(
        [replace(member.forest, classes=None) for member in members],
        weights=getattr(model, "weights", None),
        columns=columns,
        n_features=int(getattr(model, "n_features_in_", members[0].forest.n_features)),
    )
    return AdaptedModel(
        forest=forest,
        in_bag_steps=partial(_no_training_rows, type(model).__name__, forest),
        input_names=_input_names(model),
        n_features_in=forest.n_features,
        n_targets=count_targets(model),
        sparse_missing=True,
    )


def _adapt_pipeline(model: Any, *, values: bool, names: Names | None) -> AdaptedModel:
    steps = transformers(model)
    input_names = _input_names(model)
    seen = names_after(steps, input_names) if steps else names
    adapted = _adapt(model.steps[-1][1], values=values, names=seen)
    if has_samplers(model):
        adapted = replace(adapted, in_bag_steps=partial(refuse_resampling, model))
    if not steps:
        return adapted
    later = () if adapted.transform is None else adapted.transform.steps
    features = adapted.forest.feature_names
    return replace(
        adapted,
        transform=Transform((*steps, *later)),
        groups=(
            None
            if features is None
            else groups_by_column((*steps, *later), input_names, features=features)
        ),
        input_names=input_names,
        n_features_in=getattr(model, "n_features_in_", None),
    )


def _input_names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _own_steps(model: Any, forest: Forest) -> list[list[Step]]:
    """Return what a model tells itself about the rows that its trees counted."""
    if not hasattr(model, "__row_counts__"):
        _no_training_rows(type(model).__name__, forest)
    return [[CountsStep(partial(model.__row_counts__, tree))] for tree in range(forest.n_trees)]


def _no_training_rows(name: str, forest: Forest) -> NoReturn:
    advice = (
        "Pass the fitted scikit-learn model, or for honest values rows that no tree has seen: "
        "held_out=(X, y)."
    )
    if forest.boosted:
        criterion = "squared_error" if forest.classes is None else "entropy"
        advice = (
            "Use local_mdi of its trees with the statistics of these rows: "
            f"as_forest(model).with_statistics(X, y, criterion={criterion!r})."
        )
    raise UnsupportedModelError(
        f"a {name} does not record the weights of the training rows in each tree. {advice}"
    )


def _find_adapter(model: Any) -> Callable[[Any], Forest] | None:
    """Return the function that reads models of this class: a registered one, or of a library."""
    registered = _of_class(model, _ADAPTERS)
    if registered is not None:
        return registered
    home = _of_class(model, _LIBRARIES)
    if home is None:
        return None
    function: Callable[[Any], Forest] = getattr(import_module(home[0]), home[1])
    return function


def _of_class(model: Any, known: Mapping[Any, _T]) -> _T | None:
    """Return what is known for the class of a model, or its nearest base."""
    # A copy, because another thread may register at the same time.
    by_class = {_resolve(name): found for name, found in list(known.items())}
    for base in type(model).__mro__:
        if base in by_class:
            return by_class[base]
    return None


def _resolve(name: str | type) -> type | None:
    """Return the class of this name if its package is loaded; no model exists before it is."""
    if isinstance(name, type):
        return name
    package, _, attribute = name.rpartition(".")
    found = getattr(sys.modules.get(package), attribute, None)
    return found if isinstance(found, type) else None
