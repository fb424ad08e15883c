"""Extreme numbers and shapes: values add up to twelve digits, or the error says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import localmdi as lm

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 4))
ABOVE = X[:, 0] > 0


def adds_up(result):
    """Whether values add up, relative to the largest number of the account."""
    levels = [np.abs(part).max() for part in (result.baseline, result.residual, result.values)]
    return result.additivity_error() <= 1e-12 * max(*levels, 1e-300)


def check(model):
    assert adds_up(model.local_importances_)
    assert adds_up(lm.local_mdi(model, X[:50]))
    assert np.isfinite(lm.global_mdi(model).values).all()


@pytest.mark.parametrize("size", [1e150, 1e100, 1e-100, 1e-150])
def test_targets(size):
    check(lm.RandomizedForestRegressor(5, random_state=0).fit(X, X[:, 0] * size))
    assert adds_up(
        lm.local_mdi(RandomForestRegressor(5, random_state=0).fit(X, X[:, 0] * size), X[:50])
    )
    codes = RANDOM.integers(0, 3, size=(100, 4))
    assert adds_up(lm.infinite_mdi(codes, X[:100, 0] * size, criterion="variance"))


@pytest.mark.parametrize("weight", [1e300, 1e-300, 5e-324])
def test_weights(weight):
    model = lm.RandomizedForestClassifier(5, random_state=0)
    check(model.fit(X, ABOVE, sample_weight=np.where(ABOVE, weight, 1.0)))
    shares = {False: 1.0, True: weight}
    check(lm.RandomizedForestClassifier(5, class_weight=shares, random_state=0).fit(X, ABOVE))
    model = RandomForestClassifier(5, class_weight=shares, random_state=0).fit(X, ABOVE)
    assert adds_up(lm.local_mdi(model, X[:50]))


def test_beyond_what_numbers_can_hold():
    regressor = lm.RandomizedForestRegressor(2, random_state=0)
    with pytest.raises(ValueError, match="sum of its weighted squares is finite"):
        regressor.fit(X, X[:, 0] * 1e300)
    with pytest.raises(ValueError, match="sum of its weighted squares is finite"):
        regressor.fit(X, X[:, 0] * 1e100, sample_weight=np.full(200, 1e200))
    with pytest.raises(ValueError, match="sample_weight must have a finite sum"):
        regressor.fit(X, X[:, 0], sample_weight=np.full(200, 1e307))
    classifier = lm.RandomizedForestClassifier(2, class_weight={False: 1.0, True: 1e308})
    with pytest.raises(ValueError, match=r"sample_weight must (have a finite sum|be finite)"):
        classifier.fit(X, ABOVE, sample_weight=np.full(200, 1e3))


def chain(depth):
    """A tree that only ever goes on in its second child; node 2k splits, 2k + 1 is a leaf."""
    n = 2 * depth + 1
    node = np.arange(n)
    split = (node % 2 == 0) & (node < n - 1)
    level = node // 2
    return lm.build_forest(
        n_features=3,
        tree_offset=[0, n],
        feature=np.where(split, level % 3, -1).astype(np.int32),
        split_kind=split.astype(np.uint8),
        threshold=np.where(split, level, 0.0),
        child_offset=np.concatenate([[0], np.cumsum(2 * split)]),
        child=np.column_stack([node[split] + 1, node[split] + 2]).ravel(),
        weight=np.where(split | (node == n - 1), depth + 1.0 - level, 1.0),
        impurity=np.where(split, 1.0 / (1 + level), 0.25),
        value=np.ones((n, 1)),
        criterion="gini",
    )


def test_a_chain_of_a_hundred_thousand_splits(tmp_path):
    forest = chain(100_000)
    rows = np.vstack([np.full(3, 1e9), np.full(3, 5e4), np.full(3, -1.0)])
    result = lm.local_mdi(forest, rows)
    assert adds_up(result)
    np.testing.assert_allclose(result.baseline - result.values.sum(axis=1), result.residual)
    for n_jobs in (1, 2):
        many = RANDOM.uniform(-1, 1e5, size=(100, 3))
        assert adds_up(lm.local_mdi(forest, many, n_jobs=n_jobs))
    assert np.isfinite(lm.global_mdi(forest).values).all()
    assert np.isfinite(lm.saabas(forest, rows)).all()
    forest.save(tmp_path / "f.lmdi")
    assert lm.load_forest(tmp_path / "f.lmdi") == forest
    assert len(repr(forest)) < 1000


def test_a_million_nodes_in_one_tree():
    n = 2**20 - 1
    node = np.arange(n)
    split = node < n // 2
    forest = lm.build_forest(
        n_features=2,
        tree_offset=[0, n],
        feature=np.where(split, node % 2, -1).astype(np.int32),
        split_kind=split.astype(np.uint8),
        threshold=RANDOM.normal(size=n),
        child_offset=np.concatenate([[0], np.cumsum(2 * split)]),
        child=np.column_stack([2 * node[split] + 1, 2 * node[split] + 2]).ravel(),
        impurity=RANDOM.uniform(size=n),
        criterion="gini",
    )
    assert adds_up(lm.local_mdi(forest, RANDOM.normal(size=(200, 2))))
