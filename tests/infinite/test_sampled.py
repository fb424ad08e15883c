"""Sampled paths: unbiased, honest about their error, reproducible."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from infinite.samples import CRITERIA, draw_sample
from localmdi.infinite import infinite_mdi


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_within_its_own_standard_errors(criterion, weights):
    X, y, weight = draw_sample(4, n_rows=60, n_features=7, weights=weights)
    options = {"criterion": criterion, "sample_weight": weight}
    exact = infinite_mdi(X, y, X[:8], **options)
    sampled = infinite_mdi(X, y, X[:8], method="sampled", n_paths=4000, random_state=0, **options)
    assert sampled.method == "sampled"
    z = (sampled.values - exact.values) / np.maximum(sampled.standard_error, 1e-12)
    assert np.abs(z).max() < 4.5
    assert np.sqrt((z**2).mean()) < 1.3
    assert sampled.additivity_error() < 1e-12


def test_coverage_of_the_intervals():
    hits = []
    for seed in range(12):
        X, y, _ = draw_sample(seed, n_rows=50, n_features=6, n_classes=2, full=True)
        exact = infinite_mdi(X, y, X[:4])
        for repeat in range(12):
            sampled = infinite_mdi(
                X, y, X[:4], method="sampled", n_paths=200, random_state=1000 * seed + repeat
            )
            gap = np.abs(sampled.values - exact.values)
            inside = gap <= 1.96 * sampled.standard_error + 1e-12
            hits.append(inside[sampled.standard_error > 0].mean())
    # 144 independent draws of strongly dependent intervals: two standard errors are about 0.01.
    assert 0.925 < np.mean(hits) < 0.975


def test_stops_at_tol():
    X, y, _ = draw_sample(1, n_rows=80, n_features=8)
    wide, narrow = (
        infinite_mdi(X, y, X[:3], method="sampled", tol=tol, random_state=0) for tol in (0.1, 0.02)
    )
    assert 1.96 * wide.standard_error.max() <= 0.1
    assert 1.96 * narrow.standard_error.max() <= 0.02 < 1.96 * wide.standard_error.max()


def test_a_row_does_not_depend_on_threads_or_on_other_rows():
    X, y, _ = draw_sample(6, n_rows=70, n_features=30)
    options = {"method": "sampled", "tol": 0.05, "random_state": 3}
    all_rows = infinite_mdi(X, y, **options)
    assert_array_equal(all_rows.values, infinite_mdi(X, y, n_jobs=3, **options).values)
    alone = infinite_mdi(X, y, X[5:6], **options)
    assert_array_equal(alone.values[0], all_rows.values[5])
    other = infinite_mdi(X, y, X[5:6], **options | {"random_state": 4})
    assert (other.values != alone.values).any()


def test_auto_samples_when_exact_is_too_dear():
    X, y, _ = draw_sample(8, n_rows=300, n_features=50, arity=2, full=True)
    result = infinite_mdi(X, y, X[:2], random_state=np.random.default_rng(0))
    assert result.method == "sampled"
    assert result.standard_error.shape == (2, 50)
    assert 1.96 * result.standard_error.max() <= 0.01 * result.baseline


@pytest.mark.parametrize("options", [{"tol": -1}, {"tol": "a"}, {"n_paths": 3}, {"n_paths": 10.0}])
def test_refuses_wrong_stopping_rules(options):
    with pytest.raises(ValueError, match="must be a"):
        infinite_mdi([[0], [1]], [0, 1], method="sampled", **options)


def test_progress_bar(capsys):
    X, y, _ = draw_sample(1, n_rows=20, n_features=3)
    infinite_mdi(X, y, method="sampled", tol=0.5, random_state=0, progress=True)
    infinite_mdi(X, y, progress=True)
    assert capsys.readouterr().err.count("100%") >= 2
