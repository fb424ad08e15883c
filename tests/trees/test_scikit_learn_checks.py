"""scikit-learn's own checks of an estimator; where no rows are drawn, none is expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

MODELS = [
    RandomizedForestClassifier(n_estimators=20, random_state=0),
    RandomizedForestClassifier(
        n_estimators=20, max_features="sqrt", draw="sklearn", criterion="gini", random_state=0
    ),
    RandomizedForestRegressor(n_estimators=20, random_state=0),
    RandomizedForestClassifier(n_estimators=20, honest=True, random_state=0),
    RandomizedForestRegressor(n_estimators=20, honest=True, random_state=0),
]


def expected_failures(estimator):
    """Halves are drawn among rows, whatever their weights, as scikit-learn's bootstraps are."""
    check = "check_sample_weight_equivalence_on_dense_data"
    return (
        {check: "a row of weight 2 is in one half, two rows may not be"} if estimator.honest else {}
    )


@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)
