"""Brute force in plain Python on scikit-learn's public arrays only: it judges the fast code."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

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


def conditional_pairs(trees, X):
    """What feature m told after feature j, (n_rows, m, j); after none: j = m. Mean over trees."""
    n_rows, p = np.shape(X)
    values = np.zeros((n_rows, p, p))
    for i, x in enumerate(np.asarray(X)):
        for tree in trees:
            above = set()
            for node, child, feature in walk(tree, x):
                drop = tree.impurity[node] - tree.impurity[child]
                others = sorted(above - {feature}) or [feature]
                values[i, feature, others] += drop / len(others)
                above.add(feature)
    return values / len(trees)


def standard_error(trees, X):
    """Standard deviation over equally weighted trees (ddof=1) / sqrt(T)."""
    per_tree = np.array([[tree_local_mdi(tree, x)[0] for x in np.asarray(X)] for tree in trees])
    return per_tree.std(axis=0, ddof=1) / math.sqrt(len(trees))


def weighted_standard_error(values, weights):
    """Of the weighted mean of some numbers, with reliability weights, in exact fractions."""
    numbers = [Fraction(float(value)) for value in values]
    shares = [Fraction(float(weight)) for weight in weights]
    total = sum(shares)
    shares = [share / total for share in shares]
    mean = sum(share * x for share, x in zip(shares, numbers, strict=True))
    variance = sum(share * (x - mean) ** 2 for share, x in zip(shares, numbers, strict=True))
    effective = sum(share**2 for share in shares)
    return math.sqrt(variance * effective / (1 - effective))


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


def honest_values(trees, X, y, *, held, rules, at=None):
    """Return honest values by loops, from their definitions; trees are scikit-learn's `tree_`.

    `held` has a row per tree: the weights of the rows that it has not seen. The rows of X are
    explained without their own label by the trees that did not see them, or those of `at` by all.
    `rules` has measure, criterion, min_rows and prior.
    """
    rows = X if at is None else at
    measure, criterion, min_rows, prior = rules
    values, (residual, baseline, used) = np.zeros(rows.shape), np.zeros((3, len(rows)))
    for tree, weight in zip(trees, held, strict=True):
        reached = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        paths = [path.indices for path in tree.decision_path(rows.astype(np.float32))]
        for i, path in enumerate(paths):
            if at is None and weight[i] == 0:
                continue
            others = weight.copy()
            if at is None:
                others[i] = 0
            law = _HonestLaw(tree, reached, y, others, criterion=criterion, prior=prior)
            if not others.any():
                continue
            kept = [node for node in path if node == 0 or law.count(node) >= min_rows]
            used[i] += 1
            baseline[i] += law.level(0, path)
            residual[i] += law.level(kept[-1], path)
            for node, child in pairwise(kept):
                credit = law.level(node, path) - law.level(child, path)
                if measure == "gain":
                    credit = law.gain(node, child)
                values[i, tree.feature[node]] += credit
    return values / used[:, None], residual / used, baseline / used


class _HonestLaw:
    """The laws p and q of a tree's nodes, for one set of held-out rows."""

    def __init__(self, tree, reached, y, weight, *, criterion, prior):
        self.tree, self.y, self.weight = tree, y, weight
        self.reached = reached & (weight > 0)[:, None]
        self.criterion, self.prior = criterion, prior
        self.center = tree.value[0, 0, 0] if criterion == "variance" else 0.0

    def at(self, node):
        return np.flatnonzero(self.reached[:, node])

    def count(self, node):
        return self.reached[:, node].sum()

    def p(self, node):
        return self.tree.value[node, 0] - self.center

    def responses(self, node):
        y = self.y[self.at(node)]
        if self.criterion == "variance":
            return y[:, None] - self.center
        return np.eye(self.tree.value.shape[2])[y]

    def q(self, node):
        return np.average(self.responses(node), axis=0, weights=self.weight[self.at(node)])

    def gain(self, node, child):
        before, after = self.p(node), self.p(child)
        slope = after - before
        if self.criterion == "entropy":
            slope = np.zeros(len(before))
            for k in np.flatnonzero((before > 0) & (before != after)):
                ratio = after[k] * np.log2(after[k] / before[k]) if after[k] > 0 else 0.0
                slope[k] = (ratio - (after[k] - before[k]) / np.log(2)) / (after[k] - before[k])
        return slope @ (self.q(child) - self.q(node))

    def level(self, node, path):
        p, q = self.p(node), self.q(node)
        if self.criterion == "gini":
            return 1 - p @ q
        if self.criterion == "variance":
            square = np.average(self.responses(node)[:, 0] ** 2, weights=self.weight[self.at(node)])
            return square - p[0] * q[0]
        shrunk = np.full(len(p), 1 / len(p))
        for above in path[: list(path).index(node) + 1]:
            n = self.tree.weighted_n_node_samples[above]
            prior = 1.0 if above == 0 else self.prior
            shrunk = (n * self.p(above) + prior * shrunk) / (n + prior)
        return -q @ np.log2(shrunk)
