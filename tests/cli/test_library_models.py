"""Model files of LightGBM, XGBoost, CatBoost and ydf on the command line."""

import json
import re
from pathlib import Path

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
import ydf
from sklearn.ensemble import RandomForestRegressor

import localmdi as lm
from localmdi.adapters import load_model_file

FEATURES = ["age", "city", "dose"]
N_ROWS = 300


@pytest.fixture
def table(tmp_path):
    """A table with a category, gaps and two targets, as a frame and as a file."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, N_ROWS).round(1),
            "city": rng.choice(list("abc"), N_ROWS),
            "dose": rng.random(N_ROWS).round(3),
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame["sick"] = np.where((frame.age.fillna(50) > 50) ^ (frame.city == "a"), "yes", "no")
    frame["score"] = frame.age.fillna(50) + 10 * frame.dose
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return frame, path


def save_lightgbm(frame):
    X = frame[FEATURES].astype({"city": "category"})
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, num_threads=1).fit(X, frame["score"])
    model.booster_.save_model("model.txt")
    return "model.txt", model.predict(X)


def save_xgboost(frame, name="model.json"):
    X = frame[FEATURES].astype({"city": "category"})
    model = xgb.XGBRegressor(n_estimators=5, enable_categorical=True, nthread=1)
    model.fit(X, frame["score"]).save_model(name)
    return name, model.predict(X)


def save_catboost(frame):
    quiet = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    pool = cb.Pool(frame[FEATURES], frame["score"], cat_features=["city"])
    model = cb.CatBoostRegressor(one_hot_max_size=5, **quiet).fit(pool)
    model.save_model("model.json", format="json", pool=pool)
    return "model.json", model.predict(pool)


def save_cbm(frame):
    quiet = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    X = frame[["age", "dose"]]
    model = cb.CatBoostRegressor(**quiet).fit(X, frame["score"])
    model.save_model("model.cbm")
    return "model.cbm", model.predict(X)


def save_ydf(frame):
    learner = ydf.GradientBoostedTreesLearner(
        label="score", features=FEATURES, task=ydf.Task.REGRESSION, num_trees=5
    )
    model = learner.train(frame, verbose=0)
    model.save("model")
    return "model", model.predict(frame)


SAVE = {
    "LightGBM": save_lightgbm,
    "XGBoost JSON": save_xgboost,
    "XGBoost UBJSON": lambda frame: save_xgboost(frame, "model.ubj"),
    "CatBoost JSON": save_catboost,
    "CatBoost cbm": save_cbm,
    "ydf": save_ydf,
}


@pytest.mark.parametrize("library", SAVE)
def test_boosted_trees_measured_on_the_table(run, table, library):
    frame, path = table
    model, prediction = SAVE[library](frame)
    outcome = run("explain", path, "--model", model, "--target", "score", "-o", "out.parquet")
    assert outcome.code == 0, outcome.err
    assert "300 rows of 'table.csv' tell" in outcome.err
    assert "predictions are the sums of the trees" in outcome.err
    assert "plain: measured on rows of the table" in outcome.out
    # Nothing of the library's own among the lines.
    assert re.match(r".*: 300 rows, \d features; 5 trees\n\n", outcome.out)
    written = pd.read_parquet("out.parquet")
    forest = load_model_file(model)
    X = frame[list(forest.feature_names)]
    measured = forest.with_statistics(X, frame["score"], criterion="squared_error")
    expected = lm.local_mdi(measured, X)
    np.testing.assert_array_equal(written[list(expected.feature_names)], expected.values)
    np.testing.assert_allclose(written["_prediction"], prediction, rtol=1e-5)
    ranked = run("global", path, "--model", model, "--target", "score", "--json")
    document = json.loads(ranked.out)
    assert [one["importance"] for one in document["features"]] == pytest.approx(
        lm.global_mdi(measured).values
    )


def test_classes_in_bits(run, table):
    frame, path = table
    X = frame[FEATURES].astype({"city": "category"})
    model = lgb.LGBMClassifier(n_estimators=5, verbose=-1, num_threads=1).fit(X, frame["sick"])
    model.booster_.save_model("model.txt")
    arguments = ["explain", path, "--model", "model.txt", "--target", "sick", "--report", "r.html"]
    document = json.loads(run(*arguments, "--json").out)
    assert document["unit"] == "bits"
    assert document["additivity_error"] < 1e-12
    first = document["first_rows"][0]
    assert first["prediction"] == model.predict(X[:1])[0]
    assert first["sure"] == pytest.approx(model.predict_proba(X[:1]).max())


def test_what_the_file_stores(run, table):
    frame, path = table
    model, _ = save_xgboost(frame)
    document = json.loads(run("explain", path, "--model", model, "--json").out)
    assert document["unit"] == "loss"
    expected = lm.local_mdi(load_model_file(model), frame[FEATURES]).values.mean(axis=0)
    assert list(document["mean"].values()) == pytest.approx(expected)
    for more in (["--plain"], ["--no-predict"]):
        target = ["--target", "score"] if more == ["--plain"] else []
        again = run("explain", path, "--model", model, *target, *more, "--json")
        assert json.loads(again.out)["mean"] == document["mean"]
    document = json.loads(run("global", "--model", model, "--json").out)
    assert document["unit"] == "loss"


def test_a_target_is_needed(run, table):
    frame, path = table
    model, _ = save_lightgbm(frame)
    outcome = run("explain", path, "--model", model)
    assert (outcome.code, "Name the target with --target" in outcome.complaint) == (1, True)
    outcome = run("global", "--model", model)
    assert "localmdi global DATA --model FILE --target NAME" in outcome.complaint
    outcome = run("global", path, "--model", model)
    assert (outcome.code, "name its --target too" in outcome.complaint) == (2, True)
    forest = RandomForestRegressor(2).fit(frame[["dose"]], frame["score"])
    lm.as_forest(forest).save("forest.lmdi")
    outcome = run("global", path, "--model", "forest.lmdi", "--target", "score")
    assert (outcome.code, "Only boosted trees are measured" in outcome.complaint) == (2, True)


def test_unknown_categories_go_the_library_s_way(run, table, write):
    frame, _ = table
    model, _ = save_lightgbm(frame)
    other = frame.assign(city=np.where(frame.index % 2, "z", frame["city"]))
    other.to_csv("other.csv", index=False)
    outcome = run("explain", "other.csv", "--model", model, "--target", "score")
    assert "go where the model sends unknown ones at splits on them" in outcome.err


def test_directories_and_categories_without_names(run, table, tmp_path):
    frame, path = table
    (tmp_path / "empty").mkdir()
    outcome = run("explain", path, "--model", "empty")
    assert (outcome.code, "ydf cannot read" in outcome.complaint) == (1, True)
    quiet = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    pool = cb.Pool(frame[FEATURES], frame["score"], cat_features=["city"])
    cb.CatBoostRegressor(one_hot_max_size=5, **quiet).fit(pool).save_model("model.cbm")
    outcome = run("explain", path, "--model", "model.cbm")
    assert "format='json', pool=train_pool" in outcome.complaint


def test_a_directory_of_spark(run, tmp_path):
    """No Spark, no Java: the directory is a file like the others."""
    saved = Path(__file__).parents[1] / "data" / "spark" / "pipeline"
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((20, 4)), columns=["dose", "age", "city", "noise"])
    X["city"] = rng.integers(0, 3, 20)
    X.to_csv(tmp_path / "rows.csv", index=False)
    outcome = run("explain", "rows.csv", "--model", saved, "-o", "out.parquet")
    assert outcome.code == 0, outcome.err
    written = pd.read_parquet("out.parquet")
    expected = lm.local_mdi(load_model_file(saved), X)
    assert np.array_equal(written[list(X.columns)], expected.values)


def test_words_for_true_and_false(run, table, tmp_path):
    frame, _ = table
    frame = frame.assign(smoker=frame["dose"] > 0.5)
    path = tmp_path / "flags.csv"
    frame.to_csv(path, index=False)  # as True and False
    learner = ydf.GradientBoostedTreesLearner(
        label="score", features=["age", "smoker"], task=ydf.Task.REGRESSION, num_trees=5
    )
    learner.train(frame, verbose=0).save("model")
    outcome = run("explain", path, "--model", "model", "--target", "score", "-o", "out.parquet")
    assert outcome.code == 0, outcome.err
    forest = load_model_file("model")
    X = frame[list(forest.feature_names)]
    expected = lm.local_mdi(forest.with_statistics(X, frame["score"], criterion="variance"), X)
    written = pd.read_parquet("out.parquet")
    np.testing.assert_array_equal(written[list(expected.feature_names)], expected.values)


def classifier_file(library, X, target):
    """Save a classifier of codes, and return its file and the shares of the classes."""
    if library == "lightgbm":
        model = lgb.LGBMClassifier(n_estimators=8, verbose=-1, num_threads=1).fit(X, target)
        model.booster_.save_model("model.txt")
        return "model.txt", model.predict_proba(X)
    model = xgb.XGBClassifier(n_estimators=8, nthread=1).fit(X, target)
    model.save_model("model.json")
    return "model.json", model.predict_proba(X)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_files_of_classifiers_predict_classes(run, table, library, n_classes):
    """Scores were judged as if they were classes: accuracy 0.000."""
    frame, path = table
    frame["level"] = np.clip((frame["score"] - 40) // 12, 0, n_classes - 1).astype(int)
    X = frame[["age", "dose"]]
    file, shares = classifier_file(library, X, frame["level"])
    frame.to_csv(path, index=False)
    outcome = run("explain", path, "--model", file, "--target", "level", "--json")
    document = json.loads(outcome.out)
    accuracy = (shares.argmax(axis=1) == frame["level"]).mean()
    assert document["quality"]["accuracy"] == pytest.approx(accuracy)
    assert accuracy > 0.8
    first = document["first_rows"][0]
    assert first["prediction"] == shares[0].argmax()
    assert set(first["direction"]) == {"age", "dose"}
    if n_classes == 2:
        truth = np.eye(2)[frame["level"]]
        brier = ((shares - truth) ** 2).sum(axis=1).mean()
        assert document["quality"]["brier"] == pytest.approx(brier, rel=1e-4)
        assert first["sure"] == pytest.approx(shares[0].max(), rel=1e-5)
        assert any("above 0 the prediction is '1'" in note for note in document["notes"])
    else:
        assert any("a score for each class" in note for note in document["notes"])
