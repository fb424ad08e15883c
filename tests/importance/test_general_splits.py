"""Forests of every kind of split against a walk in plain Python that reads the forest's arrays."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm
from localmdi._validation import RowRules, read_rows
from localmdi.forest import SplitKind, build_forest

LEAF, LESS_EQUAL, LESS, CATEGORY_SET, MULTIWAY = SplitKind
CODES = [0, 1, 2, 3, 5, 63, 64, 100, 2**24, 2**53 - 1]
THRESHOLDS = [-math.inf, math.inf, 0.0, -0.0, 0.1, 0.5, 1.0, -2.5, 1e300, -1e300, 5e-324, 2**24 + 1]
VALUES = [-0.0, 0.1, 0.5, -2.5, 2.0**53, 1e300, 5e-324, -math.inf, math.inf, math.nan]
VALUES += map(float, CODES)


def child_of(forest, node, x):
    """Return the next node, or None where the row ends (docs/format/forest.md)."""
    kind = forest.split_kind[node]
    children = forest.child[forest.child_offset[node] : forest.child_offset[node + 1]].tolist()
    words = forest.category_bits[forest.category_offset[node] : forest.category_offset[node + 1]]
    words = words.tolist()
    if kind == LEAF:
        return None
    if math.isnan(x):
        return children[forest.missing_child[node]]
    if kind == LESS_EQUAL:
        return children[0] if x <= forest.threshold[node] else children[1]
    if kind == LESS:
        return children[0] if x < forest.threshold[node] else children[1]
    code = int(x) if math.isfinite(x) and 0 <= x < 2**53 and x == int(x) else None
    if kind == MULTIWAY:
        return children[words.index(code)] if code in words else None
    in_set = code is not None and code < 64 * len(words) and words[code // 64] >> code % 64 & 1
    return children[0 if in_set else 1]


def walk(forest, tree, x):
    nodes = [int(forest.tree_offset[tree])]
    while (
        node := child_of(forest, nodes[-1], float(x[max(forest.feature[nodes[-1]], 0)]))
    ) is not None:
        nodes.append(node)
    return nodes


def oracle(forest, X):
    """Return values, residuals, and the node where each row ends in each tree."""
    with np.errstate(over="ignore"):
        X = X.astype(forest.row_dtype)
    values, residual = np.zeros(X.shape), np.zeros(len(X))
    ends = np.empty((len(X), forest.n_trees), dtype=int)
    for i, x in enumerate(X):
        for tree in range(forest.n_trees):
            nodes = walk(forest, tree, x)
            ends[i, tree] = nodes[-1]
            weight = forest.tree_weight[tree]
            residual[i] += weight * forest.impurity[nodes[-1]]
            for node, child in pairwise(nodes):
                change = forest.impurity[node] - forest.impurity[child]
                values[i, forest.feature[node]] += weight * change
    total = forest.tree_weight.sum()
    return values / total, residual / total, ends


def check(forest, X):
    """Explain X and compare everything with the oracle; returns the result."""
    explainer = lm.Explainer(forest)
    result = explainer(X)
    values, residual, ends = oracle(forest, X)
    np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.residual, residual, rtol=0, atol=1e-12)
    assert result.additivity_error() <= 1e-12
    packing = explainer._packing
    for rows in (None, 3):
        blocks = packing.leaf_blocks(
            read_rows(X, forest.row_dtype), RowRules(), n_threads=2, batch_rows=rows
        )
        found = np.full(ends.shape, -1)
        for block in blocks:
            found[block.rows, block.trees] = block.leaf
        assert np.array_equal(found, ends)
    sparse = explainer(X, output="sparse", n_jobs=2)
    assert np.array_equal(sparse.values.toarray(), result.values)
    return result


def split(kind, n_children, *, threshold=0.0, words=(), missing=-1, **fields):
    """Build a tree of one split with leaves of impurity 0.1, 0.2, … below a root of 0.9."""
    n = n_children
    return build_forest(
        n_features=1,
        tree_offset=[0, n + 1],
        feature=[0] + [-1] * n,
        split_kind=[kind] + [LEAF] * n,
        threshold=[threshold] + [0.0] * n,
        child_offset=[0] + [n] * (n + 1),
        child=range(1, n + 1),
        missing_child=[missing] + [-1] * n,
        category_offset=[0] + [len(words)] * (n + 1),
        category_bits=np.array(words, dtype=np.uint64),
        impurity=[0.9] + [k / 10 for k in range(1, n + 1)],
        criterion="entropy",
        **fields,
    )


def residuals(forest, *rows):
    # Twice, so that both the kernel of few rows and that of many are asked.
    X = np.array(rows, dtype=float)[:, None]
    few = check(forest, X).residual
    many = lm.local_mdi(forest, np.tile(X, (64, 1))).residual
    assert np.array_equal(many, np.tile(few, 64))
    return few.tolist()


@pytest.mark.parametrize("row_dtype", ["float32", "float64"])
def test_strict_and_loose_thresholds(row_dtype):
    loose = split(LESS_EQUAL, 2, threshold=0.5, missing=1, row_dtype=row_dtype)
    strict = split(LESS, 2, threshold=0.5, missing=0, row_dtype=row_dtype)
    assert residuals(loose, 0.5, 0.25, 0.75, math.nan) == [0.1, 0.1, 0.2, 0.2]
    assert residuals(strict, 0.5, 0.25, 0.75, math.nan) == [0.2, 0.1, 0.2, 0.1]


def test_the_row_dtype_decides():
    near = math.nextafter(0.5, 1)  # is 0.5 in float32
    assert residuals(split(LESS_EQUAL, 2, threshold=0.5, row_dtype="float64"), near) == [0.2]
    assert residuals(split(LESS_EQUAL, 2, threshold=0.5, row_dtype="float32"), near) == [0.1]
    # 0.1 is above its float32 neighbour below, and below the one above.
    float32 = split(LESS, 2, threshold=0.1, row_dtype="float32")
    assert residuals(float32, 0.1, np.nextafter(np.float32(0.1), np.float32(0))) == [0.2, 0.1]


@pytest.mark.parametrize("row_dtype", ["float32", "float64"])
def test_infinite_thresholds(row_dtype):
    rows = (-math.inf, -1e300, 0.0, 1e300, math.inf)
    high = 1e300 if row_dtype == "float64" else math.inf

    def ends(kind, threshold):
        return residuals(split(kind, 2, threshold=threshold, row_dtype=row_dtype), *rows)

    assert ends(LESS_EQUAL, math.inf) == [0.1] * 5
    assert ends(LESS, -math.inf) == [0.2] * 5
    assert ends(LESS_EQUAL, -math.inf) == [0.1, 0.2 if high == 1e300 else 0.1, 0.2, 0.2, 0.2]
    assert ends(LESS, math.inf) == [0.1, 0.1, 0.1, 0.1 if high == 1e300 else 0.2, 0.2]


def test_category_set():
    forest = split(CATEGORY_SET, 2, words=[0b101, 1 << 63], missing=1)
    inside, outside = (0, 2, 127, -0.0), (1, 63, 64, 128, 1e18, -1, 0.5, 2.5, math.inf, -math.inf)
    assert set(residuals(forest, *inside)) == {0.1}
    assert set(residuals(forest, *outside, math.nan)) == {0.2}


def test_an_unseen_category_ends_where_it_is():
    forest = split(MULTIWAY, 3, words=[1, 5, 2**53 - 1], missing=2)
    assert residuals(forest, 1, 5, 2**53 - 1, math.nan) == [0.1, 0.2, 0.3, 0.3]
    unseen = np.array([[0], [2], [5.5], [-1], [2.0**53], [1e300], [math.inf], [-math.inf]])
    result = check(forest, unseen)
    assert (result.residual == 0.9).all()
    assert not result.values.any()


@pytest.mark.parametrize("last", [255, 256])
def test_small_and_large_categories_of_a_multiway_split(last):
    # Categories up to 255 are looked up in a table, larger ones are searched for.
    forest = split(MULTIWAY, 3, words=[0, 7, last], missing=1)
    assert residuals(forest, 0, 7, last, math.nan) == [0.1, 0.2, 0.3, 0.2]
    unseen = (1, 6, 254, last + 1, 0.5, -1, math.inf, 2.0**53)
    assert set(residuals(forest, *unseen)) == {0.9}


def test_a_multiway_split_of_more_children_than_a_byte_counts():
    for n in (254, 255, 256):
        forest = split(MULTIWAY, n, words=range(n), missing=-1)
        assert residuals(forest, 0, n - 1, n) == [0.1, n / 10, 0.9]


@pytest.mark.parametrize(
    ("kind", "n_children", "words"),
    [(LESS_EQUAL, 2, ()), (LESS, 2, ()), (CATEGORY_SET, 2, (1,)), (MULTIWAY, 3, (0, 1, 2))],
)
def test_missing_values_go_to_the_missing_child(kind, n_children, words):
    for missing in range(n_children):
        forest = split(kind, n_children, words=words, missing=missing)
        assert residuals(forest, math.nan) == [(missing + 1) / 10]
    refusing = split(kind, n_children, words=words, missing=-1)
    for rows in (1, 100):
        with pytest.raises(ValueError, match="feature 0 must not be missing"):
            lm.local_mdi(refusing, np.full((rows, 1), math.nan))
    assert residuals(refusing, 0.0)  # other values are welcome


def test_a_missing_value_where_no_split_looks():
    forest = split(LESS, 2)
    wider = build_forest(
        **{**forest.table, "n_features": 2}, impurity=forest.impurity, criterion="gini"
    )
    assert lm.local_mdi(wider, np.array([[1.0, math.nan]])).residual.tolist() == [0.2]


def test_a_lone_child():
    forest = split(MULTIWAY, 1, words=[4], missing=0)
    assert residuals(forest, 4, 3, math.nan) == [0.1, 0.9, 0.1]


def grow(random, first, n_features, n_splits, kinds):
    """Return the nodes of a tree as dicts, the root with the number `first`."""
    nodes = [{}]
    for node in nodes:
        stops = n_splits == 0 or (len(nodes) > 1 and random.random() < 0.25)
        kind = LEAF if stops else random.choice(kinds)
        n_splits -= not stops
        n = {LEAF: 0, MULTIWAY: random.randint(1, 4)}.get(kind, 2)
        words = sorted(random.sample(CODES, n)) if kind == MULTIWAY else []
        if kind == CATEGORY_SET:
            words = [random.getrandbits(64) for _ in range(random.randint(1, 3))]
        node.update(
            kind=kind,
            feature=-1 if stops else random.randrange(n_features),
            threshold=random.choice(THRESHOLDS),
            child=[first + len(nodes) + k for k in range(n)],
            missing=random.randrange(n) if n else -1,
            words=words,
            impurity=random.random(),
        )
        nodes.extend({} for _ in range(n))
    return nodes


@st.composite
def forests(draw):
    """Trees of up to 30 splits, of drawn kinds, so that some forests have ordered splits only."""
    random = draw(st.randoms(use_true_random=False))
    n_features = draw(st.integers(1, 4))
    kinds = draw(st.sampled_from([(LESS_EQUAL, LESS), (MULTIWAY,), tuple(SplitKind)[1:]]))
    trees, n = [], 0
    for _ in range(draw(st.integers(1, 6))):
        trees.append(grow(random, n, n_features, random.choice([0, 3, 30]), kinds))
        n += len(trees[-1])
    nodes = [node for tree in trees for node in tree]

    def offsets(field):
        return np.cumsum([0, *(len(node[field]) for node in nodes)])

    return build_forest(
        n_features=n_features,
        tree_offset=np.cumsum([0, *map(len, trees)]),
        feature=[node["feature"] for node in nodes],
        split_kind=[node["kind"] for node in nodes],
        threshold=[node["threshold"] for node in nodes],
        child_offset=offsets("child"),
        child=[child for node in nodes for child in node["child"]],
        missing_child=[node["missing"] for node in nodes],
        category_offset=offsets("words"),
        category_bits=np.array([w for node in nodes for w in node["words"]], dtype=np.uint64),
        impurity=[node["impurity"] for node in nodes],
        tree_weight=[random.choice([1.0, 0.25, 3.0]) for _ in trees],
        criterion="gini",
        row_dtype=draw(st.sampled_from(["float32", "float64"])),
    )


@settings(max_examples=150, deadline=None)
@given(forests(), st.randoms(use_true_random=False), st.sampled_from([1, 9, 63, 64, 100]))
def test_random_forests(forest, random, n_rows):
    values = [random.choice(VALUES) for _ in range(n_rows * forest.n_features)]
    X = np.array(values).reshape(n_rows, forest.n_features)
    result = check(forest, X)
    parts = lm.Explainer(forest).iter_batches(X, batch_rows=5, n_jobs=2)
    assert np.array_equal(lm.LocalImportance.concat(parts).values, result.values)


def test_sets_of_codes_explain_like_comparisons():
    """x <= t on codes and the set of the codes up to t send every row the same way."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 17, (300, 5)).astype(np.float32)
    model = ExtraTreesClassifier(20, random_state=0).fit(X, X.sum(axis=1) > 40)
    numbers = lm.as_forest(model)
    is_split = numbers.split_kind == LESS_EQUAL
    n_codes = np.floor(numbers.threshold[is_split]).astype(np.uint64) + np.uint64(1)
    sets = replace(
        numbers,
        split_kind=np.where(is_split, CATEGORY_SET, numbers.split_kind).astype(np.uint8),
        category_offset=np.concatenate([[0], np.cumsum(is_split)]).astype(np.int64),
        category_bits=(np.uint64(1) << n_codes) - np.uint64(1),
    )
    expected = lm.local_mdi(numbers, X, standard_error=True)
    for n in (1, 63, 64, 300):
        given = lm.local_mdi(sets, X[:n], standard_error=True)
        assert np.array_equal(given.values, expected.values[:n])
        assert np.array_equal(given.residual, expected.residual[:n])
        assert np.array_equal(given.standard_error, expected.standard_error[:n])
