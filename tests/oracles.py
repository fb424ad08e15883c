"""Brute force in plain Python on scikit-learn's public arrays only: it judges the fast code."""

from __future__ import annotations

import math

import numpy as np


def walk(tree, x):
    """Yield (node, child, feature) along x's path, as scikit-learn routes it."""
    node = 0
    while tree.children_left[node] != -1:
        feature = tree.feature[node]
        value = np.float32(x[feature])
        if math.isnan(value):
            left = bool(tree.missing_go_to_left[node])
        else:
            left = float(value) <= tree.threshold[node]
        child = tree.children_left[node] if left else tree.children_right[node]
        yield int(node), int(child), int(feature)
        node = child


def tree_local_mdi(tree, x, columns=None):
    """One tree's local MDI of x (Definition 1) and the impurity of its leaf."""
    columns = range(len(x)) if columns is None else columns
    values = [0.0] * len(x)
    seen = [x[c] for c in columns]
    end = 0
    for node, child, feature in walk(tree, seen):
        values[columns[feature]] += tree.impurity[node] - tree.impurity[child]
        end = child
    return np.array(values), float(tree.impurity[end])


def local_mdi(members, X):
    """Weighted mean over ``members``, a list of (tree_, weight) or (tree_, weight, columns)."""
    values, residual = np.zeros(np.shape(X)), np.zeros(len(X))
    total = math.fsum(member[1] for member in members)
    for i, x in enumerate(np.asarray(X)):
        for tree, weight, *columns in members:
            value, end = tree_local_mdi(tree, x, *columns)
            values[i] += weight * value
            residual[i] += weight * end
    return values / total, residual / total


def standard_error(trees, X):
    """Standard deviation over equally weighted trees (ddof=1) / sqrt(T)."""
    per_tree = np.array([[tree_local_mdi(tree, x)[0] for x in np.asarray(X)] for tree in trees])
    return per_tree.std(axis=0, ddof=1) / math.sqrt(len(trees))


def saabas(tree, X):
    """Changes of ``tree_.value`` along the path, (n_rows, n_features, n_outputs, n_classes)."""
    X = np.asarray(X)
    out = np.zeros((*X.shape, *tree.value.shape[1:]))
    for i, x in enumerate(X):
        for node, child, feature in walk(tree, x):
            out[i, feature] += tree.value[child] - tree.value[node]
    return out


def global_mdi(trees):
    """Mean over trees of the un-normalised importances that scikit-learn computes itself."""
    return np.mean([tree.compute_feature_importances(normalize=False) for tree in trees], axis=0)
