"""A real forest beside the infinite one, from the model itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor

import localmdi as lm
from localmdi.datasets import make_led

X, Y = make_led()


def grow(max_features, n_trees=2000):
    model = ExtraTreesClassifier(
        n_trees, criterion="entropy", max_features=max_features, random_state=0
    )
    return model.fit(X, Y)


def test_totally_randomized_trees_are_close_and_best_of_all_is_not():
    # Binary features and no bootstrap: the limit of these trees is the infinite forest.
    close, far = lm.forest_gap(grow(1), X, Y), lm.forest_gap(grow(7), X, Y)
    assert np.abs(close.features).max() < 0.02
    assert close.rows.max() < 0.1
    exact = lm.theory.Distribution.from_samples(X, Y)
    expected = lm.theory.population_mdi(exact, 7) - lm.theory.population_mdi(exact, 1)
    np.testing.assert_allclose(far.features, expected, atol=0.02)
    assert far.rows.max() > 2 * close.rows.max()


def test_the_unit_must_be_one_that_the_infinite_forest_has():
    model = RandomForestRegressor(3, criterion="absolute_error", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="importances must be in one of"):
        lm.forest_gap(model, X, Y)
