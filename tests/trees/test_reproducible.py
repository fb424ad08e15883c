"""One seed, one forest: whatever the threads, the batches, the copies and the restarts."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from localmdi import local_mdi
from trees.models import classifier, mixed_table, numeric_table, regressor

X, Y = mixed_table(np.random.default_rng(0))


def same(a, b):
    assert a.forest_ == b.forest_
    np.testing.assert_array_equal(a.local_importances_.values, b.local_importances_.values)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)


@pytest.mark.parametrize(
    "setting", [{}, {"max_features": 3}, {"bootstrap": True, "oob_score": True}]
)
def test_any_number_of_threads(setting):
    one, three = (classifier(n_estimators=67, n_jobs=n, **setting).fit(X, Y) for n in (1, 3))
    same(one, three)
    if "oob_score" in setting:
        np.testing.assert_array_equal(one.oob_decision_function_, three.oob_decision_function_)


def test_another_seed_is_another_forest():
    assert (
        classifier(random_state=1).fit(X, Y).forest_ != classifier(random_state=2).fit(X, Y).forest_
    )
    free = [classifier(random_state=None).fit(X, Y).local_importances_.values for _ in range(2)]
    assert (free[0] != free[1]).any()


def test_trees_are_not_alike():
    forest = classifier(n_estimators=200).fit(X, Y).forest_
    roots = forest.tree_offset[:-1]
    assert (
        len(np.unique(np.column_stack([forest.feature[roots], forest.threshold[roots]]), axis=0))
        > 40
    )


def test_clone_and_pickle():
    model = classifier(max_features=2, bootstrap=True).fit(X, Y)
    same(clone(model).fit(X, Y), model)
    copy = pickle.loads(pickle.dumps(model))
    same(copy, model)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(local_mdi(copy, X).values, local_mdi(model, X).values)


@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_warm_start_ends_where_a_cold_one_does(make):
    model = make(n_estimators=16, warm_start=True, bootstrap=True, oob_score=True)
    model.fit(X, Y).set_params(n_estimators=48).fit(X, Y)
    cold = make(n_estimators=48, bootstrap=True, oob_score=True).fit(X, Y)
    assert model.forest_ == cold.forest_
    warm, whole = model.local_importances_, cold.local_importances_
    np.testing.assert_allclose(warm.values, whole.values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(model.feature_importances_, cold.feature_importances_, atol=1e-14)
    assert model.oob_score_ == pytest.approx(cold.oob_score_)
    assert warm.n_trees == 48


def test_a_warm_start_on_other_rows_explains_those():
    rows, y = numeric_table(np.random.default_rng(1))
    model = classifier(n_estimators=8, warm_start=True).fit(rows[:40], y[:40])
    model.set_params(n_estimators=16).fit(rows, y)
    expected = local_mdi(model, rows)
    np.testing.assert_allclose(model.local_importances_.values, expected.values, atol=1e-12)


def test_warm_start_refusals():
    model = classifier(n_estimators=8, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="must not decrease"):
        model.set_params(n_estimators=4).fit(X, Y)
    with pytest.raises(ValueError, match="features and categories"):
        model.set_params(n_estimators=16).fit(X.assign(site="a"), Y)
    with pytest.raises(ValueError, match="classes or outputs"):
        model.fit(X, Y + 1)
    with pytest.raises(ValueError, match="keep_forest=False or tol"):
        model.set_params(tol=0.1).fit(X, Y)


def test_forgotten_trees():
    kept, forgotten = (classifier(keep_forest=keep).fit(X, Y) for keep in (True, False))
    np.testing.assert_array_equal(
        kept.local_importances_.values, forgotten.local_importances_.values
    )
    np.testing.assert_array_equal(kept.feature_importances_, forgotten.feature_importances_)
    for ask in (forgotten.predict, forgotten.predict_proba, forgotten.apply):
        with pytest.raises(AttributeError, match="keep_forest=False"):
            ask(X)
    with pytest.raises(AttributeError, match="keep_forest=True"):
        forgotten.forest_  # noqa: B018 - reading the attribute is the test
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(forgotten)).feature_importances_, kept.feature_importances_
    )


def test_tolerance_stops_growing():
    settings = {"n_estimators": 100_000, "keep_forest": False, "tol": 0.02}
    model = classifier(**settings).fit(X, Y)
    n = model.n_estimators_
    assert 256 <= n < 20_000
    assert n % 64 == 0
    assert model.local_importances_.n_trees == n
    plain = classifier(n_estimators=n).fit(X, Y)
    np.testing.assert_array_equal(plain.local_importances_.values, model.local_importances_.values)
    error = local_mdi(plain, X, standard_error=True).standard_error
    assert 0.6 * 0.02 < error.max() < 1.3 * 0.02
    half = classifier(**{**settings, "tol": 0.01}).fit(X, Y)
    assert 2.5 < half.n_estimators_ / n < 6


def test_tolerance_out_of_reach():
    with pytest.warns(ConvergenceWarning, match="did not fall to tol=1e-06 with 300 trees"):
        classifier(n_estimators=300, tol=1e-6).fit(X, Y)


def test_progress(capsys):
    classifier(n_estimators=100, progress=True).fit(X, Y)
    assert "100/100" in capsys.readouterr().err


def test_not_fitted():
    for ask in ("feature_importances_", "forest_"):
        with pytest.raises(NotFittedError):
            getattr(classifier(), ask)
    with pytest.raises(NotFittedError):
        local_mdi(classifier(), X)
