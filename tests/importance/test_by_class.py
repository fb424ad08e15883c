"""Values by class add up to the value; the direction adds up to the prediction."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import localmdi as lm
from localmdi.plots import BarDisplay, WaterfallDisplay

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(10, criterion="entropy", random_state=0),
        RandomForestClassifier(10, criterion="log_loss", random_state=0),
        ExtraTreesClassifier(10, criterion="gini", max_depth=3, random_state=0),
        DecisionTreeClassifier(max_depth=2),
        BaggingClassifier(n_estimators=5, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
        RandomForestClassifier(10, class_weight="balanced", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classes_add_up(model):
    model.fit(X, NAMES)
    total = lm.local_mdi(model, X)
    parts = lm.local_mdi_by_class(model, X)
    assert parts.shape == (150, 4, 3)
    assert parts.classes == ("setosa", "versicolor", "virginica")
    assert np.allclose(parts.values.sum(axis=2), total.values, atol=1e-12)
    assert np.allclose(parts.residual.sum(axis=1), total.residual, atol=1e-12)
    assert parts.baseline.sum() == pytest.approx(total.baseline)
    for label in parts.classes:
        assert parts[label].additivity_error() < 1e-12
    assert np.allclose(parts.total().values, total.values, atol=1e-12)


def test_the_advice_for_boosted_trees_works():
    model = GradientBoostingClassifier(n_estimators=2).fit(X, Y)
    forest = lm.as_forest(model).with_statistics(X, Y, criterion="entropy")
    parts = lm.local_mdi_by_class(forest, X)
    total = lm.local_mdi(forest, X)
    assert np.allclose(parts.values.sum(axis=2), total.values, atol=1e-12)
    assert np.allclose(parts.residual.sum(axis=1), total.residual, atol=1e-12)


def test_a_part_is_that_of_its_class():
    """Of a single split, by hand: −p log2 p before and after."""
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=1, random_state=0).fit(X, NAMES)
    parts = lm.local_mdi_by_class(tree, X.iloc[[0, 149]])
    third, half = -np.log2(1 / 3) / 3, 0.5
    feature = int(tree.tree_.feature[0])
    assert parts.values[0, feature] == pytest.approx([third, third, third])
    assert parts.values[1, feature] == pytest.approx([third, third - half, third - half])


def test_frames_bars_and_words():
    parts = lm.local_mdi_by_class(RandomForestClassifier(5, random_state=0).fit(X, NAMES), X)
    frame = parts.to_frame()
    assert list(frame.columns) == ["row", "class", *X.columns]
    assert len(frame) == 450
    assert "3 classes" in repr(parts)
    display = BarDisplay.from_result(parts)
    assert display.labels == parts.classes
    with pytest.raises(KeyError, match="'setosa'"):
        parts["rose"]


def test_several_targets_have_a_part_each():
    both = np.c_[Y, X.iloc[:, 0] > 5.8].astype(int)
    model = RandomForestClassifier(5, random_state=0).fit(X, both)
    parts = lm.local_mdi_by_class(model, X)
    assert parts.classes == ("target 0", "target 1")
    assert np.allclose(parts.values.sum(axis=2), lm.local_mdi(model, X).values, atol=1e-12)


def test_what_has_no_classes():
    for model in (
        RandomForestRegressor(3).fit(X, Y),
        GradientBoostingClassifier(n_estimators=2).fit(X, Y),
    ):
        with pytest.raises(lm.exceptions.UnsupportedModelError, match="criterion"):
            lm.local_mdi_by_class(model, X)


def test_the_direction_adds_up_to_the_prediction():
    model = RandomForestClassifier(10, random_state=0).fit(X, NAMES)
    result = lm.local_mdi(model, X, direction=True)
    assert (result.prediction == model.predict(X)).all()
    roots = np.mean([tree.tree_.value[0, 0] for tree in model], axis=0)
    best = model.predict_proba(X).argmax(axis=1)
    share = model.predict_proba(X).max(axis=1)
    assert np.allclose(roots[best] + result.direction.sum(axis=1), share)
    numbers = RandomForestRegressor(10, random_state=0).fit(X, Y)
    moved = lm.local_mdi(numbers, X, direction=True)
    start = np.mean([tree.tree_.value[0, 0, 0] for tree in numbers])
    assert np.allclose(start + moved.direction.sum(axis=1), numbers.predict(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
def test_direction_in_frames_and_pictures(make, tmp_path):
    model = RandomForestClassifier(10, random_state=0).fit(X, NAMES)
    result = lm.local_mdi(model, make(X), direction=True)
    frame = result.to_frame(direction=True, extra=True)
    first = X.columns[0]
    assert np.allclose(frame[f"{first}_direction"], result.direction[:, 0])
    assert list(frame["_prediction"]) == list(model.predict(X))
    assert np.allclose(frame["_residual"], result.residual)
    display = WaterfallDisplay.from_result(result, row=0)
    numbers = [text.get_text() for text in display.ax_.texts]
    assert any(number.endswith("↑") for number in numbers)
    assert "towards the predicted class" in display.ax_.get_xlabel()
    some = result[3:5, [first]]
    assert some.direction.shape == (2, 1)
    assert list(some.prediction) == list(model.predict(X)[3:5])
    joined = lm.LocalImportance.concat([result[:2], result[2:4]])
    assert np.allclose(joined.direction, result.direction[:4])
    grouped = result.group({"all": list(X.columns)})
    assert np.allclose(grouped.direction[:, 0], result.direction.sum(axis=1))
    result[:, :2].save(tmp_path / "a.lmdi")
    assert np.allclose(lm.load_importance(tmp_path / "a.lmdi").direction, result.direction[:, :2])


def test_direction_must_be_known():
    model = RandomForestClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="direction=True"):
        lm.local_mdi(model, X).to_frame(direction=True)


def boosted_models():
    two = Y > 0
    yield "two classes", GradientBoostingClassifier(n_estimators=5).fit(X, NAMES[0] == NAMES)
    yield (
        "a pipeline",
        make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5)).fit(X, two),
    )
    yield "xgboost", XGBClassifier(n_estimators=5, max_depth=3).fit(X, two)
    yield "three classes", GradientBoostingClassifier(n_estimators=5).fit(X, NAMES)


@pytest.mark.parametrize(("name", "model"), list(boosted_models()))
def test_boosted_trees_push_towards_the_predicted_class(name, model):
    result = lm.local_mdi(model, X, direction=True)
    assert (result.prediction == model.predict(X)).all()
    moves = lm.saabas(model, X)
    classes = list(model.classes_)
    column = [classes.index(label) for label in result.prediction]
    if moves.shape[2] == 1:
        expected = moves[:, :, 0] * np.where(np.array(column) == 1, 1.0, -1.0)[:, None]
    else:
        expected = moves[np.arange(len(X)), :, column]
    assert np.allclose(result.direction, expected)
    # Most rows are pushed to where they end.
    assert (result.direction.sum(axis=1) > 0).mean() > 0.6
    display = WaterfallDisplay.from_result(result, row=0)
    assert "towards the predicted class" in display.ax_.get_xlabel()


def test_boosted_trees_with_gradients_keep_their_direction():
    rows = X.to_numpy()
    model = LGBMClassifier(n_estimators=5, verbose=-1).fit(rows, Y)
    result = lm.local_mdi(lm.with_gradients(model, rows, Y), rows, direction=True)
    moves = lm.saabas(model, rows)
    assert (result.prediction == model.predict(rows)).all()
    assert np.allclose(result.direction, moves[np.arange(len(X)), :, result.prediction])


def test_boosted_numbers_are_raised_and_lowered():
    model = GradientBoostingRegressor(n_estimators=5).fit(X, Y)
    result = lm.local_mdi(model, X, direction=True)
    assert np.allclose(result.prediction, model.predict(X))
    assert np.allclose(np.mean(Y) + result.direction.sum(axis=1), model.predict(X))
    display = WaterfallDisplay.from_result(result, row=0)
    assert "raised the prediction" in display.ax_.get_xlabel()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AdaBoostClassifier(n_estimators=2), "votes"),
        (GradientBoostingRegressor(n_estimators=2, init=Ridge()), "init="),
        (RandomForestRegressor(2), "one target"),
    ],
)
def test_models_without_a_direction_say_why(model, message):
    target = np.stack([Y, Y], axis=1) if message == "one target" else Y
    with pytest.raises(lm.exceptions.UnsupportedModelError, match=message) as error:
        lm.local_mdi(model.fit(X, target), X, direction=True)
    assert "saabas(model, X)" in str(error.value)
    lm.saabas(model, X)
