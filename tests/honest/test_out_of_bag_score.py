"""What the account leaves is scikit-learn's own out-of-bag score, on every kind of forest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import localmdi as lm
from honest.samples import out_of_bag, trees_of


def account(model, rows, y, **options):
    return lm.honest_mdi(model, rows, y, measure="loss", **options)


def forest_rows(n=150):
    rng = np.random.default_rng(3)
    rows = rng.random((n, 5))
    score = rows[:, 0] + rng.random(n)
    return rows, np.digitize(score, [0.7, 1.2]), 10 + score


ROWS, LABELS, SCORES = forest_rows()
NAMES = np.array(["cat", "dog", "eel"])
TWO = np.stack([LABELS > 1, LABELS > 0], axis=1).astype(int)
OUT = {"bootstrap": True, "oob_score": True, "random_state": 0}
CLASSIFIERS = {
    "random forest": RandomForestClassifier(60, **OUT),
    "random forest, names": (RandomForestClassifier(60, **OUT), NAMES[LABELS]),
    "random forest, two classes": (RandomForestClassifier(60, **OUT), LABELS > 0),
    "random forest, two targets": (RandomForestClassifier(60, **OUT), TWO),
    "entropy": RandomForestClassifier(60, criterion="entropy", **OUT),
    "log_loss": RandomForestClassifier(60, criterion="log_loss", **OUT),
    "max_samples": RandomForestClassifier(60, max_samples=0.3, **OUT),
    "leaves of ten": RandomForestClassifier(60, min_samples_leaf=10, **OUT),
    "class_weight": RandomForestClassifier(60, class_weight={0: 2, 1: 1, 2: 1}, **OUT),
    "balanced_subsample": RandomForestClassifier(60, class_weight="balanced_subsample", **OUT),
    "extra trees": ExtraTreesClassifier(60, **OUT),
    "bagging": BaggingClassifier(DecisionTreeClassifier(), 60, oob_score=True, random_state=0),
    "bagging of columns": BaggingClassifier(
        DecisionTreeClassifier(max_depth=4),
        60,
        max_features=0.6,
        max_samples=0.5,
        oob_score=True,
        random_state=0,
    ),
    "randomized": lm.RandomizedForestClassifier(60, **OUT),
}
REGRESSORS = {
    "random forest": RandomForestRegressor(60, **OUT),
    "two numbers": (RandomForestRegressor(60, **OUT), np.stack([SCORES, ROWS[:, 1]], axis=1)),
    "max_samples": RandomForestRegressor(60, max_samples=40, **OUT),
    "extra trees": ExtraTreesRegressor(60, **OUT),
    "bagging": BaggingRegressor(DecisionTreeRegressor(), 60, oob_score=True, random_state=0),
    "randomized": lm.RandomizedForestRegressor(60, **OUT),
}


def with_target(case, default):
    return case if isinstance(case, tuple) else (case, default)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_what_is_left_is_the_out_of_bag_score_of_a_classifier(kind):
    model, y = with_target(CLASSIFIERS[kind], LABELS)
    model.fit(ROWS, y)
    result = account(model, ROWS, y, loss="brier")
    said = model.oob_decision_function_
    said = said[:, :, None] if said.ndim == 2 else said
    outputs = np.asarray(y).reshape(len(y), -1)
    squares, right = [], []
    for o, output in enumerate(outputs.T):
        labels, code = np.unique(output, return_inverse=True)
        shares = said[:, : len(labels), o]
        squares.append(((shares - np.eye(len(labels))[code]) ** 2).sum(axis=1))
        right.append(shares.argmax(axis=1) == code)
    np.testing.assert_allclose(result.residual, np.mean(squares, axis=0), rtol=0, atol=1e-13)
    weight = np.ones(len(y)) if result.row_weight is None else result.row_weight
    figures = result.quality().figures
    expected = np.average(np.mean(right, axis=0), weights=weight)
    assert figures["accuracy"] == pytest.approx(expected, rel=1e-12)
    assert figures["brier"] == np.average(result.residual, weights=weight)
    if result.row_weight is None and outputs.shape[1] == 1:
        assert figures["accuracy"] == pytest.approx(model.oob_score_, rel=1e-12)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_what_is_left_is_the_out_of_bag_score_of_a_regressor(kind):
    model, y = with_target(REGRESSORS[kind], SCORES)
    model.fit(ROWS, y)
    result = account(model, ROWS, y)
    squares = ((model.oob_prediction_ - y) ** 2).reshape(len(y), -1)
    np.testing.assert_allclose(result.residual, squares.mean(axis=1), rtol=0, atol=1e-13)
    if y.ndim == 1:
        assert result.quality().figures["r2"] == pytest.approx(model.oob_score_, rel=1e-10)


def test_the_log_loss_is_that_of_a_prediction_with_half_a_tree_of_the_prior():
    model = RandomForestClassifier(40, criterion="entropy", **OUT).fit(ROWS, LABELS)
    result = account(model, ROWS, LABELS)
    held = out_of_bag(model, len(ROWS))
    n = held.sum(axis=0)
    prior = held.T @ np.array([tree.value[0, 0] for tree in trees_of(model)]) / n[:, None]
    said = (n[:, None] * model.oob_decision_function_ + prior / 2) / (n + 0.5)[:, None]
    expected = log_loss(LABELS, said) / np.log(2)
    assert result.residual.mean() == pytest.approx(expected, rel=1e-12)
    assert result.quality().figures["log_loss"] == pytest.approx(expected, rel=1e-12)
    # Leaves of one row are certain: without the prior some rows would surprise without bound.
    assert (model.oob_decision_function_[np.arange(150), LABELS] == 0).any()
    assert np.isfinite(result.residual).all()


def test_pipelines_and_frames():
    frame = pd.DataFrame(ROWS, columns=list("abcde"), index=range(100, 250))
    forest = RandomForestClassifier(50, **OUT)
    pipeline = make_pipeline(StandardScaler(), forest).fit(frame, LABELS)
    result = account(pipeline, frame, LABELS)
    squares = ((forest.oob_decision_function_ - np.eye(3)[LABELS]) ** 2).sum(axis=1)
    np.testing.assert_allclose(result.residual, squares, rtol=0, atol=1e-13)
    assert result.to_frame().index.tolist() == list(range(100, 250))
    assert result.feature_names == tuple("abcde")


def test_few_trees_leave_some_rows_without_a_value():
    # scikit-learn warns of the same rows.
    model = RandomForestClassifier(4, oob_score=True, bootstrap=True, random_state=0)
    with pytest.warns(UserWarning, match="OOB"):
        model.fit(ROWS, LABELS)
    never = out_of_bag(model, 150).sum(axis=0) == 0
    assert 3 < never.sum() < 60
    with pytest.warns(UserWarning, match=f"^{never.sum()} rows of 150"):
        result = account(model, ROWS, LABELS, standard_error=True)
    for part in (result.values, result.baseline, result.residual, result.standard_error):
        assert np.isnan(part[never]).all()
        assert not np.isnan(part[~never]).all()
    assert (result.row_weight == ~never).all()
    squares = ((model.oob_decision_function_ - np.eye(3)[LABELS]) ** 2).sum(axis=1)
    np.testing.assert_allclose(result.residual[~never], squares[~never], rtol=0, atol=1e-13)
    figures = result.quality().figures
    assert figures["brier"] == pytest.approx(squares[~never].mean(), rel=1e-12)
    mean = result.values[~never].mean(axis=0)
    np.testing.assert_allclose(result.mean().values, mean, rtol=1e-12)
    # One tree has no spread, and nothing says what others would have said.
    alone = out_of_bag(model, 150).sum(axis=0) == 1
    with (
        pytest.warns(UserWarning, match=f"^{alone.sum()} rows of 150"),
        pytest.warns(UserWarning, match=f"^{never.sum()} rows of 150"),
    ):
        many = account(model, ROWS, LABELS, many_trees=True)
    assert (np.isnan(many.residual) == (alone | never)).all()
    assert np.isnan(result.standard_error[alone]).all()
    assert not np.isnan(result.standard_error[~alone & ~never]).any()


def test_a_class_that_no_tree_knows():
    rng = np.random.default_rng(0)
    rows, y = rng.random((80, 3)), rng.integers(0, 2, 80)
    y[7] = 2
    model = RandomForestClassifier(100, criterion="entropy", random_state=0).fit(rows, y)
    with pytest.warns(UserWarning, match="1 row of 80"):
        result = account(model, rows, y)
    # Trees that have not seen the only one of its kind cannot expect it: the surprise is infinite.
    assert np.flatnonzero(np.isnan(result.residual)).tolist() == [7]
    assert np.isnan(result.values[7]).all()
    assert result.row_weight[7] == 0
    assert np.isfinite(result.mean().values).all()
    assert np.isfinite(list(result.quality().figures.values())).all()
    squares = account(model, rows, y, loss="brier")
    assert np.isfinite(squares.values).all()
    assert squares.residual[7] > 1


class TestQualityOfParts:
    """The figures of rows go where the rows go."""

    def result(self):
        return account(RandomForestClassifier(60, **OUT).fit(ROWS, LABELS), ROWS, LABELS)

    def test_slices_and_joined_parts(self):
        whole = self.result()
        parts = [whole[:50], whole[50:]]
        assert parts[0].quality().figures["brier"] == pytest.approx(parts[0].residual.mean())
        joined = lm.LocalImportance.concat(parts)
        assert joined.quality().figures == whole.quality().figures
        one = whole[:, ["x0"]]
        assert one.quality().figures == whole.quality().figures

    def test_files(self, tmp_path):
        whole = self.result()
        whole.save(tmp_path / "account.lmdi")
        again = lm.load_importance(tmp_path / "account.lmdi")
        assert again.quality().figures == whole.quality().figures
        np.testing.assert_array_equal(again.residual, whole.residual)
        assert again.measure == "loss"

    def test_results_without(self):
        model = RandomForestClassifier(60, **OUT).fit(ROWS, LABELS)
        for other in (
            lm.local_mdi(model, ROWS),
            lm.honest_mdi(model, ROWS, LABELS),
            account(model, ROWS, LABELS, at=ROWS[:5]),
        ):
            with pytest.raises(ValueError, match="measure='loss'"):
                other.quality()


def test_a_result_says_what_was_predicted():
    model = RandomForestRegressor(60, **OUT).fit(ROWS, SCORES + 1e6)
    result = lm.honest_mdi(model, ROWS, SCORES + 1e6, measure="loss")
    np.testing.assert_allclose(result.prediction, model.oob_prediction_, rtol=1e-12)
    np.testing.assert_allclose(result.scores["forecast"], model.oob_prediction_, rtol=1e-12)
    np.testing.assert_allclose(result.scores["outcome"], SCORES + 1e6, rtol=1e-12)
