"""Laws of several outputs: impurities are means over them, relevance is that of all together."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from localmdi.theory import (
    Distribution,
    entropy,
    global_game,
    impurity_at,
    impurity_decrease,
    is_locally_relevant,
    is_relevant,
    local_game,
    mean_impurity,
    mutual_information,
    population_local_mdi,
    population_mdi,
    prediction_game,
    shapley_value,
)

CRITERIA = ("entropy", "gini", "variance", lambda law: 1 - law.max(axis=-1))


@st.composite
def samples(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, q = draw(st.integers(1, 20)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    X, Y = rng.integers(3, size=(n, p)), rng.integers(rng.integers(1, 4, q), size=(n, q))
    weight = draw(st.sampled_from([None, rng.integers(1, 4, n), rng.exponential(size=n)]))
    return X, Y, weight


@settings(max_examples=60, deadline=None)
@given(samples(), st.sampled_from(CRITERIA))
def test_games_and_importances_are_means_over_the_outputs(sample, criterion):
    X, Y, weight = sample
    law = Distribution.from_samples(X, Y, weight)
    single = [Distribution.from_samples(X, y, weight) for y in Y.T]
    assert law.n_outputs == len(single)

    def same(function):
        assert_allclose(function(law), np.mean([function(s) for s in single], axis=0), atol=1e-12)

    same(lambda s: global_game(s, criterion).table)
    same(lambda s: local_game(s, X[0], criterion).table)
    same(lambda s: population_mdi(s, criterion=criterion))
    same(lambda s: population_local_mdi(s, X[0], criterion=criterion))
    same(lambda s: mean_impurity(s, 0, criterion=criterion))
    same(lambda s: impurity_at(s, {0: X[0, 0]}, criterion=criterion))
    same(lambda s: impurity_decrease(s, 0, criterion=criterion))
    if isinstance(criterion, str):
        same(lambda s: population_local_mdi(s, X[0], criterion=criterion, measure="gain"))


@settings(max_examples=40, deadline=None)
@given(samples(), st.sampled_from(CRITERIA[:3]), st.integers(1, 3))
def test_the_best_of_k_is_the_best_for_the_mean(sample, criterion, k):
    """K > 1 is no mean over outputs: one tree serves all. Efficiency and the global mean hold."""
    X, Y, _ = sample
    law, k = Distribution.from_samples(X, Y), min(k, X.shape[1])
    whole = population_mdi(law, k, criterion=criterion)
    everything = impurity_decrease(law, range(X.shape[1]), criterion=criterion)
    assert whole.sum() == pytest.approx(everything, abs=1e-12)
    rows = np.array([population_local_mdi(law, x, k, criterion=criterion) for x in X])
    assert_allclose(rows.mean(axis=0), whole, atol=1e-12)
    assert_allclose(
        population_local_mdi(law, X[0], criterion=criterion),
        shapley_value(local_game(law, X[0], criterion)),
        atol=1e-12,
    )


def test_one_tree_serves_all_outputs():
    """Each output is a feature; a third feature, their combination, ties with each but not both."""
    Y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    X = np.column_stack([Y, np.arange(4)])
    together = population_mdi(Distribution.from_samples(X, Y), 3)
    alone = [population_mdi(Distribution.from_samples(X, y), 3) for y in Y.T]
    assert_allclose(together, [0, 0, 1], atol=1e-12)
    assert_allclose(np.mean(alone, axis=0), [0.25, 0.25, 0.5], atol=1e-12)


def test_relevance_and_information_are_those_of_all_outputs_together():
    """Two outputs, each a coin of its own whatever X is; X says whether they agree."""
    X, Y = [[0], [0], [1], [1]], [[0, 0], [1, 1], [0, 1], [1, 0]]
    law = Distribution.from_samples(X, Y)
    assert is_relevant(law, 0)
    assert is_locally_relevant(law, 0, [0])
    assert not is_locally_relevant(law, 0, [0], criterion="entropy")
    assert entropy(law, "y") == 2
    assert mutual_information(law, 0) == 1
    assert_array_equal(population_mdi(law), [0])
    assert_allclose(prediction_game(law, [0], y=(1, 1)).table, [0, 0.25])


def test_values_of_a_table_given_by_hand():
    values = [["red", 1.0], ["red", 3.0], ["blue", 1.0]]
    law = Distribution(
        [[0.5, 0.0, 0.0], [0.0, 0.25, 0.25]], y_values=np.array(values, dtype=object)
    )
    assert law.n_outputs == 2
    assert repr(law) == "Distribution(arities=(2,), n_classes=3, n_outputs=2)"
    expected = np.mean([0.75 * 0.25 * 2, 0.75 * 0.25 * 2])
    assert mean_impurity(law, criterion="gini") == pytest.approx(expected)
    with pytest.raises(ValueError, match="y_values"):
        mean_impurity(law, criterion="variance")
    again = pickle.loads(pickle.dumps(law))
    assert mean_impurity(again) == mean_impurity(law)


@pytest.mark.parametrize(
    "values", [[[0, 1]], np.zeros((2, 0)), [[0, np.inf], [1, 2]], np.zeros((2, 1, 1))]
)
def test_bad_values_are_refused(values):
    with pytest.raises(ValueError, match="y_values"):
        Distribution([[0.25, 0.25], [0.25, 0.25]], y_values=values)


@pytest.mark.parametrize("shape", [(3,), (4, 0), (4, 1, 1), (3, 2)])
def test_bad_outputs_are_refused(shape):
    with pytest.raises(ValueError, match="n_outputs"):
        Distribution.from_samples(np.zeros((4, 2)), np.zeros(shape))


def test_one_column_is_one_output():
    X, y = [[0], [1], [1]], [1.5, 1.5, 4.0]
    plain, column = (Distribution.from_samples(X, out) for out in (y, np.reshape(y, (3, 1))))
    assert column.classes == plain.classes == (1.5, 4.0)
    assert_array_equal(column.y_values, plain.y_values)
