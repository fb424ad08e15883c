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


def side_by_side(tree, n_classes=None):
    """The values of all nodes, (n_nodes, columns): the classes of one output after the other."""
    n_classes = tree.n_classes if n_classes is None else n_classes
    return np.concatenate([tree.value[:, o, :k] for o, k in enumerate(n_classes)], axis=1)


def account(trees, X, truth, *, held, loss, starts):
    """The account of every row by loops: credit, before, after; with the error over trees, excess.

    `held` has a row per tree: not 0 where the tree has not seen the row. `truth` is 1 for the class
    of the row, or the number, by column of the values; `starts` bounds the columns of each output.
    """
    n, p = np.shape(X)
    found = {name: np.full((n, p), np.nan) for name in ("credit", "error", "excess")}
    found |= {name: np.full(n, np.nan) for name in ("before", "after")}
    for i, x in enumerate(np.asarray(X)):
        moves, root, leaf = _moves([t for t, h in zip(trees, held, strict=True) if h[i]], x)
        if not len(moves):
            continue
        f0, d = root.mean(axis=0), (leaf - root).mean(axis=0)
        law = _Loss(loss, truth[i], f0, n_trees=len(moves), starts=starts)
        w, phi = law.weight(d), moves.mean(axis=0)
        found["credit"][i] = [sum(w[k] * phi[m, k] for k in range(len(w))) for m in range(p)]
        found["before"][i], found["after"][i] = law.at(0 * d), law.at(d)
        # To first order tree b adds w·φ_b + φ·w'(d)·d_b.
        slope = (law.weight(d + 1e-5) - law.weight(d - 1e-5)) / 2e-5
        turn = slope * (leaf - root)
        both = moves @ w + np.einsum("mk,bk->bm", phi, turn)
        size = len(moves)
        if size > 1:
            found["error"][i] = both.std(axis=0, ddof=1) / math.sqrt(size)
            parts = np.einsum("bmk,bk->bm", moves - phi, turn - turn.mean(axis=0))
            found["excess"][i] = parts.sum(axis=0) / (size - 1) / size
    return found


def _moves(trees, x):
    """What every tree's splits on each feature move, and where the path begins and ends."""
    values = [side_by_side(tree) for tree in trees]
    moves = np.zeros((len(trees), len(x), values[0].shape[1] if trees else 0))
    ends = [0] * len(trees)
    for b, (tree, value) in enumerate(zip(trees, values, strict=True)):
        for node, child, feature in walk(tree, x):
            moves[b, feature] += value[child] - value[node]
            ends[b] = child
    leaf = np.array([value[end] for value, end in zip(values, ends, strict=True)])
    return moves, np.array([value[0] for value in values]), leaf


class _Loss:
    """A loss along the way from f0 by d; the mean over outputs."""

    def __init__(self, kind, truth, f0, *, n_trees, starts):
        self.kind, self.truth, self.f0 = kind, np.asarray(truth, dtype=float), f0
        self.shrink = n_trees / (n_trees + 0.5)
        self.n_outputs = len(starts) - 1

    def at(self, d):
        if self.kind != "log":
            return sum((y - f) ** 2 for y, f in zip(self.truth, self.f0 + d, strict=True)) / (
                self.n_outputs
            )
        said = self.f0 + self.shrink * d
        return -sum(y * math.log2(g) for y, g in zip(self.truth, said, strict=True) if y) / (
            self.n_outputs
        )

    def weight(self, d):
        if self.kind != "log":
            return (2 * (self.truth - self.f0) - d) / self.n_outputs
        out = np.zeros(len(d))
        for k in np.flatnonzero(self.truth):
            f, g = self.f0[k], self.f0[k] + self.shrink * d[k]
            near = abs(g - f) < 1e-9
            slope = 1 / (g * math.log(2)) if near else (math.log2(g) - math.log2(f)) / (g - f)
            out[k] = self.truth[k] * self.shrink * slope
        return out / self.n_outputs


def expected_account(trees, X, truth, new, *, held, loss, starts, weight):
    """The account of new rows by all trees: y is replaced by f0 + Σ b φ, by least squares."""
    design, p = [], np.shape(X)[1]
    for i, x in enumerate(np.asarray(X)):
        moves, root, _ = _moves([t for t, h in zip(trees, held, strict=True) if h[i]], x)
        design.append((moves.mean(axis=0), truth[i] - root.mean(axis=0)))
    phi, rest = (np.array(part) for part in zip(*design, strict=True))
    slopes, noise, root_weight = [], 0.0, np.sqrt(weight)
    for a, b in pairwise(starts):
        # All classes of an output share their slopes.
        rows = np.concatenate([root_weight[:, None] * phi[:, :, k] for k in range(a, b)])
        target = np.concatenate([root_weight * rest[:, k] for k in range(a, b)])
        slope = np.linalg.lstsq(rows, target, rcond=None)[0]
        slopes += [slope] * (b - a)
        noise += np.sum((target - rows @ slope) ** 2)
    noise /= np.sum(weight) * (len(starts) - 1)
    found = {"credit": np.zeros((len(new), p)), "before": [], "after": []}
    for i, x in enumerate(np.asarray(new)):
        moves, root, _ = _moves(trees, x)
        f0, way = root.mean(axis=0), moves.mean(axis=0)
        guess = f0 + np.array([way[:, k] @ slopes[k] for k in range(len(f0))])
        of_classes = len(f0) > len(starts) - 1
        if of_classes:
            guess = np.clip(guess, 0, None)
            for a, b in pairwise(starts):
                guess[a:b] /= guess[a:b].sum()
        law = _Loss(loss, guess, f0, n_trees=len(trees), starts=starts)
        found["credit"][i] = way @ law.weight(way.sum(axis=0))
        # The answers spread around what is expected: E(y - f)² is more than (E y - f)².
        more = noise
        if of_classes:
            more = np.sum(guess * (1 - guess)) / (len(starts) - 1) if loss == "brier" else 0.0
        found["before"].append(law.at(0 * f0) + more)
        found["after"].append(law.at(way.sum(axis=0)) + more)
    return found


def honest_gain(trees, X, truth, *, held, criterion, min_rows, n_outputs=1, at=None):
    """The honest gain by loops; trees are scikit-learn's `tree_`.

    `held` has a row per tree: the weights of the rows that it has not seen. The rows of X are
    explained without their own label by the trees that did not see them, or those of `at` by all.
    """
    rows = X if at is None else at
    values, used = np.zeros(rows.shape), np.zeros(len(rows))
    for tree, weight in zip(trees, held, strict=True):
        reached = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for i, x in enumerate(np.asarray(rows)):
            if at is None and weight[i] == 0:
                continue
            others = weight.copy()
            if at is None:
                others[i] = 0
            if not others.any():
                continue
            law = _HonestLaw(tree, reached, truth, others, criterion=criterion)
            used[i] += 1
            for node, child, feature in walk(tree, x):
                if law.count(child) >= min_rows:
                    values[i, feature] += law.gain(node, child) / n_outputs
    return values / used[:, None]


class _HonestLaw:
    """The laws p and q of a tree's nodes, for one set of held-out rows."""

    def __init__(self, tree, reached, truth, weight, *, criterion):
        self.tree, self.truth, self.weight = tree, truth, weight
        self.reached = reached & (weight > 0)[:, None]
        self.criterion, self.value = criterion, side_by_side(tree)

    def at(self, node):
        return np.flatnonzero(self.reached[:, node])

    def count(self, node):
        return self.reached[:, node].sum()

    def mass(self, node):
        return self.weight[self.at(node)].sum()

    def p(self, node):
        return self.value[node]

    def q(self, node):
        rows = self.at(node)
        return np.average(self.truth[rows], axis=0, weights=self.weight[rows])

    def slope(self, node, child):
        before, after = self.p(node), self.p(child)
        slope = after - before
        if self.criterion == "entropy":
            slope = np.zeros(len(before))
            for k in np.flatnonzero((before > 0) & (before != after)):
                ratio = after[k] * np.log2(after[k] / before[k]) if after[k] > 0 else 0.0
                slope[k] = (ratio - (after[k] - before[k]) / np.log(2)) / (after[k] - before[k])
        return slope

    def gain(self, node, child):
        return self.slope(node, child) @ (self.q(child) - self.q(node))


def influence(trees, X, truth, *, held, in_bag, criterion, min_rows, n_outputs=1):
    """What every row has to do with the mean gain, by loops: as unseen row, and as row of the bag.

    Also the mean gain itself: the mean over trees of that over a tree's unseen rows.
    """
    out, within, value = np.zeros(np.shape(X)), np.zeros(np.shape(X)), np.zeros(np.shape(X)[1])
    used = sum(bool(weight.any()) for weight in held)
    for tree, weight, seen in zip(trees, held, in_bag, strict=True):
        if not weight.any():
            continue
        reached = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        law = _HonestLaw(tree, reached, truth, weight, criterion=criterion)
        for node in np.flatnonzero(tree.children_left >= 0):
            for child in (tree.children_left[node], tree.children_right[node]):
                if law.count(child) < min_rows:
                    continue
                m, share = tree.feature[node], 1 / (n_outputs * used * law.mass(0))
                slope, change = law.slope(node, child), law.q(child) - law.q(node)
                value[m] += share * law.mass(child) * (slope @ change)
                for i in law.at(child):
                    out[i, m] += share * weight[i] * (slope @ (truth[i] - law.q(node)))
                step = law.p(child) - law.p(node)
                limit = 1 / (2 * np.log(2) * np.where(law.p(node) > 0, law.p(node), np.inf))
                rho = np.divide(slope, step, out=limit, where=np.abs(step) > 1e-9)
                if criterion != "entropy":
                    rho = np.ones(len(step))
                scale = share * law.mass(child) / tree.weighted_n_node_samples[child]
                for j in np.flatnonzero(reached[:, child] & (seen > 0)):
                    form = rho * (truth[j] - law.p(node)) @ change
                    within[j, m] += scale * seen[j] * form
    return out, within, value
