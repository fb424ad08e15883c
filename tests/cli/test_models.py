"""Models from files: what is trusted, and how columns find their features."""

import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
import skops.io
from pyarrow import parquet
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import localmdi as lm


@pytest.fixture
def numbers(tmp_path):
    """A table of numbers with two targets, as a frame and as a file."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "up", "down")
    frame["z"] = frame["a"] - frame["c"]
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    return frame, path


def save(model, name="model.skops"):
    skops.io.dump(model, name)
    return name


def explained(run, path, model, *more):
    outcome = run("explain", path, "--model", model, "-o", "out.parquet", *more)
    assert outcome.code == 0, outcome.err
    return pd.read_parquet("out.parquet")


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, criterion="entropy", random_state=0),
        RandomForestRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=5, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
        make_pipeline(
            SelectFromModel(ExtraTreesClassifier(3, random_state=0), threshold=-1.0),
            RandomForestClassifier(5, random_state=0),
        ),
    ],
    ids=lambda model: type(model[-1] if hasattr(model, "steps") else model).__name__,
)
def test_scikit_learn_s_models(run, numbers, model):
    frame, path = numbers
    X = frame[["a", "b", "c"]]
    y = frame["z" if hasattr(model, "loss") or "Regressor" in str(model) else "y"]
    model.fit(X, y)
    written = explained(run, path, save(model))
    result = lm.local_mdi(model, X)
    np.testing.assert_array_equal(written[list(result.feature_names)], result.values)
    np.testing.assert_array_equal(written["_residual"], result.residual)
    prediction = written["_prediction"].to_numpy()
    if prediction.dtype.kind == "f":
        np.testing.assert_allclose(prediction, model.predict(X))
    else:
        assert prediction.tolist() == model.predict(X).tolist()


def test_columns_go_by_name(run, numbers, tmp_path):
    frame, path = numbers
    model = RandomForestClassifier(5, random_state=0).fit(frame[["a", "b", "c"]], frame["y"])
    save(model)
    usual = explained(run, path, "model.skops")
    frame[["c", "z", "y", "b", "a"]].to_csv("other.csv", index=False)
    outcome = run("explain", "other.csv", "--model", "model.skops", "-o", "out.parquet")
    assert "ignoring columns that the model does not know: 'z', 'y'" in outcome.err
    pd.testing.assert_frame_equal(pd.read_parquet("out.parquet"), usual)


def test_missing_columns(run, numbers):
    frame, _ = numbers
    save(RandomForestClassifier(2).fit(frame[["a", "b", "c"]], frame["y"]))
    frame[["a", "y"]].to_csv("few.csv", index=False)
    outcome = run("explain", "few.csv", "--model", "model.skops")
    assert outcome.code == 1
    assert "missing: 'b', 'c'" in outcome.complaint


def test_target_beside_a_model(run, numbers):
    frame, path = numbers
    save(RandomForestClassifier(2).fit(frame[["a", "b", "c"]], frame["y"]))
    outcome = run("explain", path, "--model", "model.skops", "--target", "y")
    assert f"Row 0, target {frame['y'][0]}, predicted" in outcome.out
    outcome = run("explain", path, "--model", "model.skops", "--target", "a")
    assert "must not be a feature of the model" in outcome.complaint
    outcome = run("explain", path, "--model", "model.skops", "--target", "nowhere")
    assert (outcome.code, "no column 'nowhere'" in outcome.complaint) == (2, True)


def test_a_model_without_names(run, numbers):
    frame, path = numbers
    X = frame[["a", "b", "c"]].to_numpy()
    model = RandomForestClassifier(3, random_state=0).fit(X, frame["y"])
    save(model)
    outcome = run("explain", path, "--model", "model.skops")
    assert (
        "has 3 features without names, so 'numbers.csv' must have as many columns; it has 5"
        in outcome.complaint
    )
    written = explained(run, path, "model.skops", "--target", "y", "--exclude", "z", "--plain")
    np.testing.assert_array_equal(written[["a", "b", "c"]], lm.local_mdi(model, X).values)


def test_cells_of_another_type(run, numbers, write):
    frame, _ = numbers
    save(RandomForestClassifier(2).fit(frame[["a", "b", "c"]], frame["y"]))
    path = write("texts.csv", "a,b,c\n1,2,3\n1,high,3\n")
    outcome = run("explain", path, "--model", "model.skops", "-o", "out.csv")
    assert outcome.code == 1
    assert "column 'b' must hold numbers; got 'high'" in outcome.complaint
    dates = pa.table({"a": [1.0], "b": pa.array([0]).cast(pa.timestamp("s")), "c": [1.0]})
    parquet.write_table(dates, "dates.parquet")
    outcome = run("explain", "dates.parquet", "--model", "model.skops")
    assert "column 'b' must hold numbers; its type is timestamp[ms]" in outcome.complaint


def test_missing_cells_that_the_model_cannot_route(run, write, pages):
    forest = lm.build_forest(
        n_features=2,
        feature_names=("a", "b"),
        tree_offset=[0, 3],
        feature=[1, -1, -1],
        split_kind=[1, 0, 0],
        threshold=[0.5, 0, 0],
        child_offset=[0, 2, 2, 2],
        child=[1, 2],
        impurity=[1.0, 0.0, 0.0],
        criterion="entropy",
    )
    forest.save("f.lmdi")
    path = write("gaps.csv", "a,b\n,2\n")
    outcome = run("explain", path, "--model", "f.lmdi", "--json", "--report", "r.html")
    assert json.loads(outcome.out)["mean"] == {"a": 0.0, "b": 1.0}
    # The forest has neither node weights nor values: no global importance, no prediction.
    assert (pages[0]["global_importance"], pages[0]["prediction"]) == (None, None)
    path = write("gaps.csv", "a,b\n1,\n")
    outcome = run("explain", path, "--model", "f.lmdi")
    assert outcome.code == 1
    assert "column 'b' must not be missing" in outcome.complaint


def test_saved_forest_with_categories(run, people):
    arguments = ["explain", people, "--target", "sick", "--trees", "8"]
    assert run(*arguments, "--save-model", "f.lmdi", "-o", "one.csv").code == 0
    assert run("explain", people, "--model", "f.lmdi", "-o", "two.csv").code == 0
    folder = people.parent
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    frame = pd.read_csv(people)
    frame.astype({"sex": "category", "city": "category"}).to_parquet("p.parquet")
    assert run("explain", "p.parquet", "--model", "f.lmdi", "-o", "three.csv").code == 0
    assert (folder / "one.csv").read_bytes() == (folder / "three.csv").read_bytes()


def test_unseen_categories(run, people, write):
    run("explain", people, "--target", "sick", "--trees", "8", "--save-model", "f.lmdi")
    path = write("new.csv", "sex,age,city\nd,31,Bern\nf,31,Paris\n,31,Paris\n")
    outcome = run("explain", path, "--model", "f.lmdi", "--json", "--show-rows", "3")
    document = json.loads(outcome.out)
    seen = "with categories that the model has never seen, such as"
    assert [note.partition(";")[0] for note in document["notes"]] == [
        f"column 'sex' has 2 cells {seen} 'd'",
        f"column 'city' has 2 cells {seen} 'Paris'",
    ]
    # The way ends where nothing is known of the value, so that uncertainty is left.
    assert all(row["residual"] > 0 for row in document["first_rows"])


def test_categories_of_other_types(run, tmp_path):
    frame = pd.DataFrame({"flag": [True, False, True, False], "code": [1, 2, 3, 3]})
    model = lm.RandomizedForestClassifier(5, categorical_features=[0, 1], random_state=0)
    model.fit(frame, [0, 1, 1, 1])
    model.forest_.save("f.lmdi")
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet")
    for path in ("a.csv", "a.parquet"):
        written = explained(run, path, "f.lmdi")
        np.testing.assert_array_equal(written[["flag", "code"]], model.local_importances_.values)
        assert written["_prediction"].tolist() == [0, 1, 1, 1]


def test_our_estimators_in_skops(run, numbers):
    frame, path = numbers
    X = frame[["a", "b", "c"]].to_numpy()
    model = lm.RandomizedForestRegressor(5, random_state=0).fit(X, frame["z"])
    written = explained(run, path, save(model), "--target", "y", "--exclude", "z")
    np.testing.assert_array_equal(written[["a", "b", "c"]], model.local_importances_.values)
    np.testing.assert_allclose(written["_prediction"], model.predict(X), rtol=1e-12)


@pytest.mark.skipif(
    sklearn.__version__.startswith("1.6."),
    reason="skops loses the columns of scikit-learn 1.6's remainder, a type that is refused",
)
def test_a_pipeline_with_texts(run, people):
    frame = pd.read_csv(people)
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["sex", "city"]), (SimpleImputer(), ["age"])
        ),
        RandomForestClassifier(5, random_state=0),
    )
    model.fit(frame[["sex", "age", "city"]], frame["sick"])
    written = explained(run, people, save(model))
    result = lm.local_mdi(model, frame[["sex", "age", "city"]])
    np.testing.assert_array_equal(written[list(result.feature_names)], result.values)


def test_our_estimators_in_pickles(run, people):
    frame = pd.read_csv(people)
    model = lm.RandomizedForestClassifier(5, random_state=0)
    model.fit(frame[["sex", "age", "city"]], frame["sick"])
    for saved in (model, make_pipeline("passthrough", model)):
        with open("model.pkl", "wb") as file:
            pickle.dump(saved, file)
        written = explained(run, people, "model.pkl", "--allow-pickle")
        names = ["sex", "age", "city"]
        np.testing.assert_array_equal(written[names], model.local_importances_.values)
        assert written["_prediction"].tolist() == frame["sick"].tolist()


def test_pickles_of_something_else(run, people):
    with open("model.pkl", "wb") as file:
        pickle.dump({"a": 1}, file)
    outcome = run("explain", people, "--model", "model.pkl", "--allow-pickle")
    assert outcome.code == 1
    assert "unexpected" not in outcome.complaint


def test_pickles_need_permission(run, numbers):
    frame, path = numbers
    model = RandomForestClassifier(3, random_state=0).fit(frame[["a", "b", "c"]], frame["y"])
    with open("model.pkl", "wb") as file:
        pickle.dump(model, file)
    outcome = run("explain", path, "--model", "model.pkl")
    assert outcome.code == 1
    assert "loading a pickle can run any code. Use --allow-pickle" in outcome.complaint
    written = explained(run, path, "model.pkl", "--allow-pickle")
    np.testing.assert_array_equal(
        written[["a", "b", "c"]], lm.local_mdi(model, frame[["a", "b", "c"]]).values
    )


class Touch:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return open, ("touched", "w")


def test_no_code_of_a_file_is_run(run, numbers, tmp_path):
    _, path = numbers
    for name in ("model.pkl", "model.skops", "model.lmdi"):
        with open(name, "wb") as file:
            pickle.dump(Touch(), file)
        outcome = run("explain", path, "--model", name)
        assert outcome.code == 1
        assert outcome.complaint
        assert not (tmp_path / "touched").exists()


def test_types_that_are_not_trusted(run, numbers):
    frame, path = numbers
    model = make_pipeline(RandomForestClassifier(2))
    model.fit(frame[["a", "b", "c"]], frame["y"])
    model.extra = Touch()
    outcome = run("explain", path, "--model", save(model))
    assert (
        "'model.skops' must hold only types that are known to be safe; it also holds"
        in outcome.complaint
    )


@pytest.mark.parametrize("inside", ["the model", "a step before it"])
def test_trees_that_point_out_of_bounds(run, numbers, inside):
    frame, path = numbers
    X, y = frame[["a", "b", "c"]], frame["y"]
    selector = SelectFromModel(ExtraTreesClassifier(2, random_state=0), threshold=-1.0)
    model = make_pipeline(selector, RandomForestClassifier(2, random_state=0)).fit(X, y)
    part = model[-1] if inside == "the model" else model[0].estimator_
    # The arrays are views of the tree's own memory.
    part.estimators_[1].tree_.children_left[0] = 10**6
    outcome = run("explain", path, "--model", save(model))
    assert outcome.code == 1
    assert "child" in outcome.complaint


@pytest.mark.parametrize("steps", [(), ("passthrough",), (StandardScaler(),)])
def test_a_forest_of_ours_that_points_out_of_bounds(run, numbers, steps):
    frame, path = numbers
    own = lm.RandomizedForestClassifier(2, random_state=0)
    model = make_pipeline(*steps, own) if steps else own
    model.fit(frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy(dtype=object))
    child = own.forest_.child.copy()
    child[0] = 10**6
    vars(own.forest_)["child"] = child
    outcome = run("explain", path, "--model", save(model), "--exclude", "y", "--exclude", "z")
    assert outcome.code == 1
    assert "child" in outcome.complaint


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m.skops", b"PK\x03\x04 no zip", "is not a model that skops can load"),
        ("m.lmdi", b"\x89LMDI\r\n\x1a and no more", "cannot read"),
        ("m.txt", b"x", "is neither a .skops file, a saved Forest nor a model that LightGBM"),
        ("m.json", b"{}", "not a XGBoost model that can be read: learner is missing"),
        ("m.joblib", b"no pickle", "is not a model that joblib can load"),
    ],
)
def test_files_that_are_no_model(run, people, write, name, content, said):
    outcome = run("explain", people, "--model", write(name, content), "--allow-pickle")
    assert outcome.code == 1
    assert said in outcome.complaint


def test_models_that_cannot_be_explained(run, numbers):
    frame, path = numbers
    save(LogisticRegression().fit(frame[["a", "b", "c"]], frame["y"]))
    outcome = run("explain", path, "--model", "model.skops")
    assert outcome.code == 1
    assert "LogisticRegression" in outcome.complaint


def test_no_rows_for_a_model(run, people, write):
    run("explain", people, "--target", "sick", "--trees", "3", "--save-model", "f.lmdi")
    outcome = run("explain", write("e.csv", "sex,age,city\n"), "--model", "f.lmdi", "-o", "o.csv")
    assert "has no rows, only column names" in outcome.complaint
    assert not people.with_name("o.csv").exists()
