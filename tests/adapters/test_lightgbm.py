"""LightGBM: every row in the library's own leaf, its raw prediction, its gains."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
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
)
from localmdi import as_forest, global_mdi, local_mdi, with_gradients
from localmdi.adapters.lightgbm import read_lightgbm_text
from localmdi.exceptions import FileFormatError, MissingStatisticsError, UnsupportedModelError
from localmdi.forest import ColumnRule

QUIET = {"verbose": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1.0}
CASES = {
    "plain": ({}, "number"),
    "zero as missing": ({"zero_as_missing": True}, "number"),
    "no missing": ({"use_missing": False}, "number"),
    "dart": ({"boosting": "dart"}, "two"),
    "goss": ({"data_sample_strategy": "goss"}, "number"),
    "bagging": ({"bagging_freq": 1, "bagging_fraction": 0.5}, "two"),
    "monotone": ({"monotone_constraints": [1, 0, 0, 0, 0]}, "number"),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, "three"),
    "one versus all": ({"objective": "multiclassova", "num_class": 3}, "three"),
    "poisson": ({"objective": "poisson"}, "two"),
    "extra trees, deep": (
        {"extra_trees": True, "num_leaves": 200, "min_data_in_leaf": 2},
        "number",
    ),
}


def train(settings, kind, *, rounds=20, **data):
    X, y = numbers()
    label = targets(y)[kind]
    default = {"number": "regression", "two": "binary", "three": "multiclass"}[kind]
    dataset = lgb.Dataset(X, label, categorical_feature=[3], **data)
    return lgb.train(
        {"objective": default, "num_class": 3 if kind == "three" else 1} | QUIET | settings,
        dataset,
        rounds,
    ), X


@pytest.mark.parametrize("name", CASES)
def test_leaves_and_predictions(name):
    booster, X = train(*CASES[name])
    forest = as_forest(booster)
    Z = strange_rows(X, forest)
    assert_same_leaves(forest, Z, booster.predict(Z, pred_leaf=True))
    assert_same_predictions(booster, Z, booster.predict(Z, raw_score=True))


@pytest.mark.parametrize("kind", ["number", "three"])
def test_random_forest_mode_is_a_mean(kind):
    settings = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    booster, X = train(settings, kind)
    forest = as_forest(booster)
    assert (forest.aggregation, forest.boosted) == ("mean", False)
    Z = strange_rows(X, forest)
    assert_same_leaves(forest, Z, booster.predict(Z, pred_leaf=True))
    # The raw score of this mode is the sum.
    assert_same_predictions(booster, Z, booster.predict(Z, raw_score=True) / 20)


def test_ranking():
    X, y = numbers()
    ranker = lgb.LGBMRanker(n_estimators=10, verbose=-1)
    ranker.fit(X, np.clip(np.round(y), 0, 3).astype(int), group=[100] * (N_ROWS // 100))
    Z = strange_rows(X, as_forest(ranker))
    assert_same_leaves(as_forest(ranker), Z, ranker.predict(Z, pred_leaf=True))
    assert_same_predictions(ranker, Z, ranker.predict(Z))


def test_early_stopping_as_predict_does():
    X, y = numbers()
    label = targets(y)["two"]
    model = lgb.LGBMClassifier(n_estimators=200, learning_rate=0.5, verbose=-1)
    stop = lgb.early_stopping(3, verbose=False)
    model.fit(X[:800], label[:800], eval_X=X[800:], eval_y=label[800:], callbacks=[stop])
    assert 0 < model.best_iteration_ < 200
    assert as_forest(model).n_trees == model.best_iteration_
    assert_same_predictions(model, X, model.predict(X, raw_score=True))


def test_weights_and_initial_scores():
    rng = np.random.default_rng(3)
    booster, X = train({}, "two", weight=rng.random(N_ROWS), init_score=rng.normal(size=N_ROWS))
    assert_same_predictions(booster, X, booster.predict(X, raw_score=True))


def frame(seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "b": pd.Categorical(rng.choice(list("pqrst"), N_ROWS)),
            "d": pd.Categorical(rng.integers(3, 9, N_ROWS)),
        }
    )
    table.loc[::11, "b"] = None
    return table, table.a + (table.b == "p") - (table.d == 5).astype(float)


def test_pandas_categories_are_mapped_by_value():
    table, y = frame()
    model = lgb.LGBMRegressor(n_estimators=30, **QUIET).fit(table, y)
    rng = np.random.default_rng(5)
    other = table.copy()
    other["b"] = pd.Categorical(rng.choice(list("zqpts"), N_ROWS))
    other["d"] = pd.Categorical(rng.integers(3, 12, N_ROWS))
    other.loc[::7, "d"] = None
    for rows in (table, other):
        assert_same_leaves(as_forest(model), rows, model.predict(rows, pred_leaf=True))
        assert_same_predictions(model, rows, model.predict(rows))


def test_an_array_holds_codes_of_text_categories():
    table, y = frame()
    table = table[["a", "b"]]
    model = lgb.LGBMRegressor(n_estimators=10, **QUIET).fit(table, y)
    codes = np.column_stack([table.a, table.b.cat.codes.replace(-1, np.nan)])
    np.testing.assert_array_equal(raw(as_forest(model), codes), raw(as_forest(model), table))
    assert_same_predictions(model, codes, model.booster_.predict(codes))


def test_ordered_categories_cannot_be_told():
    table, y = frame()
    table["d"] = table["d"].cat.as_ordered()
    model = lgb.LGBMRegressor(n_estimators=3, **QUIET).fit(table, y)
    with pytest.raises(UnsupportedModelError, match="which are which"):
        as_forest(model)


def test_the_file(tmp_path):
    booster, _ = train({}, "three")
    path = tmp_path / "model.txt"
    booster.save_model(str(path))
    assert read_lightgbm_text(path) == as_forest(booster)


def test_names_classes_and_rules():
    X, y = numbers()
    model = lgb.LGBMClassifier(n_estimators=5, verbose=-1, zero_as_missing=True)
    model.fit(
        pd.DataFrame(X, columns=list("abcde")), np.array(["u", "v", "w"])[targets(y)["three"]]
    )
    forest = as_forest(model)
    assert forest.feature_names == tuple("abcde")
    assert forest.classes[0].tolist() == ["u", "v", "w"]
    assert set(forest.column_rule.tolist()) == {ColumnRule.ZERO_IS_MISSING}
    assert as_forest(train({}, "number")[0]).feature_names is None


def test_x_is_not_changed():
    booster, X = train({"zero_as_missing": True}, "number")
    Z = np.zeros_like(X)
    local_mdi(as_forest(booster).with_statistics(Z, X[:, 4], criterion="variance"), Z)
    assert (Z == 0).all()


def test_refusals():
    X, y = numbers()
    linear = lgb.LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="linear_tree=False"):
        as_forest(linear)
    with pytest.raises(NotFittedError):
        as_forest(lgb.LGBMRegressor())
    with pytest.raises(MissingStatisticsError, match="with_gradients"):
        global_mdi(train({}, "number")[0])


GAINS = {
    "number": ({}, "number"),
    "regularised": ({"reg_lambda": 5.0, "reg_alpha": 0.1}, "number"),
    "two": ({}, "two"),
    "two, unbalanced": ({"scale_pos_weight": 3.0}, "two"),
    "two, is_unbalance": ({"is_unbalance": True}, "two"),
    "class_weight": ({"class_weight": "balanced"}, "two"),
    "three": ({}, "three"),
    "no start": ({"boost_from_average": False}, "two"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GAINS)
def test_gains(name, weighted):
    settings, kind = GAINS[name]
    X, y = numbers(category=False)
    weight = np.random.default_rng(2).random(N_ROWS) + 0.5 if weighted else None
    model = (lgb.LGBMRegressor if kind == "number" else lgb.LGBMClassifier)(
        n_estimators=20, verbose=-1, num_threads=1, **settings
    )
    label = targets(y)[kind]
    model.fit(X, label, sample_weight=weight)
    forest = with_gradients(model, X, label, sample_weight=weight)
    assert forest.unit == "loss"
    expected = model.booster_.feature_importance("gain")
    np.testing.assert_allclose(total_gain(forest), expected, rtol=1e-6)
    # The mean over the training rows is the global importance.
    local = local_mdi(forest, X).values
    share = forest.weight[0] if weighted else N_ROWS
    rows = np.ones(N_ROWS) if weight is None else weight
    if "class_weight" not in settings:
        np.testing.assert_allclose(rows @ local / share, global_mdi(forest).values, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"boosting": "dart"}, "drops trees"),
        ({"data_sample_strategy": "goss"}, "GOSS"),
        ({"bagging_freq": 1, "bagging_fraction": 0.5}, "bagging grows"),
        ({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}, "rf mode"),
        ({"max_delta_step": 0.1}, "max_delta_step"),
        ({"monotone_constraints": [1, 0, 0, 0, 0]}, "monotone"),
        ({"path_smooth": 1.0}, "path_smooth"),
        ({"objective": "huber"}, "objective"),
        ({"max_cat_to_onehot": 1, "cat_l2": 50.0}, "do not make tree"),
    ],
    ids=str,
)
def test_gradients_that_cannot_be_rebuilt(settings, reason):
    booster, X = train(settings, "number")
    with pytest.raises(UnsupportedModelError, match=reason):
        with_gradients(booster, X, numbers()[1])


@pytest.mark.parametrize("learning_rate", [0.1, 1e-3])
def test_other_rows_are_noticed(learning_rate):
    X, y = numbers(category=False)
    model = lgb.LGBMRegressor(
        n_estimators=5, verbose=-1, num_threads=1, learning_rate=learning_rate
    ).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="not what fit got"):
        with_gradients(model, X[::-1], y)
    with pytest.raises(UnsupportedModelError, match="the values of its leaves"):
        with_gradients(model, X, np.roll(y, 1))
    with pytest.raises(UnsupportedModelError, match="numbers of rows"):
        with_gradients(model, X[:-1], y[:-1])


def test_rows_given_twice_are_noticed():
    # They ask for the same steps: only the numbers of rows tell.
    X, y = numbers(category=False)
    model = lgb.LGBMRegressor(n_estimators=2, num_leaves=2, verbose=-1, num_threads=1).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="numbers of rows"):
        with_gradients(model, np.tile(X, (2, 1)), np.tile(y, 2))


def test_gradients_of_a_tree_without_splits():
    # Older versions of LightGBM count no rows there.
    X, y = numbers(category=False)
    model = lgb.LGBMRegressor(n_estimators=1, min_child_samples=len(X), verbose=-1).fit(X, y)
    text = model.booster_.model_to_string()
    uncounted = text.replace(f"leaf_count={len(X)}", "leaf_count=0")
    assert uncounted != text
    forest = with_gradients(lgb.Booster(model_str=uncounted), X, y)
    assert (forest.n_nodes, forest.weight.tolist()) == (1, [len(X)])


def test_other_classes_are_noticed():
    X, y = numbers(category=False)
    label = targets(y)["two"]
    model = lgb.LGBMClassifier(n_estimators=2, verbose=-1, num_threads=1).fit(X, label)
    with pytest.raises(ValueError, match="y must have two classes; got 1"):
        with_gradients(model, X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="classes 0 to 1"):
        with_gradients(model.booster_, X, 2 * label)


def test_statistics_of_rows():
    booster, X = train({}, "two")
    forest = as_forest(booster).with_statistics(
        X, targets(numbers()[1])["two"], criterion="entropy"
    )
    result = local_mdi(forest, X)
    assert result.unit == "bits"
    np.testing.assert_allclose(result.values.mean(axis=0), global_mdi(forest).values, atol=1e-12)


BROKEN = {
    "another file": "hello",
    "no header": "tree\n",
    "no trees": None,
}


@pytest.mark.parametrize("name", BROKEN)
def test_other_files(name, tmp_path):
    booster, _ = train({}, "number", rounds=1)
    text = BROKEN[name]
    if text is None:
        text = booster.model_to_string().replace("num_leaves=31", "num_leaves=30")
    path = tmp_path / "model.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="not a LightGBM model"):
        read_lightgbm_text(path)
