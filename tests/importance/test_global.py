"""Global MDI against scikit-learn's own un-normalised importances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from importance.models import (
    CLASSIFIERS,
    REGRESSORS,
    X_CLASS,
    X_VALUE,
    Y_CLASS,
    Y_POSITIVE,
    trees_of,
)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS])
def test_equals_scikit_learn(name):
    if name in CLASSIFIERS:
        model = CLASSIFIERS[name].fit(X_CLASS, Y_CLASS)
    else:
        model = REGRESSORS[name].fit(X_VALUE, Y_POSITIVE)
    expected = oracles.global_mdi(trees_of(model))
    result = lm.global_mdi(model)
    scale = max(1.0, result.baseline)
    np.testing.assert_allclose(result.values / scale, expected / scale, rtol=0, atol=1e-12)
    assert result.normalized().values.sum() == pytest.approx(1.0)


def test_standard_error_is_over_trees():
    model = RandomForestClassifier(12, random_state=0).fit(X_CLASS, Y_CLASS)
    trees = [t.compute_feature_importances(normalize=False) for t in trees_of(model)]
    expected = np.std(trees, axis=0, ddof=1) / np.sqrt(12)
    np.testing.assert_allclose(lm.global_mdi(model).standard_error, expected, atol=1e-12)
    one = DecisionTreeClassifier().fit(X_CLASS, Y_CLASS)
    assert np.isnan(lm.global_mdi(one).standard_error).all()


def test_boosting():
    boosted = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X_VALUE, Y_POSITIVE)
    result = lm.global_mdi(boosted)
    expected = oracles.global_mdi(trees_of(boosted))
    np.testing.assert_allclose(result.values, expected, rtol=1e-12)
    assert result.standard_error is None
    adaptive = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4)
    adaptive.set_params(random_state=0).fit(X_CLASS, Y_CLASS)
    trees = [t.compute_feature_importances(normalize=False) for t in trees_of(adaptive)]
    weights = adaptive.estimator_weights_[: len(trees)]
    expected = np.average(trees, axis=0, weights=weights)
    np.testing.assert_allclose(lm.global_mdi(adaptive).values, expected, atol=1e-12)


def test_a_forest_without_weights_says_so():
    forest = lm.build_forest(
        n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0], threshold=[0.0],
        child_offset=[0, 0], child=[], impurity=[0.5], criterion="gini",
    )  # fmt: skip
    with pytest.raises(lm.exceptions.MissingStatisticsError, match="weight"):
        lm.global_mdi(forest)
