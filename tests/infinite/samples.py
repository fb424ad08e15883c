"""Random categorical samples with repeated rows, contradictions and weights, and brute force."""

from itertools import permutations

import numpy as np
from hypothesis import strategies as st

CRITERIA = ("entropy", "gini", "variance")


def draw_sample(seed, *, n_rows, n_features, arity=3, n_classes=3, weights="none", full=False):
    rng = np.random.default_rng(seed)
    arities = arity if full else rng.integers(1, arity + 1, n_features)
    X = rng.integers(0, arities, (n_rows, n_features))
    y = rng.integers(0, n_classes, n_rows)
    weight = {
        "none": None,
        "whole": rng.integers(1, 4, n_rows).astype(float),
        "real": rng.exponential(size=n_rows),
    }[weights]
    return X, y, weight


@st.composite
def samples(draw, max_features=12, max_rows=40):
    """(X, y, sample_weight), p from 1 up."""
    n_features = draw(st.integers(1, max_features))
    return draw_sample(
        draw(st.integers(0, 2**32 - 1)),
        n_rows=draw(st.integers(1, max_rows)),
        n_features=n_features,
        # The oracle keeps the table of the law, which grows with the arities.
        arity=2 if n_features > 8 else draw(st.integers(2, 4)),
        n_classes=draw(st.integers(1, 4)),
        weights=draw(st.sampled_from(["none", "whole", "real"])),
    )


def impurity(y, weight, criterion):
    if criterion == "variance":
        mean = np.average(y, weights=weight)
        return np.average((y - mean) ** 2, weights=weight)
    share = np.array([weight[y == c].sum() for c in np.unique(y)]) / weight.sum()
    if criterion == "gini":
        return 1 - (share**2).sum()
    return -(share * np.log2(share)).sum()


def gain(y, weight, parent, child, *, criterion):
    """The divergence between the outputs of two sets of rows, the child's from the parent's."""
    if criterion == "variance":
        means = [np.average(y[rows], weights=weight[rows]) for rows in (child, parent)]
        return (means[0] - means[1]) ** 2
    after, before = (
        np.array([weight[rows][y[rows] == c].sum() for c in np.unique(y[parent])])
        / weight[rows].sum()
        for rows in (child, parent)
    )
    if criterion == "gini":
        return ((after - before) ** 2).sum()
    seen = after > 0
    return (after[seen] * np.log2(after[seen] / before[seen])).sum()


def unseen_by_orders(X, y, x, *, rule, criterion="entropy"):
    """Mean over all orders of the features of the path of x, by the words of the documentation.

    Returns the profile (features, number of features asked before), residual and support.
    """
    p = X.shape[1]
    weight = np.ones(len(y))
    profile, residual, support = np.zeros((p, p)), 0.0, 0.0
    orders = list(permutations(range(p)))
    for order in orders:
        node = np.arange(len(y))
        supported = True
        for k, j in enumerate(order):
            if len(np.unique(y[node])) == 1:
                break
            below = node[X[node, j] == x[j]]
            if below.size:
                before = impurity(y[node], weight[node], criterion)
                profile[j, k] += before - impurity(y[below], weight[below], criterion)
                node = below
                continue
            if rule == "tree" and len(np.unique(X[node, j])) == 1:
                continue
            supported = False
            if rule != "skip":
                break
        residual += impurity(y[node], weight[node], criterion)
        support += supported
    return profile / len(orders), residual / len(orders), support / len(orders)
