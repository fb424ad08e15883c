"""Tables that have next to nothing, or too much of something."""

import numpy as np
import pytest

from localmdi import local_mdi
from trees.models import classifier, regressor


def explained(model, X):
    result = model.local_importances_
    np.testing.assert_allclose(result.values, local_mdi(model, X).values, rtol=0, atol=1e-12)
    assert result.additivity_error() < 1e-12
    return result


def test_one_row():
    model = classifier().fit([[1.0, 2.0]], ["only"])
    result = explained(model, np.array([[1.0, 2.0]]))
    assert (result.baseline, result.values.tolist()) == (0, [[0, 0]])
    assert model.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert model.feature_importances_.tolist() == [0, 0]
    assert regressor().fit([[1.0]], [7.0]).predict([[3.0]]).tolist() == [7.0]


def test_one_class_and_one_response():
    X = np.arange(12.0).reshape(6, 2)
    assert explained(classifier().fit(X, np.zeros(6)), X).values.any() == np.False_
    model = regressor().fit(X, np.full(6, 1e9 + 0.1))
    assert explained(model, X).values.any() == np.False_
    assert model.forest_.n_nodes == 30


def test_constant_columns():
    X = np.ones((10, 3))
    X[:, 1] = np.arange(10)
    result = explained(classifier(max_features=2).fit(X, np.arange(10) % 2), X)
    assert result.values[:, [0, 2]].any() == np.False_
    np.testing.assert_allclose(result.values[:, 1], 1)


def test_no_column_varies():
    X = np.ones((10, 3))
    for k in (1, 2, 3):
        model = classifier(max_features=k).fit(X, np.arange(10) % 2)
        assert model.forest_.n_nodes == 30
        np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_conflicting_rows():
    X = np.array([[0.0], [0.0], [1.0]])
    result = explained(classifier().fit(X, [0, 1, 1]), X)
    np.testing.assert_allclose(result.residual, [1, 1, 0])


def test_neighbouring_floats():
    # The cut can only fall on the lower one.
    low = np.float32(1)
    X = np.array([[low], [np.nextafter(low, np.float32(2))]], dtype=np.float32)
    assert classifier(n_estimators=200).fit(X, [0, 1]).score(X, [0, 1]) == 1


def test_extreme_numbers():
    X = np.array([[-3.4e38], [3.4e38], [1e-45], [0.0]], dtype=np.float32)
    model = classifier(n_estimators=50).fit(X, [0, 1, 2, 3])
    assert model.score(X, [0, 1, 2, 3]) == 1


@pytest.mark.parametrize("k", [1, 2])
def test_more_than_256_categories(k):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(1000).astype(str), rng.choice(["a", "b"], 1000)])
    y = rng.integers(0, 2, size=1000)
    model = classifier(n_estimators=16, max_features=k, categorical_features=[0, 1]).fit(X, y)
    assert len(model.forest_.categories[0]) == 1000
    assert explained(model, X).residual.max() == 0
    assert np.diff(model.forest_.child_offset).max() == 1000 if k == 2 else 500


def test_more_than_65536_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    model = classifier(n_estimators=2, max_depth=8, n_jobs=2).fit(X, y)
    assert explained(model, X).mean().values.argmax() == 0
    assert (model.forest_.weight[model.forest_.tree_offset[:-1]] == 70_000).all()


@pytest.mark.parametrize("p", [65, 5000])
@pytest.mark.parametrize("k", [1, "sqrt"])
def test_many_features(p, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, p)).astype(np.float32)
    X[:, 1] = 0
    y = (X[:, -1] > 0).astype(int)
    for draw in ("theory", "sklearn"):
        model = classifier(n_estimators=20, max_features=k, draw=draw).fit(X, y)
        result = explained(model, X)
        assert result.values[:, 1].any() == np.False_
        np.testing.assert_allclose(result.residual, 0)


def test_deep_trees():
    # Every cut takes off few of the largest values: depth grows with the rows, the stack does not.
    X = np.float32(1.5) ** np.arange(200, dtype=np.float32)[:, np.newaxis]
    X = np.minimum(X, np.float32(3e38))
    model = classifier(n_estimators=4).fit(X, np.arange(200) % 2)
    assert explained(model, X).shape == (200, 1)


def test_rows_without_weight_are_explained_too():
    X = np.array([[0.0], [1.0], [0.2], [9.0]])
    model = classifier().fit(X, [0, 1, 1, 0], sample_weight=[1, 1, 0, 0])
    result = explained(model, X)
    assert result.baseline == 1
    np.testing.assert_allclose(result.values[:, 0], 1)
    assert (model.forest_.weight[model.forest_.tree_offset[:-1]] == 2).all()


def test_a_bag_of_nothing_but_weightless_rows():
    weight = np.zeros(30)
    weight[0] = 1
    X, y = np.arange(30.0)[:, np.newaxis], np.arange(30) % 2
    model = classifier(bootstrap=True, max_samples=2).fit(X, y, sample_weight=weight)
    explained(model, X)
    assert np.isfinite(model.predict_proba(X)).all()
