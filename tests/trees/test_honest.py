"""Honest trees: half of the rows choose the splits, the others say what they tell."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import localmdi as lm
from localmdi import _core, local_mdi
from localmdi.exceptions import UnsupportedModelError
from trees.models import classifier, mixed_table, numeric_table, regressor

RNG = np.random.default_rng(0)
MIXED = mixed_table(RNG, n=200)
NUMERIC = numeric_table(RNG, n=200)
# Trees that split at random blur what rows have in common. `groups=range(n)`: each is its own.
WEIGHT = RNG.integers(0, 4, size=200) / 2


def half_of_rows(n_rows, seed, tree):
    rules = _core.GrowRules()
    rules.seed, rules.honest = seed, True
    return np.flatnonzero(_core.times_counted(n_rows, rules, tree))


def held_out(model, n_rows, weight=None):
    """Return the weights of the rows that each tree was not grown on, (n_trees, n_rows)."""
    held = np.tile(np.ones(n_rows) if weight is None else weight, (model.n_estimators_, 1))
    for tree in range(model.n_estimators_):
        held[tree, half_of_rows(n_rows, model._seed, tree)] = 0
    return held


def check(model, X, y, *, min_rows=10, sample_weight=None, kept=None):
    """Compare with what `honest_mdi` makes of the kept trees, of this model or of another."""
    model.set_params(honest="gain", min_rows=min_rows).fit(X, y, sample_weight=sample_weight)
    given = {"sample_weight": sample_weight}
    if kept is not None:
        kept, given["sample_weight"] = kept
        kept.set_params(honest="gain", min_rows=min_rows).fit(X, y, **given)
    expected = lm.honest_mdi(kept or model, X, y, min_rows=min_rows, groups=range(len(X)), **given)
    result = model.local_importances_
    assert (result.honest, result.measure) == (True, "gain")
    assert (result.baseline, result.residual) == (None, None)
    np.testing.assert_allclose(result.values, expected.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("min_rows", [1, 3, 10])
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("data", [NUMERIC, MIXED], ids=["numbers", "mixed"])
def test_the_honest_kernel_on_the_kept_trees(data, criterion, min_rows):
    check(classifier(n_estimators=8, criterion=criterion), *data, min_rows=min_rows)


@pytest.mark.parametrize(
    "settings",
    [{"max_features": 2}, {"max_features": 2, "draw": "sklearn"}, {"min_samples_leaf": 4}],
    ids=str,
)
def test_other_rules_of_growing(settings):
    check(classifier(n_estimators=8, **settings), *NUMERIC, min_rows=3)


@pytest.mark.parametrize("data", [NUMERIC, MIXED], ids=["numbers", "mixed"])
def test_weights(data):
    model = classifier(n_estimators=8, criterion="gini")
    check(model, *data, min_rows=3, sample_weight=WEIGHT)
    result = model.local_importances_
    assert np.isnan(result.values[WEIGHT == 0]).all()
    np.testing.assert_array_equal(result.row_weight, WEIGHT)
    assert np.isfinite(result.mean().values).all()


def test_class_weights():
    X, y = NUMERIC
    factor = np.array([1.0, 2.0, 0.5])
    model = classifier(n_estimators=8, class_weight=dict(enumerate(factor)))
    check(model, X, y, min_rows=3, kept=(classifier(n_estimators=8), factor[y]))


def test_numbers():
    X, y = MIXED
    check(regressor(n_estimators=9), X, 1000.0 + y, min_rows=3)
    several = np.column_stack([y, X["count"], RNG.normal(size=len(y))])
    check(regressor(n_estimators=9), X, several, min_rows=3)


@pytest.mark.parametrize("data", [NUMERIC, MIXED], ids=["numbers", "mixed"])
def test_any_number_of_threads_and_batches(data):
    settings = {"n_estimators": 131, "honest": True, "min_rows": 3, "oob_score": True}
    one = classifier(**settings, n_jobs=1).fit(*data)
    others = [{"n_jobs": 3}, {"keep_forest": False}]
    for other in others:
        model = classifier(**settings, **other).fit(*data)
        np.testing.assert_array_equal(
            one.local_importances_.values, model.local_importances_.values
        )
        np.testing.assert_array_equal(one.feature_importances_, model.feature_importances_)
        np.testing.assert_array_equal(one.oob_decision_function_, model.oob_decision_function_)


def test_pairs_of_trees_swap_the_halves():
    for n_rows in (2, 7, 100):
        first, second = (half_of_rows(n_rows, 5, tree) for tree in (6, 7))
        assert len(first) == n_rows // 2
        np.testing.assert_array_equal(np.sort([*first, *second]), np.arange(n_rows))
    taken = np.zeros(6)
    for pair in range(3000):
        taken[half_of_rows(6, 1, 2 * pair)] += 1
    assert np.abs(taken - 1500).max() < 4.5 * np.sqrt(3000 / 4)


def test_no_row_grows_the_trees_that_explain_it():
    X, y = NUMERIC
    model = classifier(n_estimators=2, honest=True, min_rows=3).fit(X, y)
    first = half_of_rows(len(X), model._seed, 0)
    held = np.setdiff1d(np.arange(len(X)), first)
    other = y.copy()
    other[held[0]] = (y[held[0]] + 1) % 3
    again = classifier(n_estimators=2, honest=True, min_rows=3).fit(X, other)
    np.testing.assert_allclose(
        again.local_importances_.values[held[0]],
        model.local_importances_.values[held[0]],
        atol=1e-12,
    )
    assert (again.local_importances_.values[held[1:]] != 0).any()


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_noise_is_at_zero(criterion):
    X, y = load_digits(return_X_y=True)
    X = X[:300, (X[:300] > 0).mean(axis=0) > 0.1]
    # Rows share their trees and each other's labels: only other labels are independent.
    means = []
    for seed in range(30):
        labels = np.random.default_rng(seed).permutation(y[:300])
        settings = {"honest": True, "criterion": criterion, "random_state": seed}
        model = classifier(n_estimators=20, keep_forest=False, **settings).fit(X, labels)
        means.append(model.local_importances_.values.mean(axis=0))
    error = np.std(means, axis=0, ddof=1) / np.sqrt(len(means))
    assert np.abs(np.mean(means, axis=0) / error).max() < 4.5
    plain = classifier(n_estimators=20, criterion=criterion).fit(X, y[:300]).local_importances_
    assert plain.mean().values.min() > 5 * np.abs(np.mean(means, axis=0)).max()


def test_predictions_out_of_the_half():
    X, y = NUMERIC
    model = classifier(n_estimators=40, honest=True, oob_score=True).fit(X, y)
    held = held_out(model, len(X)) > 0
    value = model.forest_.statistic("value")
    nodes = model.apply(X) + model.forest_.tree_offset[:-1]
    expected = np.einsum("tn,ntk->nk", held, value[nodes]) / held.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.oob_decision_function_, expected, atol=1e-12)
    assert 0.6 < model.oob_score_ < model.score(X, y)


def test_everything_else_comes_from_the_trees():
    X, y = NUMERIC
    model = classifier(n_estimators=20, honest=True).fit(X, y)
    assert model.forest_.weight[0] == len(X) // 2
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert not local_mdi(model, X).honest
    short = classifier(n_estimators=10, honest=True).fit(X, y).forest_
    assert np.array_equal(short.feature, model.forest_.feature[: short.n_nodes])


def test_a_tolerance():
    X, y = NUMERIC
    model = classifier(n_estimators=20_000, honest=True, tol=0.01, keep_forest=False).fit(X, y)
    assert 256 <= model.n_estimators_ < 20_000
    many = classifier(n_estimators=8000, honest=True, random_state=1).fit(X, y)
    gap = model.local_importances_.values - many.local_importances_.values
    assert np.abs(gap).max() < 5 * 0.01


def test_one_tree_knows_nothing_of_its_own_half():
    X, y = NUMERIC
    with pytest.warns(UserWarning, match="held out of no tree"):
        result = classifier(n_estimators=1, honest=True).fit(X, y).local_importances_
    assert np.isnan(result.values).all(axis=1).sum() == len(X) // 2
    assert result.row_weight.sum() == len(X) - len(X) // 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"honest": "no"}, "honest must be False, True or 'gain'; got 'no'"),
        ({"honest": "drop"}, r"got 'drop'.*bootstrap=True and use honest_mdi\(.*measure='loss'\)"),
        ({"honest": None}, "honest must be False"),
        ({"honest": True, "bootstrap": True}, "bootstrap must be False with honest, because"),
        ({"honest": True, "warm_start": True}, "warm_start must be False with honest, because"),
        ({"honest": True, "max_samples": 0.5}, "max_samples must be None without bootstrap"),
        ({"min_rows": 0}, "min_rows must be a whole number of at least 1; got 0"),
        ({"honest": True, "min_rows": 2.5}, "min_rows must be a whole number of at least 1"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        classifier(**settings).fit(*NUMERIC)


def test_a_single_row_is_refused():
    with pytest.raises(ValueError, match="another to hold out"):
        classifier(honest=True).fit([[1.0]], [0])


class TestOwnTrainingRows:
    """A forest tells which rows its trees counted: `honest_mdi` needs no rows held out."""

    def test_values_while_growing_are_those_of_the_trees(self):
        X, y = MIXED
        model = classifier(n_estimators=20, honest=True, min_rows=3).fit(
            X, y, sample_weight=WEIGHT + 0.5
        )
        result = lm.honest_mdi(
            model, X, y, sample_weight=WEIGHT + 0.5, min_rows=3, groups=range(len(X))
        )
        grown = model.local_importances_
        np.testing.assert_allclose(result.values, grown.values, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("max_samples", [None, 0.3])
    @pytest.mark.parametrize("weight", [None, WEIGHT + 0.5])
    def test_bootstrap(self, max_samples, weight):
        X, y = MIXED
        model = classifier(n_estimators=40, bootstrap=True, max_samples=max_samples)
        model.fit(X, y, sample_weight=weight)
        shares = lm.decompose_global(model, X, sample_weight=weight)
        np.testing.assert_allclose(
            shares.values.mean(axis=0), lm.global_mdi(model).values, rtol=0, atol=1e-12
        )
        assert lm.honest_mdi(model, X, y, sample_weight=weight, groups=range(len(X))).honest

    def test_more_trees_later(self):
        X, y = NUMERIC
        model = classifier(n_estimators=4, bootstrap=True, warm_start=True).fit(X, y)
        model.set_params(n_estimators=9).fit(X, y)
        shares = lm.decompose_global(model, X)
        np.testing.assert_allclose(shares.values.mean(axis=0), lm.global_mdi(model).values)

    def test_what_cannot_be_known(self):
        X, y = NUMERIC
        with pytest.raises(UnsupportedModelError, match=r"every tree saw all of them"):
            lm.honest_mdi(classifier(n_estimators=2).fit(X, y), X, y)
        balanced = classifier(n_estimators=2, bootstrap=True, class_weight="balanced").fit(X, y)
        with pytest.raises(UnsupportedModelError, match=r"as sample_weight instead"):
            lm.honest_mdi(balanced, X, y)
        model = classifier(n_estimators=2, bootstrap=True).fit(X, y)
        with pytest.raises(ValueError, match=r"passed to fit, 200 rows; got 199"):
            lm.honest_mdi(model, X[:-1], y[:-1])
