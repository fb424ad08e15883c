"""Credits: whoever computes the amounts of the edges, the kernels add them up along the paths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forest.tables import fields_of_forests
from localmdi._validation import RowRules, read_rows
from localmdi.exceptions import MissingStatisticsError
from localmdi.forest import build_forest
from localmdi.forest.credit import Credit, find_laws, impurity_drop
from localmdi.forest.packing import Packing
from localmdi.importance import LocalRequest, explain, global_importance


def parents(forest):
    above = np.full(forest.n_nodes, -1)
    above[forest.child] = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
    return above


def path(forest, node):
    above, nodes = parents(forest), [node]
    while above[nodes[0]] >= 0:
        nodes.insert(0, above[nodes[0]])
    return nodes


@given(fields_of_forests(), st.integers(0, 2**32 - 1))
def test_any_amounts_are_added_up_by_split_feature(fields, seed):
    forest = build_forest(**{**fields, "missing_child": None})
    rng = np.random.default_rng(seed)
    amount = rng.normal(size=forest.n_nodes)
    X = rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0, 5.0], size=(5, forest.n_features))
    packing = Packing(forest, Credit(amount, "bits"))
    rows = read_rows(X, forest.row_dtype)
    values = np.zeros(X.shape)
    for block in packing.leaf_blocks(rows, RowRules(), n_threads=1):
        for (i, tree), leaf in np.ndenumerate(block.leaf):
            weight = forest.tree_weight[tree + block.trees.start]
            for above, below in pairwise(path(forest, leaf)):
                values[i, forest.feature[above]] += weight * amount[below]
    sparse = explain(packing, rows, request=LocalRequest(output="sparse"))
    dense = np.empty(X.shape), np.empty(len(X))
    packing.kernel.local_mdi(packing.rows(rows.batch(0, len(X))), *dense, None, 1)
    np.testing.assert_allclose(dense[0], values / forest.tree_weight.sum(), rtol=0, atol=1e-12)
    assert np.array_equal(sparse.values.toarray(), dense[0])
    assert sparse.baseline is None
    assert sparse.residual is None


@given(fields_of_forests())
def test_the_impurity_drop_telescopes(fields):
    rng = np.random.default_rng(0)
    plain = build_forest(**{**fields, "criterion": "gini", "impurity": None})
    forest = build_forest(**{**fields, "criterion": "gini", "impurity": rng.random(plain.n_nodes)})
    credit = impurity_drop(forest)
    assert (credit.amount[forest.tree_offset[:-1]] == 0).all()
    assert credit.remainder is forest.impurity
    for node in range(forest.n_nodes):
        nodes = path(forest, node)
        removed = forest.impurity[nodes[0]] - forest.impurity[node]
        np.testing.assert_allclose(credit.amount[nodes].sum(), removed, rtol=0, atol=1e-12)


def test_the_global_importance_is_the_mean_of_the_local_one():
    # A row that stops at a split (no child for its category) has no decrease there.
    forest = build_forest(
        n_features=1,
        tree_offset=[0, 3],
        feature=[0, -1, -1],
        split_kind=[4, 0, 0],
        threshold=[0, 0, 0],
        child_offset=[0, 2, 2, 2],
        child=[1, 2],
        category_offset=[0, 2, 2, 2],
        category_bits=[0, 1],
    )
    X, y = [[0], [1], [1], [7]], list("abbb")
    measured = forest.with_statistics(X, y, criterion="gini")
    credit = impurity_drop(measured)
    local = explain(Packing(measured, credit), read_rows(X, "float64"), request=LocalRequest())
    np.testing.assert_allclose(
        global_importance(measured, credit).values, local.values.mean(axis=0), rtol=1e-14
    )


def test_the_heaviest_tree_says_what_is_rounding():
    # The classes of the second tree are alike everywhere: its decrease is an error of rounding,
    # which must not be measured by the first tree, a pure leaf of hardly any weight.
    forest = build_forest(
        n_features=1,
        tree_offset=[0, 1, 4],
        feature=[-1, 0, -1, -1],
        split_kind=[0, 1, 0, 0],
        threshold=[0, 0, 0, 0],
        child_offset=[0, 0, 2, 2, 2],
        child=[2, 3],
        weight=[1e-9, 2.0, 1.0, 1.0],
        impurity=[0.0, 1.0, 1.0 - 1e-12, 1.0 - 1e-12],
        value=[[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],
        criterion="entropy",
    )
    laws = find_laws(forest, impurity_drop(forest))
    assert laws is not None
    assert laws.gain.tolist() == [0.0] * 4


def test_a_criterion_nobody_knows():
    leaf = build_forest(
        n_features=1,
        tree_offset=[0, 1],
        feature=[-1],
        split_kind=[0],
        threshold=[0],
        child_offset=[0, 0],
        child=[],
        impurity=[0.5],
    )
    with pytest.raises(MissingStatisticsError, match="what its impurities measure"):
        impurity_drop(leaf)
    with pytest.raises(RuntimeError, match="only routes"):
        _ = Packing(leaf).credit
