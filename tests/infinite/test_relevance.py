"""Local relevance: exact on the sample, controlled beyond it."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency

from infinite.samples import samples
from localmdi.infinite import local_relevance
from localmdi.infinite.relevance import adjust, change_bound, change_p_values
from localmdi.theory import Distribution, is_locally_relevant, local_witnesses


@settings(max_examples=40, deadline=None)
@given(samples(max_features=5))
def test_exact_on_the_sample(case):
    X, y, _ = case
    law = Distribution.from_samples(X, y)
    found = local_relevance(X, y, X[:2])
    for i, x in enumerate(X[:2]):
        for m, name in enumerate(found.feature_names):
            assert found.differs[i, m] == is_locally_relevant(law, m, x)
            if found.differs[i, m]:
                contexts = [w.context for w in local_witnesses(law, m, x=x)]
                assert {int(k[1:]): v for k, v in found.witness[i][m].items()} in contexts
                assert name not in found.witness[i][m]
            else:
                assert found.witness[i][m] is None


def test_g_test_is_scipy_s_where_counts_are_large():
    inside, outside = np.array([[300.0, 200, 100]]), np.array([[290.0, 260, 80]])
    table = np.vstack([inside, outside])
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue
    assert_allclose(change_p_values(inside, outside), expected, rtol=0.02)


def test_bounds_cover_the_change():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        inside = rng.multinomial(30, [0.5, 0.5])[np.newaxis].astype(float)
        outside = rng.multinomial(60, [0.2, 0.8])[np.newaxis].astype(float)
        covered.append((change_bound(inside, outside, alpha=0.1) >= 0.3 * 60 / 90).all())
    assert np.mean(covered) >= 0.9


def test_holm_is_never_above_bonferroni():
    p_values = np.random.default_rng(1).random(20) ** 3
    assert (adjust(p_values, "holm") <= adjust(p_values, "bonferroni")).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must lie"),
        ({"alpha": "a"}, "alpha must lie"),
        ({"control": "none"}, "control must be"),
        ({"min_rows": 0}, "min_rows must be"),
        ({"at": [[3, 3]]}, "at must hold rows of the sample"),
    ],
)
def test_refusals(options, message):
    arguments = {"at": [[0, 0]]} | options
    with pytest.raises(ValueError, match=message):
        local_relevance([[0, 0], [1, 1]], [0, 1], **arguments)


def test_refuses_too_many_features():
    X = np.eye(30, dtype=int)
    with pytest.raises(ValueError, match="2\\^p times the number of classes"):
        local_relevance(X, np.arange(30) % 2, X[:1])


def simulate(n_rows, repeats, *, noise_only):
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(repeats):
        X = rng.integers(0, 2, (n_rows, 5))
        chance = 0.5 if noise_only else np.where(X[:, 0] == 1, 0.85, 0.15)
        y = (rng.random(n_rows) < chance).astype(int)
        hits.append(local_relevance(X, y, X[:1]).relevant[0])
    return np.array(hits)


def test_power():
    hits = simulate(200, 20, noise_only=False)
    assert hits[:, 0].mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [60, 300])
def test_size_is_at_most_alpha(n_rows):
    any_false = simulate(n_rows, 1000, noise_only=True).any(axis=1)
    assert any_false.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.slow
def test_power_and_size_together():
    hits = simulate(300, 500, noise_only=False)
    assert hits[:, 0].mean() > 0.99
    assert hits[:, 1:].any(axis=1).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 500)
