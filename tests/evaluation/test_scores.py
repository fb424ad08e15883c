"""Scores against scikit-learn, against enumeration, and differences against their definition."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.comparison import Mean, against, behind, by_mean, words
from evaluation.finite import ratio
from evaluation.scores import auroc, false_share, found_share, top_share, within_auroc
from evaluation.stability import overlap, with_jackknife


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 4, size=(200, 7)).astype(float)
    truth = rng.random((200, 7)) < 0.4
    usable = (truth.sum(axis=1) > 0) & (truth.sum(axis=1) < 7)
    return score[usable], truth[usable]


def test_auroc_is_that_of_scikit_learn(rows):
    score, truth = rows
    expected = [roc_auc_score(t, s) for s, t in zip(score, truth, strict=True)]
    np.testing.assert_allclose(auroc(score, truth), expected, rtol=1e-12)


def test_auroc_needs_both_kinds():
    assert np.isnan(auroc(np.ones((2, 3)), np.array([[True] * 3, [False] * 3]))).all()


def test_within_a_feature_rows_are_compared(rows):
    score, truth = rows
    expected = [roc_auc_score(t, s) for s, t in zip(score.T, truth.T, strict=True)]
    assert within_auroc(score, truth) == pytest.approx(np.mean(expected), rel=1e-12)
    # A feature that decides about every row, or none, has no say.
    more, always = np.hstack([score, score]), np.hstack([truth, np.ones_like(truth)])
    assert within_auroc(more, always) == pytest.approx(np.mean(expected), rel=1e-12)


def test_the_same_scores_for_every_row_tell_nothing_within_a_feature(rows):
    _, truth = rows
    assert within_auroc(np.tile(np.arange(7.0), (len(truth), 1)), truth) == 0.5
    assert np.isnan(within_auroc(np.ones((3, 2)), np.array([[True, False]] * 3)))


def test_top_share_is_the_mean_over_all_orders_of_ties(rows):
    score, truth = rows
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(4000):
        order = np.lexsort((rng.random(score.shape), -score), axis=1)
        sorted_truth = np.take_along_axis(truth, order, axis=1)
        k = truth.sum(axis=1)
        within = np.arange(7) < k[:, np.newaxis]
        shares.append((sorted_truth & within).sum(axis=1) / k)
    np.testing.assert_allclose(top_share(score, truth), np.mean(shares, axis=0), atol=0.04)


def test_discoveries():
    named = np.array([[True, True, False], [False, False, False]])
    truth = np.array([[True, False, True], [True, False, False]])
    assert false_share(named, truth).tolist() == [0.5, 0.0]
    assert found_share(named, truth).tolist() == [0.5, 0.0]


def test_differences_are_taken_seed_by_seed():
    values = {"a": np.array([0.9, 0.8, 0.7]), "b": np.array([0.8, 0.7, 0.6]), "c": np.array([1.0])}
    gaps = against(values, "a")
    assert gaps["b"].value == pytest.approx(0.1)
    assert gaps["b"].error == pytest.approx(0.0, abs=1e-12)
    assert gaps["c"].value == pytest.approx(-0.1)
    assert np.isnan(gaps["c"].error)
    assert by_mean(values) == ["c", "a", "b"]


def test_what_is_behind_is_said():
    values = {"ours": np.array([0.5, 0.52]), "theirs": np.array([0.7, 0.73])}
    assert behind(values, "ours") == ["theirs"]
    assert "behind theirs" in words(against(values, "ours"), "ours")
    assert "ahead of ours" in words(against(values, "theirs"), "theirs")


def test_one_seed_decides_nothing():
    assert Mean.of([0.3]).sign == 0
    assert str(Mean.of([0.3])) == "0.300"


def test_jackknife_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    repeats = rng.random((4, 30, 6))
    mean = with_jackknife(repeats, overlap)
    pairs = [overlap(repeats[i], repeats[j]).mean() for i in range(4) for j in range(i)]
    assert mean.value == pytest.approx(np.mean(pairs))
    assert 0 < mean.error < 0.2
    assert with_jackknife(np.stack([repeats[0]] * 3), overlap) == Mean(1.0, 0.0)


def test_the_error_of_a_ratio_is_that_of_many_samples():
    rng = np.random.default_rng(0)
    x, y = rng.exponential(size=(2, 400, 50))
    found = [ratio(a + b, b) for a, b in zip(x, y, strict=True)]
    spread = np.std([mean.value for mean in found])
    assert np.mean([mean.error for mean in found]) == pytest.approx(spread, rel=0.15)
