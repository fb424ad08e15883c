"""ForestBuilder: trees in any order of nodes become a forest, or an error that names the node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localmdi._validation import RowRules, apply_column_rules, read_rows
from localmdi.exceptions import InvalidForestError
from localmdi.forest import ColumnRule, ForestBuilder, SplitKind, build_forest, load_forest
from localmdi.forest.joining import join_forests
from localmdi.forest.packing import Packing

STUMP = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0]}


@st.composite
def shuffled_trees(draw):
    """A random binary tree with its nodes in random order, the root first."""
    n_splits = draw(st.integers(0, 12))
    left, right = [-1], [-1]
    for _ in range(n_splits):
        leaves = [i for i, child in enumerate(left) if child < 0]
        at = draw(st.sampled_from(leaves))
        left[at], right[at] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    order = [0, *draw(st.permutations(range(1, len(left))))]
    place = np.argsort(order)
    moved = [[-1 if child < 0 else int(place[child]) for child in side] for side in (left, right)]
    return [np.array(side)[order].tolist() for side in moved]


@given(st.lists(shuffled_trees(), min_size=1, max_size=4), st.integers(0, 1000))
def test_any_order_of_nodes(trees, seed):
    rng = np.random.default_rng(seed)
    builder = ForestBuilder(3)
    given_trees = []
    for left, right in trees:
        n = len(left)
        columns = {
            "feature": rng.integers(0, 3, n),
            "threshold": rng.integers(-2, 3, n) / 2,
            "missing_left": rng.random(n) < 0.5,
            "value": np.arange(n, dtype=float),
        }
        builder.add_tree(left, right, **columns)
        given_trees.append((left, right, columns))
    forest = builder.build(aggregation="sum")
    X = rng.choice([-1.0, 0.0, 0.25, 1.0, np.nan], (20, 3))
    blocks = Packing(forest).leaf_blocks(read_rows(X, "float64"), RowRules(), n_threads=1)
    leaf = np.concatenate([block.leaf for block in blocks], axis=1)
    ours = forest.value[leaf, 0]
    for tree, (left, right, columns) in enumerate(given_trees):
        for row, x in enumerate(X):
            node = 0
            while left[node] >= 0:
                value = x[columns["feature"][node]]
                goes_left = (
                    columns["missing_left"][node]
                    if np.isnan(value)
                    else value <= columns["threshold"][node]
                )
                node = left[node] if goes_left else right[node]
            assert ours[row, tree] == node


def test_values_of_splits_are_means_of_leaves():
    builder = ForestBuilder(1)
    builder.add_tree(
        [1, -1, 3, -1, -1],
        [2, -1, 4, -1, -1],
        feature=[0] * 5,
        threshold=[0.0] * 5,
        value=[np.nan, 1.0, np.nan, 2.0, 4.0],
        weight=[4.0, 2.0, 2.0, 0.0, 0.0],
    )
    # Leaves without weight count alike where there are no others.
    np.testing.assert_allclose(builder.build().value[:, 0], [1.0, 1.0, 3.0, 2.0, 4.0])


def test_unused_nodes():
    tree = {"left": [1, -1, -1, 4, -1, -1], "right": [2, -1, -1, 5, -1, -1], "feature": [0] * 6}
    builder = ForestBuilder(1, strict=True, drop_unused=True)
    builder.add_tree(**tree)
    forest = builder.build()
    assert (forest.n_nodes, forest.split_kind[0]) == (3, SplitKind.LESS)
    builder = ForestBuilder(1)
    builder.add_tree(**tree)
    with pytest.raises(InvalidForestError, match="node 3 must be reached"):
        builder.build()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"left": []}, "must have a node"),
        ({"right": [2, -1]}, "right must have one entry per node, 3"),
        ({"right": [-1, -1, -1]}, "node 0 must have two children or none"),
        ({"right": [9, -1, -1]}, "node 0 must have children in its tree"),
        ({"right": [1, -1, -1]}, "node 1 must have one parent"),
        ({"left": [0, -1, -1]}, "node 0 is the root"),
        ({"feature": [5, 0, 0]}, "feature must lie"),
        ({"feature": [0.5, 0, 0]}, "feature must hold numbers"),
        ({"feature": ["a", "b", "c"]}, "feature must hold numbers"),
        ({"threshold": [np.nan, 0, 0]}, "threshold must not be NaN"),
        ({"categories": {1: [0]}}, "node 1 is none"),
        ({"categories": {0: [-1]}}, "category codes must lie"),
        ({"categories": {0: [2**40]}}, "category codes must lie"),
        ({"categories": {0: [0.5]}}, "whole numbers"),
        ({"column": 1, "value": [0.0, 1.0, 2.0]}, "column must lie"),
        ({"value": [[0.0, 1.0]] * 3}, "n_values=1"),
        ({"weight": [[1.0]] * 3}, "weight must have one entry"),
        ({"value": [0.0, np.nan, 1.0]}, "value must be finite"),
    ],
    ids=str,
)
def test_what_is_no_tree(change, problem):
    with pytest.raises(InvalidForestError, match=problem):
        one_tree(**STUMP | change)


def one_tree(**columns):
    builder = ForestBuilder(1)
    builder.add_tree(**columns)
    return builder.build()


def test_a_cycle_is_not_reached():
    builder = ForestBuilder(1)
    builder.add_tree([-1, 2, -1, 1, -1], [-1, 3, -1, 4, -1], feature=[0] * 5)
    with pytest.raises(InvalidForestError, match="node 1 must be reached"):
        builder.build()


def test_all_trees_or_none():
    builder = ForestBuilder(1)
    with pytest.raises(InvalidForestError, match="must have a tree"):
        builder.build()
    builder.add_tree(**STUMP, weight=[2.0, 1.0, 1.0])
    builder.add_tree(**STUMP)
    with pytest.raises(InvalidForestError, match="tree 1 has none"):
        builder.build()


def stump(**fields):
    builder = ForestBuilder(2)
    builder.add_tree(**STUMP, threshold=[0.5, 0, 0], missing_left=[True] * 3, value=[2.0, 1.0, 3.0])
    return builder.build(**fields)


def test_base_value_and_rules_are_saved(tmp_path):
    forest = stump(aggregation="sum", base_value=[0.25], column_rule=[1, 2])
    forest.save(tmp_path / "forest")
    loaded = load_forest(tmp_path / "forest")
    assert loaded == forest
    assert loaded != stump(aggregation="sum", base_value=[0.25])
    rows = read_rows(np.array([[0.0, 0.0], [1.0, 0.0]]), "float64")
    predicted = Packing(loaded).predict(rows, RowRules(), n_threads=1)
    assert predicted[:, 0].tolist() == [1.25, 3.25]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"base_value": [1.0, 2.0]}, "base_value must have the shape"),
        ({"base_value": [np.inf]}, "one number per column of value, finite or NaN"),
        ({"column_rule": [1]}, "column_rule must have the shape"),
        ({"column_rule": [0, 16]}, "column_rule must add up"),
        ({"column_rule": [-1, 0]}, "column_rule must fit uint8"),
    ],
    ids=str,
)
def test_wrong_base_values_and_rules(fields, problem):
    with pytest.raises(InvalidForestError, match=problem):
        stump(**fields)


def test_rules():
    from scipy.sparse import csr_array

    X = np.array([[0.0, 2.7, 0.0, -0.5], [1.0, -0.5, 3.0, 2.7]])
    rules = np.array(list(ColumnRule), dtype=np.uint8)
    expected = np.array([[np.nan, 2.0, 0.0, -1.0], [1.0, -0.0, 3.0, 2.0]])
    before = X.copy()
    np.testing.assert_array_equal(apply_column_rules(X, rules), expected)
    np.testing.assert_array_equal(X, before)
    expected[0, 2] = np.nan
    np.testing.assert_array_equal(apply_column_rules(csr_array(X), rules), expected)


def test_joined_forests():
    one = stump(aggregation="sum", base_value=[1.0])
    two = build_forest(
        n_features=2,
        tree_offset=[0, 1],
        feature=[-1],
        split_kind=[0],
        threshold=[0.0],
        child_offset=[0, 0],
        child=[],
        value=[[8.0]],
    )
    both = join_forests([one, two], weights=np.array([1.0, 3.0]))
    rows = read_rows(np.zeros((1, 2)), "float64")
    assert Packing(both).predict(rows, RowRules(), n_threads=1)[0, 0] == (1 + 1 + 3 * 8) / 4
    assert both.tree_weight.tolist() == [0.25, 0.75]
    moved = join_forests([one], columns=[np.array([2, 0])], n_features=3)
    assert moved.feature[0] == 2
    with pytest.raises(InvalidForestError, match="same row_dtype"):
        join_forests([one, stump(row_dtype="float32")])
    with pytest.raises(InvalidForestError, match="same column_rule"):
        join_forests([one, stump(column_rule=[1, 0])])
    with pytest.raises(InvalidForestError, match="as many columns"):
        join_forests([one], columns=[np.array([0])], n_features=3)
