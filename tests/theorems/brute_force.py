"""Slow and literal versions of the paper's quantities, in plain Python, to judge the theory by.

A node is a list of (x, y, mass). Nothing here is shared with `localmdi.theory`.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import factorial, log, log2

import numpy as np


def rows_of(law):
    """All (x, y, mass) with a positive mass; x as indices of the table."""
    return [
        (tuple(int(i) for i in at[:-1]), int(at[-1]), float(law.table[tuple(at)]))
        for at in np.argwhere(law.table > 0)
    ]


def mass_of(node):
    return sum(mass for _, _, mass in node)


def impurity_of(node, criterion="entropy", y_values=None):
    total = mass_of(node)
    by_class = {}
    for _, y, mass in node:
        by_class[y] = by_class.get(y, 0.0) + mass / total
    if criterion == "entropy":
        return -sum(share * log2(share) for share in by_class.values())
    if criterion == "gini":
        return 1.0 - sum(share**2 for share in by_class.values())
    mean = sum(share * y_values[y] for y, share in by_class.items())
    return sum(share * (y_values[y] - mean) ** 2 for y, share in by_class.items())


def gain_of(parent, child, criterion="entropy", y_values=None):
    """h(t) + h'(t)(c − t) − h(c) summed over the classes, for i(p) = Σ h(p): h' by the formula."""
    shares = []
    for node in (parent, child):
        by_class = dict.fromkeys((y for _, y, _ in parent), 0.0)
        for _, y, mass in node:
            by_class[y] += mass / mass_of(node)
        shares.append(by_class)
    before, after = shares
    if criterion == "variance":
        return sum((after[y] - before[y]) * y_values[y] for y in before) ** 2
    total = 0.0
    for y, t in before.items():
        c = after[y]
        if criterion == "gini":
            total += t * (1 - t) + (1 - 2 * t) * (c - t) - c * (1 - c)
        else:
            slope = -log2(t) - 1 / log(2)
            total += -t * log2(t) + slope * (c - t) + (c * log2(c) if c > 0 else 0.0)
    return total


def where(node, feature, value):
    return [row for row in node if row[0][feature] == value]


def children_of(node, feature):
    """Exhaustive split: one child per value that occurs."""
    return {value: where(node, feature, value) for value in {row[0][feature] for row in node}}


def decrease_of(node, feature, **impurity):
    children = children_of(node, feature).values()
    after = sum(mass_of(child) * impurity_of(child, **impurity) for child in children)
    return impurity_of(node, **impurity) - after / mass_of(node)


def best_of(drawn, decrease):
    """The drawn features of the greatest decrease."""
    top = max(decrease[j] for j in drawn)
    return [j for j in drawn if decrease[j] > top - 1e-9]


def share_out(draws, decrease):
    """Probability of each feature when all draws are equally probable and ties are shared."""
    chosen = {}
    for drawn in draws:
        best = best_of(drawn, decrease)
        for j in best:
            chosen[j] = chosen.get(j, 0.0) + 1.0 / (len(draws) * len(best))
    return chosen


def theory_draw(node, branch, k, decrease):
    """All subsets of min(K, q) features not yet on the branch."""
    free = [j for j in decrease if j not in branch]
    return share_out(list(combinations(free, min(k, len(free)))), decrease) if free else {}


def sklearn_draw(node, branch, k, decrease):
    """scikit-learn's loop over a random permutation of all features, constants included."""
    varying = {j for j in decrease if len(children_of(node, j)) > 1}
    draws = []
    for order in permutations(decrease):
        drawn = []
        for visited, j in enumerate(order):
            if visited >= k and drawn:
                break
            if j in varying:
                drawn.append(j)
        draws.append(drawn)
    return share_out(draws, decrease) if varying else {}


def forest_mdi(law, k=1, *, draw=theory_draw, criterion="entropy", x=None, measure="drop"):
    """Expected MDI of fully developed trees: Eq. 3 and 4, or Definition 1 at x, split by split."""
    p = law.n_features
    impurity = {"criterion": criterion, "y_values": law.y_values}
    total = np.zeros(p)

    def grow(node, branch, chance):
        decrease = {j: decrease_of(node, j, **impurity) for j in range(p)}
        for m, probability in draw(node, branch, k, decrease).items():
            part = chance * probability
            children = children_of(node, m)
            if x is None:
                total[m] += part * mass_of(node) * decrease[m]
                followed = list(children.values())
            else:
                child = children[x[m]]
                followed = [child]
                drop = impurity_of(node, **impurity) - impurity_of(child, **impurity)
                total[m] += part * (gain_of(node, child, **impurity) if measure == "gain" else drop)
            for child in followed:
                grow(child, (*branch, m), part)

    grow(rows_of(law), (), 1.0)
    return total


def shapley_by_orders(value, p):
    """Mean over all p! orders of what each player adds on arrival."""
    total = np.zeros(p)
    for order in permutations(range(p)):
        for position, m in enumerate(order):
            total[m] += value(order[: position + 1]) - value(order[:position])
    return total / factorial(p)


def conditional_impurity(law, known, **impurity):
    """E[i(Y | known)] by grouping rows on their values."""
    groups = {}
    for row in rows_of(law):
        groups.setdefault(tuple(row[0][j] for j in known), []).append(row)
    return sum(mass_of(group) * impurity_of(group, **impurity) for group in groups.values())


def impurity_at(law, x, known, **impurity):
    """i(Y | known features equal x)."""
    node = rows_of(law)
    for j in known:
        node = where(node, j, x[j])
    return impurity_of(node, **impurity)
