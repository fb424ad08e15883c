"""Another criterion for trees that are fitted: what scikit-learn's own impurities would be."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import localmdi as lm
from localmdi.adapters import adapt
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError

RNG = np.random.default_rng(7)
X = RNG.random((160, 4)).astype(np.float32)
Y = (X[:, 0] * 3 + RNG.random(160)).astype(int)
BOTH = np.stack([Y, np.where(X[:, 1] > 0.8, 7, 3)], axis=1)
WEIGHT = RNG.random(160) + 0.1
OTHER = {"gini": "entropy", "entropy": "gini", "log_loss": "gini"}


def impurity(tree, criterion):
    """The impurity of every node by its formula, from scikit-learn's class frequencies."""
    outputs = []
    for k, n in enumerate(tree.n_classes):
        p = tree.value[:, k, :n]
        log = np.log2(p, out=np.zeros_like(p), where=p > 0)
        outputs.append(-(p * log).sum(axis=1) if criterion == "entropy" else 1 - (p**2).sum(axis=1))
    return np.mean(outputs, axis=0)


def walk(trees, criterion):
    """Definition 1 for every row of X, split by split."""
    values = np.zeros(X.shape)
    for tree in trees:
        found = impurity(tree, criterion)
        for i, path in enumerate(tree.decision_path(X)):
            for node, child in zip(path.indices[:-1], path.indices[1:], strict=True):
                values[i, tree.feature[node]] += found[node] - found[child]
    return values / len(trees)


@pytest.mark.parametrize("criterion", OTHER)
@pytest.mark.parametrize("target", ["one", "two"])
@pytest.mark.parametrize(
    "options", [{}, {"class_weight": "balanced"}, {"max_depth": 3}, {"max_leaf_nodes": 9}], ids=str
)
def test_from_the_frequencies_of_the_same_trees(criterion, target, options):
    y = Y if target == "one" else BOTH
    model = RandomForestClassifier(6, criterion=criterion, random_state=0, **options).fit(X, y)
    trees, wanted = [tree.tree_ for tree in model], OTHER[criterion]
    forest = lm.as_forest(model).with_criterion(wanted)
    expected = np.concatenate([impurity(tree, wanted) for tree in trees])
    np.testing.assert_allclose(forest.impurity, expected, rtol=0, atol=1e-12)
    result = lm.local_mdi(model, X, criterion=wanted)
    np.testing.assert_allclose(result.values, walk(trees, wanted), rtol=0, atol=1e-12)
    assert result.unit == {"entropy": "bits", "gini": "gini"}[wanted]
    np.testing.assert_allclose(result.values.sum(1), result.baseline - result.residual, atol=1e-12)


@pytest.mark.parametrize("kind", [ExtraTreeClassifier, DecisionTreeClassifier])
@pytest.mark.parametrize("y", [Y, BOTH], ids=["one", "two"])
def test_equals_a_model_of_that_criterion_where_the_trees_are_the_same(kind, y):
    # With one random cut to choose from, or one feature of two values, the criterion decides
    # nothing.
    rows = X if kind is ExtraTreeClassifier else (X[:, :1] > 0.4).astype(np.float32)
    options = {"max_features": 1, "random_state": 0}
    gini, entropy = (kind(criterion=name, **options).fit(rows, y) for name in ("gini", "entropy"))
    np.testing.assert_array_equal(gini.tree_.threshold, entropy.tree_.threshold)
    ours, theirs = lm.as_forest(gini).with_criterion("entropy"), lm.as_forest(entropy)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, rtol=0, atol=1e-12)
    for measure in ("drop", "gain"):
        ours = lm.local_mdi(gini, rows, measure=measure, criterion="entropy")
        theirs = lm.local_mdi(entropy, rows, measure=measure)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
        assert (ours.unit, ours.measure) == (theirs.unit, theirs.measure) == ("bits", measure)


def test_every_function_that_takes_it_agrees():
    model = RandomForestClassifier(8, random_state=0).fit(X, Y, sample_weight=WEIGHT)
    forest = lm.as_forest(model).with_criterion("entropy")
    expected = lm.local_mdi(forest, X)
    explainer = lm.Explainer(model, criterion="entropy")
    for found in (
        lm.local_mdi(model, X, criterion="log_loss"),
        explainer(X),
        pickle.loads(pickle.dumps(explainer))(X, n_jobs=2),
        lm.Explainer(model, criterion="entropy")(X[:1]),
    ):
        n = len(found.values)
        assert found.values.tobytes() == expected.values[:n].tobytes()
        assert found.unit == "bits"
    shares = lm.decompose_global(model, X, sample_weight=WEIGHT, criterion="entropy")
    whole = lm.global_mdi(model, criterion="entropy")
    assert whole.unit == "bits"
    np.testing.assert_allclose(shares.values.mean(axis=0), whole.values, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(lm.global_mdi(forest).values, whole.values)
    parts = lm.local_mdi_by_class(model, X, criterion="entropy")
    np.testing.assert_allclose(parts.values.sum(axis=2), expected.values, atol=1e-12)
    assert parts.unit == "bits"


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 6, max_samples=0.1, random_state=0),
        VotingClassifier(
            [("a", DecisionTreeClassifier(max_depth=3)), ("b", ExtraTreeClassifier())]
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ensembles(model):
    model.fit(X, Y)
    forest = lm.as_forest(model)
    back = forest.with_criterion("entropy").with_criterion("gini")
    np.testing.assert_allclose(back.impurity, forest.impurity, rtol=0, atol=1e-12)


def test_trees_of_one_output_each():
    model = MultiOutputClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, BOTH)
    forest = lm.as_forest(model).with_criterion("entropy")
    expected = np.concatenate([impurity(e.tree_, "entropy") for e in model.estimators_])
    np.testing.assert_allclose(forest.impurity, expected, rtol=0, atol=1e-12)


def test_a_tree_that_never_split_is_a_mean_over_outputs_too():
    model = RandomForestClassifier(2, min_impurity_decrease=9.0, random_state=0).fit(X, BOTH)
    forest = lm.as_forest(model).with_criterion("entropy")
    expected = [impurity(tree.tree_, "entropy")[0] for tree in model]
    np.testing.assert_allclose(forest.impurity, expected, rtol=0, atol=1e-12)


def test_the_same_criterion_changes_nothing_and_reads_nothing():
    model = RandomForestClassifier(3, criterion="entropy", random_state=0).fit(X, Y)
    forest = lm.as_forest(model)
    assert forest.with_criterion("entropy") is forest
    assert forest.with_criterion("log_loss") is forest
    assert adapt(model, criterion="log_loss").forest.source is not None
    numbers = lm.as_forest(RandomForestRegressor(2).fit(X, X[:, 0]))
    assert numbers.with_criterion("variance") is numbers


def test_statistics_of_rows_under_boosted_trees():
    boosted = lm.as_forest(GradientBoostingClassifier(n_estimators=2).fit(X, Y))
    gini = boosted.with_statistics(X, Y, criterion="gini").with_criterion("entropy")
    entropy = boosted.with_statistics(X, Y, criterion="entropy")
    np.testing.assert_allclose(gini.impurity, entropy.impurity, rtol=0, atol=1e-12)


def test_forests_of_our_own_and_values_without_impurities():
    model = lm.RandomizedForestClassifier(5, criterion="gini", random_state=0).fit(X, Y)
    forest = lm.as_forest(model)
    found = forest.with_criterion("entropy").impurity
    again = forest.with_statistics(X, Y, criterion="entropy")
    np.testing.assert_allclose(found, again.impurity, rtol=0, atol=1e-12)
    leaf = {"n_features": 1, "tree_offset": [0, 1], "feature": [-1], "split_kind": [0],
            "threshold": [0.0], "child_offset": [0, 0], "child": []}  # fmt: skip
    known = lm.build_forest(**leaf, value=[[0.75, 0.25]], classes=[["a", "b"]])
    assert known.with_criterion("gini").impurity == pytest.approx([0.375])
    scores = lm.build_forest(**leaf, value=[[1.5, -0.5]], classes=[["a", "b"]])
    with pytest.raises(MissingStatisticsError, match="gini"):
        scores.with_criterion("gini")


@pytest.mark.parametrize(
    ("model", "criterion", "error", "word"),
    [
        (GradientBoostingClassifier(n_estimators=2), "entropy", UnsupportedModelError, "boosted"),
        (GradientBoostingRegressor(n_estimators=2), "gini", UnsupportedModelError, "boosted"),
        (RandomForestRegressor(2), "entropy", ValueError, "numbers"),
        (RandomForestRegressor(2, criterion="poisson"), "variance", UnsupportedModelError, "hold"),
        (RandomForestClassifier(2), "squared_error", ValueError, "classes"),
        (RandomForestClassifier(2), "poisson", ValueError, "'gini'"),
        (RandomForestClassifier(2), "entropie", ValueError, "'entropie'"),
        (RandomForestClassifier(2), 3, ValueError, "got 3"),
        (OneVsRestClassifier(DecisionTreeClassifier()), "entropy", MissingStatisticsError, "freq"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_cannot_be_measured_says_why(model, criterion, error, word):
    model.fit(X, Y)
    for use in (lm.local_mdi, lambda m, x, **o: lm.Explainer(m, **o), lm.decompose_global):
        with pytest.raises(error, match=word):
            use(model, X, criterion=criterion)
    with pytest.raises(error, match=word):
        lm.as_forest(model).with_criterion(criterion)


def test_nodes_without_values_or_with_votes():
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    with pytest.raises(MissingStatisticsError, match="value"):
        lm.as_forest(model, values=False).with_criterion("entropy")
    with pytest.raises(MissingStatisticsError, match="value"):
        adapt(model).forest.with_criterion("entropy")
    # Leaves that vote, as ydf's do, with the impurities of what they counted.
    forest = lm.as_forest(model)
    votes = replace(forest, value=np.eye(forest.value.shape[1])[forest.value.argmax(axis=1)])
    with pytest.raises(MissingStatisticsError, match="frequencies"):
        votes.with_criterion("entropy")
