"""Every field of the forest against scikit-learn's own arrays."""

import hashlib
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostRegressor, RandomForestClassifier, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

from adapters.models import N_FEATURES, NAMES, cases
from localmdi.adapters import adapt
from localmdi.forest import SplitKind


@pytest.fixture(params=NAMES)
def case(request):
    return cases()[request.param]


def digest(trees):
    """Return a digest of every array of the trees."""
    found = hashlib.sha256()
    for tree in trees:
        found.update(pickle.dumps(tree.tree_.__getstate__()))
    return found.hexdigest()


def test_nodes_are_those_of_the_trees(case):
    adapted = adapt(case.model)
    forest = adapted.forest
    assert forest.n_trees == len(case.trees)
    for index, estimator in enumerate(case.trees):
        tree = estimator.tree_
        first, end = forest.tree_offset[index : index + 2]
        nodes = slice(first, end)
        is_split = tree.children_left >= 0
        column = tree.feature[is_split]
        if case.columns is not None:
            column = case.columns[index][column]
        np.testing.assert_array_equal(forest.feature[nodes][is_split], column)
        assert (forest.feature[nodes][~is_split] == -1).all()
        np.testing.assert_array_equal(
            forest.split_kind[nodes], np.where(is_split, SplitKind.LESS_EQUAL, SplitKind.LEAF)
        )
        np.testing.assert_array_equal(forest.threshold[nodes][is_split], tree.threshold[is_split])
        np.testing.assert_array_equal(forest.weight[nodes], tree.weighted_n_node_samples)
        np.testing.assert_array_equal(forest.impurity[nodes], tree.impurity)
        at = forest.child_offset[first:end][is_split]
        np.testing.assert_array_equal(forest.child[at] - first, tree.children_left[is_split])
        np.testing.assert_array_equal(forest.child[at + 1] - first, tree.children_right[is_split])
        missing = np.where(tree.missing_go_to_left, 0, 1) if adapted.missing else -1
        np.testing.assert_array_equal(forest.missing_child[nodes], np.where(is_split, missing, -1))


def test_header(case):
    adapted = adapt(case.model)
    forest = adapted.forest
    assert (forest.unit, forest.aggregation, forest.boosted) == (
        case.unit,
        case.aggregation,
        case.boosted,
    )
    assert forest.row_dtype == "float32"
    assert (forest.n_features, adapted.n_features_in) == (N_FEATURES, N_FEATURES)
    assert forest.value is None
    weights = np.ones(len(case.trees)) if case.weights is None else case.weights
    np.testing.assert_array_equal(forest.tree_weight, weights)
    assert (adapted.finite, adapted.sparse_missing) == (True, False)
    assert adapted.transform is None
    assert adapted.input_names is None


def test_the_model_is_not_changed(case):
    before, attributes = digest(case.trees), sorted(vars(case.model))
    forest = adapt(case.model, values=True).forest
    assert digest(case.trees) == before
    assert sorted(vars(case.model)) == attributes
    # Nor does the forest share memory with it.
    for estimator in case.trees:
        tree = estimator.tree_
        assert not np.shares_memory(forest.impurity, tree.impurity)
        assert not np.shares_memory(forest.value, tree.value)


def test_a_pickled_model_gives_the_same_forest(case):
    copy = pickle.loads(pickle.dumps(case.model))
    assert adapt(copy, values=True).forest == adapt(case.model, values=True).forest


def test_boosting_that_stopped_at_once():
    y = np.array([0.0, 1.0] * 5)
    model = AdaBoostRegressor().fit(np.zeros((10, 2)), y)
    assert not model.estimator_weights_.any()
    assert adapt(model).forest.tree_weight.tolist() == [1.0]


def test_a_member_of_no_weight():
    X, y = make_classification(40, 4, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2)
    model = VotingClassifier([("a", tree), ("b", tree)], weights=[1, 0]).fit(X, y)
    assert adapt(model).forest.tree_weight.tolist() == [1.0, 0.0]


def test_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = make_classification(40, 4, random_state=0)
    frame = pandas.DataFrame(X, columns=["age", "dose", "weight", "height"])
    adapted = adapt(RandomForestClassifier(2).fit(frame, y))
    assert adapted.forest.feature_names == ("age", "dose", "weight", "height")
    assert adapted.input_names == ("age", "dose", "weight", "height")
    assert adapt(RandomForestClassifier(2).fit(X, y)).forest.feature_names is None


def test_more_than_70_000_nodes():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60_000, 3))
    y = generator.integers(0, 2, size=60_000)
    model = DecisionTreeClassifier(random_state=0, splitter="random").fit(X, y)
    forest = adapt(model).forest
    assert forest.n_nodes == model.tree_.node_count > 70_000
    is_split = model.tree_.children_left >= 0
    np.testing.assert_array_equal(forest.child[0::2], model.tree_.children_left[is_split])
    np.testing.assert_array_equal(forest.child[1::2], model.tree_.children_right[is_split])
