"""The test of the global gain: against loops over pairs of rows, on noise, by groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import localmdi as lm
import oracles
from honest.samples import X, counts, fitted, law_weight, out_of_bag, trees_of, truth_of

FORESTS = {
    "entropy": ("entropy", None),
    "entropy, two classes": ("entropy", "two classes"),
    "Gini": ("gini", None),
    "numbers": ("squared_error", None),
    "Gini, two targets": ("gini", "two targets of classes"),
    "two numbers": ("squared_error", "two numbers"),
}
PATIENT = np.arange(60) // 4


def by_loops(model, y, *, held, in_bag, min_rows):
    truth, starts = truth_of(y, of_classes=model.criterion != "squared_error")
    return oracles.influence(
        trees_of(model),
        X,
        truth,
        held=held,
        in_bag=in_bag,
        criterion=model.criterion,
        min_rows=min_rows,
        n_outputs=len(starts) - 1,
    )


def size(parts, groups=None):
    """The root of the sum of squares over rows, or groups."""
    if groups is not None:
        parts = [parts[groups == group].sum(axis=0) for group in np.unique(groups)]
    return np.sqrt(np.sum(np.square(parts), axis=0))


def repaired(out, within, groups=None):
    return np.sqrt(size(out, groups) * size(out + within, groups))


@pytest.mark.parametrize("min_rows", [1, 5])
@pytest.mark.parametrize("kind", FORESTS)
class TestAgainstLoops:
    def test_training_rows(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target, n_trees=20)
        found = lm.honest_global_mdi(model, X, y, min_rows=min_rows)
        out, within, value = by_loops(
            model, y, held=out_of_bag(model, 60), in_bag=counts(model, 60), min_rows=min_rows
        )
        np.testing.assert_allclose(found.values, value, rtol=0, atol=1e-13)
        # The parts of the rows add up to the gain, in either role.
        np.testing.assert_allclose(out.sum(axis=0), value, rtol=0, atol=1e-13)
        np.testing.assert_allclose(within.sum(axis=0), value, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.standard_error, repaired(out, within), rtol=1e-9)
        assert (found.honest, found.measure, found.error_kind) == (True, "gain", "sample")

    def test_groups(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target, n_trees=80, max_samples=10)
        found = lm.honest_global_mdi(model, X, y, min_rows=min_rows, groups=PATIENT)
        held = out_of_bag(model, 60)
        held *= np.repeat(held.reshape(-1, 15, 4).min(axis=2), 4, axis=1)
        out, within, value = by_loops(
            model, y, held=held, in_bag=counts(model, 60), min_rows=min_rows
        )
        np.testing.assert_allclose(found.values, value, rtol=0, atol=1e-13)
        error = repaired(out, within, PATIENT)
        np.testing.assert_allclose(found.standard_error, error, rtol=1e-9, atol=1e-15)

    def test_held_out_rows_with_weights(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target, bootstrap=False, max_features=1)
        weight = np.random.default_rng(5).choice([0.5, 1.0, 3.0], 60)
        held = np.tile(weight, (24, 1))
        out, _, value = by_loops(model, y, held=held, in_bag=0 * held, min_rows=min_rows)
        for groups in (None, PATIENT):
            found = lm.honest_global_mdi(
                model,
                X,
                y,
                held_out=True,
                sample_weight=weight,
                min_rows=min_rows,
                groups=groups,
            )
            np.testing.assert_allclose(found.values, value, rtol=0, atol=1e-13)
            # Rows that no tree has seen tell by themselves alone.
            np.testing.assert_allclose(
                found.standard_error, size(out, groups), rtol=1e-9, atol=1e-15
            )


@pytest.mark.parametrize("class_weight", ["balanced_subsample", {0: 1, 1: 1.5, 2: 1.2}], ids=str)
def test_class_weights(class_weight):
    model, y = fitted("gini", n_trees=40, class_weight=class_weight)
    weight = law_weight(model, y)
    held, drawn = out_of_bag(model, 60) * weight, counts(model, 60)
    # Of a dict scikit-learn 1.9 draws by the weights, which then count once; before, they multiply.
    found = lm.honest_global_mdi(model, X, y, min_rows=3)
    errors = []
    for in_bag in (drawn, drawn * weight):
        out, within, value = by_loops(model, y, held=held, in_bag=in_bag, min_rows=3)
        errors.append(repaired(out, within))
    np.testing.assert_allclose(found.values, value, rtol=0, atol=1e-13)
    assert any(np.allclose(found.standard_error, error, rtol=1e-9) for error in errors)


def test_trees_without_an_unseen_row_do_not_count():
    rng = np.random.default_rng(0)
    rows, y = rng.random((4, 2)), np.array([0.0, 1.0, 2.0, 3.0])
    model = RandomForestRegressor(40, random_state=0).fit(rows, y)
    assert not out_of_bag(model, 4).any(axis=1).all()
    found = lm.honest_global_mdi(model, rows, y, min_rows=1)
    expected = oracles.influence(
        trees_of(model),
        rows,
        y[:, None],
        held=out_of_bag(model, 4),
        in_bag=counts(model, 4),
        criterion="squared_error",
        min_rows=1,
    )
    np.testing.assert_allclose(found.values, expected[2], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.standard_error, repaired(*expected[:2]), rtol=1e-9)


def test_significant_is_holm():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8))
    y = (rows @ [2, 0.8, 0.5, 0.3, 0, 0, 0, 0] + rng.logistic(size=300) > 0).astype(int)
    model = RandomForestClassifier(100, random_state=0).fit(rows, y)
    found = lm.honest_global_mdi(model, rows, y)
    p = norm.sf(found.values / found.standard_error)
    np.testing.assert_allclose(found.p_values(), p, rtol=1e-10)
    for alpha in (0.001, 0.05, 0.3, 0.9):
        named = set()
        for place, m in enumerate(np.argsort(p)):
            if p[m] > alpha / (8 - place):
                break
            named.add(m)
        assert set(np.flatnonzero(found.significant(alpha))) == named
    assert found.significant()[0]
    np.testing.assert_array_equal(found.significant(), found.significant(0.05))


def test_the_default_is_ten_rows():
    model, y = fitted("gini")
    found = lm.honest_global_mdi(model, X, y)
    ten = lm.honest_global_mdi(model, X, y, min_rows=10)
    np.testing.assert_array_equal(found.values, ten.values)
    assert not np.array_equal(found.values, lm.honest_global_mdi(model, X, y, min_rows=9).values)


def test_rows_that_are_there_twice_count_once_by_groups():
    rng = np.random.default_rng(0)
    rows, y = rng.random((150, 3)), rng.integers(0, 2, 150)
    model = RandomForestClassifier(50, max_features=1, random_state=0).fit(rows, y)
    new, target = rng.random((100, 3)), rng.integers(0, 2, 100)
    once = lm.honest_global_mdi(model, new, target, held_out=True)
    twice = {"X": np.tile(new, (2, 1)), "y": np.tile(target, 2), "held_out": True, "min_rows": 20}
    naive = lm.honest_global_mdi(model, **twice)
    right = lm.honest_global_mdi(model, **twice, groups=np.tile(np.arange(100), 2))
    for found in (naive, right):
        np.testing.assert_allclose(found.values, once.values, rtol=0, atol=1e-14)
    np.testing.assert_allclose(right.standard_error, once.standard_error, rtol=1e-10)
    np.testing.assert_allclose(naive.standard_error, once.standard_error / np.sqrt(2), rtol=1e-10)


@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
def test_the_same_bits_for_any_number_of_threads_and_trees_at_a_time(monkeypatch, criterion):
    model, y = fitted(criterion)
    first = lm.honest_global_mdi(model, X, y, n_jobs=1)
    others = [lm.honest_global_mdi(model, X, y, n_jobs=n_jobs) for n_jobs in (2, 5)]
    monkeypatch.setattr("localmdi.forest.packing._PAIRS", 300)
    others.append(lm.honest_global_mdi(model, X, y))
    for found in others:
        np.testing.assert_array_equal(found.values, first.values)
        np.testing.assert_array_equal(found.standard_error, first.standard_error)


def test_a_feature_that_no_tree_uses_is_not_named():
    rows = X.copy()
    rows[:, 1] = 0.0
    model = RandomForestClassifier(30, random_state=0).fit(rows, (X[:, 0] > 0.5).astype(int))
    found = lm.honest_global_mdi(model, rows, (X[:, 0] > 0.5).astype(int))
    assert (found.values[1], found.standard_error[1], found.p_values()[1]) == (0, 0, 1)
    assert found.significant().tolist() == [True, False, False]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_noise_is_at_zero(kind):
    rng = np.random.default_rng(1)
    rows = rng.random((400, 5))
    y = rng.integers(0, 3, 400) if kind == "classes" else rng.normal(size=400)
    forest = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = forest(60, random_state=0).fit(rows, y)
    found = lm.honest_global_mdi(model, rows, y)
    assert np.abs(found.values / found.standard_error).max() < 4
    assert not found.significant().any()
    assert lm.global_mdi(model).values.min() > 10 * np.abs(found.values).max()
