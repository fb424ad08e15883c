"""Symmetric forests have a kernel of their own: it gives the bits of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import localmdi as lm
from localmdi.forest import ForestBuilder
from localmdi.forest.joining import join_forests


def symmetric_forest(rng, *, n_features, depths, row_dtype="float32", strict=False, sets=False):
    """A forest whose trees ask one question per level, and the thresholds it asks for."""
    builder = ForestBuilder(n_features, strict=strict)
    cuts = [0.0]
    for depth in depths:
        n_splits = 2**depth - 1
        node, leaf = np.arange(n_splits), np.full(n_splits + 1, -1)
        level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
        cut = np.where(rng.random(depth) < 0.5, rng.normal(size=depth), rng.integers(-2, 3, depth))
        is_set = sets & (rng.random(depth) < 0.3)
        category = rng.integers(0, 4, depth)
        cuts.extend(cut.tolist())
        builder.add_tree(
            np.concatenate([2 * node + 1, leaf]),
            np.concatenate([2 * node + 2, leaf]),
            feature=np.concatenate([rng.integers(0, n_features, depth)[level], leaf]),
            threshold=np.concatenate([cut[level], leaf]),
            missing_left=np.concatenate([rng.integers(0, 2, depth)[level], leaf]).astype(bool),
            categories={int(i): [int(category[level[i]])] for i in node if is_set[level[i]]},
            weight=_weights(depth),
            impurity=rng.random(2 * n_splits + 1),
        )
    return builder.build(row_dtype=row_dtype, criterion="entropy"), np.array(cuts)


def _weights(depth):
    return np.concatenate([np.full(2**k, 2.0 ** (depth - k)) for k in range(depth + 1)])


def rows_near(rng, cuts, *, n_rows, n_features, dtype):
    """Rows at thresholds and beside them, some missing or infinite."""
    at = rng.choice(cuts, size=(n_rows, n_features)).astype(dtype)
    toward = np.array(np.inf, dtype)
    X = np.choose(
        rng.integers(0, 4, at.shape),
        [at, np.nextafter(at, toward), np.nextafter(at, -toward), rng.normal(size=at.shape)],
    ).astype(dtype)
    X[rng.random(at.shape) < 0.05] = np.inf
    if rng.random() < 0.7:
        X[rng.random(at.shape) < 0.1] = np.nan
    return X


def assert_same(result, expected):
    assert np.array_equal(result.values, expected.values)
    assert np.array_equal(result.residual, expected.residual)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.sampled_from([1, 5, 64, 255, 600]),
    n_features=st.sampled_from([1, 2, 7, 40]),
    depths=st.lists(st.integers(0, 8), min_size=1, max_size=6),
    row_dtype=st.sampled_from(["float32", "float64"]),
    strict=st.booleans(),
    sets=st.booleans(),
)
def test_random_forests(seed, n_rows, n_features, depths, row_dtype, strict, sets):
    rng = np.random.default_rng(seed)
    forest, cuts = symmetric_forest(
        rng, n_features=n_features, depths=depths, row_dtype=row_dtype, strict=strict, sets=sets
    )
    X = rows_near(rng, cuts, n_rows=n_rows, n_features=n_features, dtype=row_dtype)
    explainer = lm.Explainer(forest)
    result = explainer(X)
    # With standard errors the other kernels do the work; so they do for a few rows.
    assert_same(result, explainer(X, standard_error=True))
    assert_same(explainer(X, n_jobs=2), result)
    few = explainer(X[:9])
    assert_same(few, result[: len(few)])
    # A tree that is not symmetric, and weighs nothing, hands the whole forest to the other kernels.
    assert_same(lm.local_mdi(with_other_tree(forest), X), result)


def with_other_tree(forest):
    builder = ForestBuilder(forest.n_features)
    builder.add_tree(
        [1, 3, -1, -1, -1],
        [2, 4, -1, -1, -1],
        feature=[0, 0, -1, -1, -1],
        threshold=[0.0, -1.0, 0, 0, 0],
        missing_left=[True] * 5,
        weight=[4.0, 2.0, 2.0, 1.0, 1.0],
        impurity=[1.0, 0.5, 0.0, 0.0, 0.0],
    )
    other = builder.build(row_dtype=forest.row_dtype, criterion="entropy")
    both = join_forests([forest, other])
    return replace(both, tree_weight=np.append(forest.tree_weight, 0.0))


@pytest.mark.parametrize("depth", [12, 13])
def test_deep_trees(depth):
    """The limit of the tables, and one level more."""
    rng = np.random.default_rng(depth)
    forest, cuts = symmetric_forest(rng, n_features=5, depths=[depth, 3])
    X = rows_near(rng, cuts, n_rows=700, n_features=5, dtype="float32")
    explainer = lm.Explainer(forest)
    assert_same(explainer(X), explainer(X, standard_error=True))


def test_values_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    forest, cuts = symmetric_forest(rng, n_features=3, depths=[4, 0, 2])
    X = rows_near(rng, cuts, n_rows=80, n_features=3, dtype="float32")
    result = lm.local_mdi(forest, X)
    expected = np.zeros(X.shape)
    for i, x in enumerate(X):
        for root in forest.tree_offset[:-1]:
            node, gained = int(root), np.zeros(3)
            while forest.feature[node] >= 0:
                f = forest.feature[node]
                first, second = forest.child[forest.child_offset[node] :][:2]
                goes_first = (
                    forest.missing_child[node] == 0
                    if np.isnan(x[f])
                    else float(x[f]) <= forest.threshold[node]
                )
                child = first if goes_first else second
                gained[f] += forest.impurity[node] - forest.impurity[child]
                node = int(child)
            expected[i] += gained
    assert np.array_equal(result.values, expected / 3)
