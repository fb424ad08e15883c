"""Trees packed straight from scikit-learn's records, beside the same trees from a table."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
from adapters.models import NAMES, cases
from localmdi.adapters import adapt
from localmdi.adapters.scikit_learn.members import TreeMember
from localmdi.adapters.scikit_learn.node_records import NodeRecords
from localmdi.exceptions import InvalidForestError
from localmdi.forest import Forest
from localmdi.forest.packing import Packing

X, Y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
X = X.astype(np.float32)


def is_read(forest):
    return type(forest) is Forest and forest.source is None


@pytest.fixture(params=NAMES)
def case(request):
    return cases()[request.param]


def test_the_same_bits_as_from_the_table(case):
    adapted = adapt(case.model)
    rows = np.random.default_rng(0).normal(size=(300, adapted.forest.n_features))
    rows = rows.astype(np.float32)
    straight, table = lm.Explainer(case.model), lm.Explainer(lm.as_forest(case.model))
    for n in (1, 300):  # the row kernel and the tile kernel
        one, other = straight(rows[:n]), table(rows[:n])
        assert not is_read(straight.forest)
        assert one.values.tobytes() == other.values.tobytes()
        assert one.residual.tobytes() == other.residual.tobytes()
        assert (one.baseline, one.unit) == (other.baseline, other.unit)
    ends = [
        np.concatenate(
            [
                block.leaf
                for block in explainer._packing.leaf_blocks(
                    adapted.read(rows), adapted.rules, n_threads=1
                )
            ],
            axis=1,
        )
        for explainer in (straight, table)
    ]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 20}, {"max_depth": 1}])
def test_any_order_of_records_and_any_number_of_threads(settings):
    # With max_leaf_nodes the records are not in the order of the paths.
    model = RandomForestClassifier(20, random_state=0, **settings).fit(X, Y)
    expected = lm.local_mdi(lm.as_forest(model), X)
    for n_jobs in (1, 2, 5):
        found = lm.local_mdi(model, X, n_jobs=n_jobs)
        assert found.values.tobytes() == expected.values.tobytes()
        assert found.baseline == expected.baseline


@pytest.fixture(scope="module")
def large():
    """Digits in 300 trees."""
    rows, label = load_digits(return_X_y=True)
    rows = rows.astype(np.float32)
    model = ExtraTreesClassifier(300, max_features=1, random_state=0, n_jobs=2).fit(rows, label)
    assert sum(tree.tree_.node_count for tree in model) * 16 > 2 * 2**22
    return model, rows, lm.Explainer(model)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 100, 1797])
def test_one_call_has_the_same_bits_and_makes_no_table(large, n_rows, n_jobs, monkeypatch):
    model, rows, packed = large
    expected = packed(rows[:n_rows])
    monkeypatch.setattr(NodeRecords, "columns", None)  # so that a reader of the table would fail
    found = lm.local_mdi(model, rows[:n_rows], n_jobs=n_jobs)
    assert not is_read(lm.Explainer(model).forest)
    assert found.values.tobytes() == expected.values.tobytes()
    assert found.residual.tobytes() == expected.residual.tobytes()
    assert found.baseline == expected.baseline


def test_one_call_packs_with_all_its_threads_even_for_one_row(large, monkeypatch):
    model, rows, _ = large
    asked = []

    def pack_drops(source, tree_weight, *, n_features, n_threads):
        """Take note of the threads, and leave the work to the table."""
        asked.append(n_threads)

    monkeypatch.setattr(NodeRecords, "pack_drops", pack_drops)
    lm.local_mdi(model, rows[:1], n_jobs=2)
    assert asked == [2]


@pytest.mark.parametrize(
    "options",
    [{"standard_error": True}, {"output": "sparse"}, {"out": True}, {"progress": True}],
    ids=lambda options: next(iter(options)),
)
def test_one_call_with_every_option_has_the_same_bits(large, options):
    model, rows, packed = large
    if "out" in options:
        options = {"out": np.empty(rows.shape)}
    found, expected = lm.local_mdi(model, rows, **options), packed(rows, **options)
    for name in ("values", "residual", "standard_error"):
        one, other = getattr(found, name), getattr(expected, name)
        if one is not None:
            one, other = (getattr(array, "data", array) for array in (one, other))
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_a_broken_last_tree_leaves_nothing_written(large):
    model, rows, _ = large
    broken = pickle.loads(pickle.dumps(model))
    broken.estimators_[-1].tree_.__getstate__()["nodes"]["impurity"][0] = np.nan
    out = np.full(rows.shape, 7.0)
    for options in ({}, {"out": out}):
        with pytest.raises(InvalidForestError, match="impurity"):
            lm.local_mdi(broken, rows, **options)
    assert (out == 7).all()


def test_missing_values_without_reading_the_nodes():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = RandomForestClassifier(10, random_state=0).fit(rows, Y)
    straight = lm.Explainer(model)
    expected = lm.local_mdi(lm.as_forest(model), rows)
    assert straight(rows).values.tobytes() == expected.values.tobytes()
    assert not is_read(straight.forest)


def test_the_nodes_are_read_when_they_are_asked_for():
    model = ExtraTreesClassifier(5, random_state=0).fit(X, Y)
    forest = adapt(model).forest
    assert (forest.n_trees, forest.criterion) == (5, "gini")
    assert not is_read(forest)
    assert forest.n_nodes == sum(tree.tree_.node_count for tree in model)
    assert is_read(forest)
    for use in (
        pickle.dumps,
        repr,
        copy.deepcopy,
        hash,
        replace,
        lambda f: f == forest,
        lambda f: f.node_table,
    ):
        again = adapt(model).forest
        use(again)
        assert is_read(again)
        assert again == forest
    assert pickle.loads(pickle.dumps(adapt(model).forest)) == forest
    assert is_read(pickle.loads(pickle.dumps(lm.Explainer(model))).forest)


def test_several_threads_may_ask_for_the_nodes_at_once():
    model = ExtraTreesClassifier(40, random_state=0).fit(X, Y)
    expected = lm.as_forest(model, values=False)
    for _ in range(20):
        forest = adapt(model).forest
        with ThreadPoolExecutor(4) as pool:
            names = ["impurity", "child", "weight", "node_table"] * 3
            found = list(pool.map(lambda name, forest=forest: getattr(forest, name), names))
        np.testing.assert_array_equal(found[0], expected.impurity)
        assert is_read(forest)
        assert forest == expected


def test_nodes_that_cannot_be_read_stay_in_the_model():
    model = DecisionTreeClassifier(random_state=0).fit(X, Y)
    forest = adapt(damage(model, "threshold", np.nan)).forest
    for _ in range(2):
        with pytest.raises(InvalidForestError, match="threshold"):
            _ = forest.child
        assert not is_read(forest)
    with pytest.raises(AttributeError, match="no attribute 'leaves'"):
        _ = forest.leaves


def test_as_forest_has_read_everything():
    model = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert is_read(lm.as_forest(model, values=False))
    with pytest.raises(InvalidForestError):
        lm.as_forest(damage(model, "threshold", np.nan), values=False)


DAMAGES = {
    "left_child": (0, 10_000, -7),
    "right_child": (1, 10_000, -7),
    "feature": (6, -1),
    "threshold": (np.nan,),
    "impurity": (np.nan, np.inf),
    "weighted_n_node_samples": (-1.0, np.nan, np.inf),
}


def damage(model, field, value, node=0):
    """Return a copy of a tree in which a number is another."""
    copy = pickle.loads(pickle.dumps(model))
    copy.tree_.__getstate__()["nodes"][field][node] = value
    return copy


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, all_ in DAMAGES.items() for v in all_])
def test_damaged_records_are_refused_as_in_a_table(field, value):
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X, Y)
    broken = damage(model, field, value)
    members = [TreeMember(broken.tree_, 1.0, 1.0)]
    source = NodeRecords(members, missing=True)
    assert source.pack_drops(np.ones(1), n_features=6, n_threads=1) is None
    with pytest.raises(InvalidForestError) as straight:
        lm.Explainer(broken)
    with pytest.raises(InvalidForestError) as once:
        lm.local_mdi(broken, X)
    with pytest.raises(InvalidForestError) as table:
        lm.as_forest(broken)
    assert str(straight.value) == str(once.value) == str(table.value)


def test_two_parents_and_an_orphan():
    model = DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, Y)
    left = model.tree_.children_left
    second = int(left[0]) if left[left[0]] >= 0 else int(model.tree_.children_right[0])
    broken = damage(model, "left_child", int(model.tree_.children_right[second]), node=second)
    with pytest.raises(InvalidForestError, match="must have one parent"):
        lm.Explainer(broken)


def test_trees_without_records_go_through_the_table():
    class Wrapped:
        """The public arrays of a tree, and no state of scikit-learn's."""

        def __init__(self, tree):
            self.names = (
                "node_count",
                "children_left",
                "children_right",
                "feature",
                "threshold",
                "impurity",
                "weighted_n_node_samples",
                "missing_go_to_left",
            )
            for name in self.names:
                setattr(self, name, getattr(tree, name))

    tree = DecisionTreeClassifier(random_state=0).fit(X, Y).tree_
    source = NodeRecords([TreeMember(Wrapped(tree), 1.0, 1.0)], missing=True)
    assert source.pack_drops(np.ones(1), n_features=6, n_threads=1) is None
    np.testing.assert_array_equal(source.columns()["impurity"], tree.impurity)


def test_a_packing_that_only_routes_reads_the_nodes():
    forest = adapt(DecisionTreeClassifier(random_state=0).fit(X, Y)).forest
    Packing(forest)
    assert is_read(forest)


def test_a_packing_without_the_numbers_of_nodes_says_so():
    explainer = lm.Explainer(ExtraTreesClassifier(3, random_state=0).fit(X, Y))
    kernel = explainer._packing.kernel
    assert not kernel.knows_nodes
    with pytest.raises(ValueError, match="packed from a table"):
        kernel.find_ends(explainer._packing.rows(X), 0, np.empty((len(X), 3), dtype=np.int64), 1)
    assert Packing(explainer.forest).kernel.knows_nodes
