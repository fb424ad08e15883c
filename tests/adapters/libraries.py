"""Models of other libraries for the tests, and how their answers are compared with ours."""

import numpy as np

from localmdi import as_forest, saabas
from localmdi._validation import RowRules, read_encoded_rows
from localmdi.forest.packing import Packing

N_ROWS = 1200
# Values that libraries treat in ways of their own.
ODD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-36, -1e-40, 2.7, -0.5, -1.0, 1e30, 3e9)


def numbers(seed=0, *, category=True):
    """Return X and y: three numeric columns with missing values, categories, a few zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    if category:
        X[:, 3] = rng.integers(0, 30, N_ROWS)
    X[:, 4] = rng.choice([0.0, 1.0, 2.0], N_ROWS)
    y = np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 3]) % 3 == 0)
    return X, y + X[:, 4] * np.nan_to_num(X[:, 1]) + 0.3 * rng.normal(size=N_ROWS)


def xgboost_dart(rate):
    """Return the settings of DART; since 3.3 it is a setting of gbtree, and "dart" warns."""
    import xgboost

    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    return {"rate_drop": rate} | ({"booster": "dart"} if version < (3, 3) else {})


def targets(y):
    """Return y as a number, as one of two classes and as one of three."""
    return {"number": y, "two": (y > 0.5).astype(int), "three": np.digitize(y, [0.0, 1.5])}


def strange_rows(X, forest, *, odd=ODD, seed=1):
    """Return rows to route: odd values, the thresholds of the forest and their neighbours."""
    rng = np.random.default_rng(seed)
    Z = X.copy()
    n = len(X) // 4
    Z[:n] = np.where(rng.random((n, X.shape[1])) < 0.5, rng.choice(odd, (n, X.shape[1])), X[:n])
    for feature in range(X.shape[1]):
        cuts = np.unique(
            forest.threshold[(forest.feature == feature) & np.isfinite(forest.threshold)]
        )
        if len(cuts):
            near = rng.choice(cuts, n)
            step = rng.integers(-1, 2, n)
            narrow = np.nextafter(near.astype(np.float32), (near + step).astype(np.float32))
            wide = np.nextafter(near, near + step)
            Z[n : 2 * n, feature] = np.where(rng.random(n) < 0.5, wide, narrow)
    return Z


def leaves(forest, X):
    """Return the leaf of every row in every tree."""
    rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
    blocks = Packing(forest).leaf_blocks(rows, RowRules(), n_threads=1, batch_rows=len(X))
    return np.concatenate([block.leaf for block in blocks], axis=1)


def raw(forest, X):
    """Return the raw scores of a forest."""
    rows = read_encoded_rows(X, forest.row_dtype, categories=forest.categories)
    return Packing(forest).predict(rows, RowRules(), n_threads=1)


def assert_same_leaves(forest, X, theirs, *, values=None):
    """Rows share a leaf of ours exactly where they share one of theirs, in every tree.

    `values` has for each tree the values of the library's leaves by their index: the leaf of that
    index is ours if the values agree.
    """
    ours = leaves(forest, X)
    theirs = np.asarray(theirs).reshape(len(X), -1).astype(np.int64)
    assert ours.shape == theirs.shape
    for tree, (one, other) in enumerate(zip(ours.T, theirs.T, strict=True)):
        pairs = np.unique(np.stack([one, other]), axis=1)
        assert len(pairs.T) == len(np.unique(one)) == len(np.unique(other))
        if values is not None:
            value = np.asarray(values[tree], dtype=float).reshape(len(values[tree]), -1)
            # A tree of one score has nothing in the columns of the others.
            found = forest.value[pairs[0]]
            if value.shape[1] == 1:
                found = found.sum(axis=1, keepdims=True)
            expected = value[pairs[1]]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def assert_same_predictions(model, X, theirs, *, atol=1e-12):
    """The forest's values, and Saabas' moves plus the bias, make the library's raw prediction."""
    forest = as_forest(model)
    theirs = np.asarray(theirs).reshape(len(X), -1)
    np.testing.assert_allclose(raw(forest, X), theirs, rtol=0, atol=atol)
    roots = forest.value[forest.tree_offset[:-1]] * forest.tree_scale[:, None]
    start = 0.0 if forest.base_value is None else forest.base_value
    moves = saabas(forest, X)
    total = moves.sum(axis=1) + roots.sum(axis=0) + start
    np.testing.assert_allclose(total, theirs, rtol=0, atol=max(atol, 1e-9))


def total_gain(forest):
    """Return the global importance times trees and rows: the sum of all gains by feature."""
    from localmdi.forest.credit import impurity_drop
    from localmdi.importance import global_importance

    roots = forest.weight[forest.tree_offset[:-1]]
    np.testing.assert_allclose(roots, roots[0], rtol=1e-6)
    mean = global_importance(forest, impurity_drop(forest)).values
    return mean * forest.n_trees * roots[0]
