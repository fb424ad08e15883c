"""The honest gain of rows: against loops over its definition, and on noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
import oracles
from honest.samples import (
    CLASSES,
    NEW,
    RNG,
    X,
    fitted,
    law_weight,
    out_of_bag,
    trees_of,
    truth_of,
)

FORESTS = {
    "entropy": ("entropy", None),
    "Gini": ("gini", None),
    "numbers": ("squared_error", None),
    "entropy, two targets": ("entropy", "two targets of classes"),
    "two numbers": ("squared_error", "two numbers"),
}


def by_loops(model, y, *, held, min_rows, at=None, rows=X):
    truth, starts = truth_of(y, of_classes=model.criterion != "squared_error")
    return oracles.honest_gain(
        trees_of(model),
        rows,
        truth,
        held=held,
        criterion=model.criterion,
        min_rows=min_rows,
        n_outputs=len(starts) - 1,
        at=at,
    )


@pytest.mark.parametrize("min_rows", [1, 4])
@pytest.mark.parametrize("kind", FORESTS)
class TestAgainstLoops:
    def test_training_rows(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target)
        result = lm.honest_mdi(model, X, y, min_rows=min_rows)
        values = by_loops(model, y, held=out_of_bag(model, len(X)), min_rows=min_rows)
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
        assert (result.honest, result.measure, result.residual) == (True, "gain", None)

    def test_new_rows(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target)
        result = lm.honest_mdi(model, X, y, at=NEW, min_rows=min_rows)
        values = by_loops(model, y, held=out_of_bag(model, len(X)), min_rows=min_rows, at=NEW)
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)

    def test_rows_held_out_apart_with_weights(self, kind, min_rows):
        criterion, target = FORESTS[kind]
        model, y = fitted(criterion, target=target, bootstrap=False, max_features=1)
        weight = RNG.random(len(X)) + 0.1
        held = np.tile(weight, (24, 1))
        result = lm.honest_mdi(model, X, y, held_out=True, sample_weight=weight, min_rows=min_rows)
        values = by_loops(model, y, held=held, min_rows=min_rows)
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
        # The same rows, and their weights, as a tuple.
        given = lm.honest_mdi(model, X, held_out=(X, y, weight), min_rows=min_rows)
        np.testing.assert_array_equal(given.values, result.values)
        apart = lm.honest_mdi(model, NEW, held_out=(X, y, weight), min_rows=min_rows)
        values = by_loops(model, y, held=held, min_rows=min_rows, at=NEW)
        np.testing.assert_allclose(apart.values, values, rtol=0, atol=1e-12)


def test_rows_of_x_keep_their_weights_where_others_tell():
    model, y = fitted("gini", bootstrap=False, max_features=1)
    weight = np.arange(20.0) + 1
    result = lm.honest_mdi(model, NEW, held_out=(X, y), sample_weight=weight)
    assert result.row_weight.tolist() == weight.tolist()
    plain = lm.honest_mdi(model, NEW, held_out=(X, y))
    np.testing.assert_array_equal(result.values, plain.values)
    assert plain.row_weight is None


@pytest.mark.parametrize("class_weight", ["balanced_subsample", {0: 1, 1: 1.5, 2: 1.2}], ids=str)
def test_class_weights(class_weight):
    model = RandomForestClassifier(40, class_weight=class_weight, random_state=0).fit(X, CLASSES)
    result = lm.honest_mdi(model, X, CLASSES, min_rows=2)
    held = out_of_bag(model, 60) * law_weight(model, CLASSES)
    values = by_loops(model, CLASSES, held=held, min_rows=2)
    np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)


def test_a_tree_that_saw_one_of_a_group_saw_all():
    model = RandomForestClassifier(300, max_samples=12, random_state=0).fit(X, CLASSES)
    held = out_of_bag(model, len(X))
    held *= np.repeat(held.reshape(-1, 20, 3).min(axis=2), 3, axis=1)
    result = lm.honest_mdi(model, X, CLASSES, groups=np.arange(60) // 3, min_rows=2)
    values = by_loops(model, CLASSES, held=held, min_rows=2)
    np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
def test_the_same_bits_for_any_number_of_threads_and_kind_of_rows(criterion):
    model, y = fitted(criterion, n_trees=30)
    results = [
        lm.honest_mdi(model, rows, y, standard_error="both", n_jobs=n_jobs)
        for n_jobs in (1, 2, 5)
        for rows in (X, X.astype(np.float64), sp.csr_array(X))
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(result.values, results[0].values)
        np.testing.assert_array_equal(result.standard_error, results[0].standard_error)


def test_the_same_bits_however_few_trees_pass_at_a_time(monkeypatch):
    model, y = fitted("entropy")
    whole = lm.honest_mdi(model, X, y, standard_error="both")
    monkeypatch.setattr("localmdi.forest.packing._PAIRS", 300)
    blocks = lm.honest_mdi(model, X, y, standard_error="both")
    np.testing.assert_array_equal(blocks.values, whole.values)
    np.testing.assert_array_equal(blocks.standard_error, whole.standard_error)


def test_more_rows_than_the_kernel_can_count():
    model, y = fitted("gini")
    many, more = (lm.honest_mdi(model, X, y, min_rows=n).values for n in (10**6, 10**30))
    np.testing.assert_array_equal(many, more)
    assert (many == 0).all()


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_noise_is_at_zero(kind):
    rng = np.random.default_rng(1)
    rows = rng.random((400, 5))
    y = rng.integers(0, 3, 400) if kind == "classes" else rng.normal(size=400)
    forest = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = forest(60, random_state=0).fit(rows, y)
    values = lm.honest_mdi(model, rows, y).values
    plain = lm.global_mdi(model).values
    assert np.abs(values.mean(axis=0)).max() < plain.min() / 10


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_missing_values_single_nodes_and_constant_features(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 30))
    rows = rng.choice([0.0, 1.0, np.nan], size=(n, 3))
    rows[:, 2] = 1.0
    y = rng.integers(0, int(rng.integers(1, 4)), n)
    model = RandomForestClassifier(60, random_state=seed % 100).fit(rows, y)
    result = lm.honest_mdi(model, rows, y, held_out=True, min_rows=1)
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


def test_several_outputs_are_the_mean_of_each():
    model, y = fitted("entropy", target="two targets of classes")
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
    mean = result.values[~unknown].mean(axis=0)
    np.testing.assert_allclose(result.mean().values, mean, rtol=1e-12)


def test_a_row_that_is_held_out_alone_knows_nothing():
    model, y = fitted("squared_error")
    alone = lm.honest_mdi(model, X[:1], y[:1], held_out=True, min_rows=1)
    assert np.isnan(alone.values).all()
    # Here one row is the only unseen one of its trees, others are not: it has no value, and no
    # weight in the mean.
    rng = np.random.default_rng(0)
    rows, y = rng.random((5, 2)), np.arange(5.0)
    model = RandomForestRegressor(2, random_state=31).fit(rows, y)
    held = out_of_bag(model, 5)
    others = np.where(held > 0, held.sum(axis=1, keepdims=True) - 1, 0).sum(axis=0)
    with pytest.warns(UserWarning, match="rows? of 5"):
        result = lm.honest_mdi(model, rows, y, min_rows=1)
    assert ((others == 0) & held.any(axis=0)).any()
    assert (np.isnan(result.values[:, 0]) == (others == 0)).all()
    assert (result.row_weight == (others > 0)).all()
