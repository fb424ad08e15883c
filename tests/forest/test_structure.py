"""The rules of the node table: each is refused in words, and the core agrees with plain Python."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import event, given, settings

from forest.tables import STUMP, damaged, is_forest, tables
from localmdi._core import NodeTable
from localmdi.exceptions import InvalidForestError
from localmdi.forest import SplitKind, build_forest

BIG = 2**62
TWO_STUMPS = {
    "n_features": 2,
    "tree_offset": [0, 3, 6],
    "feature": [1, -1, -1, 0, -1, -1],
    "split_kind": [1, 0, 0, 2, 0, 0],
    "threshold": [0.5, 0, 0, 0.5, 0, 0],
    "child_offset": [0, 2, 2, 2, 4, 4, 4],
    "child": [1, 2, 4, 5],
}
MULTIWAY = STUMP | {
    "split_kind": [SplitKind.MULTIWAY, 0, 0],
    "category_offset": [0, 2, 2, 2],
    "category_bits": [3, 7],
}


@given(tables())
@settings(max_examples=100)
def test_random_forests_are_forests(table):
    assert is_forest(table)
    assert NodeTable(**table).problem() is None
    build_forest(**table)


@given(damaged())
@settings(max_examples=400)
def test_the_core_refuses_exactly_what_breaks_a_rule(table):
    good = is_forest(table)
    event("still a forest" if good else "no forest")
    assert (NodeTable(**table).problem() is None) == good
    if good:
        build_forest(**table)
    else:
        with pytest.raises(InvalidForestError, match="must") as caught:
            build_forest(**table)
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tree_offset": [0]}, r"tree_offset must rise from 0.*got \[0\] for tree 0.*6 nodes"),
        ({"tree_offset": []}, "tree_offset must rise from 0"),
        ({"tree_offset": [0, 3, 3, 6]}, r"every tree must have a node; got \[3, 3\] for tree 1"),
        ({"tree_offset": [0, 3, BIG]}, "tree_offset must rise"),
        ({"child_offset": [0, 2, 1, 2, 4, 4, 4]}, r"child_offset must rise.*\[2, 1\] at node 1"),
        ({"child_offset": [0, BIG, 2, 2, 4, 4, 4]}, "child_offset must rise.* for 4 entries"),
        ({"child_offset": [0, 2, 2]}, r"child_offset must have the shape \(7\)"),
        ({"category_offset": [0, 0, 0, 0, 0, 0, 1]}, "category_offset must rise"),
        ({"category_bits": [1]}, "category_offset must rise.* for 1 entry"),
        ({"split_kind": [1, 0, 0, 9, 0, 0]}, "must be a SplitKind.* 9 at node 3 of tree 1"),
        ({"feature": [1, -1, -1, 2, -1, -1]}, r"\[0, n_features\) at a split; got 2 at node 3 of"),
        ({"feature": [1, -1, -1, 0, 0, -1]}, "feature must be -1 at a leaf; got 0 at node 4"),
        ({"threshold": [0.5, 0, 0, np.nan, 0, 0]}, "threshold must not be NaN.* at node 3"),
        ({"missing_child": [2, -1, -1, 0, -1, -1]}, "missing_child must number a child.* got 2"),
        ({"child": [1, 2, 4, 6]}, r"after its parent and in the same tree; got \[4, 6\] at node 3"),
        ({"child": [1, 3, 4, 5]}, "same tree"),
        ({"child": [1, 2, 3, 5]}, "child must lie after its parent"),
        ({"child": [1, 2, 4, -BIG]}, "child must lie after its parent"),
        ({"child": [1, 2, 5, 5]}, r"child must have one parent; got \[5, 5\] at node 3 of tree 1"),
        ({"split_kind": [1, 0, 0, 0, 0, 0], "feature": [1] + [-1] * 5},
         "child must have nothing for a leaf"),
        ({"child": [1, 2], "child_offset": [0, 2, 2, 2, 2, 2, 2],
          "split_kind": [1] + [0] * 5, "feature": [1] + [-1] * 5},
         "child must name every node but the roots; got none that leads to it at node 4 of tree 1"),
        ({"child": [1, 2, 4], "child_offset": [0, 2, 2, 2, 3, 3, 3]},
         r"two children for a split of this kind; got \[4\]"),
    ],
    ids=str,
)  # fmt: skip
def test_broken_rules(changes, message):
    build_forest(**TWO_STUMPS)
    with pytest.raises(InvalidForestError, match=message):
        build_forest(**TWO_STUMPS | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"category_bits": [3]}, "category_offset must rise"),
        ({"category_bits": [7, 3]}, r"ascend strictly at a MULTIWAY split; got \[7, 3\] at node 0"),
        ({"category_bits": [3, 3]}, "ascend strictly"),
        ({"category_bits": [3, 2**53]}, r"below 2\*\*53"),
        ({"category_bits": [3, 4, 5], "category_offset": [0, 3, 3, 3]}, "one category per child"),
        ({"category_bits": [1, 2, 3], "category_offset": [0, 2, 3, 3]}, "nothing for a leaf"),
        ({"split_kind": [1, 0, 0]}, "nothing for a leaf or an ordered split"),
        ({"split_kind": [3, 0, 0], "category_bits": [], "category_offset": [0] * 4},
         "a word for a CATEGORY_SET"),
        ({"split_kind": [4, 4, 0], "feature": [1, 1, -1]}, "must have a child for a split"),
    ],
    ids=str,
)  # fmt: skip
def test_broken_rules_of_categories(changes, message):
    build_forest(**MULTIWAY)
    with pytest.raises(InvalidForestError, match=message):
        build_forest(**MULTIWAY | changes)


def test_long_lists_of_children_are_cut():
    n = 1000
    with pytest.raises(InvalidForestError, match=r"got \[1, 2, 3, 4, 5\] and 995 more at node 0"):
        build_forest(
            n_features=1,
            tree_offset=[0, n + 1],
            feature=[0] + [-1] * n,
            split_kind=[SplitKind.LESS] + [0] * n,
            threshold=np.zeros(n + 1),
            child_offset=[0] + [n] * (n + 1),
            child=np.arange(1, n + 1),
        )


def test_the_core_takes_exact_types_only():
    table = build_forest(**STUMP).table
    for field, column in table.items():
        if field == "n_features":
            continue
        for wrong in (column.astype(np.float32), column[:, None], np.repeat(column, 2)[::2]):
            if wrong.size > 1 or wrong.dtype != column.dtype:
                with pytest.raises(TypeError):
                    NodeTable(**table | {field: wrong})


def test_the_core_keeps_the_arrays_alive():
    table = NodeTable(**{key: np.copy(x) if key != "n_features" else x
                         for key, x in build_forest(**TWO_STUMPS).table.items()})  # fmt: skip
    rubbish = [np.full(6, 99) for _ in range(100)]
    assert table.problem() is None
    assert len(rubbish) == 100


def test_a_chain_of_100_000_nodes():
    n = 50_000
    feature = np.tile([0, -1], n)
    forest = build_forest(
        n_features=1,
        tree_offset=[0, 2 * n + 1],
        feature=np.append(feature, -1),
        split_kind=np.append(feature + 1, 0),
        threshold=np.zeros(2 * n + 1),
        child_offset=np.append(0, np.cumsum(np.append(2 * (feature + 1), 0))),
        child=np.arange(1, 2 * n + 1),
    )
    assert forest.n_nodes == 2 * n + 1


def test_offsets_that_promise_much_allocate_nothing():
    tracemalloc.start()
    with pytest.raises(InvalidForestError):
        build_forest(**TWO_STUMPS | {"tree_offset": [0, BIG], "child_offset": [0, *[BIG] * 6]})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6
