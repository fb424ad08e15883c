"""A real forest beside the infinite one."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
from localmdi.datasets import make_led
from localmdi.infinite import measure_gap


def test_many_totally_randomized_trees_are_close():
    X, y = make_led()
    model = ExtraTreesClassifier(500, criterion="entropy", max_features=1, random_state=0)
    result = lm.local_mdi(model.fit(X, y), X)
    gap = measure_gap(result, X, y=y)
    assert gap.rows.max() < 0.15
    assert not gap.masked.any()
    assert np.abs(gap.features).max() < 0.03


def test_one_greedy_tree_masks_the_copy():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 2))[:, [0, 0, 1]]
    tree = DecisionTreeClassifier(criterion="gini", random_state=0).fit(X, X[:, 0])
    gap = measure_gap(lm.local_mdi(tree, X), X, y=X[:, 0])
    assert gap.masked.sum() == 1
    assert not gap.masked[2]
    line = gap.table()["x0"]
    assert line["gap"] == pytest.approx(line["forest"] - line["infinite"])


def test_refuses_other_rows():
    X, y = make_led()
    result = lm.local_mdi(DecisionTreeClassifier(criterion="entropy").fit(X, y), X[:5])
    with pytest.raises(ValueError, match="those of X"):
        measure_gap(result, X, y=y)


def test_refuses_other_measures_and_units():
    X, y = make_led()
    result = lm.infinite_mdi(X, y)
    with pytest.raises(ValueError, match="must be of measure 'drop'; got 'gain'"):
        measure_gap(replace(result, measure="gain"), X, y=y)
    with pytest.raises(ValueError, match="in one of 'bits', 'gini', 'variance'; got 'mae'"):
        measure_gap(replace(result, unit="mae"), X, y=y)
