"""Statistics recomputed from rows: against scikit-learn's own nodes, and where there is nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import localmdi as lm
from localmdi.exceptions import MissingStatisticsError

RNG = np.random.default_rng(0)
X = RNG.random((300, 4)).astype(np.float32)
CLASSES = RNG.integers(0, 3, 300)
NUMBERS = RNG.random(300)
STUMP = {
    "n_features": 1, "tree_offset": [0, 5], "feature": [0, 0, -1, -1, -1],
    "split_kind": [1, 1, 0, 0, 0], "threshold": [0.5, -9.0, 0, 0, 0],
    "child_offset": [0, 2, 4, 4, 4, 4], "child": [1, 4, 2, 3],
}  # fmt: skip


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_classes_equal_scikit_learn(criterion):
    weight = RNG.random(300)
    model = DecisionTreeClassifier(criterion=criterion, max_depth=6, random_state=0)
    forest = lm.as_forest(model.fit(X, CLASSES, sample_weight=weight))
    again = forest.with_statistics(X, CLASSES, sample_weight=weight, n_jobs=2)
    np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)
    np.testing.assert_allclose(again.weight, forest.weight, rtol=1e-12)
    assert again.criterion == criterion


def test_numbers_equal_scikit_learn_in_every_form_of_x():
    model = DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, NUMBERS)
    forest = lm.as_forest(model)
    for rows in (X, X.astype(np.float64), sp.csr_array(X), pd.DataFrame(X)):
        again = forest.with_statistics(rows, NUMBERS)
        np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)


def test_several_outputs_equal_scikit_learn():
    both = np.column_stack([CLASSES, CLASSES % 2])
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, both)
    forest = lm.as_forest(model)
    again = forest.with_statistics(X, both)
    np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)


def test_in_bag_counts_give_the_nodes_and_all_rows_do_not():
    model = RandomForestClassifier(3, max_depth=5, random_state=0).fit(X, CLASSES)
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        forest = lm.as_forest(tree)
        counts = np.bincount(drawn, minlength=300)
        again = forest.with_statistics(X, tree.classes_[CLASSES], sample_weight=counts)
        np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)
        naive = forest.with_statistics(X, tree.classes_[CLASSES])
        assert np.abs(naive.impurity - forest.impurity).max() > 0.01


def test_an_empty_child_takes_its_parents_impurity():
    forest = lm.build_forest(**STUMP)
    again = forest.with_statistics([[0.0], [0.0], [1.0]], ["a", "b", "b"], criterion="gini")
    # Node 2 is empty: no row is below -9. Node 3 has both rows of its parent.
    assert again.weight.tolist() == [3, 2, 0, 2, 1]
    np.testing.assert_allclose(again.impurity, [4 / 9, 0.5, 0.5, 0.5, 0])
    # Nobody below node 1: its whole subtree takes the root's impurity.
    far = forest.with_statistics([[1.0], [2.0]], [1.0, 3.0], criterion="variance")
    np.testing.assert_allclose(far.impurity, [1, 1, 1, 1, 1])
    assert lm.local_mdi(far, [[0.0]]).values.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 1, 2], {}, "criterion must be one of .* got None"),
        ([0, 1, 2], {"criterion": "poisson"}, "criterion must be one of .* got 'poisson'"),
        (list("abc"), {"criterion": "squared_error"}, "y must be numeric"),
        ([0.0, np.nan, 1.0], {"criterion": "squared_error"}, "y must be finite"),
        ([0, 1], {"criterion": "gini"}, "one entry per row of X"),
        ([0, 1, 2], {"criterion": "gini", "sample_weight": [1, 1]}, "one entry per row of X"),
        ([0, 1, 2], {"criterion": "gini", "sample_weight": [0, 0, 0]}, "not all zero"),
        ([0, 1, 2], {"criterion": "gini", "sample_weight": [1, -1, 1]}, "non-negative"),
    ],
)
def test_bad_input_is_refused(y, options, message):
    with pytest.raises(ValueError, match=message):
        lm.build_forest(**STUMP).with_statistics([[0.0], [1.0], [2.0]], y, **options)


def test_a_measure_says_which_statistics_it_misses():
    forest = lm.build_forest(**STUMP)
    with pytest.raises(MissingStatisticsError, match="with_statistics"):
        lm.local_mdi(forest, [[0.0]])
    unnamed = lm.build_forest(**STUMP, impurity=np.zeros(5))
    with pytest.raises(MissingStatisticsError, match="criterion is None"):
        lm.local_mdi(unnamed, [[0.0]])
    boosted = HistGradientBoostingClassifier(max_iter=2).fit(X, CLASSES)
    with pytest.raises(MissingStatisticsError, match="with_statistics"):
        lm.local_mdi(boosted, X)
