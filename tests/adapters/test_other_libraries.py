"""HistGradientBoosting, CatBoost and ydf: routes, raw predictions, their importances."""

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
import ydf
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

from adapters.libraries import (
    N_ROWS,
    assert_same_leaves,
    assert_same_predictions,
    numbers,
    raw,
    strange_rows,
    targets,
    total_gain,
)
from localmdi import (
    Explainer,
    as_forest,
    global_mdi,
    load_forest,
    local_mdi,
    saabas,
    with_gradients,
)
from localmdi.adapters import load_model_file, prediction_values_change
from localmdi.adapters.catboost import read_catboost_json
from localmdi.exceptions import FileFormatError, UnsupportedModelError

HIST = {
    "number": (HistGradientBoostingRegressor, {}),
    "regularised": (HistGradientBoostingRegressor, {"l2_regularization": 5.0}),
    "poisson": (HistGradientBoostingRegressor, {"loss": "poisson"}),
    "two": (HistGradientBoostingClassifier, {}),
    "balanced": (HistGradientBoostingClassifier, {"class_weight": "balanced"}),
    "three": (HistGradientBoostingClassifier, {}),
}


def hist_target(name):
    y = numbers(category=False)[1]
    kind = name if name in ("two", "three") else "two" if name == "balanced" else "number"
    return np.abs(y) if name == "poisson" else targets(y)[kind]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", HIST)
def test_hist_gradient_boosting(name, weighted):
    kind, settings = HIST[name]
    X, _ = numbers(category=False)
    y = hist_target(name)
    weight = np.random.default_rng(2).random(N_ROWS) + 0.5 if weighted else None
    model = kind(max_iter=15, random_state=0, **settings).fit(X, y, sample_weight=weight)
    Z = strange_rows(X, as_forest(model))
    # There is no public raw prediction of regressors with a link, and no leaf of any.
    assert_same_predictions(model, Z, model._raw_predict(Z))
    forest = with_gradients(model, X, y, sample_weight=weight)
    gains = np.zeros(5)
    for tree in (tree for stage in model._predictors for tree in stage):
        nodes = tree.nodes[tree.nodes["is_leaf"] == 0]
        np.add.at(gains, nodes["feature_idx"], nodes["gain"])
    np.testing.assert_allclose(total_gain(forest), gains, rtol=1e-9)


def mixed_frame(seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "b": rng.choice(list("pqrst"), N_ROWS).astype(object),
            "c": rng.integers(0, 3, N_ROWS) * 1.0,
            "d": rng.random(N_ROWS) > 0.5,
        }
    )
    table.loc[::7, "a"] = np.nan
    table.loc[::11, "b"] = None
    y = table.a.fillna(0) + (table.b == "p") + 0.3 * rng.normal(size=N_ROWS)
    return table, y.to_numpy()


def test_hist_gradient_boosting_categories():
    table, y = mixed_frame()
    table["b"] = table["b"].astype("category")
    table["e"] = pd.Categorical((np.arange(N_ROWS) % 5) + 10)
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype")
    model.fit(table, y)
    other = table.copy()
    rng = np.random.default_rng(1)
    other["b"] = pd.Categorical(rng.choice(list("zpqx"), N_ROWS))
    other["e"] = pd.Categorical(rng.integers(8, 14, N_ROWS))
    other.loc[::5, "e"] = None
    for rows in (table, other):
        assert_same_predictions(model, rows, model.predict(rows))
    forest = with_gradients(model, table, y)
    assert forest.unit == "loss"


def test_hist_gradient_boosting_refusals(monkeypatch):
    X, y = numbers(category=False)
    with pytest.raises(NotFittedError):
        as_forest(HistGradientBoostingRegressor())
    kind = HistGradientBoostingRegressor
    for settings, reason in (
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, "monotone"),
        ({"early_stopping": True}, "sets rows aside"),
        ({"loss": "absolute_error"}, "objective"),
    ):
        with pytest.raises(UnsupportedModelError, match=reason):
            with_gradients(kind(max_iter=3, **settings).fit(X, y), X, y)
    model = kind(max_iter=2).fit(X, y)
    monkeypatch.delattr(model, "_predictors")
    with pytest.raises(UnsupportedModelError, match="no public way"):
        as_forest(model)


def test_gradients_are_for_boosting_that_needs_them():
    X, y = numbers(category=False)
    X, label = np.nan_to_num(X), targets(y)["two"]
    model = GradientBoostingClassifier(n_estimators=3).fit(X, label)
    with pytest.raises(UnsupportedModelError, match="store impurities"):
        with_gradients(model, X, label)


def test_stored_variance_of_gradient_boosting_is_twice_its_loss():
    # Variance = mean square − G²/(H n) with H = n: what a step takes is the same number.
    X, y = numbers(category=False)
    X, label = np.nan_to_num(X), targets(y)["two"].astype(float)
    model = GradientBoostingRegressor(n_estimators=5).fit(X, label)
    forest = as_forest(model)
    residual = label - model.init_.predict(X).ravel()
    for stage in range(5):
        tree = model.estimators_[stage, 0]
        first, end = forest.tree_offset[stage : stage + 2]
        path = tree.decision_path(X.astype(np.float32))
        count = np.asarray(path.sum(axis=0)).ravel()
        gradient = path.T @ residual
        square = path.T @ residual**2
        expected = square / count - gradient**2 / count**2
        np.testing.assert_allclose(forest.impurity[first:end], expected, atol=1e-10)
        residual = residual - 0.1 * tree.predict(X)


@pytest.mark.parametrize("kind", ["number", "two", "three"])
def test_gradient_boosting(kind):
    X, y = numbers(category=False)
    X, label = np.nan_to_num(X), targets(y)[kind]
    number = kind == "number"
    model = (GradientBoostingRegressor if number else GradientBoostingClassifier)(n_estimators=5)
    model.fit(X, label)
    trees = [tree.tree_ for tree in model.estimators_.ravel()]
    expected = sum(tree.compute_feature_importances(normalize=False) for tree in trees)
    np.testing.assert_allclose(total_gain(as_forest(model)), expected * N_ROWS, rtol=1e-9)
    theirs = model.predict(X) if number else model.decision_function(X)
    assert_same_predictions(model, X, theirs, atol=1e-12)


@pytest.mark.parametrize(
    ("init", "loss"),
    [
        ("zero", "log_loss"),
        (DummyClassifier(strategy="uniform"), "log_loss"),
        (None, "exponential"),
    ],
    ids=str,
)
def test_where_gradient_boosting_starts(init, loss):
    X, y = numbers(category=False)
    X, label = np.nan_to_num(X), targets(y)["two"]
    model = GradientBoostingClassifier(n_estimators=3, init=init, loss=loss).fit(X, label)
    score = model.decision_function(X)
    assert_same_predictions(model, X, score, atol=1e-6)
    np.testing.assert_allclose(Explainer(as_forest(model)).predict(X), score, atol=1e-6)


def test_gradient_boosting_that_starts_from_a_model(tmp_path):
    X, y = numbers(category=False)
    X = np.nan_to_num(X)
    drawn = GradientBoostingClassifier(n_estimators=1, init=DummyClassifier(strategy="stratified"))
    assert np.isnan(as_forest(drawn.fit(X, targets(y)["two"])).base_value).all()
    model = GradientBoostingRegressor(n_estimators=3, init=DecisionTreeRegressor(max_depth=2))
    forest = as_forest(model.fit(X, y))
    assert np.isnan(forest.base_value).all()
    with pytest.raises(UnsupportedModelError, match="starts from another model"):
        Explainer(forest).predict(X)
    assert saabas(model, X).shape == (N_ROWS, 5, 1)
    forest.save(tmp_path / "forest.lmdi")
    assert load_forest(tmp_path / "forest.lmdi") == forest


def test_ensembles_of_gradient_boosting():
    X, y = numbers(category=False)
    X = np.nan_to_num(X)
    member = GradientBoostingRegressor(n_estimators=3, max_depth=2)
    for model in (
        BaggingRegressor(member, n_estimators=2, random_state=0).fit(X, y),
        VotingRegressor([("a", member), ("b", member)], weights=[1, 3]).fit(X, y),
        MultiOutputRegressor(member).fit(X, np.stack([y, -2 * y], axis=1)),
    ):
        prediction = Explainer(as_forest(model)).predict(X)
        np.testing.assert_allclose(prediction, model.predict(X), atol=1e-12)


CATBOOST = {
    "symmetric": ({}, "number"),
    "depthwise": ({"grow_policy": "Depthwise"}, "number"),
    "lossguide": ({"grow_policy": "Lossguide"}, "two"),
    "three": ({"loss_function": "MultiClass"}, "three"),
    "three, depthwise": ({"loss_function": "MultiClass", "grow_policy": "Depthwise"}, "three"),
    "NaN last": ({"nan_mode": "Max"}, "number"),
    "two": ({"loss_function": "Logloss"}, "two"),
    "ranking": ({"loss_function": "YetiRank"}, "two"),
    "monotone": ({"monotone_constraints": [1, 0, 0, 0, 0]}, "number"),
}


def catboost_model(settings, X, y, **data):
    quiet = {"iterations": 20, "depth": 4, "verbose": 0, "allow_writing_files": False}
    return cb.CatBoost(quiet | {"thread_count": 1} | settings).fit(cb.Pool(X, y, **data))


@pytest.mark.parametrize("name", CATBOOST)
def test_catboost(name, tmp_path):
    settings, kind = CATBOOST[name]
    X, y = numbers(category=False)
    group = {"group_id": np.arange(N_ROWS) // 100} if name == "ranking" else {}
    model = catboost_model(settings, X, targets(y)[kind], **group)
    forest = as_forest(model)
    if kind == "three":
        np.testing.assert_array_equal(forest.classes[0], model.classes_)
    Z = strange_rows(X, forest)
    assert_same_leaves(forest, Z, model.calc_leaf_indexes(Z))
    theirs = model.predict(Z, prediction_type="RawFormulaVal")
    assert_same_predictions(model, Z, theirs, atol=1e-9)
    path = tmp_path / "model.cbm"
    model.save_model(str(path))
    assert load_model_file(path) == forest
    change = prediction_values_change(forest, X).mean(axis=0)
    if name != "ranking":
        # Ranking models measure another importance by default.
        theirs = model.get_feature_importance(type="PredictionValuesChange")
        np.testing.assert_allclose(100 * change / change.sum(), theirs, rtol=1e-9)


def test_catboost_categories(tmp_path):
    table, y = mixed_frame()
    table = table[["a", "b"]].assign(b=table["b"].fillna("none"))
    pool = cb.Pool(table, y, cat_features=["b"])
    quiet = {"iterations": 20, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 20}
    model = cb.CatBoost(quiet).fit(pool)
    with pytest.raises(UnsupportedModelError, match="pool=train_pool"):
        as_forest(model)
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json", pool=pool)
    forest = load_model_file(path)
    rows = table.assign(b=np.random.default_rng(0).choice(list("pqzy"), N_ROWS))
    assert_same_leaves(forest, rows, model.calc_leaf_indexes(rows))
    np.testing.assert_allclose(raw(forest, rows)[:, 0], model.predict(rows), atol=1e-9)


def test_catboost_categories_without_names():
    # No split asks for them, so that the model can be read; their column holds codes.
    table, _ = mixed_frame()
    table = table[["a", "b"]].assign(b=table["b"].fillna("none"))
    settings = {"iterations": 1, "depth": 1, "one_hot_max_size": 20}
    label = (table["a"] > 0).astype(float)
    forest = as_forest(catboost_model(settings, table, label, cat_features=["b"]))
    assert forest.feature_names == ("a", "b")
    assert forest.categories is None


def test_catboost_refusals(tmp_path):
    table, y = mixed_frame()
    table = table[["a", "b"]].assign(b=table["b"].fillna("none"))
    quiet = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 2}
    model = cb.CatBoost(quiet).fit(cb.Pool(table, y, cat_features=["b"]))
    with pytest.raises(UnsupportedModelError, match="CTR"):
        as_forest(model)
    with pytest.raises(NotFittedError):
        as_forest(cb.CatBoostRegressor())
    X, y = numbers(category=False)
    with pytest.raises(UnsupportedModelError, match="CatBoost draws"):
        with_gradients(catboost_model({}, X, y), X, y)
    path = tmp_path / "model.cbm"
    path.write_bytes(b"CBM1 and then nothing")
    with pytest.raises(FileFormatError, match="CatBoost cannot read"):
        load_model_file(path)
    path.write_text('{"features_info": {}}')
    with pytest.raises(FileFormatError, match="features"):
        read_catboost_json(path)


@pytest.mark.parametrize("kind", ["text", "embedding"])
def test_catboost_features_that_are_no_numbers(kind, tmp_path):
    rng = np.random.default_rng(0)
    words = rng.choice(["red green", "green blue", "blue"], N_ROWS)
    column = words if kind == "text" else list(rng.normal(size=(N_ROWS, 3)))
    table = pd.DataFrame({"a": rng.normal(size=N_ROWS), "b": column})
    label = (words == "blue").astype(int)
    model = catboost_model({"loss_function": "Logloss"}, table, label, **{f"{kind}_features": [1]})
    path = tmp_path / "model.cbm"
    model.save_model(str(path))
    for read in (lambda: as_forest(model), lambda: load_model_file(path)):
        with pytest.raises(UnsupportedModelError, match=f"{kind} features.*outside of the model"):
            read()


def test_catboost_early_stopping_as_predict_does(tmp_path):
    X, y = numbers(category=False)
    label = targets(y)["two"]
    model = cb.CatBoostClassifier(
        iterations=200, learning_rate=0.8, verbose=0, allow_writing_files=False
    )
    model.fit(X[:800], label[:800], eval_set=(X[800:], label[800:]), early_stopping_rounds=3)
    used = model.best_iteration_ + 1
    assert used < 200
    forest = as_forest(model)
    assert forest.n_trees == used
    assert_same_leaves(forest, X, model.calc_leaf_indexes(X))
    theirs = model.predict(X, prediction_type="RawFormulaVal")
    assert_same_predictions(model, X, theirs, atol=1e-9)


YDF = {
    "forest, votes": (ydf.RandomForestLearner, "two", {}),
    "forest, shares": (ydf.RandomForestLearner, "three", {"winner_take_all": False}),
    "forest, number": (ydf.RandomForestLearner, "number", {}),
    "forest, local imputation": (
        ydf.RandomForestLearner,
        "two",
        {"missing_value_policy": "RANDOM_LOCAL_IMPUTATION"},
    ),
    "forest, discretized": (
        ydf.RandomForestLearner,
        "two",
        {"discretize_numerical_columns": True},
    ),
    "forest, is missing": (ydf.RandomForestLearner, "two", {"allow_na_conditions": True}),
    "boosted, is missing, number": (
        ydf.GradientBoostedTreesLearner,
        "number",
        {"allow_na_conditions": True},
    ),
    "boosted, two": (ydf.GradientBoostedTreesLearner, "two", {}),
    "boosted, three": (ydf.GradientBoostedTreesLearner, "three", {}),
    "boosted, number": (ydf.GradientBoostedTreesLearner, "number", {}),
    "cart": (ydf.CartLearner, "two", {}),
}


def ydf_model(name):
    kind, target, settings = YDF[name]
    table, y = mixed_frame()
    task = ydf.Task.REGRESSION if target == "number" else ydf.Task.CLASSIFICATION
    size = {} if name == "cart" else {"num_trees": 10}
    features = list(table)
    learner = kind(label="y", task=task, features=features, **size, **settings)
    return learner.train(table.assign(y=targets(y)[target]), verbose=0), table


@pytest.mark.parametrize("name", YDF)
def test_ydf(name, tmp_path):
    model, table = ydf_model(name)
    forest = as_forest(model)
    rng = np.random.default_rng(1)
    rows = table.copy()
    rows.loc[:300, "b"] = rng.choice(np.array(["p", "zz", "q", None], dtype=object), 301)
    rows.loc[:200, "a"] = rng.choice([np.nan, np.inf, -np.inf, 0.0], 201)
    cuts = forest.threshold[(forest.feature == 0) & np.isfinite(forest.threshold)]
    rows.loc[400:699, "a"] = rng.choice(cuts, 300)
    # ydf wants the column of the label, whatever it holds.
    label = "0" if "number" not in name else 0.0
    assert_same_leaves(forest, rows, model.predict_leaves(rows.assign(y=label)))
    score, theirs = raw(forest, rows), model.predict(rows)
    if name.startswith("boosted") and not name.endswith("number"):
        odds = (
            np.exp(score)
            if score.shape[1] > 1
            else np.column_stack([np.exp(-score), np.ones(len(score))])
        )
        score = odds / odds.sum(axis=1, keepdims=True)
    if theirs.ndim == 1:
        score = score[:, -1]
    np.testing.assert_allclose(score, theirs, atol=2e-6)
    # Its sum of scores is our global importance, in nats where it is an entropy.
    expected = dict.fromkeys(table, 0.0)
    expected |= {feature: sum_ for sum_, feature in model.variable_importances()["SUM_SCORE"]}
    ours = total_gain(forest) * (np.log(2) if forest.unit == "bits" else 1.0)
    # ydf keeps the score of a split as float32.
    np.testing.assert_allclose(ours, [expected[f] for f in table], rtol=2e-6)
    if name in ("forest, votes", "forest, discretized", "boosted, three"):
        # ydf is started anew for every directory, which takes seconds.
        model.save(str(tmp_path / "model"))
        assert load_model_file(tmp_path / "model") == forest


def test_ydf_refusals(tmp_path):
    table, y = mixed_frame()
    data = table[["a", "c"]].assign(e=y, y=targets(y)["two"])
    learner = ydf.RandomForestLearner(label="y", num_trees=3, split_axis="SPARSE_OBLIQUE")
    with pytest.raises(UnsupportedModelError, match="AXIS_ALIGNED"):
        as_forest(learner.train(data, verbose=0))
    words = [text.split() for text in np.where(data.y, "red green", "green blue")]
    sets = {"a": data.a.to_numpy(), "b": np.array(words, dtype=object), "y": data.y.to_numpy()}
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(n, 2)).astype(np.float32) + n for n in data.y + 1]
    for column, semantic in (
        (sets["b"], ydf.Semantic.CATEGORICAL_SET),
        (vectors, ydf.Semantic.NUMERICAL_VECTOR_SEQUENCE),
    ):
        learner = ydf.RandomForestLearner(
            label="y", num_trees=3, features=[("b", semantic)], min_vocab_frequency=1
        )
        with pytest.raises(UnsupportedModelError, match="without sets of categories or sequences"):
            as_forest(learner.train(sets | {"b": column}, verbose=0))
    isolation = ydf.IsolationForestLearner(num_trees=3).train(data[["a", "e"]], verbose=0)
    with pytest.raises(UnsupportedModelError, match="no target"):
        as_forest(isolation)
    with pytest.raises(FileFormatError, match="ydf cannot read"):
        load_model_file(tmp_path)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "hist", "catboost", "ydf"])
def test_statistics_of_rows(library):
    X, y = numbers(category=False)
    label = targets(y)["two"]
    if library == "hist":
        model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    elif library == "lightgbm":
        model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, num_threads=1).fit(X, y)
    elif library == "xgboost":
        model = xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, y)
    elif library == "catboost":
        model = catboost_model({}, X, y)
    else:
        table = pd.DataFrame(X, columns=list("abcde"))
        learner = ydf.GradientBoostedTreesLearner(label="y", task=ydf.Task.REGRESSION, num_trees=5)
        model, X = learner.train(table.assign(y=y), verbose=0), table
    forest = as_forest(model).with_statistics(X, label, criterion="entropy")
    result = local_mdi(forest, X)
    assert result.unit == "bits"
    np.testing.assert_allclose(result.values.mean(axis=0), global_mdi(forest).values, atol=1e-12)
