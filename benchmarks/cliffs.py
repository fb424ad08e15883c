"""Shapes one after the other: what a row costs per tree and level, and where that cost jumps.

A step of a factor of two between neighbours is a cliff unless a reason stands in `REASONS`. Times
are CPU times of the process: of all threads together.
"""

from __future__ import annotations

import ctypes
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import localmdi as lm
from benchmarks.kinds import as_category_sets
from benchmarks.processes import peak_megabytes
from benchmarks.timing import best_in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEP = 2.0

# (axis, shape) → why the cost differs from that of the shape before.
REASONS = {
    ("rows", "10"): "what a call costs whatever it holds is shared by ten rows",
    ("rows", "100"): "nodes are read once for a tile of rows, not once for a row",
    ("rows", "1,000"): "what a call costs, and reading the nodes, is shared by more rows",
    ("trees", "10"): "what a row costs whatever the trees, a cell for each feature, is shared",
    ("trees", "100"): "what a row costs whatever the trees is shared by more of them",
    ("chain", "1,000"): "what a call costs is shared by more levels",
    ("features", "1,000"): "a row's cells, 8 kB, are new memory and serve few levels",
    ("features", "20,000"): "a row's cells, 160 kB, are new memory; splits miss the caches",
    ("splits", "multiway"): "a split into 16 parts stands for four into two, and reads a list",
}
# Shapes without an order are compared with the first.
UNORDERED = ("splits", "container")


class Shape(NamedTuple):
    name: str
    model: Any
    X: Any
    predict: bool = True
    n_jobs: int = 1


def main() -> None:
    """Print a table for each axis."""
    columns = [
        "Explainer(X) ms",
        "predict_proba ÷ Explainer",
        "ns per row, tree and level",
        "step",
        "MB beyond input",
        "why",
    ]
    for axis, shapes in AXES.items():
        print(f"\n| {axis} | {' | '.join(columns)} |\n{'|---' * (len(columns) + 1)}|", flush=True)
        before = math.nan
        for shape in shapes():
            cost = show(axis, shape, before=before)
            if math.isnan(before) or axis not in UNORDERED:
                before = cost


def show(axis: str, shape: Shape, *, before: float) -> float:
    """Print a line; return the cost of a step down a tree."""
    explainer = lm.Explainer(shape.model)
    n_rows = shape.X.shape[0]
    calls: dict[str, Callable[[], Any]] = {
        "explain": lambda: explainer(shape.X, n_jobs=shape.n_jobs)
    }
    megabytes = memory(calls["explain"])
    if shape.predict:
        calls["predict"] = lambda: shape.model.predict_proba(shape.X)
    repeats = 200 if n_rows <= 10 else 3
    times = best_in_turn(calls, repeats=repeats, clock=time.process_time)
    steps = n_rows * steps_per_row(lm.as_forest(shape.model), shape.X[: min(n_rows, 1000)])
    cost = times["explain"] / steps * 1e9
    ratio = f"{times['predict'] / times['explain']:.1f}" if shape.predict else ""
    is_step = max(cost / before, before / cost) > STEP
    why = REASONS.get((axis, shape.name), "not known") if is_step else ""
    print(
        f"| {shape.name} | {times['explain'] * 1e3:.3g} | {ratio} | {cost:.2f} "
        f"| {cost / before:.2f} | {megabytes:.0f} | {why} |",
        flush=True,
    )
    return cost


def steps_per_row(forest: lm.Forest, X: Any) -> float:
    """Return the mean number of splits that a row meets in all trees.

    With depth in the place of impurity, what is left at the leaves is their mean depth.
    """
    n_children = np.diff(forest.child_offset)
    above = np.arange(forest.n_nodes)
    above[forest.child] = np.repeat(above, n_children)
    depth = (above != np.arange(forest.n_nodes)).astype(np.float64)
    while depth[above].any():  # twice as far up each time
        depth += depth[above]
        above = above[above]
    left = lm.local_mdi(replace(forest, impurity=depth, criterion="gini"), X).residual
    return float(np.mean(left)) * forest.n_trees


def memory(call: Callable[[], Any]) -> float:
    """Return the megabytes that a call needs beside what is there (Linux with glibc)."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak_megabytes()
    call()
    return peak_megabytes() - before


def table(n_rows: int, n_features: int = 20, *, n_classes: int = 2) -> tuple[Any, Any]:
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=min(n_features, 10),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=0,
    )
    return X.astype(np.float32), y


def forest(X: Any, y: Any, *, n_trees: int = 100, **settings: Any) -> Any:
    return ExtraTreesClassifier(n_trees, random_state=0, n_jobs=1, **settings).fit(X, y)


def rows() -> Iterator[Shape]:
    X, y = table(10_000)
    model = forest(X, y, max_depth=10)
    for n in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        yield Shape(f"{n:,}", model, np.tile(X, (-(-n // len(X)), 1))[:n])


def trees() -> Iterator[Shape]:
    X, y = table(2000)
    for n in (1, 10, 100, 1000, 10_000):
        yield Shape(f"{n:,}", forest(X, y, n_trees=n, max_depth=8), X)


def depths() -> Iterator[Shape]:
    X, y = table(5000)
    for depth in (1, 2, 4, 8, 16, 32):
        yield Shape(str(depth), forest(X, y, max_depth=depth), X)


def chains() -> Iterator[Shape]:
    for depth in (100, 1000, 10_000, 100_000):
        X = np.linspace(0, depth, 100, dtype=np.float64)[:, None]
        yield Shape(f"{depth:,}", chain(depth), X, predict=False)


def chain(depth: int) -> lm.Forest:
    """Return one tree that asks x <= 1, x <= 2, ... in turn."""
    is_split = np.arange(2 * depth + 1) % 2 == 0
    is_split[-1] = False
    place = np.arange(2 * depth + 1)
    return lm.build_forest(
        n_features=1,
        tree_offset=[0, 2 * depth + 1],
        feature=np.where(is_split, 0, -1),
        split_kind=np.where(is_split, lm.SplitKind.LESS_EQUAL, lm.SplitKind.LEAF),
        threshold=np.where(is_split, place // 2 + 1.0, 0.0),
        child_offset=np.concatenate([[0], np.cumsum(2 * is_split)]),
        child=np.arange(1, 2 * depth + 1),
        impurity=1.0 - place / (2 * depth),
        criterion="gini",
    )


def features() -> Iterator[Shape]:
    for n in (1, 10, 100, 1000, 20_000):
        X, y = table(500, n) if n > 1 else ((x := table(500)[0][:, :1]), x[:, 0] > 0)
        yield Shape(f"{n:,}", forest(X, y, max_features=1.0 if n == 1 else "sqrt"), X)


def classes() -> Iterator[Shape]:
    for n in (2, 10, 100, 1000):
        X, y = table(4000, n_classes=n)
        yield Shape(f"{n:,}", forest(X, y, n_trees=50), X)


def splits() -> Iterator[Shape]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, (5000, 20)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=5000) > 15).astype(int)
    numbers = forest(X, y)
    yield Shape("numbers", numbers, X)
    yield Shape("category sets", as_category_sets(lm.as_forest(numbers)), X, predict=False)
    multiway = lm.RandomizedForestClassifier(
        100, categorical_features=range(20), random_state=0, n_jobs=1
    )
    yield Shape("multiway", multiway.fit(X, y), X)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
    missing = RandomForestClassifier(100, random_state=0, n_jobs=1).fit(holes, y)
    yield Shape("missing values", missing, holes)


def containers() -> Iterator[Shape]:
    import pandas as pd
    import polars as pl

    X, y = table(20_000)
    model = forest(X, y, max_depth=10)
    names = [f"x{i}" for i in range(X.shape[1])]
    yield Shape("float32, C order", model, X)
    yield Shape("float32, F order", model, np.asfortranarray(X))
    yield Shape("float64", model, X.astype(np.float64))
    yield Shape("CSR", model, csr_array(X))
    named = forest(pd.DataFrame(X, columns=names), y, max_depth=10)
    yield Shape("pandas", named, pd.DataFrame(X, columns=names))
    yield Shape("polars", named, pl.DataFrame(X, schema=names), predict=False)


def threads() -> Iterator[Shape]:
    X, y = table(100_000)
    model = forest(X[:10_000], y[:10_000], max_depth=10)
    for n in (1, 2, 4, 16):
        yield Shape(str(n), model, X, predict=n == 1, n_jobs=n)


AXES: dict[str, Callable[[], Iterator[Shape]]] = {
    "rows": rows,
    "trees": trees,
    "depth": depths,
    "chain": chains,
    "features": features,
    "classes": classes,
    "splits": splits,
    "container": containers,
    "threads": threads,
}
