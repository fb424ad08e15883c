"""On categorical laws the importances converge to the theory's, for every K and both draws."""

from functools import cache

import numpy as np
import pytest

from localmdi import local_mdi
from localmdi.theory import Distribution, population_local_mdi, population_mdi
from theorems.laws import draw_law
from trees.models import classifier

N_TREES = 20_000
LED = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def led():
    X = np.array([[int(bit) for bit in digit] for digit in LED.split()])
    return Distribution.from_samples(X, np.arange(10)), X, np.arange(10), np.ones(10)


def random_law(arities, n_classes, seed):
    """A law as rows: every cell of its table, weighted by its probability."""
    law = draw_law(np.random.default_rng(seed), arities, n_classes)
    cells = np.argwhere(law.table > 0)
    return law, cells[:, :-1], cells[:, -1], law.table[law.table > 0]


LAWS = {
    "led": led,
    "binary": lambda: random_law((2, 2, 2, 2), 2, 1),
    "several values": lambda: random_law((3, 2, 4), 3, 5),
    "two classes": lambda: random_law((3, 3, 2, 2), 2, 7),
    "one wide": lambda: random_law((5, 2, 2), 4, 8),
    "five": lambda: random_law((2, 2, 2, 2, 2), 3, 9),
}
DRAWS = ("theory", "sklearn")


def grow(rows, n_features, **settings):
    _, X, y, weight = rows
    model = classifier(
        n_estimators=N_TREES, categorical_features=range(n_features), random_state=1, **settings
    )
    return model.fit(X, y, sample_weight=weight)


def z_scores(mean, error, expected):
    """Standardised differences; where all trees agree the expected value must be met exactly."""
    fixed = error < 1e-9
    np.testing.assert_allclose(mean[fixed], expected[fixed], rtol=0, atol=1e-8)
    return ((mean - expected)[~fixed] / error[~fixed]).ravel()


@cache
def compare(name, draw, criterion="entropy"):
    """z-scores of the global and of the local importances, for every K pooled."""
    rows = LAWS[name]()
    law, X = rows[0], rows[1]
    p = X.shape[1]
    found = {"global": [], "local": [], "perturbed": []}
    for k in range(1, p + 1):
        model = grow(rows, p, max_features=k, draw=draw, criterion=criterion)
        mean = model.local_importances_.mean()
        expected = population_mdi(law, k, draw=draw, criterion=criterion)
        found["global"].append(z_scores(mean.values, mean.standard_error, expected))
        if (mean.standard_error > 1e-9).all():
            found["perturbed"].append(z_scores(mean.values, mean.standard_error, 1.02 * expected))
        x = np.unique(X, axis=0)
        local = local_mdi(model, x, standard_error=True)
        settings = {"draw": draw, "criterion": criterion}
        expected = np.array([population_local_mdi(law, row, k, **settings) for row in x])
        found["local"].append(z_scores(local.values, local.standard_error, expected))
    return {what: np.concatenate(parts) for what, parts in found.items()}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", LAWS)
def test_every_k(name, draw):
    z = compare(name, draw)
    assert np.abs(z["global"]).max() <= 4.5
    assert np.abs(z["local"]).max() <= 4.5
    assert np.abs(z["perturbed"]).max() > 4.5


@pytest.mark.parametrize("what", ["global", "local"])
@pytest.mark.parametrize("names", [["led"], [name for name in LAWS if name != "led"]])
def test_the_errors_are_as_large_as_they_should_be(names, what):
    # Values of one small law hang together; pooled they are enough for a bound on their spread.
    z = np.concatenate([compare(name, draw)[what] for name in names for draw in DRAWS])
    assert 0.6 <= np.sqrt(np.mean(z**2)) <= 1.4


def test_gini():
    z = compare("several values", "theory", criterion="gini")
    assert np.abs(z["global"]).max() <= 4.5
    assert np.abs(z["local"]).max() <= 4.5


def test_the_two_draws_differ():
    rows = LAWS["led"]()
    errors = []
    for draw, other in (("theory", "sklearn"), ("sklearn", "theory")):
        mean = grow(rows, 7, max_features=3, draw=draw).local_importances_.mean()
        wrong = population_mdi(rows[0], 3, draw=other)
        errors.append(np.abs((mean.values - wrong) / mean.standard_error).max())
    assert min(errors) > 4.5


def test_binary_numbers_are_categories():
    # A cut between 0 and 1 is the exhaustive split: the same law, whatever the columns are called.
    law, X, y, weight = LAWS["binary"]()
    for k in (1, 2, 4):
        model = classifier(n_estimators=N_TREES, max_features=k, random_state=1)
        mean = model.fit(X.astype(float), y, sample_weight=weight).local_importances_.mean()
        z = z_scores(mean.values, mean.standard_error, population_mdi(law, k))
        assert np.abs(z).max(initial=0) <= 4.5
