"""Last line of the speed table: cost grows linearly, and memory is the result and its tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm
from benchmarks.memory import measure
from benchmarks.timing import best_in_turn


def main() -> None:
    """Print cost per unit while rows, trees and depth double, and the memory of a large call."""
    X, y = make_classification(80_000, 20, n_informative=10, random_state=0)
    X = X.astype(np.float32)
    model = ExtraTreesClassifier(40, max_depth=12, random_state=0, n_jobs=-1).fit(
        X[:20_000], y[:20_000]
    )
    explainer = lm.Explainer(model)
    print("Cost growth (ns per row, tree and level; constant means linear):")
    show(
        "rows",
        {
            n: (explainer, X[:n], 40 * mean_depth(model, X))
            for n in (10_000, 20_000, 40_000, 80_000)
        },
    )
    by_trees = {}
    for n_trees in (10, 20, 40, 80):
        forest = ExtraTreesClassifier(n_trees, max_depth=12, random_state=0, n_jobs=-1)
        forest.fit(X[:20_000], y[:20_000])
        by_trees[n_trees] = (lm.Explainer(forest), X[:40_000], n_trees * mean_depth(forest, X))
    show("trees", by_trees)
    by_depth = {}
    for depth in (4, 8, 16):
        forest = ExtraTreesClassifier(40, max_depth=depth, random_state=0, n_jobs=-1)
        forest.fit(X[:20_000], y[:20_000])
        by_depth[depth] = (lm.Explainer(forest), X[:40_000], 40 * mean_depth(forest, X))
    show("depth", by_depth)
    memory()


def mean_depth(model: Any, X: Any) -> float:
    """Return the mean number of splits on a path."""
    return float(
        np.mean([tree.decision_path(X[:500]).sum(axis=1).mean() - 1 for tree in model.estimators_])
    )


def show(what: str, cases: dict[int, tuple[lm.Explainer, Any, float]]) -> None:
    times = best_in_turn(
        {str(k): lambda e=e, X=X: e(X) for k, (e, X, _) in cases.items()}, repeats=5
    )
    cells = [
        f"{k:,}: {times[str(k)] / (len(X) * visits) * 1e9:.2f}"
        for k, (_, X, visits) in cases.items()
    ]
    print(f"  {what}: " + ", ".join(cells))


_MEMORY = """
import sys
import numpy as np, localmdi as lm
from sklearn.tree import DecisionTreeClassifier
from benchmarks.memory import peak_bytes
rng = np.random.default_rng(0)
X = rng.random((int(sys.argv[1]), 50), dtype=np.float32)
model = DecisionTreeClassifier(max_depth=10).fit(X[:5000], rng.integers(0, 2, 5000))
explainer = lm.Explainer(model)
explainer(X[:1000])
before = peak_bytes()
result = explainer(X)
print((peak_bytes() - before) / result.values.nbytes)
"""


def memory() -> None:
    """Print the growth of peak memory in a call, in units of the result."""
    for n in (100_000, 1_000_000):
        print(f"Memory of local_mdi, {n:,} x 50 rows: {measure(_MEMORY, n):.2f} times the result")
