"""The other packages are called as the paper says: predicted class, training rows, a seed."""

import numpy as np
import pytest
import sage

from paper import measures
from paper.data import load
from paper.forests import Recipe
from paper.rivals import (
    SageValues,
    TreeShapRows,
    interpreter_values,
    of_class,
    predicted_class,
)
from paper.settings import Settings


def test_of_class_picks_a_class_per_row():
    values = np.arange(12.0).reshape(2, 3, 2)
    assert of_class(values, np.array([1, 0])).tolist() == [[1, 3, 5], [6, 8, 10]]


@pytest.mark.parametrize("perturbation", ["tree_path_dependent", "interventional"])
def test_treeshap_adds_up_to_the_predicted_class(perturbation):
    recipe = Recipe("iris", max_features=2, n_trees=5)
    forest, data = recipe.grow(), recipe.data
    values = TreeShapRows(recipe, perturbation).prepare()(0, len(data.X))
    probability = forest.predict_proba(data.X)
    expected = probability.max(axis=1) - 1 / 3
    np.testing.assert_allclose(values.sum(axis=1), expected, atol=1e-6)


def test_the_two_kinds_of_treeshap_differ():
    recipe = Recipe("led", max_features=1, n_trees=20)
    kinds = ("tree_path_dependent", "interventional")
    dependent, interventional = (TreeShapRows(recipe, kind).prepare()(0, 10) for kind in kinds)
    assert np.abs(dependent - interventional).max() > 0.01


@pytest.mark.parametrize("loss", ["cross entropy", "mse"])
def test_sage_is_the_packages_own_and_seeded(loss):
    recipe = Recipe("led", max_features=1, n_trees=20)
    work = SageValues(recipe, loss=loss, n_permutations=1024, threshold=0.01)
    found = work.prepare()(0, 1)
    np.testing.assert_array_equal(found, work.prepare()(0, 1))
    data = recipe.data
    estimator = sage.PermutationEstimator(
        sage.MarginalImputer(recipe.grow(), data.X), loss, random_state=0
    )
    target = data.y if loss == "cross entropy" else np.eye(10)[data.y]
    direct = estimator(data.X, target, n_permutations=1024, thresh=0.01, bar=False)
    np.testing.assert_allclose(found[0], [direct.values, direct.std], rtol=1e-9)


def test_saabas_is_treeinterpreters(tmp_path):
    data = load("iris")
    settings = Settings("tiny", tmp_path, 10, 10, 2, (1,))
    forest = measures.recipe(data, 2, settings=settings).grow()
    interpreter = interpreter_values()
    if interpreter is None:
        pytest.skip("treeinterpreter needs distutils, which this Python does not have")
    expected = of_class(interpreter(forest, data.X), predicted_class(forest, data.X))
    ours = measures.saabas(data, 2, settings=settings)
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_keys_tell_apart_what_gives_other_values():
    first = Recipe("led_sampled", max_features=1, n_trees=5, seed=0)
    works = [
        TreeShapRows(first, "tree_path_dependent"),
        TreeShapRows(first, "interventional"),
        TreeShapRows(Recipe("led_sampled", 1, 5, seed=1), "tree_path_dependent"),
        TreeShapRows(Recipe("led_sampled", 2, 5), "tree_path_dependent"),
        TreeShapRows(Recipe("led_sampled", 1, 6), "tree_path_dependent"),
        SageValues(first, loss="mse", n_permutations=8, threshold=0.1),
        SageValues(first, loss="cross entropy", n_permutations=8, threshold=0.1),
        SageValues(first, loss="mse", n_permutations=9, threshold=0.1),
    ]
    keys = [work.key() for work in works]
    assert all(a != b for i, a in enumerate(keys) for b in keys[:i])
