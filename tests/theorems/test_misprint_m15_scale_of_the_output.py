"""Misprint M15: local MDI is free of the output's scale for classes, not for the variance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor

import localmdi as lm
from localmdi.theory import Distribution, population_local_mdi
from theorems.laws import laws_with_instance


def scaled(law, *, factor, shift):
    return Distribution(law.table, y_values=factor * law.y_values + shift)


@settings(max_examples=60, deadline=None)
@given(laws_with_instance(), st.sampled_from([-3.0, 0.001, 7.0]))
def test_the_variance_takes_the_square_of_the_scale(case, factor):
    law, x = case
    found = population_local_mdi(law, x, criterion="variance")
    moved = population_local_mdi(scaled(law, factor=factor, shift=5.0), x, criterion="variance")
    np.testing.assert_allclose(moved, factor**2 * found, atol=1e-9 * max(1, factor**2))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@settings(max_examples=40, deadline=None)
@given(case=laws_with_instance())
def test_classes_are_names(criterion, case):
    law, x = case
    found = population_local_mdi(law, x, criterion=criterion)
    moved = population_local_mdi(scaled(law, factor=7.0, shift=5.0), x, criterion=criterion)
    np.testing.assert_allclose(moved, found, atol=1e-12)


def test_in_a_grown_forest_too():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(60, 3)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=60)
    grams, kilograms = (
        lm.local_mdi(ExtraTreesRegressor(5, max_features=1, random_state=0).fit(X, out), X).values
        for out in (y, y / 1024)  # a power of two: the same cuts, to the last bit
    )
    np.testing.assert_allclose(kilograms, grams / 1024**2, rtol=1e-9, atol=1e-15)
    assert np.abs(grams).max() > 0.1
