"""MDI-oob and UFI against loops written from the published formulas."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from honest.samples import CLASSES, NUMBERS, X, fitted, out_of_bag, trees_of, truth_of
from localmdi.exceptions import MissingStatisticsError

TARGETS = {
    "Gini": ("gini", None),
    "numbers": ("squared_error", None),
    "Gini, two targets": ("gini", "two targets of classes"),
    "two numbers": ("squared_error", "two numbers"),
}


def over_trees(by_tree):
    """Return the mean over trees that know something, and its error."""
    known = np.array([row for row in by_tree if row is not None])
    error = known.std(axis=0, ddof=1) / np.sqrt(len(known)) if len(known) > 1 else None
    return known.mean(axis=0), error


def mdi_oob(trees, truth, held, *, centred):
    """Li et al. 2019: the mean over out-of-bag rows i of Σ_k f_mk(x_i) y_ik, over outputs."""
    by_tree = []
    for tree, unseen in zip(trees, held, strict=True):
        value, total = oracles.side_by_side(tree), np.zeros(X.shape[1])
        for i in np.flatnonzero(unseen):
            # Numbers count from the mean of the root.
            y = truth[i] - (value[0] if centred else 0)
            for node, child, feature in oracles.walk(tree, X[i]):
                total[feature] += unseen[i] * (value[child] - value[node]) @ y
        by_tree.append(total / unseen.sum() / tree.n_outputs if unseen.any() else None)
    return over_trees(by_tree)


def cross_impurity(tree, p, y, weight):
    """H' of one node: 1 − Σ p q, with the law p of the bag and q of the rows out of it.

    Of numbers it is E'y² − 2 μ μ', with the mean μ of the bag.
    """
    q = np.average(y, axis=0, weights=weight)
    if tree.n_classes[0] > 1:
        return tree.n_outputs - p @ q
    return np.average((y**2).sum(axis=1), weights=weight) - 2 * p @ q


def ufi(trees, truth, held):
    """Zhou and Hooker 2021: the drops of H', weighted as in the bag; the mean over outputs."""
    by_tree = []
    for tree, unseen in zip(trees, held, strict=True):
        reached = tree.decision_path(X).toarray().astype(bool) & (unseen > 0)[:, None]
        value, total = oracles.side_by_side(tree), np.zeros(X.shape[1])
        for node in np.flatnonzero(tree.children_left >= 0):
            children = [tree.children_left[node], tree.children_right[node]]
            if not reached[:, children].any(axis=0).all():
                continue
            n = tree.weighted_n_node_samples
            for part, sign in ((node, 1), (children[0], -1), (children[1], -1)):
                rows = reached[:, part]
                level = cross_impurity(tree, value[part], truth[rows], unseen[rows])
                total[tree.feature[node]] += sign * n[part] * level / n[0]
        by_tree.append(total / tree.n_outputs if unseen.any() else None)
    return over_trees(by_tree)


def expected(method, model, y, held):
    of_classes = getattr(model, "criterion", None) == "gini"
    truth, _ = truth_of(y, of_classes=of_classes)
    if method == "ufi":
        return ufi(trees_of(model), truth, held)
    return mdi_oob(trees_of(model), truth, held, centred=not of_classes)


def same(found, values):
    np.testing.assert_allclose(found.values, values[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.standard_error, values[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["mdi_oob", "ufi"])
@pytest.mark.parametrize("kind", TARGETS)
class TestAgainstLoops:
    def test_out_of_bag(self, method, kind):
        criterion, target = TARGETS[kind]
        model, y = fitted(criterion, target=target, n_trees=12)
        found = lm.honest_global_mdi(model, X, y, method=method)
        same(found, expected(method, model, y, out_of_bag(model, 60)))
        assert (found.honest, found.error_kind) == (True, "trees")

    def test_held_out_with_weights(self, method, kind):
        criterion, target = TARGETS[kind]
        model, y = fitted(criterion, target=target, n_trees=12, max_features=1, bootstrap=False)
        weight = np.random.default_rng(3).choice([0.0, 1.0, 2.5], 60)
        found = lm.honest_global_mdi(
            model, X, y, method=method, held_out=True, sample_weight=weight
        )
        same(found, expected(method, model, y, np.tile(weight, (12, 1))))


@pytest.mark.parametrize("method", ["mdi_oob", "ufi"])
def test_trees_that_saw_all_rows_know_nothing(method):
    model = RandomForestClassifier(60, max_samples=None, random_state=0)
    few = np.array([0, 1, 2, 59])
    model.fit(X[few], CLASSES[few])
    held = out_of_bag(model, 4)
    assert not held.any(axis=1).all()
    found = lm.honest_global_mdi(model, X[few], CLASSES[few], method=method)
    assert np.isfinite(found.values).all()
    assert np.isfinite(found.standard_error).all()


@pytest.mark.parametrize("method", ["mdi_oob", "ufi"])
def test_other_kinds_of_forests(method):
    model = ExtraTreesClassifier(12, bootstrap=True, random_state=0).fit(X, CLASSES)
    found = lm.honest_global_mdi(model, X, CLASSES, method=method)
    same(found, expected(method, model, CLASSES, out_of_bag(model, 60)))
    bagging = BaggingRegressor(n_estimators=12, random_state=0).fit(X, NUMBERS)
    found = lm.honest_global_mdi(bagging, X, NUMBERS, method=method)
    same(found, expected(method, bagging, NUMBERS, out_of_bag(bagging, 60)))


def test_a_single_tree_has_no_error():
    tree = DecisionTreeClassifier(random_state=0).fit(X[:30], CLASSES[:30])
    found = lm.honest_global_mdi(tree, X, CLASSES, held_out=True, method="mdi_oob")
    assert found.standard_error is None


def test_ufi_knows_no_entropy():
    model, y = fitted("entropy")
    with pytest.raises(MissingStatisticsError, match="'entropy'"):
        lm.honest_global_mdi(model, X, y, method="ufi")
    assert lm.honest_global_mdi(model, X, y, method="mdi_oob").unit == "bits"
