"""What is refused says why, and what to do."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from adapters.models import classification, regression, two_targets
from localmdi.adapters import adapt
from localmdi.adapters.scikit_learn.members import TreeMember
from localmdi.adapters.scikit_learn.node_records import node_columns
from localmdi.exceptions import InvalidForestError, MissingStatisticsError, UnsupportedModelError

TREE = DecisionTreeClassifier(max_depth=2)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        RandomForestClassifier(),
        BaggingClassifier(),
        AdaBoostClassifier(),
        GradientBoostingRegressor(),
        VotingClassifier([("a", TREE)]),
        GridSearchCV(TREE, {"max_depth": [1]}),
        CalibratedClassifierCV(TREE),
        MultiOutputClassifier(TREE),
        OneVsRestClassifier(TREE),
        make_pipeline(StandardScaler(), TREE),
        HistGradientBoostingClassifier(),
        GaussianNB(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_not_fitted(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        adapt(model)


@pytest.mark.parametrize("model", [None, 3, "model", [TREE], np.zeros(3), {"a": 1}], ids=str)
def test_no_model_at_all(model):
    with pytest.raises(UnsupportedModelError, match="Supported are decision trees"):
        adapt(model)


def test_a_class_instead_of_a_model():
    with pytest.raises(UnsupportedModelError, match=r"Pass RandomForestClassifier\(...\).fit"):
        adapt(RandomForestClassifier)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        VotingClassifier([("a", TREE), ("b", GaussianNB())]),
        StackingClassifier([("a", TREE)], final_estimator=TREE),
        OneVsOneClassifier(TREE),
        OutputCodeClassifier(TREE),
    ],
    ids=lambda model: type(model).__name__,
)
def test_not_made_of_trees(model):
    with pytest.raises(UnsupportedModelError, match=r"Supported are .* register_adapter"):
        adapt(model.fit(*classification()))


def test_a_chain_of_members():
    X, labels, _ = two_targets()
    coded = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    with pytest.raises(UnsupportedModelError, match="ClassifierChain is not supported"):
        adapt(ClassifierChain(TREE).fit(X, coded))


@pytest.mark.parametrize("model", [IsolationForest(), RandomTreesEmbedding()], ids=str)
def test_impurities_that_mean_nothing(model):
    with pytest.raises(UnsupportedModelError, match="must be a classifier or a regressor"):
        adapt(model.fit(classification()[0]))


def test_no_impurities():
    model = HistGradientBoostingClassifier(max_iter=2).fit(*classification())
    with pytest.raises(MissingStatisticsError, match=r"must have impurity.*with_statistics"):
        adapt(model).forest.statistic("impurity")


def test_a_search_that_kept_no_model():
    search = GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=2, refit=False)
    with pytest.raises(UnsupportedModelError, match="Use refit=True"):
        adapt(search.fit(*classification()))


def test_members_in_different_units():
    X, y = classification()
    members = [("a", TREE), ("b", DecisionTreeClassifier(criterion="entropy"))]
    with pytest.raises(UnsupportedModelError, match=r"share one unit.* bits and gini"):
        adapt(VotingClassifier(members).fit(X, y))
    forest = RandomForestClassifier(2, warm_start=True).fit(X, y)
    forest.set_params(criterion="entropy", n_estimators=3).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"share one unit.* bits and gini"):
        adapt(forest)


def test_members_in_one_unit_by_two_names():
    members = [(name, DecisionTreeClassifier(criterion=name)) for name in ("entropy", "log_loss")]
    assert adapt(VotingClassifier(members).fit(*classification())).forest.unit == "bits"


@pytest.mark.parametrize(
    "around",
    [
        lambda member: VotingClassifier([("a", member), ("b", member)]),
        lambda member: BaggingClassifier(member, 2),
        lambda member: CalibratedClassifierCV(member, cv=2),
    ],
)
def test_preprocessing_inside_an_ensemble(around):
    model = around(make_pipeline(StandardScaler(), TREE)).fit(*classification())
    with pytest.raises(UnsupportedModelError, match=r"Put the ensemble at the end of one Pipeline"):
        adapt(model)


def test_a_criterion_of_ones_own():
    model = DecisionTreeClassifier().fit(*classification())
    model.criterion = "logrank"
    with pytest.raises(UnsupportedModelError, match=r"with a known criterion .* got logrank"):
        adapt(model)


def test_members_of_different_widths():
    X, y = regression()
    model = VotingRegressor([("a", DecisionTreeRegressor()), ("b", DecisionTreeRegressor())])
    model.fit(X, y)
    model.estimators_[1].fit(X, np.column_stack([y, y]))
    with pytest.raises(UnsupportedModelError, match="predict the same columns"):
        adapt(model)


def test_features_of_its_own():
    """A forest, say of time series, whose trees see summaries of the columns."""
    X, y = classification()
    model = RandomForestClassifier(2).fit(X, y)
    model.estimators_ = [DecisionTreeClassifier().fit(X[:, :3], y) for _ in range(2)]
    with pytest.raises(UnsupportedModelError, match="makes its own features"):
        adapt(model)


@pytest.mark.parametrize("weights", [[0, 0], [2, -1]])
def test_weights_that_make_no_mean(weights):
    X, y = regression()
    tree = DecisionTreeRegressor(max_depth=2)
    model = VotingRegressor([("a", tree), ("b", tree)], weights=weights).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="must have non-negative weights"):
        adapt(model)


class CategoricalTree:
    """A tree_ as a future version may have it: the same arrays, and category counts."""

    n_categories = np.array([0, 3, 0, 0, 0])

    def __init__(self, tree):
        self._tree = tree

    def __getattr__(self, name):
        return getattr(self._tree, name)


def test_categorical_splits():
    model = DecisionTreeClassifier().fit(*classification())
    model.tree_ = CategoricalTree(model.tree_)
    with pytest.raises(UnsupportedModelError, match="splits categorical features"):
        adapt(model)
    model.tree_.n_categories = np.full(5, -1)
    assert adapt(model).forest.n_trees == 1


class DamagedTree:
    """A tree_ whose arrays can be replaced."""

    def __init__(self, tree, **arrays):
        self._tree = tree
        vars(self).update(arrays)

    def __getattr__(self, name):
        return getattr(self._tree, name)


def damaged(**change):
    tree = DecisionTreeClassifier(max_depth=3).fit(*classification()).tree_
    arrays = {}
    for name, (at, value) in change.items():
        arrays[name] = getattr(tree, name).copy()
        arrays[name][at] = value
    return TreeMember(DamagedTree(tree, **arrays), 1.0, 1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"children_left": (0, 10**6)},
        {"children_right": (0, -5)},
        {"children_left": (0, 2**62)},
        {"children_left": (slice(None), -1), "children_right": (slice(None), -1)},
        {"children_left": (slice(None), 1), "children_right": (slice(None), 2)},
        {"feature": (0, 2**40)},
    ],
)
def test_damaged_trees_do_no_harm(change):
    with pytest.raises(InvalidForestError, match="tree 0 of the model must be a binary tree"):
        node_columns([damaged(**change)], missing=True)


def test_arrays_of_unequal_or_unknown_length():
    tree = DecisionTreeClassifier(max_depth=3).fit(*classification()).tree_
    short = TreeMember(DamagedTree(tree, impurity=tree.impurity[:-1]), 1.0, 1.0)
    with pytest.raises(InvalidForestError, match="unequal lengths"):
        node_columns([short], missing=True)
    names = ("children_left", "children_right", "feature", "threshold", "impurity")
    half = {name: getattr(tree, name)[:1] for name in (*names, "missing_go_to_left")}
    half |= {"weighted_n_node_samples": tree.weighted_n_node_samples[:1]}
    half["children_left"] = half["children_right"] = np.array([-1])
    with pytest.raises(
        InvalidForestError, match=r"must have \d+ nodes, as their node counts say; found 1"
    ):
        node_columns([TreeMember(DamagedTree(tree, **half), 1.0, 1.0)], missing=True)


def test_arrays_of_another_type():
    tree = DecisionTreeClassifier(max_depth=3).fit(*classification()).tree_
    other = DamagedTree(tree, children_left=tree.children_left.astype(np.int16))
    with pytest.raises(UnsupportedModelError, match=r"scikit-learn 1\.6 or newer"):
        node_columns([TreeMember(other, 1.0, 1.0)], missing=True)
