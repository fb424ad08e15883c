"""A plain walk down a forest's table, and what its leaves predict."""

import numpy as np


def leaves(forest, X):
    """Return the leaf of every row in every tree, shape (n_trees, n_rows), forest-wide ids."""
    rows = np.asarray(X, dtype=np.float32)
    found = np.empty((forest.n_trees, len(rows)), dtype=np.int64)
    for tree, root in enumerate(forest.tree_offset[:-1]):
        node = np.full(len(rows), root)
        while True:
            moving = forest.split_kind[node] == 1
            if not moving.any():
                break
            at = node[moving]
            x = rows[moving, forest.feature[at]]
            which = np.where(np.isnan(x), forest.missing_child[at], x > forest.threshold[at])
            assert (which >= 0).all(), "a missing value where none is allowed"
            node[moving] = forest.child[forest.child_offset[at] + which]
        found[tree] = node
    return found


def predict(forest, X):
    """Return what the leaves' values make: a weighted mean or a sum over trees."""
    values = forest.value[leaves(forest, X)]
    if forest.aggregation == "sum":
        return values.sum(axis=0)
    return np.average(values, axis=0, weights=forest.tree_weight)
