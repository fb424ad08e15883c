"""Local MDI against the brute-force walk: every estimator, criterion, dtype, layout and extreme."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from importance.models import (
    CLASSIFIERS,
    REGRESSORS,
    X_CLASS,
    X_VALUE,
    Y_CLASS,
    Y_POSITIVE,
    bagging,
    trees_of,
)
from localmdi.forest import build_forest
from localmdi.forest.joining import join_forests


def check(model, X, members=None):
    """Explain X and compare with the oracle; returns the result."""
    members = members or [(tree, 1.0) for tree in trees_of(model)]
    result = lm.local_mdi(model, X)
    values, residual = oracles.local_mdi(members, np.asarray(X))
    np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.residual, residual, rtol=0, atol=1e-12)
    baseline = np.average([m[0].impurity[0] for m in members], weights=[m[1] for m in members])
    assert result.baseline == pytest.approx(baseline, abs=1e-12)
    return result


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    result = check(CLASSIFIERS[name].fit(X_CLASS, Y_CLASS), X_CLASS[:30])
    assert result.unit == ("gini" if name.endswith("gini") else "bits")


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    criterion = name.rpartition("-")[2]
    units = {"absolute_error": "mae", "poisson": "poisson"}
    result = check(REGRESSORS[name].fit(X_VALUE, Y_POSITIVE), X_VALUE[:30])
    assert result.unit == units.get(criterion, "variance")


def test_multi_output_class_weights_and_pruning():
    y = np.stack([Y_CLASS, Y_CLASS % 2], axis=1)
    weights = [{0: 1, 1: 2, 2: 3}, {0: 1, 1: 5}]
    model = DecisionTreeClassifier(class_weight=weights, ccp_alpha=0.01, random_state=0)
    check(model.fit(X_CLASS, y, sample_weight=np.arange(1, 121)), X_CLASS[:30])


def test_monotonic_constraints_and_max_samples():
    model = RandomForestClassifier(
        5, monotonic_cst=[1, 0, -1, 0, 0, 0], max_samples=0.5, random_state=0
    )
    check(model.fit(X_CLASS, Y_CLASS % 2), X_CLASS[:30])


def test_bagging_maps_columns_back():
    model = bagging()
    members = [
        (tree.tree_, 1.0, [int(c) for c in columns])
        for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    check(model, X_CLASS[:30], members)


def test_boosting_averages_all_trees_by_weight():
    boosted = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X_CLASS, Y_CLASS)
    check(boosted, X_CLASS[:20])
    adaptive = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=5, random_state=0
    ).fit(X_CLASS, Y_CLASS)
    weights = adaptive.estimator_weights_[: len(adaptive.estimators_)]
    members = list(zip(trees_of(adaptive), weights, strict=True))
    check(adaptive, X_CLASS[:20], members)
    assert lm.local_mdi(boosted, X_CLASS[:2], standard_error=True).standard_error is None
    assert lm.local_mdi(adaptive, X_CLASS[:2], standard_error=True).standard_error is None


def test_voting_averages_members_whatever_their_tree_counts():
    model = VotingClassifier(
        [
            ("few", RandomForestClassifier(3, random_state=0)),
            ("many", RandomForestClassifier(9, random_state=1)),
        ],
        weights=[2, 1],
        voting="soft",
    ).fit(X_CLASS, Y_CLASS)
    few, many = model.estimators_
    members = [(t, 2 / 3) for t in trees_of(few)] + [(t, 1 / 9) for t in trees_of(many)]
    result = check(model, X_CLASS[:20], members)
    parts = [lm.local_mdi(member, X_CLASS[:20]).values for member in model.estimators_]
    np.testing.assert_allclose(result.values, (2 * parts[0] + parts[1]) / 3, atol=1e-12)


FOREST = RandomForestClassifier(9, random_state=0).fit(np.round(X_CLASS * 8), Y_CLASS)
WHOLE = np.round(X_CLASS * 8)  # whole numbers, so that every dtype holds them
EXPECTED = lm.local_mdi(FOREST, WHOLE).values


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "O"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_layout_gives_the_same_bits(dtype, order):
    X = np.array(WHOLE, dtype=dtype, order=order)
    assert np.array_equal(lm.local_mdi(FOREST, X).values, EXPECTED)


def test_bool_unsigned_strided_and_read_only():
    X = (WHOLE > 0).astype(bool)
    model = RandomForestClassifier(5, random_state=0).fit(X, Y_CLASS)
    expected = check(model, X.astype("f4")[:40]).values
    for rows in (X, X.astype("u1"), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        assert np.array_equal(lm.local_mdi(model, rows).values[:40], expected)
    frozen = WHOLE.astype("f4")
    frozen.flags.writeable = False
    assert np.array_equal(lm.local_mdi(FOREST, frozen).values, EXPECTED)


def test_memory_map(tmp_path):
    X = np.memmap(tmp_path / "x", dtype="f4", mode="w+", shape=WHOLE.shape)
    X[:] = WHOLE
    X.flush()
    X = np.memmap(tmp_path / "x", dtype="f4", mode="r", shape=WHOLE.shape)
    assert np.array_equal(lm.local_mdi(FOREST, X).values, EXPECTED)


@pytest.mark.parametrize(
    "kind", ["csr_array", "csc_array", "csr_matrix", "csc_matrix", "coo_array"]
)
def test_sparse(kind):
    X = getattr(sp, kind)(np.where(np.abs(WHOLE) > 6, WHOLE, 0))
    expected = lm.local_mdi(FOREST, X.toarray()).values
    assert np.array_equal(lm.local_mdi(FOREST, X).values, expected)
    assert np.array_equal(lm.local_mdi(FOREST, X.astype("i4")).values, expected)


def test_one_node_one_row_one_feature():
    stump = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1])
    result = check(stump, np.array([[0.5]]))
    assert result.values.tolist() == [[0.0]]
    check(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]), np.array([[0.5]]))


def test_depth_above_a_thousand():
    # Alternating labels on one feature: the best split cuts off one row at a time.
    X = np.arange(2100, dtype=float)[:, None]
    model = DecisionTreeClassifier(random_state=0).fit(X, np.arange(2100) % 2)
    assert model.get_depth() > 1000
    some = [0, 1, 700, 1050, 2099]
    result = check(model, X[some])
    assert np.array_equal(lm.local_mdi(model, X).values[some], result.values)


def test_more_than_seventy_thousand_nodes():
    rng = np.random.default_rng(0)
    X = rng.random((120_000, 3)).astype("f4")
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(
        X, rng.integers(0, 2, 120_000)
    )
    assert model.tree_.node_count > 70_000
    check(model, X[:50])


def test_thresholds_and_their_float32_neighbours():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])  # thresholds 0.5, 1.5, 2.5 are exact in float32
    model = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    at = np.array([0.5, 1.5, 2.5], dtype="f4")
    rows = np.concatenate([at, np.nextafter(at, np.float32(9)), np.nextafter(at, np.float32(-9))])
    check(model, rows[:, None])
    # A float64 just above the threshold that rounds to it goes left, as scikit-learn does.
    check(model, np.nextafter(at.astype("f8"), 9.0)[:, None])
    uneven = DecisionTreeClassifier().fit([[0.1], [0.3]], [0, 1])  # 0.2 is not exact in float32
    cut = np.float32(uneven.tree_.threshold[0])
    ends = [np.nextafter(cut, np.float32(-1)), cut, np.nextafter(cut, np.float32(1))]
    check(uneven, np.array(ends)[:, None])


def test_missing_values_go_where_scikit_learn_sends_them():
    rng = np.random.default_rng(0)
    X = X_CLASS.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    for model in (
        RandomForestClassifier(9, random_state=0).fit(X, Y_CLASS),
        RandomForestClassifier(9, random_state=0).fit(X_CLASS, Y_CLASS),  # saw none
        ExtraTreesClassifier(9, random_state=0).fit(X, Y_CLASS),
        DecisionTreeClassifier(random_state=0).fit(X, Y_CLASS),
    ):
        check(model, X)
        reached = np.ravel(
            model.apply(X)[:, :1] if hasattr(model, "estimators_") else model.apply(X)
        )
        tree = trees_of(model)[0]
        single = lm.local_mdi(getattr(model, "estimators_", [model])[0], X)
        assert np.array_equal(single.residual, tree.impurity[reached])


def test_standard_errors_of_trees_that_agree():
    # Trees that all say the same have no spread: nothing is left of large sums that cancel.
    model = DecisionTreeClassifier(random_state=0).fit(X_CLASS, Y_CLASS)
    forest = lm.as_forest(model)
    copies = join_forests([forest] * 50)
    result = lm.local_mdi(copies, X_CLASS[:80], standard_error=True)
    assert result.values.max() > 0.1
    assert result.standard_error.max() < 1e-15


def test_standard_errors_with_an_outlier_first():
    # The first tree is far from all others, and some trees do not meet the feature.
    drops = np.array([1e4, *np.random.default_rng(0).normal(1.0, 1e-3, 400), *np.zeros(99)])
    n = len(drops)
    forest = build_forest(
        n_features=2,
        tree_offset=3 * np.arange(n + 1),
        feature=np.ravel([[0 if drop else 1, -1, -1] for drop in drops]),
        split_kind=np.tile([1, 0, 0], n),
        threshold=np.zeros(3 * n),
        child_offset=np.append(np.ravel([[2 * t, 2 * t + 2, 2 * t + 2] for t in range(n)]), 2 * n),
        child=np.ravel([[3 * t + 1, 3 * t + 2] for t in range(n)]),
        impurity=np.ravel([[drop, 0.0, 0.0] for drop in drops]),
        criterion="squared_error",
    )
    result = lm.local_mdi(forest, np.ones((100, 2)), standard_error=True)
    expected = drops.std(ddof=1) / np.sqrt(n)
    np.testing.assert_allclose(result.standard_error[:, 0], expected, rtol=1e-10)
    np.testing.assert_array_equal(result.standard_error[:, 1], 0.0)
