"""Sixteen threads call everything at once; each gets the bits of a lone caller."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import localmdi as lm

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 5))
Y = X[:, 0] + X[:, 1] > 0
CODES = RANDOM.integers(0, 3, size=(60, 4))
MODEL = lm.RandomizedForestClassifier(20, random_state=0).fit(X, Y)
EXPLAINER = lm.Explainer(MODEL)
N_THREADS, N_CALLS = 16, 160


def fitted(n_jobs):
    model = lm.RandomizedForestRegressor(8, random_state=3, n_jobs=n_jobs).fit(X, X[:, 2])
    return model.local_importances_.values


def saved(folder, number):
    path = folder / f"{number % 4}.lmdi"  # several threads write the same file
    MODEL.forest_.save(path)
    return lm.load_forest(path).impurity


def calls(folder):
    """Return what threads may do: number of the call → an array."""
    forest = MODEL.forest_
    return [
        lambda i: EXPLAINER(X, n_jobs=1 + i % 3, standard_error=True).values,
        lambda i: EXPLAINER.predict(X, n_jobs=1 + i % 3).astype(float),
        lambda i: lm.local_mdi(forest, X[:5], n_jobs=2).values,
        lambda i: lm.global_mdi(forest).values,
        lambda i: lm.saabas(forest, X[:50]),
        lambda i: fitted(1 + i % 2),
        lambda i: forest.with_statistics(X, Y, n_jobs=2).impurity,
        lambda i: lm.infinite_mdi(CODES, CODES[:, 0] % 2).values,
        lambda i: saved(folder, i),
        lambda i: EXPLAINER(X, output="sparse", n_jobs=2).values.toarray(),
    ]


def test_mixed_calls(tmp_path):
    every = calls(tmp_path)
    expected = [np.asarray(call(0)) for call in every]

    def work(i):
        call = i % len(every)
        return np.array_equal(every[call](i), expected[call], equal_nan=True)

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert all(pool.map(work, RANDOM.permutation(N_CALLS).tolist()))
