"""Models of other libraries inside scikit-learn's pipelines, searches and ensembles."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adapters.libraries import numbers, raw, targets
from localmdi import as_forest, local_mdi, register_adapter, saabas, with_gradients
from localmdi.adapters import adapt
from localmdi.exceptions import InvalidForestError, UnsupportedModelError

BOOSTER = {"n_estimators": 5, "verbose": -1, "num_threads": 1}


def test_a_pipeline():
    X, y = numbers(category=False)
    model = make_pipeline(StandardScaler(), xgb.XGBRegressor(n_estimators=5)).fit(X, y)
    moves = saabas(model, X)
    forest = as_forest(model)
    bias = forest.value[forest.tree_offset[:-1]].sum() + forest.base_value[0]
    np.testing.assert_allclose(moves.sum(axis=(1, 2)) + bias, model.predict(X), atol=1e-5)
    assert local_mdi(model, X).unit == "loss"


def test_a_search_in_a_pipeline_and_its_gradients():
    X, y = numbers(category=False)
    search = GridSearchCV(lgb.LGBMRegressor(**BOOSTER), {"num_leaves": [4, 8]}, cv=2)
    model = make_pipeline("passthrough", StandardScaler(), search).fit(X, y)
    forest = with_gradients(model, X, y)
    scaled = model[1].transform(X)
    gain = search.best_estimator_.booster_.feature_importance("gain")
    local = local_mdi(forest, scaled).values.sum(axis=0) * forest.n_trees
    np.testing.assert_allclose(local, gain, rtol=1e-6)


def test_calibration():
    X, y = numbers(category=False)
    model = CalibratedClassifierCV(lgb.LGBMClassifier(**BOOSTER), cv=3).fit(X, targets(y)["two"])
    members = [fold.estimator for fold in model.calibrated_classifiers_]
    expected = np.mean([member.predict(X, raw_score=True) for member in members], axis=0)
    forest = as_forest(model)
    np.testing.assert_allclose(raw(forest, X)[:, 0], expected, atol=1e-12)
    assert forest.n_trees == 15
    forest = forest.with_statistics(X, targets(y)["two"], criterion="gini")
    assert local_mdi(forest, X).shape == (len(X), 5)


def test_bagging_of_columns():
    X, y = numbers(category=False)
    member = xgb.XGBRegressor(n_estimators=3, max_depth=3)
    model = BaggingRegressor(member, n_estimators=3, max_features=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(raw(as_forest(model), X)[:, 0], model.predict(X), atol=1e-5)


def test_voting():
    X, y = numbers(category=False)
    members = [
        ("one", lgb.LGBMRegressor(**BOOSTER)),
        ("two", HistGradientBoostingRegressor(max_iter=5)),
    ]
    model = VotingRegressor(members, weights=[1, 3]).fit(X, y)
    np.testing.assert_allclose(raw(as_forest(model), X)[:, 0], model.predict(X), atol=1e-12)


def test_members_that_do_not_fit_together():
    X, y = numbers(category=False)
    X = np.nan_to_num(X)
    mixed = [("one", lgb.LGBMRegressor(**BOOSTER)), ("two", RandomForestRegressor(3))]
    with pytest.raises(InvalidForestError, match="same criterion"):
        as_forest(VotingRegressor(mixed).fit(X, y))
    scaled = make_pipeline(StandardScaler(), lgb.LGBMRegressor(**BOOSTER))
    pair = [("one", lgb.LGBMRegressor(**BOOSTER)), ("two", scaled)]
    with pytest.raises(UnsupportedModelError, match="transforms X for itself"):
        as_forest(VotingRegressor(pair).fit(X, y))


def test_a_registered_adapter_comes_first():
    X, y = numbers(category=False)
    model = lgb.LGBMRegressor(**BOOSTER).fit(X, y)
    other = as_forest(HistGradientBoostingRegressor(max_iter=1).fit(X, y))
    register_adapter("lightgbm.LGBMModel", lambda model: other)
    try:
        assert adapt(model).forest is other
    finally:
        register_adapter("lightgbm.LGBMModel", None)
    assert adapt(model).forest.n_trees == 5
