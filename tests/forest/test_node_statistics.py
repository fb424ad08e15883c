"""Statistics from rows in parts: any cut, any order, any machine give the same nodes."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier

import localmdi as lm
from localmdi import NodeStatistics

RNG = np.random.default_rng(0)
N = 500
X = RNG.random((N, 4)).astype(np.float32)
CLASSES = RNG.integers(0, 3, N)
NUMBERS = 10 * X[:, 0] + RNG.normal(size=N)
WEIGHT = RNG.random(N)
FOREST = lm.as_forest(RandomForestClassifier(8, max_depth=6, random_state=0).fit(X, CLASSES))
STUMP = {
    "n_features": 1, "tree_offset": [0, 3], "feature": [0, -1, -1], "split_kind": [1, 0, 0],
    "threshold": [0.5, 0, 0], "child_offset": [0, 2, 2, 2], "child": [1, 2],
}  # fmt: skip


def cut(rng, n):
    """Return the rows in random order, in parts of random sizes, some of them empty."""
    places = np.sort(rng.integers(0, n + 1, rng.integers(1, 30)))
    return np.split(rng.permutation(n), places)


def in_parts(rng, forest, y, weight, *, criterion):
    """Add parts, merge them pair by pair in random order, some after a journey as a pickle."""
    parts = [
        NodeStatistics(forest, criterion).add(X[rows], y[rows], sample_weight=weight[rows])
        for rows in cut(rng, N)
    ]
    while len(parts) > 1:
        one, other = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        if rng.random() < 0.5:
            other = pickle.loads(pickle.dumps(other))
        parts.append(one.merge(other))
    return NodeStatistics(forest, criterion).merge(parts[0])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("criterion", "y"),
    [
        ("entropy", CLASSES),
        ("gini", np.array(["a", "bb", "ccc"])[CLASSES]),
        ("gini", np.stack([CLASSES, CLASSES % 2], axis=1)),
        ("variance", NUMBERS),
        ("variance", 1e8 + NUMBERS),
        ("variance", np.stack([NUMBERS, -(NUMBERS**3)], axis=1)),
    ],
)
def test_any_cut_in_any_order(seed, weighted, criterion, y):
    rng = np.random.default_rng(seed)
    weight = WEIGHT if weighted else np.ones(N)
    whole = FOREST.with_statistics(X, y, sample_weight=weight, criterion=criterion)
    merged = in_parts(rng, FOREST, y, weight, criterion=criterion)
    forest = merged.forest()
    assert merged.n_rows == N
    assert [labels.tolist() for labels in forest.classes or ()] == [
        labels.tolist() for labels in whole.classes or ()
    ]
    for field in ("weight", "impurity", "value"):
        one, other = getattr(forest, field), getattr(whole, field)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=0)
        if not weighted and field == "weight":
            np.testing.assert_array_equal(one, other)


def test_variance_is_right_to_the_last_digits_far_from_zero():
    rng = np.random.default_rng(3)
    y = 1e9 + rng.random(40)
    x = rng.integers(0, 2, (40, 1))
    weight = rng.random(40)
    forest = lm.build_forest(**STUMP).with_statistics(
        x, y, sample_weight=weight, criterion="variance"
    )
    for node, rows in enumerate([slice(None), x[:, 0] == 0, x[:, 0] == 1]):
        ws = [Fraction(float(w)) for w in weight[rows]]
        ys = [Fraction(float(v)) for v in y[rows]]
        mean = sum(w * v for w, v in zip(ws, ys, strict=True)) / sum(ws)
        variance = sum(w * (v - mean) ** 2 for w, v in zip(ws, ys, strict=True)) / sum(ws)
        assert forest.weight[node] == pytest.approx(float(sum(ws)), rel=1e-15)
        assert forest.value[node, 0] == pytest.approx(float(mean), rel=1e-15)
        assert forest.impurity[node] == pytest.approx(float(variance), rel=1e-13)


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_the_same_bits_for_any_number_of_threads(criterion):
    one = NodeStatistics(FOREST, criterion).add(X, CLASSES, sample_weight=WEIGHT, n_jobs=1).forest()
    for n_jobs in (2, 3, 8):
        other = NodeStatistics(FOREST, criterion).add(X, CLASSES, WEIGHT, n_jobs=n_jobs)
        assert other.forest() == one


def test_the_same_rows_in_every_form():
    forest = lm.as_forest(ExtraTreesRegressor(3, max_depth=5, random_state=0).fit(X, NUMBERS))
    names = list("abcd")
    forms = [X.astype(np.float64), sp.csr_array(X), sp.csc_array(X), X.tolist()]
    forms += [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    whole = forest.with_statistics(X, NUMBERS)
    for rows in forms:
        assert NodeStatistics(forest).add(rows, NUMBERS).forest() == whole


def test_missing_values_and_categories_follow_the_forest():
    frame = pl.DataFrame({"x": [0.0, None, 3.0, 1.0], "c": ["u", "v", "w", None]})
    y = [0, 1, 1, 0]
    model = lm.RandomizedForestClassifier(5, random_state=0)
    forest = model.fit(frame.drop_nulls(), [0, 1]).forest_
    whole = NodeStatistics(forest).add(frame[[0, 2]], [0, 1]).add(frame[[2, 2]], [0, 0])
    assert whole.forest() == forest.with_statistics(frame[[0, 2, 2, 2]], [0, 1, 0, 0])
    with pytest.raises(ValueError, match="missing"):
        NodeStatistics(forest).add(frame, y)


def test_classes_differ_between_parts_or_are_given():
    stump = lm.build_forest(**STUMP)
    one = NodeStatistics(stump, "gini").add([[0], [1]], ["b", "b"])
    other = NodeStatistics(stump, "gini").add([[0], [1]], ["c", "a"], sample_weight=[0.5, 0.25])
    merged = one.merge(other).forest()
    assert merged.classes[0].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(
        merged.value[1:] * merged.weight[1:, None], [[0, 1, 0.5], [0.25, 1, 0]]
    )
    given = NodeStatistics(stump, "gini", classes=["c", "b", "a"]).add([[0]], ["b"])
    assert given.forest().value.shape == (3, 3)
    with pytest.raises(ValueError, match="'z' is none of 'a', 'b', 'c'"):
        given.add([[0]], ["z"])
    with pytest.raises(ValueError, match="'z' is none of"):
        given.merge(NodeStatistics(stump, "gini").add([[0]], ["z"]))
    assert given.forest().weight[0] == 1
    two = NodeStatistics(stump, "gini", classes=[[0, 1], ["a", "b", "c"]])
    assert two.add([[0]], np.array([[0, "a"]], dtype=object)).forest().value.shape == (3, 5)


def test_empty_parts_and_zero_weights_add_nothing():
    stump = lm.build_forest(**STUMP)
    part = NodeStatistics(stump, "entropy").add(np.empty((0, 1)), [])
    part.add([[0], [1]], ["x", "y"], sample_weight=[0, 0]).merge(NodeStatistics(stump, "entropy"))
    with pytest.raises(ValueError, match="got 2 rows of total weight 0"):
        part.forest()
    forest = part.add([[0], [1]], ["x", "x"]).forest()
    assert forest.weight.tolist() == [2, 1, 1]
    assert forest.impurity.tolist() == [0, 0, 0]


def test_a_pickle_is_small_and_has_no_forest():
    statistics = NodeStatistics(FOREST).add(X, CLASSES)
    sent = pickle.dumps(statistics)
    n_ends = int((FOREST.split_kind == lm.SplitKind.LEAF).sum())
    assert len(sent) < n_ends * (3 + 1) * 8 + 3000 < len(pickle.dumps(FOREST))
    alone = pickle.loads(sent)
    assert repr(alone) == "NodeStatistics: 500 rows at the nodes, gini"
    for act in (alone.forest, lambda: alone.add(X, CLASSES)):
        with pytest.raises(ValueError, match=r"NodeStatistics\(forest\)\.merge"):
            act()
    # It still merges and travels on.
    again = pickle.loads(pickle.dumps(alone.merge(pickle.loads(sent))))
    whole = NodeStatistics(FOREST).merge(again).forest()
    np.testing.assert_array_equal(whole.weight, 2 * statistics.forest().weight)


def test_a_copy_is_independent():
    empty = NodeStatistics(FOREST, "entropy")
    parts = [copy.copy(empty).add(X[i::3], CLASSES[i::3]) for i in range(3)]
    assert [part.n_rows for part in (empty, *parts)] == [0, 167, 167, 166]
    later = copy.copy(parts[0]).merge(parts[1]).merge(parts[2])
    assert later.forest() == FOREST.with_statistics(X, CLASSES, criterion="entropy")
    assert parts[0].forest().weight[0] == 167


def test_what_does_not_fit_is_refused_and_changes_nothing():
    stump = lm.build_forest(**STUMP)
    statistics = NodeStatistics(stump, "gini").add([[0], [1]], ["a", "b"])
    before = statistics.forest()
    other = lm.build_forest(**STUMP | {"threshold": [0.25, 0, 0]})
    cases = [
        (lambda: statistics.merge(NodeStatistics(other, "gini")), "the same trees"),
        (lambda: statistics.merge(NodeStatistics(stump, "entropy")), "criterion 'gini'"),
        (lambda: statistics.add([[0]], [1]), "of one kind"),
        (lambda: statistics.add([[0]], [["a", "b"]]), "1 output"),
        (lambda: statistics.add([[0]], np.array([None])), "missing labels"),
        (lambda: statistics.add([[0, 1]], ["a"]), "1 features; got 2"),
        (lambda: statistics.add(np.empty((0, 2)), []), "1 features; got 2"),
        (lambda: statistics.add([[np.nan]], ["z"]), "missing"),
        (lambda: statistics.add([[0]], ["a"], sample_weight=[-1]), "non-negative"),
    ]
    for act, message in cases:
        with pytest.raises(ValueError, match=message):
            act()
    assert statistics.forest() == before
    with pytest.raises(TypeError, match="as_forest"):
        NodeStatistics(RandomForestClassifier(), "gini")
    with pytest.raises(TypeError, match="NodeStatistics"):
        statistics.merge(before)
    with pytest.raises(ValueError, match="classes must be None"):
        NodeStatistics(stump, "variance", classes=[0, 1])
    for classes in ([], 2, "ab"):
        with pytest.raises(ValueError, match="list of labels"):
            NodeStatistics(stump, "gini", classes=classes)
    with pytest.raises(ValueError, match="too large"):
        NodeStatistics(stump, "variance").add([[0], [1]], [1e200, 0]).forest()


def test_names_of_a_frame_must_be_the_forests():
    named = lm.build_forest(**STUMP, feature_names=("age",))
    NodeStatistics(named, "gini").add(pd.DataFrame({"age": [0.0]}), [1])
    with pytest.raises(ValueError, match="'size'"):
        NodeStatistics(named, "gini").add(pd.DataFrame({"size": [0.0]}), [1])


def test_an_interrupted_addition_is_not_used(monkeypatch):
    statistics = NodeStatistics(FOREST).add(X, CLASSES)

    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setattr(statistics._packing, "kernel", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        statistics.add(X, CLASSES)
    for act in (statistics.forest, lambda: pickle.dumps(statistics)):
        with pytest.raises(ValueError, match="interrupted"):
            act()
