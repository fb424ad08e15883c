"""The gain: the divergence between child and parent, for every kind of model and criterion."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import localmdi as lm
from localmdi.exceptions import MissingStatisticsError
from localmdi.forest import build_forest

RNG = np.random.default_rng(0)
X = RNG.random((150, 4)).astype(np.float32)
CLASSES = (X[:, 0] * 3 + RNG.random(150)).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=150)
WEIGHT = RNG.random(150) + 0.1


def divergence(criterion, parent, child):
    """Return the divergence of one output, from class frequencies or means."""
    if criterion == "entropy":
        present = child > 0
        return float((child[present] * np.log2(child[present] / parent[present])).sum())
    return float(((child - parent) ** 2).sum())


def oracle(model, rows):
    """Walk the trees of a scikit-learn forest; the mean over outputs, then over trees."""
    values = np.zeros((len(rows), rows.shape[1]))
    for estimator in model.estimators_:
        tree = estimator.tree_
        for i, path in enumerate(estimator.decision_path(rows)):
            for node, child in pairwise(path.indices):
                gains = [
                    divergence(model.criterion, tree.value[node, k, :n], tree.value[child, k, :n])
                    for k, n in enumerate(tree.n_classes)
                ]
                values[i, tree.feature[node]] += np.mean(gains)
    return values / len(model.estimators_)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (RandomForestClassifier(5, criterion="entropy", random_state=0), CLASSES),
        (RandomForestClassifier(5, criterion="gini", max_depth=3, random_state=0), CLASSES),
        (ExtraTreesClassifier(5, criterion="entropy", random_state=0), CLASSES),
        (RandomForestRegressor(5, random_state=0), NUMBERS),
        (ExtraTreesRegressor(4, random_state=0), np.stack([NUMBERS, X[:, 1]], axis=1)),
        (
            RandomForestClassifier(4, criterion="entropy", random_state=0),
            np.stack([CLASSES, CLASSES % 2], axis=1),
        ),
        (
            RandomForestClassifier(4, class_weight="balanced", criterion="entropy", random_state=0),
            CLASSES,
        ),
    ],
    ids=str,
)
def test_equals_the_formula(model, y):
    model.fit(X, y)
    result = lm.local_mdi(model, X[:40], measure="gain")
    np.testing.assert_allclose(result.values, oracle(model, X[:40]), rtol=0, atol=1e-12)
    assert (result.measure, result.honest) == ("gain", False)
    assert result.baseline is None
    assert result.residual is None
    assert result.values.min() >= 0
    explainer = lm.Explainer(model, measure="gain")
    assert np.array_equal(explainer(X[:40], n_jobs=2).values, result.values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "squared_error"])
def test_the_training_rows_share_out_the_global_importance(criterion, bootstrap, weighted):
    kind = RandomForestRegressor if criterion == "squared_error" else RandomForestClassifier
    y = NUMBERS if criterion == "squared_error" else CLASSES
    weight = WEIGHT if weighted else None
    model = kind(8, criterion=criterion, bootstrap=bootstrap, random_state=0)
    model.fit(X, y, sample_weight=weight)
    shares = lm.decompose_global(model, X, y, sample_weight=weight, measure="gain")
    expected = lm.global_mdi(model).values
    np.testing.assert_allclose(shares.values.mean(axis=0), expected, rtol=0, atol=1e-12)
    assert shares.residual is None
    assert shares.measure == "gain"


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(criterion="entropy"), 4, random_state=0),
        OneVsRestClassifier(DecisionTreeClassifier(max_depth=3)),
        VotingClassifier([("a", DecisionTreeClassifier(max_depth=3))]),
        DecisionTreeClassifier(criterion="log_loss"),
        GradientBoostingClassifier(n_estimators=3),
    ],
    ids=str,
)
def test_every_kind_of_ensemble(model):
    model.fit(X, CLASSES)
    forest = lm.as_forest(model)
    weight = forest.weight / np.repeat(
        forest.weight[forest.tree_offset[:-1]], np.diff(forest.tree_offset)
    )
    gains, drops = (
        lm.Explainer(forest, measure=measure)._packing.credit.amount for measure in ("gain", "drop")
    )
    for tree in map(slice, forest.tree_offset[:-1], forest.tree_offset[1:]):
        np.testing.assert_allclose(
            (weight * gains)[tree].sum(), (weight * drops)[tree].sum(), rtol=0, atol=1e-12
        )
    if not isinstance(model, GradientBoostingClassifier):
        assert gains.min() >= 0


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MultiOutputClassifier(DecisionTreeClassifier()), np.stack([CLASSES, CLASSES % 2], axis=1)),
        (MultiOutputRegressor(DecisionTreeRegressor()), np.stack([NUMBERS, X[:, 1]], axis=1)),
    ],
    ids=str,
)
def test_members_side_by_side_have_one_output_each(model, y):
    result = lm.local_mdi(model.fit(X, y), X, measure="gain")
    parts = [lm.local_mdi(part, X, measure="gain").values for part in model.estimators_]
    np.testing.assert_allclose(result.values, np.mean(parts, axis=0), rtol=0, atol=1e-12)


def test_what_has_no_gain():
    absolute = RandomForestRegressor(2, criterion="absolute_error").fit(X[:40], NUMBERS[:40])
    with pytest.raises(MissingStatisticsError, match=r"'absolute_error'\. Use measure='drop'"):
        lm.local_mdi(absolute, X, measure="gain")
    one_vs_rest = OneVsRestClassifier(DecisionTreeClassifier(criterion="entropy")).fit(X, CLASSES)
    with pytest.raises(MissingStatisticsError, match="the distribution of the target"):
        lm.local_mdi(one_vs_rest, X, measure="gain")
    with pytest.raises(ValueError, match="measure must be 'drop' or 'gain'; got 'loss'"):
        lm.local_mdi(one_vs_rest, X, measure="loss")


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_advice_works(criterion):
    one_vs_rest = OneVsRestClassifier(DecisionTreeClassifier(criterion="entropy")).fit(X, CLASSES)
    forest = lm.as_forest(one_vs_rest).with_statistics(X, CLASSES, criterion=criterion)
    gain, drop = (lm.local_mdi(forest, X, measure=measure) for measure in ("gain", "drop"))
    np.testing.assert_allclose(gain.values.mean(axis=0), drop.values.mean(axis=0), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["entropy", "gini", "squared_error"]))
@settings(max_examples=40, deadline=None)
def test_categories_missing_values_and_weights(seed, criterion):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, size=(30, 3)).astype(object)
    rows[rng.random(rows.shape) < 0.1] = None
    y = rng.integers(0, 3, 30)
    kind = (
        lm.RandomizedForestRegressor
        if criterion == "squared_error"
        else lm.RandomizedForestClassifier
    )
    weight = rng.random(30) + 0.1
    model = kind(3, criterion=criterion, random_state=seed).fit(rows, y, sample_weight=weight)
    gain = lm.local_mdi(model, rows, measure="gain")
    assert gain.values.min() >= 0
    mean = np.average(gain.values, axis=0, weights=weight)
    np.testing.assert_allclose(mean, lm.global_mdi(model).values, rtol=0, atol=1e-12)


def test_single_nodes_and_constant_features():
    leaf = build_forest(
        n_features=2, tree_offset=[0, 1], feature=[-1], split_kind=[0], threshold=[0],
        child_offset=[0, 0], child=[], weight=[3], impurity=[0.5], value=[[0.5, 0.5]],
        criterion="gini",
    )  # fmt: skip
    assert lm.local_mdi(leaf, np.zeros((1, 2)), measure="gain").values.tolist() == [[0.0, 0.0]]
    model = RandomForestClassifier(3, random_state=0).fit(np.zeros((9, 1)), CLASSES[:9] * 0)
    assert lm.local_mdi(model, np.zeros((2, 1)), measure="gain").values.tolist() == [[0.0], [0.0]]
