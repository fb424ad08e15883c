"""The gain of boosted trees: the training rows tell what splits say, other rows what is so."""

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
import ydf
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import localmdi as lm
from localmdi.exceptions import UnsupportedModelError

NAMES = list("abcde")


def rows(seed):
    """Return rows whose class depends on the first column only, and numbers likewise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(400, 5)), columns=NAMES)
    number = X["a"].to_numpy() + 0.5 * rng.normal(size=400)
    return X, (number > 0).astype(int), number


TRAIN, TEST = rows(0), rows(1)
QUIET = {"iterations": 10, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
ALONE = {"verbose": -1, "num_threads": 1}
CLASSIFIERS = {
    "HistGradientBoosting": lambda X, y: HistGradientBoostingClassifier(max_iter=10).fit(X, y),
    "LightGBM": lambda X, y: lgb.LGBMClassifier(n_estimators=10, **ALONE).fit(X, y),
    "XGBoost": lambda X, y: xgb.XGBClassifier(n_estimators=10, n_jobs=1).fit(X, y),
    "CatBoost": lambda X, y: cb.CatBoostClassifier(**QUIET).fit(X, y),
    "ydf": lambda X, y: ydf.GradientBoostedTreesLearner(label="y", num_trees=10).train(
        X.assign(y=y), verbose=0
    ),
    "a pipeline": lambda X, y: make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        xgb.XGBClassifier(n_estimators=10, n_jobs=1),
    ).fit(X, y),
    "AdaBoost": lambda X, y: AdaBoostClassifier(n_estimators=10).fit(X, y),
}


@pytest.mark.parametrize("library", CLASSIFIERS)
def test_noise_is_at_zero(library):
    X, y, _ = TRAIN
    model = CLASSIFIERS[library](X, y)
    result = lm.honest_global_mdi(model, X, y, held_out=TEST[:2])
    assert (result.unit, result.honest) == ("bits", True)
    assert result.values[0] > 0.1
    assert (np.abs(result.values[1:]) < 4 * result.standard_error[1:] + 1e-3).all()
    assert result.significant().tolist() == [True, False, False, False, False]
    local = lm.honest_mdi(model, X, y, held_out=TEST[:2])
    assert local.shape == (400, 5)
    assert local.values[:, 0].mean() > 10 * np.abs(local.values[:, 1:].mean(axis=0)).max()


def test_one_boosted_tree_is_a_tree():
    X, _, y = TRAIN
    settings = {"max_depth": 3, "random_state": 0}
    tree = DecisionTreeRegressor(**settings).fit(X, y)
    boosted = GradientBoostingRegressor(n_estimators=1, init="zero", **settings).fit(X, y)
    given = {"X": X, "y": y, "held_out": (TEST[0], TEST[2])}
    one, other = (lm.honest_mdi(model, **given) for model in (tree, boosted))
    np.testing.assert_allclose(other.values, one.values, atol=1e-10)
    for method in (None, "mdi_oob", "ufi"):
        one, other = (
            lm.honest_global_mdi(model, **given, method=method) for model in (tree, boosted)
        )
        np.testing.assert_allclose(other.values, one.values, atol=1e-10)


def test_other_rows_without_their_own_label():
    X, y, _ = TRAIN
    model = lgb.LGBMClassifier(n_estimators=10, **ALONE).fit(X, y)
    forest = lm.as_forest(model).with_statistics(X, y, criterion="entropy")
    assert lm.honest_mdi(forest, *TEST[:2], held_out=True).honest
    # All rows tell about a row that is not among them.
    given = lm.honest_mdi(model, X, y, held_out=TEST[:2])
    by_hand = lm.honest_mdi(forest, X, held_out=TEST[:2], standard_error=True)
    np.testing.assert_array_equal(given.values, by_hand.values)
    assert by_hand.error_kind == "labels"


def test_weights_count():
    X, y, _ = TRAIN
    weight = np.where(y == 1, 3, 1)
    model = lgb.LGBMClassifier(n_estimators=5, **ALONE).fit(X, y, sample_weight=weight)
    given = lm.honest_mdi(model, X, y, sample_weight=weight, held_out=TEST[:2])
    again = np.repeat(np.arange(400), weight)
    twice = lm.honest_mdi(model, X.iloc[again], y[again], held_out=TEST[:2], at=X)
    np.testing.assert_allclose(given.values, twice.values, atol=1e-12)


def test_refusals():
    X, y, _ = TRAIN
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(X, y), 3)
    with pytest.raises(UnsupportedModelError, match="class or a number"):
        lm.honest_mdi(booster, X, y, held_out=TEST[:2])
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="y must"):
        lm.honest_mdi(model, X, held_out=TEST[:2])
    with pytest.raises(ValueError, match="no sample of trees"):
        lm.honest_mdi(model, X, y, held_out=TEST[:2], standard_error="trees")
