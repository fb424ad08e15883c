"""Saabas against treeinterpreter and against the predictions it decomposes."""

from __future__ import annotations

import numpy as np
import pytest
from catboost import CatBoostClassifier, Pool
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import DMatrix, XGBClassifier

import localmdi as lm
import oracles
from importance.models import X_CLASS, X_VALUE, Y_CLASS, Y_VALUE, trees_of
from localmdi.forest import ForestBuilder
from localmdi.report import write_report


@pytest.mark.parametrize(
    "kind", [DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier]
)
def test_equals_treeinterpreter(kind):
    treeinterpreter = pytest.importorskip("treeinterpreter.treeinterpreter")
    model = kind(random_state=0).fit(X_CLASS, Y_CLASS)
    prediction, bias, moves = treeinterpreter.predict(model, X_CLASS[:25])
    ours = lm.saabas(model, X_CLASS[:25])
    np.testing.assert_allclose(ours, moves, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bias + ours.sum(axis=1), prediction, atol=1e-12)


def test_sums_to_the_prediction_of_regressors():
    for model in (
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(8, random_state=0),
        BaggingRegressor(random_state=0, max_features=3),
    ):
        model.fit(X_VALUE, Y_VALUE)
        root = np.mean([tree.value[0, 0, 0] for tree in trees_of(model)])
        moves = lm.saabas(model, X_VALUE)
        assert moves.shape == (120, 6, 1)
        np.testing.assert_allclose(
            root + moves.sum(axis=(1, 2)), model.predict(X_VALUE), atol=1e-10
        )


def test_multi_output():
    y = np.stack([Y_VALUE, -2 * Y_VALUE], axis=1)
    model = RandomForestRegressor(5, random_state=0).fit(X_VALUE, y)
    moves = lm.saabas(model, X_VALUE)
    assert moves.shape == (120, 6, 2)
    root = np.mean([tree.value[0, :, 0] for tree in trees_of(model)], axis=0)
    np.testing.assert_allclose(root + moves.sum(axis=1), model.predict(X_VALUE), atol=1e-10)
    labels = np.stack([Y_CLASS, Y_CLASS % 2], axis=1)
    forest = ExtraTreesClassifier(5, random_state=0).fit(X_CLASS, labels)
    parts = lm.saabas(forest, X_CLASS)
    assert [part.shape for part in parts] == [(120, 6, 3), (120, 6, 2)]
    for output, (part, proba) in enumerate(zip(parts, forest.predict_proba(X_CLASS), strict=True)):
        k = proba.shape[1]
        root = np.mean([tree.value[0, output, :k] for tree in trees_of(forest)], axis=0)
        np.testing.assert_allclose(root + part.sum(axis=1), proba, atol=1e-12)


def test_boosting_decomposes_the_raw_score():
    model = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X_CLASS, Y_CLASS)
    moves = lm.saabas(model, X_CLASS)
    assert moves.shape == (120, 6, 3)
    raw = model.decision_function(X_CLASS)
    start = raw - moves.sum(axis=1)
    np.testing.assert_allclose(start, np.broadcast_to(start[0], start.shape), atol=1e-10)
    regressor = GradientBoostingRegressor(n_estimators=6, random_state=0).fit(X_VALUE, Y_VALUE)
    moves = lm.saabas(regressor, X_VALUE)
    start = regressor.predict(X_VALUE) - moves.sum(axis=(1, 2))
    # The trees are fitted to residuals: what is left is the mean of y, and the roots' zero means.
    np.testing.assert_allclose(start, Y_VALUE.mean(), atol=1e-8)


def cover_means(tree):
    """The mean of the leaves below every node of a scikit-learn tree, weighted by their rows."""
    mean, weight = tree.value[:, 0, 0].copy(), tree.weighted_n_node_samples
    for node in reversed(range(tree.node_count)):
        left, right = tree.children_left[node], tree.children_right[node]
        if left >= 0:
            both = weight[left] * mean[left] + weight[right] * mean[right]
            mean[node] = both / (weight[left] + weight[right])
    return mean


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_newton_step_is_shared_by_the_whole_path(loss, weighted):
    """Splits of gradient boosting hold mean residuals, leaves the steps that are added up."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 4)).astype(np.float32)
    y = X[:, 0] + 0.3 * rng.normal(size=400) > 0.8
    model = GradientBoostingClassifier(n_estimators=20, loss=loss, random_state=0)
    model.fit(X, y, sample_weight=rng.random(400) + 0.1 if weighted else None)
    expected, jumps = np.zeros(X.shape), np.zeros(X.shape)
    for (estimator,) in model.estimators_:
        tree = estimator.tree_
        for out, value in ((expected, cover_means(tree)), (jumps, tree.value[:, 0, 0])):
            for i, path in enumerate(tree.decision_path(X)):
                steps = model.learning_rate * np.diff(value[path.indices])
                np.add.at(out[i], tree.feature[path.indices[:-1]], steps)
    moves = lm.saabas(model, X)[:, :, 0]
    np.testing.assert_allclose(moves, expected, rtol=0, atol=1e-12)
    forest = lm.as_forest(model)
    is_leaf, value = forest.feature < 0, forest.value[:, 0]
    steps = np.concatenate([e.tree_.value[:, 0, 0] for e in model.estimators_.ravel()])
    np.testing.assert_array_equal(value[is_leaf], (model.learning_rate * steps)[is_leaf])
    raw = model.decision_function(X)
    np.testing.assert_allclose(lm.Explainer(forest).predict(X), raw, rtol=0, atol=1e-12)
    start = value[forest.tree_offset[:-1]].sum() + forest.base_value[0]
    np.testing.assert_allclose(start + moves.sum(axis=1), raw, rtol=0, atol=1e-12)
    # The jump from residuals to steps went to whatever a path splits last, noise for the most part.
    shares = [part / part.sum() for part in (abs(moves).sum(axis=0), abs(jumps).sum(axis=0))]
    assert shares[0][0] > shares[1][0] + 0.1


def test_boosters_that_say_what_their_splits_are_worth_are_not_believed():
    X = np.array([[0.0], [1.0]])
    builder = ForestBuilder(1)
    builder.add_tree([1, -1, -1], [2, -1, -1], feature=[0, -1, -1], threshold=[0.5, 0, 0],
                     value=[9.0, -1.0, 3.0], weight=[4, 3, 1])  # fmt: skip
    assert builder.build(aggregation="sum", boosted=True).value.ravel().tolist() == [0, -1, 3]
    assert builder.build().value.ravel().tolist() == [9, -1, 3]
    forest = builder.build(aggregation="sum", boosted=True)
    np.testing.assert_array_equal(lm.saabas(forest, X).ravel(), [-1, 3])


def stumps():
    """Boosters of stumps: with one split per tree Saabas' values are Shapley values."""
    yield "LightGBM", LGBMClassifier(n_estimators=8, num_leaves=2, verbose=-1)
    yield "XGBoost", XGBClassifier(n_estimators=8, max_depth=1)
    yield "CatBoost", CatBoostClassifier(8, depth=1, verbose=False, allow_writing_files=False)


@pytest.mark.parametrize(("name", "model"), list(stumps()))
def test_stumps_have_the_contributions_of_their_library(name, model):
    y = Y_CLASS > 0
    model.fit(X_CLASS, y)
    if name == "LightGBM":
        theirs = model.predict(X_CLASS, pred_contrib=True)
    elif name == "XGBoost":
        theirs = model.get_booster().predict(DMatrix(X_CLASS), pred_contribs=True)
    else:
        theirs = model.get_feature_importance(Pool(X_CLASS, y), type="ShapValues")
    np.testing.assert_allclose(lm.saabas(model, X_CLASS)[:, :, 0], theirs[:, :-1], atol=2e-6)
    forest = lm.as_forest(model)
    start = forest.value[forest.tree_offset[:-1]].sum()
    start += 0.0 if forest.base_value is None else forest.base_value[0]
    np.testing.assert_allclose(start, theirs[:, -1], atol=2e-6)


def test_equals_the_oracle_and_needs_values():
    model = DecisionTreeClassifier(random_state=0).fit(X_CLASS, Y_CLASS)
    expected = oracles.saabas(model.tree_, X_CLASS[:20])[:, :, 0]
    np.testing.assert_allclose(lm.saabas(model, X_CLASS[:20]), expected, atol=1e-14)
    with pytest.raises(lm.exceptions.MissingStatisticsError, match="value"):
        lm.saabas(lm.as_forest(model, values=False), X_CLASS)
    assert np.array_equal(
        lm.saabas(lm.as_forest(model), X_CLASS), lm.saabas(model, X_CLASS, n_jobs=2)
    )


class TestOneTarget:
    """``saabas(..., target=...)``: a result for the displays."""

    @staticmethod
    def classes():
        X, y = load_iris(return_X_y=True, as_frame=True)
        return X, np.array(["a", "b", "c"])[y]

    def test_is_the_part_of_a_class(self):
        X, y = self.classes()
        model = ExtraTreesClassifier(20, max_depth=3, random_state=0).fit(X, y)
        result = lm.saabas(model, X, target="b")
        np.testing.assert_array_equal(result.values, lm.saabas(model, X)[:, :, 1])
        np.testing.assert_allclose(result.prediction, model.predict_proba(X)[:, 1])
        assert (result.measure, result.unit, result.frame_type) == (
            "saabas",
            "prediction",
            "pandas",
        )
        assert result.feature_names == tuple(X)

    @pytest.mark.parametrize(("target", "sign"), [("a", -1), ("b", 1)])
    def test_two_classes_with_one_score(self, target, sign):
        X, y = self.classes()
        X, y = X[:100], y[:100]
        model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
        result = lm.saabas(model, X, target=target)
        np.testing.assert_allclose(result.prediction, sign * model.decision_function(X))
        np.testing.assert_array_equal(result.values, sign * lm.saabas(model, X)[:, :, 0])

    def test_a_score_for_each_class(self):
        X, y = self.classes()
        model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
        result = lm.saabas(model, X, target="c")
        np.testing.assert_allclose(result.prediction, model.decision_function(X)[:, 2])

    def test_a_target_of_a_regressor(self):
        X, _ = self.classes()
        model = RandomForestRegressor(10, random_state=0).fit(X, X.to_numpy()[:, :2])
        result = lm.saabas(model, X, target=1)
        np.testing.assert_allclose(result.prediction, model.predict(X)[:, 1])

    def test_a_start_that_is_not_known_has_no_prediction(self):
        X, y = load_iris(return_X_y=True)
        start = LinearRegression().fit(X, y)
        model = GradientBoostingRegressor(n_estimators=3, init=start).fit(X, y)
        assert lm.saabas(model, X, target=0).prediction is None

    def test_displays_and_files_take_it(self, tmp_path):
        X, y = self.classes()
        model = ExtraTreesClassifier(20, random_state=0).fit(X, y)
        result = lm.saabas(model, X, target="b")
        for display in (result.plot.beeswarm(), result.plot.bar()):
            assert display.ax_.get_xlabel() == "change of the prediction"
        assert result.plot.dependence("petal width (cm)").ax_.get_ylabel().startswith("change of")
        result.plot.waterfall(60)
        result.plot.heatmap()
        result.save(tmp_path / "moves.lmdi")
        loaded = lm.load_importance(tmp_path / "moves.lmdi")
        assert loaded.measure == "saabas"
        np.testing.assert_array_equal(loaded.values, result.values)

    def test_a_report_shows_both_instead(self, tmp_path):
        X, y = self.classes()
        model = ExtraTreesClassifier(5, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=r"Pass local_mdi\(model, X, direction=True\)"):
            write_report(lm.saabas(model, X, target="b"), tmp_path / "report.html")
        write_report(lm.local_mdi(model, X, direction=True), tmp_path / "report.html")

    def test_errors(self):
        X, y = self.classes()
        model = ExtraTreesClassifier(5, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=r"target must be one of \['a', 'b', 'c'\]; got 'd'"):
            lm.saabas(model, X, target="d")
        several = ExtraTreesClassifier(5, random_state=0).fit(X, np.column_stack([y, y]))
        with pytest.raises(lm.exceptions.UnsupportedModelError, match="this one has 2 targets"):
            lm.saabas(several, X, target="a")
