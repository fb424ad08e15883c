"""The training rows' weights in each tree, checked at every node of every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adapters.models import N_ROWS, classification, regression, two_targets
from adapters.walk import leaves
from localmdi.adapters import adapt, in_bag_disagreement
from localmdi.exceptions import UnsupportedModelError

WEIGHTS = np.random.default_rng(0).uniform(0.1, 3.0, size=N_ROWS)
BY_CLASS = {"no": 1.0, "perhaps": 2.5, "yes": 0.5}


def node_sums(forest, leaf, weight):
    """Return the weight of the rows below every node, by adding up from the leaves."""
    sums = np.bincount(leaf.ravel(), weights=weight.ravel(), minlength=forest.n_nodes)
    for node in range(forest.n_nodes - 1, -1, -1):
        first, end = forest.child_offset[node : node + 2]
        sums[node] += sums[forest.child[first:end]].sum()
    return sums


def rebuilt(model, X, y=None, sample_weight=None):
    """Return the first candidate that agrees with the forest, and check it by brute force."""
    adapted = adapt(model)
    forest = adapted.forest
    leaf = leaves(forest, X if adapted.transform is None else adapted.transform(X))
    for candidate in adapted.in_bag.candidates(len(X), y=y, sample_weight=sample_weight):
        weight = candidate.weights(0, forest.n_trees)
        agrees = in_bag_disagreement(forest, 0, leaf=leaf, weight=weight) is None
        by_force = np.allclose(node_sums(forest, leaf, weight), forest.weight, rtol=1e-9)
        assert agrees == by_force
        if agrees:
            return weight
    return None


FORESTS = {
    "bootstrap": RandomForestClassifier(5),
    "no bootstrap": ExtraTreesClassifier(5),
    "half of the rows": RandomForestClassifier(5, max_samples=0.5),
    "20 rows": RandomForestClassifier(5, max_samples=20),
    "class weights": RandomForestClassifier(5, class_weight=BY_CLASS),
    "balanced": RandomForestClassifier(5, class_weight="balanced"),
    "balanced subsample": RandomForestClassifier(5, class_weight="balanced_subsample"),
    "class weights, all rows": ExtraTreesClassifier(5, class_weight=BY_CLASS),
    "balanced, all rows": ExtraTreesClassifier(5, class_weight="balanced"),
    "balanced subsample, all rows": ExtraTreesClassifier(5, class_weight="balanced_subsample"),
    "pruned": RandomForestClassifier(5, ccp_alpha=0.02),
    "tree": DecisionTreeClassifier(max_depth=4),
    "tree, class weights": DecisionTreeClassifier(class_weight=BY_CLASS),
    "tree, balanced": DecisionTreeClassifier(class_weight="balanced"),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=4), 5),
    "bagging some columns": BaggingClassifier(None, 5, max_features=3, max_samples=0.6),
    "bagging without replacement": BaggingClassifier(None, 5, max_samples=50, bootstrap=False),
    # Bagging and Voting fit their members on the codes of the classes.
    "bagging balanced": BaggingClassifier(DecisionTreeClassifier(class_weight="balanced"), 5),
    "bagging by class": BaggingClassifier(DecisionTreeClassifier(class_weight={1: 2.0}), 5),
    "bagging forests": BaggingClassifier(RandomForestClassifier(3, class_weight={2: 3.0}), 3),
    "voting": VotingClassifier(
        [
            ("a", RandomForestClassifier(3, class_weight={0: 2.0})),
            ("b", DecisionTreeClassifier(class_weight="balanced")),
        ],
        weights=[2, 1],
    ),
    "boosting": GradientBoostingClassifier(n_estimators=3),
}
# sample_weight and bootstrap=False draw a warning in Bagging: not the habit it was made for.
WEIGHTED = [name for name in FORESTS if name != "bagging without replacement"]


@pytest.mark.parametrize("name", FORESTS)
def test_without_weights(name):
    X, y = classification()
    assert rebuilt(fitted(name), X, y) is not None


@pytest.mark.parametrize("name", WEIGHTED)
def test_with_weights(name):
    X, y = classification()
    assert rebuilt(fitted(name, WEIGHTS), X, y, WEIGHTS) is not None


def fitted(name, sample_weight=None):
    X, y = classification()
    model = FORESTS[name]
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    return model.fit(X, y, **given)


@given(seed=st.integers(0, 10**6), n_rows=st.integers(5, 60), share=st.floats(0.1, 1.0))
@settings(max_examples=20, deadline=None)
def test_any_weights(seed, n_rows, share):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 2))
    y = generator.integers(0, 3, size=n_rows)
    weight = generator.uniform(size=n_rows) * (generator.uniform(size=n_rows) < 0.8) + 1e-3
    for bootstrap in (True, False):
        model = RandomForestClassifier(
            3,
            class_weight="balanced",
            bootstrap=bootstrap,
            max_samples=max(1, int(share * n_rows)) if bootstrap else None,
            random_state=seed,
        )
        assert rebuilt(model.fit(X, y, sample_weight=weight), X, y, weight) is not None


@pytest.mark.parametrize("class_weight", [None, "balanced", "balanced_subsample", "list"])
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["", "weights"])
def test_two_outputs(class_weight, bootstrap, sample_weight):
    X, y, _ = two_targets()
    if class_weight == "list":
        class_weight = [BY_CLASS, {"high": 1.0, "low": 4.0}]
    model = RandomForestClassifier(4, class_weight=class_weight, bootstrap=bootstrap)
    model.fit(X, y, sample_weight=sample_weight)
    assert rebuilt(model, X, y, sample_weight) is not None


def test_members_with_their_own_target():
    X, labels, _ = two_targets()
    balanced = RandomForestClassifier(3, class_weight="balanced_subsample")
    several = MultiOutputClassifier(balanced).fit(X, labels)
    assert rebuilt(several, X, labels) is not None
    several.fit(X, labels, sample_weight=WEIGHTS)
    assert rebuilt(several, X, labels, WEIGHTS) is not None
    each = OneVsRestClassifier(DecisionTreeClassifier(class_weight={1: 3.0})).fit(X, labels[:, 0])
    assert rebuilt(each, X, labels[:, 0]) is not None
    assert (
        rebuilt(OneVsRestClassifier(RandomForestClassifier(3)).fit(X, labels[:, 0]), X) is not None
    )


def test_numbers_need_no_y():
    X, y = regression()
    for model in (
        RandomForestRegressor(4, max_samples=0.7),
        BaggingRegressor(None, 4, max_features=2),
        GradientBoostingRegressor(n_estimators=3),
    ):
        weight = rebuilt(model.fit(X, y), X)
        assert weight.shape == (len(adapt(model).forest.tree_weight), N_ROWS)


def test_weights_of_a_bootstrap_are_counts():
    X, y = classification()
    model = RandomForestClassifier(4, max_samples=30, random_state=0).fit(X, y)
    expected = [np.bincount(rows, minlength=N_ROWS) for rows in model.estimators_samples_]
    (candidate,) = adapt(model).in_bag.candidates(N_ROWS)
    np.testing.assert_array_equal(candidate.weights(0, 4), expected)
    # Any block of trees, in any order.
    np.testing.assert_array_equal(candidate.weights(2, 4), expected[2:])
    np.testing.assert_array_equal(candidate.weights(1, 2), expected[1:2])


def test_models_around_a_model():
    X, y = classification()
    forest = RandomForestClassifier(3, class_weight="balanced", random_state=0)
    search = GridSearchCV(forest, {"max_depth": [2, 3]}, cv=2).fit(X, y)
    assert rebuilt(search, X, y) is not None
    inside = VotingClassifier([("a", search), ("b", make_pipeline(forest))]).fit(X, y)
    assert rebuilt(inside, X, y) is not None
    assert rebuilt(make_pipeline(StandardScaler(), search).fit(X, y), X, y) is not None
    whole = CalibratedClassifierCV(forest, cv=3, ensemble=False).fit(X, y)
    assert rebuilt(whole, X, y) is not None


def test_a_forest_that_grew():
    X, y = classification()
    model = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    assert rebuilt(model.set_params(n_estimators=5).fit(X, y), X) is not None
    bagging = BaggingClassifier(None, 3, warm_start=True, random_state=0).fit(X, y)
    bagging.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="without warm_start"):
        adapt(bagging).in_bag.candidates(N_ROWS)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (AdaBoostClassifier(n_estimators=3), "reweights the rows"),
        (GradientBoostingClassifier(n_estimators=3, subsample=0.5), "subsample=1.0"),
        (GradientBoostingClassifier(n_estimators=3, n_iter_no_change=2), "n_iter_no_change=None"),
        (CalibratedClassifierCV(DecisionTreeClassifier(), cv=2), "ensemble=False"),
        (
            VotingClassifier([("a", AdaBoostClassifier(n_estimators=3))]),
            "AdaBoostClassifier reweights",
        ),
    ],
    ids=str,
)
def test_weights_that_cannot_be_rebuilt(model, reason):
    X, y = classification()
    adapted = adapt(model.fit(X, y))
    with pytest.raises(UnsupportedModelError, match=reason):
        adapted.in_bag.candidates(N_ROWS, y=y)


def test_a_model_that_does_not_record_what_it_drew():
    X, y = classification()
    model = RandomForestClassifier(2).fit(X, y)
    # As in a model that an older scikit-learn has stored.
    del model._n_samples_bootstrap
    (candidate,) = adapt(model).in_bag.candidates(N_ROWS)
    with pytest.raises(UnsupportedModelError, match="has no usable estimators_samples_"):
        candidate.weights(0, 1)


def test_wrong_rows_are_noticed():
    X, y = classification()
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert rebuilt(model, X[::-1]) is None
    weighted = ExtraTreesClassifier(3).fit(X, y, sample_weight=WEIGHTS)
    assert rebuilt(weighted, X) is None
    assert rebuilt(weighted, X, sample_weight=WEIGHTS) is not None
    (candidate,) = adapt(model).in_bag.candidates(40)
    with pytest.raises(ValueError, match="X must hold the training rows"):
        candidate.weights(0, 1)


def test_what_fit_got_must_be_given():
    X, y = classification()
    in_bag = adapt(RandomForestClassifier(2, class_weight="balanced").fit(X, y)).in_bag
    with pytest.raises(ValueError, match="y must be given when the model has class_weight"):
        in_bag.candidates(N_ROWS)
    with pytest.raises(ValueError, match="y must have one entry per row"):
        in_bag.candidates(N_ROWS, y=y[:-1])
    with pytest.raises(ValueError, match="sample_weight must have one entry per row"):
        in_bag.candidates(N_ROWS, y=y, sample_weight=WEIGHTS[:-1])
    column = in_bag.candidates(N_ROWS, y=y[:, None], sample_weight=2.0)
    same = in_bag.candidates(N_ROWS, y=y, sample_weight=np.full(N_ROWS, 2.0))
    for one, other in zip(column, same, strict=True):
        np.testing.assert_array_equal(one.weights(0, 2), other.weights(0, 2))


def test_the_model_is_not_changed():
    X, y = classification()
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    members = model.estimators_
    assert rebuilt(model, X) is not None
    assert model.estimators_ is members
    assert len(members) == 3
