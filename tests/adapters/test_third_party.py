"""Models of other libraries that show scikit-learn's attributes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier

from adapters.models import classification, regression
from adapters.walk import leaves, predict
from localmdi.adapters import adapt, in_bag_disagreement
from localmdi.exceptions import UnsupportedModelError


class ForestOfForests(ClassifierMixin, BaseEstimator):
    """A class nobody has heard of, with the attributes of a forest."""

    def fit(self, X, y):
        self.estimator_ = RandomForestClassifier(3)
        self.estimators_ = [clone(self.estimator_).fit(X, y) for _ in range(2)]
        self.classes_ = np.unique(y)
        return self


def test_members_may_be_forests():
    X, y = classification()
    model = ForestOfForests().fit(X, y)
    forest = adapt(model, values=True).forest
    assert (forest.n_trees, forest.n_features) == (6, 5)
    expected = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(predict(forest, X), expected)


@pytest.mark.parametrize("name", ["RandomForestQuantileRegressor", "ExtraTreesQuantileRegressor"])
def test_quantile_forest(name):
    library = pytest.importorskip("quantile_forest")
    X, y = regression()
    model = getattr(library, name)(5, random_state=0).fit(X, y)
    adapted = adapt(model, values=True)
    forest = adapted.forest
    assert (forest.n_trees, forest.unit, adapted.finite) == (5, "variance", True)
    expected = np.mean([tree.predict(X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(predict(forest, X)[:, 0], expected)
    (candidate,) = adapted.in_bag.candidates(len(X))
    weight = candidate.weights(0, 5)
    assert in_bag_disagreement(forest, 0, leaf=leaves(forest, X), weight=weight) is None


@pytest.mark.parametrize(
    "name",
    [
        "BalancedRandomForestClassifier",
        "BalancedBaggingClassifier",
        "RUSBoostClassifier",
        "EasyEnsembleClassifier",
    ],
)
def test_imbalanced_learn(name):
    library = pytest.importorskip("imblearn.ensemble")
    X, y = classification()
    model = getattr(library, name)(n_estimators=4, random_state=0).fit(X, y)
    adapted = adapt(model, values=True)
    forest = adapted.forest
    assert forest.unit == "gini"
    assert forest.classes[0].tolist() == ["no", "perhaps", "yes"]
    assert forest.boosted == (name in ("RUSBoostClassifier", "EasyEnsembleClassifier"))
    if not forest.boosted:
        np.testing.assert_allclose(predict(forest, X), model.predict_proba(X))
    with pytest.raises(UnsupportedModelError, match="cannot be rebuilt"):
        adapted.in_bag.candidates(len(X))


def test_a_pipeline_that_resamples():
    pipeline = pytest.importorskip("imblearn.pipeline")
    from imblearn.under_sampling import RandomUnderSampler
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    X, y = classification()
    steps = (StandardScaler(), RandomUnderSampler(random_state=0), DecisionTreeClassifier())
    model = pipeline.make_pipeline(*steps).fit(X, y)
    adapted = adapt(model, values=True)
    rows = adapted.transform(X)
    np.testing.assert_array_equal(predict(adapted.forest, rows), model.predict_proba(X))
    with pytest.raises(UnsupportedModelError, match="resamples its rows"):
        adapted.in_bag.candidates(len(X))


@pytest.mark.parametrize(
    "name", ["RandomSurvivalForest", "ExtraSurvivalTrees", "GradientBoostingSurvivalAnalysis"]
)
def test_survival_models_are_refused(name):
    library = pytest.importorskip("sksurv.ensemble")
    X, y = regression()
    model = getattr(library, name)(n_estimators=3).fit(X, survival(y))
    with pytest.raises(UnsupportedModelError, match="survival models store impurities"):
        adapt(model)


def test_a_survival_tree_is_refused():
    library = pytest.importorskip("sksurv.tree")
    X, y = regression()
    model = library.SurvivalTree().fit(X, survival(y))
    with pytest.raises(UnsupportedModelError, match="survival models store impurities"):
        adapt(model)


def survival(y):
    from sksurv.util import Surv

    return Surv.from_arrays(y > np.median(y), y - y.min() + 1.0)
