"""Explaining beside the libraries' own predict and contributions, as ratios of one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import localmdi as lm
from benchmarks.timing import best_in_turn

# Contributions get this many rows; their time is scaled to all of them.
CONTRIBUTION_ROWS = 100


def main(n_rows: int = 20_000, *, n_trees: int = 500, depth: int = 8, n_features: int = 20) -> None:
    """Print a line per library: single thread, the same rows and number of trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
    print(
        f"| {n_trees} trees of depth {depth}, {n_rows} rows | predict ms | Explainer(X) ms "
        "| explain ÷ predict | contributions s (scaled) | contributions ÷ explain |\n"
        "|---|---|---|---|---|---|",
        flush=True,
    )
    for name, make in MODELS.items():
        model, predict, contributions = make(X, y, n_trees=n_trees, depth=depth)
        forest = lm.as_forest(model).with_statistics(X, y, criterion="entropy")
        explainer = lm.Explainer(forest)
        times = best_in_turn(
            {"predict": lambda p=predict: p(X), "explain": lambda e=explainer: e(X)}, repeats=3
        )
        line = f"| {name} | {times['predict'] * 1e3:.0f} | {times['explain'] * 1e3:.0f} "
        line += f"| {times['explain'] / times['predict']:.2f} "
        if contributions is None:
            print(f"{line}| | |", flush=True)
            continue
        few = min(CONTRIBUTION_ROWS, n_rows)
        theirs = best_in_turn({"all": lambda c=contributions, n=few: c(X[:n])}, repeats=2)["all"]
        theirs *= n_rows / few
        print(f"{line}| {theirs:.1f} | {theirs / times['explain']:.0f} |", flush=True)


Call = Callable[[Any], Any]


def lightgbm_model(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Any, Call, Call]:
    import lightgbm

    settings = {"verbose": -1, "num_threads": 1, "max_depth": depth, "num_leaves": 2**depth}
    model = lightgbm.train(settings, lightgbm.Dataset(X, y), n_trees)
    return (
        model,
        lambda rows: model.predict(rows, num_threads=1),
        lambda rows: model.predict(rows, pred_contrib=True, num_threads=1),
    )


def xgboost_model(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Any, Call, Call]:
    import xgboost

    settings = {"max_depth": depth, "nthread": 1}
    model = xgboost.train(settings, xgboost.DMatrix(X, y), n_trees)
    return (
        model,
        model.inplace_predict,
        lambda rows: model.predict(xgboost.DMatrix(rows), pred_contribs=True),
    )


def catboost_model(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Any, Call, Call]:
    import catboost

    settings = {"iterations": n_trees, "depth": depth, "verbose": 0, "thread_count": 1}
    model = catboost.CatBoost(settings | {"allow_writing_files": False}).fit(X, y)
    return (
        model,
        lambda rows: model.predict(rows, thread_count=1),
        lambda rows: model.get_feature_importance(
            catboost.Pool(rows), type="ShapValues", thread_count=1
        ),
    )


def hist_model(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Any, Call, None]:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    settings = {"max_iter": n_trees, "max_depth": depth, "max_leaf_nodes": 2**depth}

    def predict(rows: Any) -> Any:
        with threadpool_limits(1):
            return model.predict(rows)

    with threadpool_limits(1):
        model = HistGradientBoostingRegressor(early_stopping=False, **settings).fit(X, y)
    return model, predict, None


def ydf_model(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Any, Call, None]:
    import ydf

    def columns(rows: Any) -> dict[str, Any]:
        return {f"x{i}": column for i, column in enumerate(rows.T)}

    learner = ydf.GradientBoostedTreesLearner(
        label="y",
        task=ydf.Task.REGRESSION,
        num_trees=n_trees,
        # ydf counts the root as a level.
        max_depth=depth + 1,
        validation_ratio=0.0,
        num_threads=1,
    )
    model = learner.train({**columns(X), "y": y.astype(np.float32)}, verbose=0)
    return model, lambda rows: model.predict(columns(rows), num_threads=1), None


MODELS = {
    "LightGBM": lightgbm_model,
    "XGBoost": xgboost_model,
    "CatBoost": catboost_model,
    "ydf": ydf_model,
    "HistGradientBoosting": hist_model,
}
