"""scikit-learn's own checks of an estimator; none is expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

MODELS = [
    RandomizedForestClassifier(n_estimators=20, random_state=0),
    RandomizedForestClassifier(
        n_estimators=20, max_features="sqrt", draw="sklearn", criterion="gini", random_state=0
    ),
    RandomizedForestRegressor(n_estimators=20, random_state=0),
]


@parametrize_with_checks(MODELS)
def test_scikit_learn(estimator, check):
    check(estimator)
