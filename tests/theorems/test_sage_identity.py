"""Section 5: SAGE with cross-entropy, the Bayes classifier and conditional restriction is Eq. 5."""

from math import log2

import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose

from localmdi.theory import Distribution, population_mdi
from theorems.brute_force import rows_of, shapley_by_orders
from theorems.laws import laws


def bayes_classifier(rows):
    """x → P(Y = y | V = x)."""
    prediction = {}
    for x, y, mass in rows:
        prediction.setdefault(x, {}).setdefault(y, 0.0)
        prediction[x][y] += mass
    return {
        x: {y: mass / sum(by_class.values()) for y, mass in by_class.items()}
        for x, by_class in prediction.items()
    }


def restrict(model, rows, known):
    """x_S → E[model(X) | X_S = x_S], the conditional restriction."""
    sums, weight = {}, {}
    for x, _, mass in rows:
        key = tuple(x[j] for j in known)
        weight[key] = weight.get(key, 0.0) + mass
        for y, chance in model[x].items():
            sums.setdefault(key, {}).setdefault(y, 0.0)
            sums[key][y] += mass * chance
    return {
        key: {y: s / weight[key] for y, s in by_class.items()} for key, by_class in sums.items()
    }


def cross_entropy(model, rows, known):
    restricted = restrict(model, rows, known)
    return sum(mass * -log2(restricted[tuple(x[j] for j in known)][y]) for x, y, mass in rows)


def sage(law):
    rows = rows_of(law)
    model = bayes_classifier(rows)
    loss = {}

    def worth(known):
        key = tuple(sorted(known))
        if key not in loss:
            loss[key] = cross_entropy(model, rows, key)
        return cross_entropy(model, rows, ()) - loss[key]

    return shapley_by_orders(worth, law.n_features)


@settings(max_examples=60, deadline=None)
@given(laws())
def test_sage_equals_global_mdi(law):
    assert_allclose(sage(law), population_mdi(law), atol=1e-12, rtol=0)


def test_marginal_restriction_breaks_the_identity():
    """With p(X_rest) in the place of p(X_rest | x_S), copies of a feature come out differently."""
    law = Distribution.from_counts([[[4, 0], [1, 0]], [[0, 1], [0, 4]]])
    rows = rows_of(law)
    model = bayes_classifier(rows)
    inputs = law.table.sum(axis=-1)

    def marginal_loss(known):
        total = 0.0
        for x, y, mass in rows:
            chance = 0.0
            for z, weight in np.ndenumerate(inputs):
                mixed = tuple(x[j] if j in known else z[j] for j in range(2))
                chance += weight * model[mixed].get(y, 0.0)
            total -= mass * log2(chance)
        return total

    value = shapley_by_orders(lambda known: marginal_loss(()) - marginal_loss(known), 2)
    assert_allclose(value, [1.0, 0.0], atol=1e-12)
    assert population_mdi(law)[1] > 0.1
