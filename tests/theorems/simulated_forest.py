"""Many exhaustive trees on a small sample, grown together level by level: the theory's draw.

The state of a node is the set of its rows, a bit mask; all 2^n of them are tabulated beforehand,
so that growing is table lookup.
"""

from __future__ import annotations

import numpy as np


class SimulatedForest:
    """Fully developed trees that take the best of min(K, q) features not yet on the branch."""

    def __init__(self, X, y):
        n_rows, p = X.shape
        masks = np.arange(2**n_rows)
        member = (masks[:, np.newaxis] >> np.arange(n_rows)) & 1
        counts = member @ np.eye(y.max() + 1, dtype=int)[y]
        share = counts / np.maximum(member.sum(axis=1, keepdims=True), 1)
        logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
        self.X, self.size = X, member.sum(axis=1)
        self.impurity = -(share * logs).sum(axis=1)
        bits = 1 << np.arange(n_rows)
        values = range(int(X.max()) + 1)
        rows_with = np.array([[bits @ (X[:, j] == v) for v in values] for j in range(p)])
        self.child = masks[:, np.newaxis, np.newaxis] & rows_with
        after = (self.size * self.impurity)[self.child].sum(axis=2)
        before = (self.size * self.impurity)[:, np.newaxis]
        # Rounded, so that equal decreases are equal numbers.
        self.decrease = np.round((before - after) / np.maximum(self.size, 1)[:, np.newaxis], 9)

    def grow(self, n_trees, k, *, rng):
        """Return every tree's global importances (n_trees, p) and local ones (n_trees, n, p)."""
        n_rows, p = self.X.shape
        importance = np.zeros((n_trees, p))
        local = np.zeros((n_trees, n_rows, p))
        tree, node = np.arange(n_trees), np.full(n_trees, 2**n_rows - 1)
        used = np.zeros((n_trees, p), dtype=bool)
        for _ in range(p):
            split = self._best_of(node, used, k=k, rng=rng)
            used[np.arange(len(node)), split] = True
            np.add.at(
                importance, (tree, split), self.size[node] / n_rows * self.decrease[node, split]
            )
            children = []
            for value in range(self.child.shape[2]):
                child = self.child[node, split, value]
                gain = self.impurity[node] - self.impurity[child]
                for row in range(n_rows):
                    here = (child >> row & 1).astype(bool)
                    local[tree[here], row, split[here]] += gain[here]
                children.append((child, tree, used))
            node, tree, used = (np.concatenate(parts) for parts in zip(*children, strict=True))
            impure = self.impurity[node] > 0
            node, tree, used = node[impure], tree[impure], used[impure]
        return importance, local

    def _best_of(self, node, used, *, k, rng):
        """Draw k unused features by random keys; the best wins, the smaller key among equals."""
        keys = np.where(used, 2.0, rng.random(used.shape))
        limit = np.sort(keys, axis=1)[:, k - 1, np.newaxis]
        drawn = (keys <= limit) & ~used
        gain = np.where(drawn, self.decrease[node], -1.0)
        best = gain == gain.max(axis=1, keepdims=True)
        return np.argmin(np.where(best, keys, 3.0), axis=1)
