"""Impurities, equal to scikit-learn's at every node of a fitted tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from localmdi.datasets import make_led_sample
from localmdi.theory import (
    Distribution,
    divergence,
    impurity,
    impurity_at,
    impurity_decrease,
    mean_impurity,
)


@pytest.mark.parametrize("criterion", ["entropy", "log_loss", "gini"])
def test_equal_to_a_fitted_classifier(criterion):
    X, y = make_led_sample(noise=0.2, random_state=0)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=4, random_state=0).fit(X, y).tree_
    assert_allclose(impurity(tree.value[:, 0], criterion), tree.impurity, atol=1e-12)


def test_equal_to_a_fitted_regressor():
    X, y = make_led_sample(noise=0.2, random_state=0)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y).tree_
    for node, row in zip(range(tree.node_count), tree.impurity, strict=True):
        inside = tree.decision_path(X.astype(np.float32)).toarray()[:, node].astype(bool)
        counts = np.bincount(y[inside], minlength=10)
        for name in ("variance", "squared_error"):
            assert impurity(counts, name, y_values=np.arange(10)) == pytest.approx(row, abs=1e-10)


def test_a_law_without_mass_has_no_impurity():
    for criterion in ("entropy", "gini", "variance", lambda law: 1 - law.max(axis=-1)):
        assert impurity([0.0, 0.0], criterion, y_values=[0, 1]) == 0


def test_variance_is_stable_far_from_zero():
    assert impurity([0.5, 0.5], "variance", y_values=[1e9, 1e9 + 2]) == pytest.approx(1.0)


def test_a_function_is_a_criterion():
    law = Distribution.from_conditional([[0.9, 0.1], [0.4, 0.6]])

    def error_rate(chances):
        return 1 - chances.max(axis=-1)

    assert impurity_at(law, {0: 1}, criterion=error_rate) == pytest.approx(0.4)
    assert mean_impurity(law, 0, criterion=error_rate) == pytest.approx(0.25)
    assert impurity_decrease(law, 0, criterion=error_rate) == pytest.approx(0.1)


def test_unknown_criterion_and_missing_numbers():
    with pytest.raises(ValueError, match="criterion must be"):
        impurity([0.5, 0.5], "tsallis")
    with pytest.raises(ValueError, match="pass y_values"):
        mean_impurity(Distribution([[0.5, 0.5]]), criterion="variance")


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
def test_divergence_is_the_gap_below_the_tangent(criterion):
    """h(t) + h'(t)(c − t) − h(c), with the derivative taken numerically along the segment."""
    rng = np.random.default_rng(0)
    parent, child = rng.dirichlet(np.ones(4), size=(2, 50))
    values = {"y_values": rng.normal(size=4)}
    step = 1e-5
    ahead, behind = (
        impurity(parent + sign * step * (child - parent), criterion, **values) for sign in (1, -1)
    )
    tangent = impurity(parent, criterion, **values) + (ahead - behind) / (2 * step)
    expected = tangent - impurity(child, criterion, **values)
    assert_allclose(divergence(child, parent, criterion=criterion, **values), expected, atol=1e-6)


def test_divergence_of_laws_with_empty_classes():
    assert divergence([1, 0, 0], [1, 1, 0]) == 1.0
    assert divergence([0, 0, 3], [1, 1, 0]) == np.inf
    assert divergence([2, 4], [1, 2], criterion="log_loss") == 0.0
    assert divergence([0, 1], [1, 1], criterion="squared_error", y_values=[0, 2]) == 1.0


def test_a_function_has_no_divergence():
    with pytest.raises(ValueError, match=r"or \"variance\" .* for a divergence"):
        divergence([1, 0], [1, 1], criterion=lambda law: 1 - law.max(axis=-1))
    with pytest.raises(ValueError, match="pass y_values"):
        divergence([1, 0], [1, 1], criterion="variance")
