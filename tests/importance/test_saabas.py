"""Saabas against treeinterpreter and against the predictions it decomposes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import localmdi as lm
import oracles
from importance.models import X_CLASS, X_VALUE, Y_CLASS, Y_VALUE, trees_of


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


def test_equals_the_oracle_and_needs_values():
    model = DecisionTreeClassifier(random_state=0).fit(X_CLASS, Y_CLASS)
    expected = oracles.saabas(model.tree_, X_CLASS[:20])[:, :, 0]
    np.testing.assert_allclose(lm.saabas(model, X_CLASS[:20]), expected, atol=1e-14)
    with pytest.raises(lm.exceptions.MissingStatisticsError, match="value"):
        lm.saabas(lm.as_forest(model, values=False), X_CLASS)
    assert np.array_equal(
        lm.saabas(lm.as_forest(model), X_CLASS), lm.saabas(model, X_CLASS, n_jobs=2)
    )
