"""Growing against scikit-learn's Extra-Trees; our side adds up the local importances as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.memory import measure
from benchmarks.timing import best_in_turn
from localmdi import RandomizedForestClassifier

SETTINGS: dict[str, Any] = {"criterion": "entropy", "random_state": 0, "n_jobs": 1}


def main() -> None:
    """Print the lines of the speed table that are about growing."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    print("Extra-Trees fit / our fit with local importances (bars: 14, 5, 5, 4)")
    compare("digits, 1000 trees, K=1", X, y=y, n_trees=1000, k=1)
    compare("digits, 200 trees, K=8", X, y=y, n_trees=200, k=8)
    compare("digits, 200 trees, K=64", X, y=y, n_trees=200, k=64)
    X, y = make_classification(200_000, 54, n_informative=20, n_classes=7, random_state=0)
    X = X.astype(np.float32)
    compare("200,000 x 54, 24 trees, K=1", X, y=y, n_trees=24, k=1)
    print("Honest growing / plain growing, no trees kept (bar: 1.5)")
    digits, label = load_digits(return_X_y=True)
    compare_honest("digits, 1000 trees, K=1", digits.astype(np.float32), y=label, n_trees=1000)
    compare_honest("200,000 x 54, 24 trees, K=1", X, y=y, n_trees=24)
    memory()


def compare(what: str, X: Any, *, y: Any, n_trees: int, k: int) -> None:
    ours = RandomizedForestClassifier(n_trees, max_features=k, draw="sklearn", **SETTINGS)
    theirs = ExtraTreesClassifier(n_trees, max_features=k, **SETTINGS)
    calls = {"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}
    best = best_in_turn(calls, repeats=5)
    print(
        f"  {what}: {best['theirs'] / best['ours']:.1f} "
        f"({best['theirs'] * 1e3:.0f} ms / {best['ours'] * 1e3:.0f} ms)",
        flush=True,
    )


def compare_honest(what: str, X: Any, *, y: Any, n_trees: int) -> None:
    plain = RandomizedForestClassifier(n_trees, keep_forest=False, **SETTINGS)
    models = {"plain": plain, "gain": clone(plain).set_params(honest=True)}
    best = best_in_turn({name: lambda m=m: m.fit(X, y) for name, m in models.items()}, repeats=5)
    ratio = best["gain"] / best["plain"]
    print(f"  {what}: gain {ratio:.2f} (plain {best['plain'] * 1e3:.0f} ms)", flush=True)


_MEMORY = """
import sys
from sklearn.datasets import load_digits
from benchmarks.memory import peak_bytes
from localmdi.trees import RandomizedForestClassifier
X, y = load_digits(return_X_y=True)
honest = sys.argv[2] == "True"
model = RandomizedForestClassifier(
    int(sys.argv[1]), keep_forest=False, honest=honest, random_state=0
)
model.fit(X, y)
print(peak_bytes() / 2**20)
"""


def memory() -> None:
    """Print the peak memory of growing without keeping, for more and more trees (Linux)."""
    for honest in (False, True):
        cells = []
        for n_trees in (100, 1000, 10_000):
            cells.append(f"{n_trees:,} trees: {measure(_MEMORY, n_trees, honest):.0f} MB")
        what = "honest" if honest else "plain"
        print(f"Peak memory of growing with keep_forest=False, {what}, digits: {', '.join(cells)}")


if __name__ == "__main__":
    main()
