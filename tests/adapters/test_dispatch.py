"""Which adapter reads a model, and what a Pipeline does to rows and names."""

import pickle
import sys
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adapters.models import cases, classification
from localmdi.adapters import adapt, register_adapter
from localmdi.exceptions import UnsupportedModelError
from localmdi.forest import build_forest


def stump(n_features=2):
    return build_forest(
        n_features=n_features,
        tree_offset=[0, 3],
        feature=[1, -1, -1],
        split_kind=[1, 0, 0],
        threshold=[0.5, 0.0, 0.0],
        child_offset=[0, 2, 2, 2],
        child=[1, 2],
        impurity=[1.0, 0.0, 0.0],
    )


class Speaks(BaseEstimator):
    """A third party's model with the protocol."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def __to_forest__(self):
        return stump() if self.answer is None else self.answer


class Silent(DecisionTreeClassifier):
    """A third party's model that someone else must register."""


@pytest.fixture
def registered():
    yield register_adapter
    register_adapter(Silent, None)
    register_adapter(DecisionTreeClassifier, None)
    register_adapter("somewhere.Public", None)


def test_a_forest_is_itself():
    forest = stump()
    adapted = adapt(forest)
    assert adapted.forest is forest
    assert (adapted.finite, adapted.missing, adapted.transform) == (False, True, None)
    assert adapted.n_features_in == 2
    with pytest.raises(UnsupportedModelError, match="a Forest does not record the weights"):
        adapted.in_bag.candidates(3)


def test_the_protocol():
    adapted = adapt(Speaks())
    assert adapted.forest == stump()
    assert not adapted.finite


def test_the_protocol_must_answer_with_a_forest():
    with pytest.raises(UnsupportedModelError, match=r"__to_forest__\(\) of Speaks must return"):
        adapt(Speaks("forest"))


def test_the_protocol_comes_before_the_registry(registered):
    registered(Speaks, lambda model: stump(7))
    assert adapt(Speaks()).forest.n_features == 2
    registered(Speaks, None)


def test_the_registry_comes_before_scikit_learn(registered):
    model = Silent().fit(*classification())
    assert adapt(model).forest.n_features == 5
    registered(Silent, lambda model: stump())
    assert adapt(model).forest == stump()
    registered(Silent, None)
    assert adapt(model).forest.n_features == 5


def test_the_nearest_class_is_taken(registered):
    registered(DecisionTreeClassifier, lambda model: stump(3))
    assert adapt(Silent()).forest.n_features == 3
    registered(Silent, lambda model: stump(4))
    assert adapt(Silent()).forest.n_features == 4
    assert adapt(DecisionTreeClassifier()).forest.n_features == 3


def test_a_name_as_one_imports_it(registered, monkeypatch):
    registered("somewhere.Public", lambda model: stump())
    with pytest.raises(UnsupportedModelError):
        adapt(object())
    # The class is defined elsewhere than where users find it.
    public = type("Hidden", (), {"__module__": "somewhere._hidden"})
    monkeypatch.setitem(sys.modules, "somewhere", types.SimpleNamespace(Public=public))
    assert adapt(public()).forest == stump()


def test_the_registered_function_must_return_a_forest(registered):
    registered(Silent, lambda model: None)
    with pytest.raises(UnsupportedModelError, match="registered adapter of Silent must return"):
        adapt(Silent())


@pytest.mark.parametrize(("model_class", "function"), [(3, str), (Silent, "function")])
def test_what_can_be_registered(model_class, function):
    with pytest.raises(TypeError, match=r"must be .*; got"):
        register_adapter(model_class, function)


def test_frozen_models():
    case = cases()["forest"]
    assert adapt(FrozenEstimator(case.model)).forest == adapt(case.model).forest


class TestPipeline:
    """Rows go through the earlier steps."""

    def test_rows_and_names(self):
        pandas = pytest.importorskip("pandas")
        X, y = classification()
        frame = pandas.DataFrame(X, columns=list("abcde")).assign(f=np.where(y == "no", "u", "v"))
        encode = ColumnTransformer(
            [("one", OneHotEncoder(sparse_output=False), ["f"]), ("rest", StandardScaler(), ["a"])]
        )
        model = make_pipeline(encode, RandomForestClassifier(3, random_state=0)).fit(frame, y)
        adapted = adapt(model)
        assert adapted.forest.feature_names == ("one__f_u", "one__f_v", "rest__a")
        assert adapted.input_names == tuple("abcdef")
        assert adapted.n_features_in == 6
        np.testing.assert_array_equal(adapted.transform(frame), model[:-1].transform(frame))

    def test_pipelines_and_searches_inside_each_other(self):
        X, y = classification()
        inner = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))
        search = GridSearchCV(inner, {"decisiontreeclassifier__max_depth": [2, 3]}, cv=2)
        model = make_pipeline(FunctionTransformer(np.square), "passthrough", search).fit(X, y)
        adapted = adapt(model)
        best = search if hasattr(search, "best_estimator_") else model[-1]
        expected = best.best_estimator_[0].transform(X**2)
        np.testing.assert_array_equal(adapted.transform(X), expected)
        assert adapted.forest.n_nodes == best.best_estimator_[-1].tree_.node_count

    def test_a_step_without_names(self):
        X, y = classification()
        model = make_pipeline(FunctionTransformer(np.sqrt), DecisionTreeClassifier())
        adapted = adapt(model.fit(np.abs(X), y))
        assert adapted.forest.feature_names is None

    def test_names_that_repeat(self):
        X, y = classification()
        same = FunctionTransformer(None, feature_names_out=lambda step, names: ["a"] * 5)
        adapted = adapt(make_pipeline(same, DecisionTreeClassifier()).fit(X, y))
        assert adapted.forest.feature_names == ("a", "a (2)", "a (3)", "a (4)", "a (5)")

    def test_rows_that_are_no_table(self):
        texts = ["one two", "two three", "three", "one"]
        model = make_pipeline(CountVectorizer(), DecisionTreeClassifier()).fit(texts, [0, 1, 1, 0])
        adapted = adapt(model)
        assert adapted.n_features_in is None
        assert adapted.forest.feature_names == ("one", "three", "two")
        assert adapted.transform(texts).shape == (4, 3)

    def test_nothing_before_the_last_step(self):
        model = Pipeline([("a", None), ("b", "passthrough"), ("c", DecisionTreeClassifier())])
        assert adapt(model.fit(*classification())).transform is None

    def test_a_third_party_at_the_end(self):
        X = np.zeros((3, 2))
        model = make_pipeline(StandardScaler(), Speaks()).fit(X)
        adapted = adapt(model)
        assert adapted.forest == stump()
        assert adapted.transform is not None

    def test_the_transform_can_be_pickled(self):
        X, y = classification()
        adapted = adapt(make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y))
        copy = pickle.loads(pickle.dumps(adapted))
        np.testing.assert_array_equal(copy.transform(X), adapted.transform(X))
        assert copy.forest == adapted.forest
