"""Honest values: against loops, against the published global measures, and on noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError
from localmdi.importance import honest as honest_module

RNG = np.random.default_rng(0)
X = RNG.random((60, 3)).astype(np.float32)
CLASSES = (X[:, 0] * 2 + RNG.random(60)).astype(int)
NUMBERS = 100 + X[:, 0] + 0.3 * RNG.normal(size=60)
NEW = RNG.random((20, 3)).astype(np.float32)


def fitted(criterion, n_trees=24, **options):
    kind = RandomForestRegressor if criterion == "squared_error" else RandomForestClassifier
    y = NUMBERS if criterion == "squared_error" else CLASSES
    return kind(n_trees, criterion=criterion, random_state=0, **options).fit(X, y), y


def out_of_bag(model, n_rows):
    held = np.ones((len(model.estimators_), n_rows))
    for tree, drawn in enumerate(model.estimators_samples_):
        held[tree, drawn] = 0
    return held


def oracle(model, y, *, held, measure, min_rows, at=None, prior=1.0):
    criterion = "variance" if model.criterion == "squared_error" else model.criterion
    trees = [estimator.tree_ for estimator in model.estimators_]
    rules = (measure, criterion, min_rows, prior)
    return oracles.honest_values(trees, X, y, held=held, rules=rules, at=at)


@pytest.mark.parametrize("min_rows", [1, 4])
@pytest.mark.parametrize("measure", ["gain", "drop"])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "squared_error"])
class TestAgainstLoops:
    @pytest.fixture(autouse=True)
    def one_prior(self, monkeypatch):
        monkeypatch.setattr(honest_module._Source, "_prior", lambda source, kernel: 2.0)

    def test_training_rows(self, criterion, measure, min_rows):
        model, y = fitted(criterion)
        result = lm.honest_mdi(model, X, y, measure=measure, min_rows=min_rows)
        held = out_of_bag(model, len(X))
        values, residual, baseline = oracle(
            model, y, held=held, measure=measure, min_rows=min_rows, prior=2.0
        )
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
        assert (result.honest, result.measure) == (True, measure)
        if measure == "drop":
            np.testing.assert_allclose(result.residual, residual, rtol=0, atol=1e-12)
            np.testing.assert_allclose(result.baseline, baseline, rtol=0, atol=1e-12)
            assert result.additivity_error() < 1e-12
        else:
            assert result.residual is None

    def test_new_rows(self, criterion, measure, min_rows):
        model, y = fitted(criterion)
        result = lm.honest_mdi(model, X, y, at=NEW, measure=measure, min_rows=min_rows)
        held = out_of_bag(model, len(X))
        values, residual, _ = oracle(
            model, y, held=held, measure=measure, min_rows=min_rows, at=NEW, prior=2.0
        )
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
        if measure == "drop":
            np.testing.assert_allclose(result.residual, residual, rtol=0, atol=1e-12)

    def test_rows_held_out_apart_with_weights(self, criterion, measure, min_rows):
        model, y = fitted(criterion, bootstrap=False, max_features=1)
        weight = RNG.random(len(X)) + 0.1
        held = np.tile(weight, (24, 1))
        options = {"measure": measure, "min_rows": min_rows}
        result = lm.honest_mdi(model, X, y, held_out=True, sample_weight=weight, **options)
        values, *_ = oracle(model, y, held=held, **options, prior=2.0)
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
        apart = lm.honest_mdi(model, NEW, held_out=(X, y, weight), **options)
        values, *_ = oracle(model, y, held=held, **options, at=NEW, prior=2.0)
        np.testing.assert_allclose(apart.values, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("measure", ["gain", "drop"])
@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
def test_the_same_bits_for_any_number_of_threads_and_kind_of_rows(criterion, measure):
    model, y = fitted(criterion, n_trees=20)
    results = [
        lm.honest_mdi(model, rows, y, measure=measure, standard_error="trees", n_jobs=n_jobs)
        for n_jobs in (1, 2, 5)
        for rows in (X, X.astype(np.float64), sp.csr_array(X))
    ]
    for result in results[1:]:
        assert np.array_equal(result.values, results[0].values)
        assert np.array_equal(result.standard_error, results[0].standard_error)


def test_more_rows_than_the_kernel_can_count():
    model, y = fitted("gini")
    many, more = (lm.honest_mdi(model, X, y, min_rows=n).values for n in (10**6, 10**30))
    np.testing.assert_array_equal(many, more)


def mdi_oob(model, y, response):
    """Return MDI-oob by its formula (Li et al. 2019): the mean of f(x)·y over out-of-bag rows."""
    per_tree = []
    for estimator, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        outside = np.setdiff1d(np.arange(len(X)), drawn)
        moves = oracles.saabas(estimator.tree_, X[outside])[:, :, 0]
        per_tree.append(np.einsum("ijk,ik->j", moves, response(estimator, outside)) / len(outside))
    return np.mean(per_tree, axis=0)


def test_the_mean_over_out_of_bag_rows_is_mdi_oob():
    model, y = fitted("gini", n_trees=15)
    expected = mdi_oob(model, y, lambda _, rows: np.eye(3)[y[rows]])
    found = lm.honest_global_mdi(model, X, y)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    model, y = fitted("squared_error", n_trees=15)
    # Numbers count from the mean of the root.
    expected = mdi_oob(model, y, lambda tree, rows: (y[rows] - tree.tree_.value[0, 0, 0])[:, None])
    found = lm.honest_global_mdi(model, X, y)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)


def cross_impurity(tree, node, rows, y):
    p, here = tree.value[node, 0], y[rows]
    if tree.n_classes[0] > 1:
        return 1 - p @ np.bincount(here, minlength=len(p)) / len(here)
    centre = tree.value[0, 0, 0]
    return np.mean((here - centre) ** 2) - (p[0] - centre) * np.mean(here - centre)


def ufi(model, y):
    """Return UFI by its formula (Zhou and Hooker 2021): in-bag weights, cross impurities."""
    per_tree = []
    for estimator, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        tree, outside = estimator.tree_, np.setdiff1d(np.arange(len(X)), drawn)
        reached = tree.decision_path(X[outside]).toarray().astype(bool)
        weight, values = tree.weighted_n_node_samples, np.zeros(X.shape[1])
        for node in np.flatnonzero(tree.children_left >= 0):
            family = [node, tree.children_left[node], tree.children_right[node]]
            if not reached[:, family].any(axis=0).all():
                continue
            i, left, right = (
                weight[n] * cross_impurity(tree, n, outside[reached[:, n]], y) for n in family
            )
            values[tree.feature[node]] += (i - left - right) / weight[0]
        per_tree.append(values)
    return np.mean(per_tree, axis=0)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_the_mean_over_in_bag_rows_is_ufi(criterion):
    model, y = fitted(criterion, n_trees=12)
    found = lm.honest_global_mdi(model, X, y, over="in_bag")
    np.testing.assert_allclose(found.values, ufi(model, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("measure", ["gain", "drop"])
def test_the_global_value_is_the_mean_of_the_rows_shares(measure):
    # With their own labels: the mean over a tree's held-out rows of its amounts.
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(NEW, CLASSES[:20])
    found = lm.honest_global_mdi(tree, X, CLASSES, held_out=True, measure=measure)
    at = lm.honest_mdi(tree, X.copy(), held_out=(X, CLASSES), measure=measure, min_rows=1)
    np.testing.assert_allclose(found.values, at.values.mean(axis=0), rtol=0, atol=1e-12)
    # Rows that are there twice change nothing but the number of rows that the error is of.
    twice = lm.honest_global_mdi(
        tree, np.tile(X, (2, 1)), np.tile(CLASSES, 2), held_out=True, measure=measure
    )
    np.testing.assert_allclose(twice.values, found.values, rtol=0, atol=1e-12)
    ratio = np.sqrt((len(X) - 1) / (2 * len(X) - 1))
    np.testing.assert_allclose(twice.standard_error, ratio * found.standard_error, rtol=1e-9)


@pytest.mark.parametrize("measure", ["gain", "drop"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_noise_is_at_zero(kind, measure):
    rng = np.random.default_rng(1)
    rows = rng.random((400, 5))
    y = rng.integers(0, 3, 400) if kind == "classes" else rng.normal(size=400)
    forest = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = forest(60, random_state=0).fit(rows, y)
    found = lm.honest_global_mdi(model, rows, y, measure=measure, min_rows=5)
    assert np.abs(found.values / found.standard_error).max() < 4.5
    assert not found.significant(0.001).any()
    assert lm.global_mdi(model).values.min() > 10 * np.abs(found.values).max()


def halves(load):
    data = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(data[0]))
    middle = len(order) // 2
    return [part[order[rows]] for rows in (slice(middle), slice(middle, None)) for part in data]


@pytest.mark.parametrize(
    ("load", "permuted"), [(load_digits, False), (load_digits, True), (load_breast_cancer, False)]
)
def test_what_is_left_is_what_trees_get_wrong(load, permuted):
    rows, y, new, target = halves(load)
    if permuted:
        rng = np.random.default_rng(0)
        y, target = rng.permutation(y), rng.permutation(target)
    model = RandomForestClassifier(50, random_state=0).fit(rows, y)
    result = lm.honest_mdi(model, new, target, held_out=True, measure="drop", min_rows=1)
    # Half the Brier score of a tree is its impurity really left.
    labels = np.eye(len(model.classes_))[target]
    brier = [
        ((tree.predict_proba(new) - labels) ** 2).sum(axis=1) / 2 for tree in model.estimators_
    ]
    real = np.mean(brier)
    error = np.mean(brier, axis=0).std() / np.sqrt(len(new))
    assert abs(result.residual.mean() - real) < 4 * error + 0.01
    plain = lm.local_mdi(model, new)
    assert plain.residual.mean() < 0.01
    if permuted:
        assert abs(result.values.sum(axis=1).mean()) < 0.02


def smoothed_log_loss(estimator, prior, rows, target):
    """Return the log loss of each row by a tree whose laws are shrunk towards their parents'."""
    tree = estimator.tree_
    law, parent = tree.value[:, 0].copy(), np.zeros(tree.node_count, dtype=int)
    for children in (tree.children_left, tree.children_right):
        parent[children[children >= 0]] = np.flatnonzero(children >= 0)
    for node in range(tree.node_count):
        above = law[parent[node]] if node else np.full(law.shape[1], 1 / law.shape[1])
        weight, n = prior if node else 1.0, tree.weighted_n_node_samples[node]
        law[node] = (n * law[node] + weight * above) / (n + weight)
    return -np.log2(law[estimator.apply(rows), target])


@pytest.mark.parametrize(
    ("load", "permuted"), [(load_digits, False), (load_digits, True), (load_breast_cancer, False)]
)
def test_the_remainder_of_the_entropy_is_a_log_loss(load, permuted):
    rows, y, new, target = halves(load)
    if permuted:
        rng = np.random.default_rng(0)
        y, target = rng.permutation(y), rng.permutation(target)
    model = RandomForestClassifier(30, criterion="entropy", random_state=0).fit(rows, y)
    result = lm.honest_mdi(model, new, target, held_out=True, measure="drop", min_rows=1)
    losses = [
        np.mean([smoothed_log_loss(tree, prior, new, target) for tree in model], axis=0)
        for prior in 2.0 ** np.arange(-1, 15)
    ]
    best = min(losses, key=np.mean)
    error = best.std() / np.sqrt(len(new))
    assert abs(result.residual.mean() - best.mean()) < 4 * error + 0.02
    assert lm.local_mdi(model, new).residual.mean() < 0.02
    if permuted:
        assert 3.30 < result.residual.mean() < 3.36


def test_the_remainder_of_the_variance_is_a_squared_error():
    rows, y, new, target = halves(load_diabetes)
    model = RandomForestRegressor(50, random_state=0).fit(rows, y)
    result = lm.honest_mdi(model, new, target, held_out=True, measure="drop", min_rows=1)
    # As for Gini: half the squared error of fully grown trees is the variance really left.
    losses = np.mean([(tree.predict(new) - target) ** 2 / 2 for tree in model], axis=0)
    error = losses.std() / np.sqrt(len(new))
    assert abs(result.residual.mean() - losses.mean()) < 3 * error
    assert result.residual.mean() > 10 * lm.local_mdi(model, new).residual.mean()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["gain", "drop"]))
@settings(max_examples=25, deadline=None)
def test_missing_values_single_nodes_and_constant_features(seed, measure):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 30))
    rows = rng.choice([0.0, 1.0, np.nan], size=(n, 3))
    rows[:, 2] = 1.0
    y = rng.integers(0, int(rng.integers(1, 4)), n)
    model = RandomForestClassifier(60, random_state=seed % 100).fit(rows, y)
    result = lm.honest_mdi(model, rows, y, measure=measure, min_rows=1)
    assert np.isfinite(result.values).all()
    assert (result.values[:, 2] == 0).all()


def test_categories_and_unseen_ones():
    frame = pd.DataFrame({"a": list("xyxyzxyzxy") * 4, "b": np.arange(40.0)})
    y = [int(value in "xz") for value in frame["a"]]
    model = lm.RandomizedForestClassifier(30, random_state=0).fit(frame, y)
    new = pd.DataFrame({"a": ["x", "never"], "b": [1.0, 2.0]})
    result = lm.honest_mdi(model, new, held_out=(frame, y), min_rows=1)
    assert result.feature_names == ("a", "b")
    assert result.values[0, 0] > 0
    assert np.isfinite(result.values).all()


def test_several_outputs():
    y = np.stack([CLASSES, CLASSES % 2], axis=1)
    model = RandomForestClassifier(24, criterion="entropy", random_state=0).fit(X, y)
    both = lm.honest_mdi(model, X, y, min_rows=2)
    # The gain of several outputs is the mean of theirs, by the laws of the same trees.
    forest = lm.as_forest(model)
    parts = []
    for output, columns in enumerate((slice(0, 3), slice(3, 5))):
        law = np.ascontiguousarray(forest.value[:, columns])
        entropy = -(law * np.log2(np.where(law > 0, law, 1))).sum(axis=1)
        one = dataclasses.replace(
            forest, value=law, classes=(model.classes_[output],), impurity=entropy
        )
        parts.append(lm.honest_mdi(one, X.copy(), held_out=(X, y[:, output]), min_rows=2).values)
    whole = lm.honest_mdi(forest, X.copy(), held_out=(X, y), min_rows=2)
    np.testing.assert_allclose(whole.values, np.mean(parts, axis=0), rtol=0, atol=1e-12)
    assert both.shape == X.shape
    assert both.unit == "bits"
    numbers = np.stack([NUMBERS, X[:, 1]], axis=1)
    regression = RandomForestRegressor(24, random_state=0).fit(X, numbers)
    result = lm.honest_mdi(regression, X, numbers, measure="drop", min_rows=2)
    assert result.additivity_error() < 1e-10


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 3, 2: 0.5}])
def test_class_weights(class_weight):
    model = RandomForestClassifier(24, class_weight=class_weight, random_state=0).fit(X, CLASSES)
    result = lm.honest_mdi(model, X, CLASSES, min_rows=1)
    assert np.isfinite(result.values).all()
    plain = RandomForestClassifier(24, random_state=0).fit(X, CLASSES)
    assert not np.allclose(result.values, lm.honest_mdi(plain, X, CLASSES, min_rows=1).values)


def test_pipelines_frames_and_bagging():
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 160))
    forest = RandomForestClassifier(20, random_state=0)
    pipeline = make_pipeline(StandardScaler(), forest).fit(frame, CLASSES)
    result = lm.honest_mdi(pipeline, frame, CLASSES)
    assert result.to_frame().index.tolist() == list(range(100, 160))
    bagging = BaggingClassifier(
        DecisionTreeClassifier(), 20, max_features=0.7, max_samples=0.5, random_state=0
    ).fit(X, CLASSES)
    assert lm.honest_mdi(bagging, X, CLASSES).honest


def test_rows_that_every_tree_saw():
    model = RandomForestClassifier(2, random_state=0).fit(X, CLASSES)
    with pytest.warns(UserWarning, match=r"\d+ rows of 60 were seen by every tree"):
        result = lm.honest_mdi(model, X, CLASSES, min_rows=1)
    unknown = np.isnan(result.values).any(axis=1)
    assert unknown.any()
    assert (result.row_weight == ~unknown).all()
    assert np.isfinite(result.mean().values).all()
    np.testing.assert_allclose(
        result.mean().values, result.values[~unknown].mean(axis=0), rtol=1e-12
    )


class TestRefusals:
    def test_forests_without_bootstrap(self):
        model = ExtraTreesClassifier(3, random_state=0).fit(X, CLASSES)
        with pytest.raises(UnsupportedModelError, match=r"bootstrap=True.*held_out=\(X, y\)"):
            lm.honest_mdi(model, X, CLASSES)
        assert lm.honest_mdi(model, X, held_out=(NEW, CLASSES[:20]), min_rows=1).honest

    def test_boosting(self):
        model = GradientBoostingRegressor(n_estimators=2).fit(X, NUMBERS)
        for held_out in (None, True, (X, NUMBERS)):
            with pytest.raises(UnsupportedModelError, match="boosted trees have seen all rows"):
                lm.honest_mdi(model, X, NUMBERS, held_out=held_out)
        with pytest.raises(UnsupportedModelError, match="with_statistics"):
            lm.honest_mdi(lm.as_forest(model), X, NUMBERS, held_out=True)

    def test_other_criteria(self):
        model = RandomForestRegressor(2, criterion="absolute_error").fit(X, NUMBERS)
        with pytest.raises(MissingStatisticsError, match="entropy, gini or squared_error"):
            lm.honest_mdi(model, X, NUMBERS)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"y": None}, ValueError, "y must be given"),
            ({"y": CLASSES[:5]}, ValueError, "one entry per row|one target per row"),
            ({"y": CLASSES + 7}, ValueError, "classes of the model"),
            ({"y": np.where(CLASSES == 0, np.nan, 1.0)}, ValueError, "missing"),
            ({"measure": "loss"}, ValueError, "measure must be 'drop' or 'gain'"),
            ({"min_rows": 0}, ValueError, "min_rows must be a positive"),
            ({"min_rows": 2.5}, ValueError, "min_rows must be a positive"),
            ({"standard_error": "rows"}, ValueError, "'trees', 'labels' or 'both'"),
            ({"standard_error": "labels", "measure": "drop"}, ValueError, "need measure='gain'"),
            ({"held_out": X}, TypeError, "held_out must be"),
            ({"random_state": None}, TypeError, "random_state must be a whole number"),
        ],
        ids=str,
    )
    def test_bad_arguments(self, options, error, message):
        model, _ = fitted("gini")
        with pytest.raises(error, match=message):
            lm.honest_mdi(model, X, **{"y": CLASSES} | options)

    def test_over(self):
        model, y = fitted("gini")
        with pytest.raises(ValueError, match="over must be 'held_out' or 'in_bag'"):
            lm.honest_global_mdi(model, X, y, over="all")

    def test_no_rows(self):
        model, y = fitted("gini")
        with pytest.raises(ValueError, match="at least one row"):
            lm.honest_mdi(model, X[:0], y[:0])
