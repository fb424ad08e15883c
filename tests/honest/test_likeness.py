"""Rows that belong together are noticed, and rows that are merely alike are not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import localmdi as lm

FOREST = {"n_estimators": 100, "random_state": 0, "n_jobs": 2}


def patients(n_patients, n_rows, *, spread):
    """Rows of patients; what they answer belongs to the patient, not to the columns."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(n_patients), n_rows))
    X = rng.normal(size=(n_patients, 8))[patient]
    X += spread * rng.normal(size=X.shape)
    return X, rng.integers(0, 2, n_patients)[patient], rng.normal(size=n_patients)[patient], patient


def shuffled(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize(("n_patients", "n_rows"), [(60, 15), (200, 5)])
@pytest.mark.parametrize("spread", [0.1, 0.3])
def test_patients_are_noticed(n_patients, n_rows, spread):
    X, y, _, _ = patients(n_patients, n_rows, spread=spread)
    model = RandomForestClassifier(**FOREST).fit(X, y)
    with pytest.warns(UserWarning, match="the row most like it"):
        lm.honest_mdi(model, X, y, measure="loss")


def test_patients_with_numbers_are_noticed():
    X, _, y, _ = patients(200, 5, spread=0.3)
    model = RandomForestRegressor(**FOREST).fit(X, y)
    with pytest.warns(UserWarning, match="the row most like it"):
        lm.honest_mdi(model, X, y)


def test_rows_in_order_are_noticed():
    walk = np.random.default_rng(0).normal(size=(600, 7)).cumsum(axis=0)
    model = RandomForestRegressor(**FOREST).fit(walk[:, 1:], walk[:, 0])
    with pytest.warns(UserWarning, match="the row before it"):
        lm.honest_mdi(model, walk[:, 1:], walk[:, 0])


def test_nothing_is_said_where_groups_are_named():
    X, y, _, patient = patients(300, 2, spread=0.05)
    model = RandomForestClassifier(**FOREST).fit(X, y)
    with pytest.warns(UserWarning, match="the row most like it"):
        lm.honest_mdi(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lm.honest_mdi(model, X, y, groups=patient)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer])
def test_classes_that_keep_apart_are_no_groups(kind, leaf, load):
    X, y = shuffled(load)
    model = kind(bootstrap=True, min_samples_leaf=leaf, **FOREST).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lm.honest_mdi(model, X, y, measure="loss")


@pytest.mark.parametrize("noise", [0.1, 5.0])
def test_smooth_numbers_are_no_groups(noise):
    X, y = make_friedman1(600, noise=noise, random_state=0)
    model = RandomForestRegressor(**FOREST).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lm.honest_mdi(model, X, y, measure="loss")
