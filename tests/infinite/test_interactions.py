"""Interactions of the infinite forest are the interaction indices of the local game."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from infinite.samples import CRITERIA, draw_sample, samples
from localmdi.infinite import infinite_interactions
from localmdi.results import InteractionImportance
from localmdi.theory import Distribution, global_game, interaction_index, local_game

INDICES = ("SII", "STII", "FSII")


@settings(max_examples=60, deadline=None)
@given(samples(max_features=10, max_rows=25), st.sampled_from(INDICES), st.sampled_from(CRITERIA))
def test_equals_the_oracle(case, index, criterion):
    X, y, weight = case
    law = Distribution.from_samples(X, y, weight)
    result = infinite_interactions(X, y, index=index, criterion=criterion, sample_weight=weight)
    expected = interaction_index(local_game(law, X[0], criterion=criterion), index)
    assert_allclose(result.values[0], expected, atol=1e-10, rtol=0)
    if X.shape[1] <= 6:
        expected = interaction_index(global_game(law, criterion=criterion), index)
        assert_allclose(result.mean(), expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("index", INDICES)
def test_sampled_within_its_own_standard_errors(index):
    X, y, _ = draw_sample(1, n_rows=40, n_features=7)
    exact = infinite_interactions(X, y, X[:3], index=index)
    sampled = infinite_interactions(
        X, y, X[:3], index=index, method="sampled", n_paths=4000, random_state=0
    )
    gap = np.abs(exact.values - sampled.values)
    off = ~np.eye(7, dtype=bool)
    assert (gap <= 4.5 * sampled.standard_error + 1e-12)[:, off].all()
    assert sampled.method == "sampled"
    assert exact.standard_error is None


def test_block_and_task_borders():
    X, y, _ = draw_sample(9, n_rows=12, n_features=18, arity=2, full=True)
    exact = infinite_interactions(X, y, X[:1], method="exact", n_jobs=2)
    assert_array_equal(exact.values, infinite_interactions(X, y, X[:1], method="exact").values)
    sampled = infinite_interactions(X, y, X[:1], method="sampled", n_paths=4000, random_state=0)
    off = ~np.eye(18, dtype=bool)
    z = ((exact.values - sampled.values) / np.maximum(sampled.standard_error, 1e-12))[:, off]
    assert np.abs(z).max() < 4.5
    assert 0.6 < np.sqrt((z**2).mean()) < 1.3


def test_copies_are_redundant_and_exclusive_or_is_synergy():
    copies = infinite_interactions([[0, 0], [1, 1]], [0, 1])
    assert copies.mean()[0, 1] == pytest.approx(-1)
    assert infinite_interactions([[0], [1]], [0, 1]).values.shape == (2, 1, 1)


def test_threads_and_seed():
    X, y, _ = draw_sample(3, n_rows=30, n_features=9)
    options = {"method": "sampled", "n_paths": 200, "random_state": 5}
    one, two = (infinite_interactions(X, y, X[:2], n_jobs=n, **options) for n in (1, 2))
    assert_array_equal(one.values, two.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index": "other"}, "index must be one of"),
        ({"method": "other"}, "method must be one of"),
        ({"n_paths": 2}, "n_paths must be"),
        ({"at": [[5, 5]]}, "at must hold rows of the sample"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        infinite_interactions([[0, 0], [1, 1]], [0, 1], **options)


def test_at_is_required_for_large_results():
    X = np.zeros((2000, 300), dtype=int)
    with pytest.raises(ValueError, match="at must be given"):
        infinite_interactions(X, np.zeros(2000, dtype=int))


def test_result():
    X, y, _ = draw_sample(0, n_rows=10, n_features=3, full=True)
    result = infinite_interactions(X, y)
    assert result[2:4].shape == (2, 3, 3)
    table = result.to_frame(0)
    assert list(table.columns) == ["first", "second", "value"]
    assert (table["value"].abs().diff().dropna() <= 0).all()
    assert "x0 and x1" in repr(result)
    with pytest.raises(ValueError, match="values must be a float64 array"):
        InteractionImportance(np.zeros((1, 2, 3)), ("a", "b"), unit="bits", index="SII")
