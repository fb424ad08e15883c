"""Results whose numbers are easily misread carry a note that says so."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import localmdi as lm

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] > 0


def test_boosting_is_about_residuals():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)
    for result in (lm.local_mdi(model, X), lm.global_mdi(model), lm.Explainer(model)(X[:2])):
        assert "left over" in result.caveat
        assert "not of the target" in result.caveat
        assert result.caveat in str(result)
    assert "left over" in lm.local_mdi(model, X).mean().caveat


@pytest.mark.parametrize(
    "wrap", [lambda model: model, lambda m: make_pipeline(StandardScaler(), m)]
)
def test_several_targets_are_averaged(wrap):
    model = wrap(RandomForestRegressor(5, random_state=0)).fit(X, np.c_[X[:, 0], 100 * X[:, 1]])
    result = lm.local_mdi(model, X)
    assert "mean over 2 targets" in result.caveat
    assert "mean over 2 targets" in lm.global_mdi(model).caveat
    classes = RandomForestClassifier(5, random_state=0).fit(X, np.c_[Y, X[:, 1] > 0])
    assert "mean over 2 targets" in lm.local_mdi(classes, X).caveat


def test_others_have_none(tmp_path):
    result = lm.local_mdi(RandomForestClassifier(5, random_state=0).fit(X, Y), X)
    assert result.caveat is None
    assert "note" not in str(result)
    boosted = lm.local_mdi(GradientBoostingClassifier(n_estimators=3).fit(X, Y), X)
    boosted.save(tmp_path / "a.lmdi")
    assert lm.load_importance(tmp_path / "a.lmdi").caveat == boosted.caveat
    assert boosted[:2].caveat == boosted.caveat
