"""XGBoost: every row in the library's own leaf, its margin, its gains."""

import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from adapters.libraries import (
    N_ROWS,
    assert_same_leaves,
    assert_same_predictions,
    numbers,
    raw,
    strange_rows,
    targets,
    total_gain,
    xgboost_dart,
)
from localmdi import as_forest, global_mdi, local_mdi, saabas, with_gradients
from localmdi.adapters.xgboost import read_xgboost_json, read_xgboost_ubj
from localmdi.exceptions import FileFormatError, UnsupportedModelError

TYPES = ["q", "q", "q", "c", "q"]
# XGBoost refuses infinite values, and codes that are no int32.
ODD = (np.nan, 0.0, -0.0, 1e-36, -1e-40, 2.7, -0.5, -1.0, 1e7)
# It adds up float32 numbers.
SINGLE = 2e-5
CASES = {
    "plain": ({}, "number"),
    "regularised": ({"reg_lambda": 3.0, "reg_alpha": 0.5, "eta": 0.1}, "number"),
    "dart": (xgboost_dart(0.3), "two"),
    "two": ({"base_score": 0.2}, "two"),
    "three": ({}, "three"),
    "poisson": ({"objective": "count:poisson", "max_delta_step": 0}, "two"),
    "gamma": ({"objective": "reg:tweedie"}, "two"),
    "ranking": ({"objective": "rank:pairwise"}, "two"),
    "parallel trees": ({"num_parallel_tree": 3, "subsample": 0.5}, "number"),
    "lossguide": ({"grow_policy": "lossguide", "max_leaves": 20, "max_depth": 0}, "number"),
    "monotone": ({"monotone_constraints": "(1,0,0,0,0)"}, "number"),
    "max_delta_step": ({"max_delta_step": 0.1}, "number"),
    "one hot": ({"max_cat_to_onehot": 100}, "number"),
    "pruned": ({"gamma": 3.0, "tree_method": "approx"}, "number"),
}
# What the file tells about gains holds where steps are −G/(H + λ).
CLIPPED = {"monotone", "max_delta_step"}
DEFAULT = {"number": "reg:squarederror", "two": "binary:logistic", "three": "multi:softprob"}


def train(settings, kind, *, rounds=15, **data):
    X, y = numbers()
    matrix = xgb.DMatrix(X, targets(y)[kind], feature_types=TYPES, enable_categorical=True, **data)
    if settings.get("objective", "").startswith("rank"):
        matrix.set_group([100] * (N_ROWS // 100))
    some = {"num_class": 3} if kind == "three" else {}
    return xgb.train(
        {"objective": DEFAULT[kind], "max_depth": 5, "nthread": 1} | some | settings, matrix, rounds
    ), X


def matrix_of(X):
    return xgb.DMatrix(X, feature_types=TYPES, enable_categorical=True)


def stored_gains(booster):
    """Return the sum of all gains by feature, added up in double precision."""
    learner = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    gains = np.zeros(5)
    for tree in learner.get("gbtree", learner)["model"]["trees"]:
        split = np.array(tree["left_children"]) >= 0
        features = np.array(tree["split_indices"])[split]
        np.add.at(gains, features, np.array(tree["loss_changes"])[split])
    return gains


@pytest.mark.parametrize("name", CASES)
def test_leaves_predictions_and_gains(name):
    booster, X = train(*CASES[name])
    forest = as_forest(booster)
    Z = strange_rows(X, forest, odd=ODD)
    assert_same_leaves(forest, Z, booster.predict(matrix_of(Z), pred_leaf=True))
    margin = booster.predict(matrix_of(Z), output_margin=True)
    assert_same_predictions(booster, Z, margin, atol=SINGLE)
    if name in CLIPPED:
        assert forest.impurity is None
        return
    assert forest.unit == "loss"
    np.testing.assert_allclose(total_gain(forest), stored_gains(booster), rtol=1e-6)
    if name in ("plain", "two", "three"):
        np.testing.assert_allclose(forest.weight[0], N_ROWS, rtol=1e-6)


def test_total_gain_is_the_library_s():
    booster, _ = train({}, "number")
    score = booster.get_score(importance_type="total_gain")
    expected = [score.get(f"f{i}", 0.0) for i in range(5)]
    # XGBoost adds up in float32.
    np.testing.assert_allclose(total_gain(as_forest(booster)), expected, rtol=3e-6)


def test_gain_is_the_drop_of_the_potential():
    booster, X = train({}, "two")
    gain = local_mdi(booster, X, measure="gain")
    assert (gain.measure, gain.unit) == ("gain", "loss")
    np.testing.assert_array_equal(gain.values, local_mdi(booster, X).values)


def test_saabas_is_approx_contribs():
    booster, X = train({}, "two")
    theirs = booster.predict(matrix_of(X), pred_contribs=True, approx_contribs=True)
    np.testing.assert_allclose(saabas(booster, X)[:, :, 0], theirs[:, :5], atol=SINGLE)


def test_early_stopping_as_predict_does(tmp_path):
    X, y = numbers(category=False)
    label = targets(y)["two"]
    model = xgb.XGBClassifier(n_estimators=200, learning_rate=0.8, early_stopping_rounds=3)
    model.fit(X[:800], label[:800], eval_set=[(X[800:], label[800:])], verbose=False)
    used = model.best_iteration + 1
    assert used < model.get_booster().num_boosted_rounds()
    assert as_forest(model).n_trees == used
    assert_same_predictions(model, X, model.predict(X, output_margin=True), atol=SINGLE)
    booster = model.get_booster()
    everything = booster.predict(xgb.DMatrix(X), output_margin=True)
    assert_same_predictions(booster, X, everything, atol=SINGLE)
    path = tmp_path / "model.json"
    booster.save_model(path)
    assert read_xgboost_json(path).n_trees == booster.num_boosted_rounds()
    assert read_xgboost_json(path, rounds=used).n_trees == used
    with pytest.raises(ValueError, match="rounds must lie"):
        read_xgboost_json(path, rounds=1000)


@pytest.mark.parametrize("name", ["plain", "regularised", "dart", "two", "three", "pruned"])
def test_files(name, tmp_path):
    booster, _ = train(*CASES[name])
    booster.save_model(tmp_path / "model.json")
    booster.save_model(tmp_path / "model.ubj")
    forest = read_xgboost_json(tmp_path / "model.json")
    assert forest == read_xgboost_ubj(tmp_path / "model.ubj")
    live = as_forest(booster)
    np.testing.assert_array_equal(forest.value, live.value)
    # λ is not in the file; it is found from the gains.
    np.testing.assert_allclose(forest.impurity, live.impurity, rtol=1e-5, atol=1e-9)


def test_sparse_rows_lack_values():
    X, y = numbers(category=False)
    X = np.nan_to_num(X)
    model = xgb.XGBRegressor(n_estimators=10, max_depth=4).fit(X, y)
    rows = csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    theirs = model.get_booster().predict(xgb.DMatrix(rows), output_margin=True)
    np.testing.assert_allclose(raw(as_forest(model), rows)[:, 0], theirs, atol=SINGLE)
    dense = local_mdi(model, np.where(rows.toarray() == 0, np.nan, rows.toarray()))
    np.testing.assert_array_equal(local_mdi(model, rows).values, dense.values)


def test_categories_of_frames_are_mapped_by_value():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "b": pd.Categorical(rng.choice(list("pqrst"), N_ROWS)),
            "d": pd.Categorical(rng.integers(3, 9, N_ROWS)),
        }
    )
    table.loc[::11, "b"] = None
    y = table.a + (table.b == "p") - (table.d == 5).astype(float)
    model = xgb.XGBRegressor(n_estimators=20, max_depth=4, enable_categorical=True).fit(table, y)
    other = table.copy()
    other["b"] = pd.Categorical(rng.choice(list("tqp"), N_ROWS))
    other["d"] = pd.Categorical(rng.integers(5, 9, N_ROWS))
    other.loc[::7, "d"] = None
    for rows in (table, other):
        assert_same_leaves(as_forest(model), rows, model.apply(rows))
        assert_same_predictions(model, rows, model.predict(rows), atol=SINGLE)
    assert as_forest(model).categories[1].tolist() == list("pqrst")


GAINS = {
    "number": ({}, "number"),
    "regularised": ({"reg_lambda": 5.0, "reg_alpha": 0.1}, "number"),
    "two": ({"scale_pos_weight": 3.0}, "two"),
    "three": ({}, "three"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GAINS)
def test_gains_from_rows(name, weighted):
    settings, kind = GAINS[name]
    X, y = numbers(category=False)
    weight = np.random.default_rng(2).random(N_ROWS) + 0.5 if weighted else None
    model = (xgb.XGBRegressor if kind == "number" else xgb.XGBClassifier)(
        n_estimators=15, n_jobs=1, **settings
    )
    label = targets(y)[kind]
    model.fit(X, label, sample_weight=weight)
    forest = with_gradients(model, X, label, sample_weight=weight)
    np.testing.assert_allclose(total_gain(forest), stored_gains(model.get_booster()), rtol=1e-6)
    if not weighted:
        local = local_mdi(forest, X).values.mean(axis=0)
        np.testing.assert_allclose(local, global_mdi(forest).values, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (xgboost_dart(0.5), "DART"),
        ({"subsample": 0.5}, "subsample"),
        ({"max_delta_step": 0.1}, "max_delta_step"),
        ({"monotone_constraints": "(1,0,0,0,0)"}, "monotone"),
        ({"num_parallel_tree": 2}, "num_parallel_tree"),
        ({"objective": "reg:pseudohubererror"}, "objective"),
    ],
    ids=str,
)
def test_gradients_that_cannot_be_rebuilt(settings, reason):
    booster, X = train(settings, "number")
    with pytest.raises(UnsupportedModelError, match=reason):
        with_gradients(booster, X, numbers()[1])


def test_a_class_without_rows():
    X, y = numbers(category=False)
    label = targets(y)["two"] * 2
    settings = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
    booster = xgb.train(settings, xgb.DMatrix(X, label), 5)
    forest = with_gradients(booster, X, label)
    np.testing.assert_allclose(total_gain(forest), stored_gains(booster), rtol=1e-6)
    with pytest.raises(ValueError, match="classes 0 to 2"):
        with_gradients(booster, X, label + 1)


def test_refusals(tmp_path):
    X, y = numbers(category=False)
    with pytest.raises(NotFittedError):
        as_forest(xgb.XGBRegressor())
    with pytest.raises(UnsupportedModelError, match="missing=0"):
        as_forest(xgb.XGBRegressor(n_estimators=1, missing=0.0).fit(np.nan_to_num(X), y))
    linear = json.loads(train({}, "number", rounds=1)[0].save_raw("json"))
    linear["learner"]["gradient_booster"] = {"name": "gblinear", "model": {"weights": [1.0] * 6}}
    path = tmp_path / "other.json"
    path.write_text(json.dumps(linear))
    with pytest.raises(UnsupportedModelError, match="'gblinear', which has no trees"):
        read_xgboost_json(path)
    vector = xgb.XGBRegressor(n_estimators=1, multi_strategy="multi_output_tree")
    with pytest.raises(UnsupportedModelError, match="one_output_per_tree"):
        as_forest(vector.fit(X, np.stack([y, y], axis=1)))
    path.write_text('{"learner": 1}')
    with pytest.raises(FileFormatError, match="learner must be an object"):
        read_xgboost_json(path)


def test_where_versions_keep_the_weights_of_dart(tmp_path):
    booster, _ = train(xgboost_dart(0.3), "number")
    content = json.loads(booster.save_raw("json"))
    stored = content["learner"]["gradient_booster"]
    model = dict(stored.get("gbtree", stored)["model"])
    weights = (stored | model)["weight_drop"]
    model.pop("weight_drop", None)
    assert min(weights) < 1
    for version, home in {
        "3.2": {"name": "dart", "gbtree": {"model": model}, "weight_drop": weights},
        "3.3": {"name": "gbtree", "model": model, "weight_drop": weights},
        "3.4": {"name": "gbtree", "model": model | {"weight_drop": weights}},
    }.items():
        content["learner"]["gradient_booster"] = home
        path = tmp_path / f"{version}.json"
        path.write_text(json.dumps(content))
        np.testing.assert_array_equal(read_xgboost_json(path).value, as_forest(booster).value)


def test_several_targets():
    X, y = numbers(category=False)
    model = xgb.XGBRegressor(n_estimators=5).fit(X, np.stack([y, -2 * y], axis=1))
    assert_same_predictions(model, X, model.predict(X), atol=SINGLE)
    assert as_forest(model).value.shape[1] == 2
