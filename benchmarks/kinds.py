"""Other splits, other results and other inputs, each beside its plain counterpart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm
from benchmarks.timing import best_in_turn
from benchmarks.workloads import wide
from localmdi import RandomizedForestClassifier, SplitKind

N_TREES = 200


def main() -> None:
    """Print a ratio and its bar for each kind."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    model = ExtraTreesClassifier(N_TREES, criterion="entropy", max_features=8, random_state=0)
    model.fit(X, y)
    splits(model, X, y=y)
    results(model, X)
    wide_errors()
    inputs(model, X)


def show(what: str, ratio: float, *, bar: float) -> None:
    print(f"{what}: {ratio:.2f} (bar: {bar:g})", flush=True)


def as_category_sets(forest: lm.Forest) -> lm.Forest:
    """Return the same trees, x <= t on codes rewritten as a set of the codes up to t."""
    is_split = forest.split_kind == SplitKind.LESS_EQUAL
    n_codes = np.floor(forest.threshold[is_split]).astype(np.uint64) + np.uint64(1)
    return replace(
        forest,
        split_kind=np.where(is_split, SplitKind.CATEGORY_SET, forest.split_kind).astype(np.uint8),
        category_offset=np.concatenate([[0], np.cumsum(is_split)]).astype(np.int64),
        category_bits=(np.uint64(1) << n_codes) - np.uint64(1),
    )


def splits(model: Any, X: Any, *, y: Any) -> None:
    """Category sets on the same trees; multiway splits per node of the forest."""
    numbers = lm.as_forest(model)
    multiway = RandomizedForestClassifier(
        N_TREES, criterion="entropy", categorical_features=range(X.shape[1]), random_state=0
    )
    explainers = {
        "numbers": lm.Explainer(numbers),
        "sets": lm.Explainer(as_category_sets(numbers)),
        "multiway": lm.Explainer(multiway.fit(X, y)),
    }
    times = best_in_turn({name: lambda e=e: e(X) for name, e in explainers.items()}, repeats=7)
    show("Category sets / comparisons, the same trees", times["sets"] / times["numbers"], bar=1.5)
    per_node = {name: times[name] / explainers[name].forest.n_nodes for name in times}
    ratio = per_node["multiway"] / per_node["numbers"]
    show("Multiway splits / comparisons, forests of equal size", ratio, bar=1.5)


def results(model: Any, X: Any) -> None:
    """What costs more than the values alone."""
    explainer = lm.Explainer(model)
    forest = lm.as_forest(model)
    times = best_in_turn(
        {
            "plain": lambda: explainer(X),
            "error": lambda: explainer(X, standard_error=True),
            "saabas": lambda: lm.saabas(forest, X),
            "predict": lambda: model.predict_proba(X),
        },
        repeats=5,
    )
    show("standard_error=True / without", times["error"] / times["plain"], bar=1.6)
    show("saabas, 10 classes / predict_proba", times["saabas"] / times["predict"], bar=3)


def wide_errors() -> None:
    """Standard errors of wide data, whose rows take both from lists."""
    model, X = wide()
    explainer = lm.Explainer(model)
    calls = {"plain": lambda: explainer(X), "error": lambda: explainer(X, standard_error=True)}
    times = best_in_turn(calls, repeats=9)
    what = "standard_error=True / without, 2000 x 2000"
    show(what, times["error"] / times["plain"], bar=1.6)


def inputs(model: Any, X: Any) -> None:
    """The same rows in other containers, beside a float32 array in C order."""
    import pandas as pd

    explainer = lm.Explainer(model)
    kinds = {"float64": X.astype(np.float64), "pandas": pd.DataFrame(X), "CSR": csr_array(X)}
    calls = {name: lambda rows=rows: explainer(rows) for name, rows in kinds.items()}
    times = best_in_turn({"plain": lambda: explainer(X), **calls}, repeats=7)
    for name, bar in (("float64", 1.2), ("pandas", 1.2), ("CSR", 2.0)):
        show(f"{name} rows / float32 array", times[name] / times["plain"], bar=bar)
