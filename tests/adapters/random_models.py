"""Models with settings drawn at random, and what their libraries say about rows.

A case is drawn from its number alone, so that a failure can be repeated: ``draw("LightGBM", 17)``.
"""

import json
from dataclasses import dataclass
from typing import Any

import catboost as cb
import lightgbm as lgb
import numpy as np
import xgboost as xgb
import ydf
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from adapters.libraries import ODD, xgboost_dart

N_TRAIN, N_FEATURES, N_CLASSES = 300, 5, 3
CATEGORY, ZEROS = 3, 4


@dataclass(frozen=True)
class Case:
    """A fitted model and its library's answers.

    Parameters
    ----------
    settings : dict
        What it was trained with, to be shown by a failing test.
    model : object
        What `as_forest` gets.
    X : ndarray
        Its training rows.
    raw, leaves : callable
        The library's raw prediction and leaf index of rows; None: it has no such index.
    leaf_values : list of ndarray
        For each tree the values of its leaves, by the library's index.
    odd : tuple of float
        Values that the library takes in numeric columns, and in the column of categories.
    tolerance : float
        Of the raw prediction.
    """

    settings: dict
    model: Any
    X: np.ndarray
    raw: Any
    leaves: Any = None
    leaf_values: list | None = None
    odd: tuple = ODD
    tolerance: float = 1e-9


def draw(library, seed):
    """Return a random model of a library."""
    return _DRAW[library](np.random.default_rng([seed, *library.encode()]))


def _table(rng, *, category):
    """Return rows with gaps, ties, zeros and large numbers, and a target that depends on them."""
    X = rng.normal(size=(N_TRAIN, N_FEATURES)) * 10.0 ** rng.integers(-3, 4, N_FEATURES)
    if rng.random() < 0.5:
        X[:, 1] = np.round(X[:, 1], 1)
    if rng.random() < 0.3:
        X = X.astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.4])] = np.nan
    if category:
        X[:, CATEGORY] = rng.integers(0, rng.choice([3, 12, 70]), N_TRAIN)
        X[rng.random(N_TRAIN) < rng.choice([0.0, 0.1]), CATEGORY] = np.nan
    X[:, ZEROS] = rng.choice([0.0, 0.0, 1.0, -2.0], N_TRAIN)
    known = np.nan_to_num(X / (np.nanstd(X, axis=0) + 1e-9))
    y = known[:, 0] + known[:, 1] * (X[:, ZEROS] > 0) + (np.nan_to_num(X[:, CATEGORY]) % 3 == 0)
    return X, y + 0.3 * rng.normal(size=N_TRAIN)


def _target(y, kind):
    if kind == "classes":
        return np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    if kind == "two":
        return (y > np.median(y)).astype(int)
    return np.exp(0.3 * y) if kind == "positive" else y


def _some(rng, options, *, share=0.35):
    """Return some of the options, each with one of its values."""
    chosen = {}
    for name, values in options.items():
        if rng.random() < share:
            chosen[name] = values[rng.integers(len(values))]
    return chosen


def _one(rng, values):
    return values[rng.integers(len(values))]


_LIGHTGBM_OBJECTIVES = (
    ("regression", "number"),
    ("regression_l1", "number"),
    ("huber", "number"),
    ("quantile", "number"),
    ("poisson", "positive"),
    ("gamma", "positive"),
    ("tweedie", "positive"),
    ("binary", "two"),
    ("cross_entropy", "two"),
    ("multiclass", "classes"),
    ("multiclassova", "classes"),
    ("lambdarank", "classes"),
)
_LIGHTGBM_OPTIONS = {
    "zero_as_missing": [True],
    "use_missing": [False],
    "num_leaves": [2, 15, 64],
    "max_depth": [2, 6],
    "max_bin": [7, 63],
    "max_cat_to_onehot": [1, 16],
    "monotone_constraints": [[1, 0, -1, 0, 0]],
    "extra_trees": [True],
    "feature_fraction": [0.5],
    "path_smooth": [1.0],
    "reg_lambda": [2.0],
    "reg_alpha": [0.1],
    "max_delta_step": [0.1],
    "boost_from_average": [False],
    "min_data_in_leaf": [1, 5],
}


def _lightgbm(rng):
    X, y = _table(rng, category=True)
    objective, kind = _one(rng, _LIGHTGBM_OBJECTIVES)
    settings = {"objective": objective, "verbose": -1, "num_threads": 1, "min_data_per_group": 5}
    settings |= _some(rng, _LIGHTGBM_OPTIONS) | {"seed": int(rng.integers(1000))}
    if objective in ("regression_l1", "quantile"):
        settings.pop("monotone_constraints", None)
    mode = _one(rng, ["gbdt", "gbdt", "dart", "rf", "goss"])
    if mode == "goss":
        settings["data_sample_strategy"] = "goss"
    else:
        settings["boosting"] = mode
    if mode == "rf" or (mode == "gbdt" and rng.random() < 0.3):
        settings |= {"bagging_freq": 1, "bagging_fraction": 0.6}
    if kind == "classes" and objective != "lambdarank":
        settings["num_class"] = N_CLASSES
    n_scores = settings.get("num_class", 1)
    data = {}
    if rng.random() < 0.3:
        data["weight"] = rng.random(N_TRAIN) + 0.1
    if rng.random() < 0.2 and mode != "rf":
        data["init_score"] = rng.normal(size=N_TRAIN * n_scores)
    if objective == "lambdarank":
        data["group"] = [50] * (N_TRAIN // 50)
    matrix = lgb.Dataset(X, _target(y, kind), categorical_feature=[CATEGORY], **data)
    stop = {}
    if mode == "gbdt" and rng.random() < 0.3 and objective != "lambdarank":
        valid = lgb.Dataset(X[::3], _target(y, kind)[::3], reference=matrix)
        stop = {"valid_sets": [valid], "callbacks": [lgb.early_stopping(2, verbose=False)]}
        settings["learning_rate"] = 0.8
    model = lgb.train(settings, matrix, 12, **stop)
    used = model.best_iteration if model.best_iteration > 0 else 12
    # The raw score of rf mode is the sum, its prediction the mean.
    scale = 1.0 / used if mode == "rf" else 1.0
    trees = model.dump_model(num_iteration=used)["tree_info"]
    return Case(
        settings,
        model,
        X,
        raw=lambda Z: model.predict(Z, raw_score=True) * scale,
        leaves=lambda Z: model.predict(Z, pred_leaf=True),
        leaf_values=[
            np.array([model.get_leaf_output(i, j) for j in range(tree["num_leaves"])])
            * (n_scores if mode == "rf" else 1.0)
            for i, tree in enumerate(trees)
        ],
    )


_XGBOOST_OBJECTIVES = (
    ("reg:squarederror", "number"),
    ("reg:absoluteerror", "number"),
    ("reg:pseudohubererror", "number"),
    ("count:poisson", "positive"),
    ("reg:gamma", "positive"),
    ("reg:tweedie", "positive"),
    ("reg:squaredlogerror", "positive"),
    ("binary:logistic", "two"),
    ("binary:hinge", "two"),
    ("multi:softprob", "classes"),
    ("multi:softmax", "classes"),
    ("rank:ndcg", "classes"),
    ("rank:pairwise", "two"),
)
_XGBOOST_OPTIONS = {
    "base_score": [0.3],
    "max_depth": [1, 3, 8],
    "reg_lambda": [0.0, 5.0],
    "reg_alpha": [0.5],
    "gamma": [0.5],
    "max_delta_step": [0.2],
    "subsample": [0.6],
    "colsample_bynode": [0.6],
    "min_child_weight": [0.1],
    "monotone_constraints": ["(1,0,-1,0,0)"],
    "num_parallel_tree": [3],
    "max_bin": [8],
    "max_cat_to_onehot": [1, 100],
    "tree_method": ["hist", "approx"],
}


def _xgboost(rng):
    X, y = _table(rng, category=True)
    objective, kind = _one(rng, _XGBOOST_OBJECTIVES)
    settings = {"objective": objective, "nthread": 1, "seed": int(rng.integers(1000))}
    settings |= _some(rng, _XGBOOST_OPTIONS)
    if rng.random() < 0.25:
        settings |= xgboost_dart(0.4)
    if rng.random() < 0.3:
        settings |= {"grow_policy": "lossguide", "max_leaves": 12, "max_depth": 0}
    if objective.startswith("multi"):
        settings["num_class"] = N_CLASSES
    types = ["c" if i == CATEGORY else "q" for i in range(N_FEATURES)]

    def matrix(rows, label=None, **data):
        return xgb.DMatrix(rows, label, feature_types=types, enable_categorical=True, **data)

    data = {}
    if rng.random() < 0.3 and not objective.startswith("rank"):
        data["weight"] = rng.random(N_TRAIN) + 0.1
    if rng.random() < 0.2:
        data["base_margin"] = rng.normal(size=(N_TRAIN, settings.get("num_class", 1)))
    train = matrix(X, _target(y, kind), **data)
    if objective.startswith("rank"):
        train.set_group([50] * (N_TRAIN // 50))
    model = xgb.train(settings, train, 10)
    content = json.loads(model.save_raw("json"))["learner"]["gradient_booster"]
    stored = content.get("gbtree", content)["model"]
    trees = stored["trees"]
    drop = (content | stored).get("weight_drop", [1.0] * len(trees))
    return Case(
        settings,
        model,
        X,
        raw=lambda Z: model.predict(matrix(Z), output_margin=True),
        leaves=lambda Z: model.predict(matrix(Z), pred_leaf=True),
        leaf_values=[
            np.array(tree["split_conditions"], dtype=np.float32).astype(float) * part
            for tree, part in zip(trees, drop, strict=True)
        ],
        # XGBoost refuses infinite values, and codes that are no int32.
        odd=(np.nan, 0.0, -0.0, 1e-36, -1e-40, 2.7, -0.5, -1.0, 1e7),
        tolerance=1e-4,
    )


_CATBOOST_LOSSES = (
    ("RMSE", "number"),
    ("MAE", "number"),
    ("Quantile:alpha=0.7", "number"),
    ("Poisson", "positive"),
    ("Tweedie:variance_power=1.5", "positive"),
    ("Logloss", "two"),
    ("CrossEntropy", "two"),
    ("MultiClass", "classes"),
    ("MultiClassOneVsAll", "classes"),
    ("YetiRank", "classes"),
    ("QueryRMSE", "number"),
)
_CATBOOST_OPTIONS = {
    "nan_mode": ["Max"],
    "border_count": [4, 200],
    "l2_leaf_reg": [0.5],
    "random_strength": [0.0],
    "bootstrap_type": ["Bernoulli", "No"],
    "feature_border_type": ["Median", "UniformAndQuantiles"],
    "rsm": [0.6],
    "boost_from_average": [True, False],
}


def _catboost(rng):
    X, y = _table(rng, category=False)
    loss, kind = _one(rng, _CATBOOST_LOSSES)
    settings = {"loss_function": loss, "iterations": 10, "depth": int(rng.integers(1, 7))}
    settings |= _some(rng, _CATBOOST_OPTIONS) | {"random_seed": int(rng.integers(1000))}
    policy = _one(rng, ["SymmetricTree", "SymmetricTree", "Depthwise", "Lossguide"])
    settings["grow_policy"] = policy
    if policy == "SymmetricTree" and rng.random() < 0.3 and kind != "classes":
        settings["monotone_constraints"] = [1, 0, -1, 0, 0]
    if loss not in ("RMSE", "MAE", "Quantile:alpha=0.7"):
        settings.pop("boost_from_average", None)
    ranking = loss in ("YetiRank", "QueryRMSE")
    data = {"group_id": np.arange(N_TRAIN) // 50} if ranking else {}
    if rng.random() < 0.3 and not ranking:
        data["weight"] = rng.random(N_TRAIN) + 0.1
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    pool = cb.Pool(X, _target(y, kind), **data)
    stop = {"eval_set": pool, "use_best_model": True} if rng.random() < 0.3 else {}
    model = cb.CatBoost(settings | quiet).fit(pool, **stop)
    counts = np.asarray(model.get_tree_leaf_counts())
    values = np.asarray(model.get_leaf_values()).reshape(counts.sum(), -1)
    return Case(
        settings,
        model,
        X,
        raw=lambda Z: model.predict(Z, prediction_type="RawFormulaVal"),
        leaves=model.calc_leaf_indexes,
        leaf_values=np.split(values, np.cumsum(counts)[:-1]),
    )


_HIST_OPTIONS = {
    "max_leaf_nodes": [2, 60],
    "max_depth": [3],
    "min_samples_leaf": [1, 5],
    "l2_regularization": [3.0],
    "max_bins": [8, 100],
    "max_features": [0.5],
    "early_stopping": [True],
}


def _hist(rng):
    kind = _one(rng, ["number", "positive", "two", "classes"])
    settings = {"max_iter": 10, "random_state": 0} | _some(rng, _HIST_OPTIONS)
    category = rng.random() < 0.5
    X, y = _table(rng, category=category)
    if category:
        settings |= {"categorical_features": [CATEGORY], "max_bins": 100}
    elif rng.random() < 0.4 and kind != "classes":
        settings["monotonic_cst"] = [1, 0, -1, 0, 0]
    if kind in ("two", "classes"):
        model = HistGradientBoostingClassifier(**settings)
    else:
        losses = ["poisson", "gamma"] if kind == "positive" else ["squared_error", "absolute_error"]
        settings["loss"] = _one(rng, losses)
        model = HistGradientBoostingRegressor(**settings)
    weight = rng.random(N_TRAIN) + 0.1 if rng.random() < 0.3 else None
    model.fit(X, _target(y, kind), sample_weight=weight)
    # Regressors with a link have no public raw prediction, and no model has a public leaf.
    # Categories must not be infinite.
    odd = tuple(value for value in ODD if not (category and np.isinf(value)))
    return Case(settings, model, X, raw=lambda Z: model._raw_predict(Z), odd=odd)


_YDF_OPTIONS = {
    "max_depth": [3, 8],
    "min_examples": [1, 10],
    "missing_value_policy": ["LOCAL_IMPUTATION", "RANDOM_LOCAL_IMPUTATION"],
    "growing_strategy": ["BEST_FIRST_GLOBAL"],
    "discretize_numerical_columns": [True],
    "num_candidate_attributes_ratio": [0.6],
    "allow_na_conditions": [True],
}


def _ydf(rng):
    X, y = _table(rng, category=False)
    boosted = rng.random() < 0.5
    kind = _one(rng, ["number", "two", "classes"])
    task = ydf.Task.REGRESSION if kind == "number" else ydf.Task.CLASSIFICATION
    settings = _some(rng, _YDF_OPTIONS) | {"num_trees": 8, "random_seed": int(rng.integers(1000))}
    if settings.get("missing_value_policy") == "RANDOM_LOCAL_IMPUTATION":
        settings.pop("growing_strategy", None)
    learner = ydf.GradientBoostedTreesLearner if boosted else ydf.RandomForestLearner
    if not boosted:
        settings["winner_take_all"] = bool(rng.random() < 0.5)
    columns = [f"x{i}" for i in range(N_FEATURES)]

    def data(Z, label):
        return dict(zip(columns, Z.astype(np.float32).T, strict=True)) | {"y": label}

    learner = learner(label="y", task=task, features=columns, num_threads=1, **settings)
    target = _target(y, kind)
    model = learner.train(data(X, target), verbose=0)
    some = np.full(1, target[0])

    def predict(Z):
        theirs = model.predict(data(Z, np.repeat(some, len(Z))))
        if not boosted or kind == "number":
            return theirs
        return np.log(theirs / (1 - theirs)) if kind == "two" else np.log(theirs)

    return Case(
        settings | {"boosted": boosted, "kind": kind},
        model,
        X,
        raw=predict,
        leaves=lambda Z: model.predict_leaves(data(Z, np.repeat(some, len(Z)))),
        tolerance=2e-4,
    )


_DRAW = {
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "CatBoost": _catboost,
    "HistGradientBoosting": _hist,
    "ydf": _ydf,
}
LIBRARIES = tuple(_DRAW)
