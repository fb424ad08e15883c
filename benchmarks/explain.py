"""Lines 1 to 5 of the speed table: explaining beside predicting."""

from __future__ import annotations

import math
import pickle
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm
from benchmarks.memory import numbers
from benchmarks.timing import best_in_turn
from benchmarks.workloads import TABLE_TRAINING, select, table_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def main(names: list[str]) -> None:
    """Print all tables for these workloads, all six if none are given."""
    ratios: list[tuple[float, float]] = []
    extra: list[str] = []
    print(
        "| workload | predict_proba ms | apply ms | Explainer(X) ms | local_mdi ms "
        "| ratio prepared | ratio unprepared |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    for workload in select(names):
        model, X = workload.fit()
        explainer = lm.Explainer(model)
        times = best_in_turn(
            {
                "predict": lambda m=model, X=X: m.predict_proba(X),
                "explain": lambda e=explainer, X=X: e(X),
                "apply": lambda m=model, X=X: m.apply(X),
                "unprepared": lambda m=model, X=X: lm.local_mdi(m, X),
            },
            repeats=3,
        )
        ratios.append((times["predict"] / times["explain"], times["predict"] / times["unprepared"]))
        print(
            f"| {workload.name}: {workload.what} | {times['predict'] * 1e3:.0f} "
            f"| {times['apply'] * 1e3:.0f} | {times['explain'] * 1e3:.0f} "
            f"| {times['unprepared'] * 1e3:.0f} | {ratios[-1][0]:.1f} | {ratios[-1][1]:.1f} |",
            flush=True,
        )
        if workload.name == "a1":
            extra += [one_row(model, explainer, X=X), packing(model, explainer, X=X)]
            extra.append(fresh_processes(model, X))
        if workload.name == "b":
            extra += [honest(model), node_statistics(model)]
        if workload.name in ("b", "d"):
            extra.append(two_threads(workload.name, model, explainer=explainer, X=X))
    for what, values in zip(("prepared", "unprepared"), zip(*ratios, strict=True), strict=True):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"Geometric mean of predict_proba / explaining, {what}: {mean:.2f}")
    print("\n".join(extra), flush=True)


def one_row(model: Any, explainer: lm.Explainer, *, X: Any) -> str:
    """Line 3: one row with a packed model; medians over many rows, wall time.

    Predicting takes hundreds of times as long. So many rows are explained before each prediction:
    all medians then belong to the same seconds of the machine. Predicting fills the caches with
    its own; the first rows after it pay for that, those behind them meet what a service meets that
    explains row after row.
    """
    step = len(X) // 30
    firsts, rows = ([X[i : i + 1] for i in range(at, len(X), step)] for at in (step // 2, 0))

    def median(call: Callable[[Any], Any], rows: list[Any]) -> float:
        clock = time.perf_counter
        wall = [best_in_turn({"x": lambda row=row: call(row)}, 1, clock=clock) for row in rows]
        return float(np.median([times["x"] for times in wall]))

    turns = [
        (median(explainer, firsts), median(explainer, rows), median(model.predict_proba, [row]))
        for row in rows
    ]
    after, ours, theirs = np.median(turns, axis=0)
    return (
        f"One row (a1, packed, wall time, medians of {len(rows)}): predict_proba "
        f"{theirs * 1e3:.1f} ms, ours {ours * 1e3:.3f} ms, ratio {theirs / ours:.0f}; "
        f"right after a prediction {after * 1e3:.3f} ms, ratio {theirs / after:.0f}"
    )


def packing(model: Any, explainer: lm.Explainer, *, X: Any) -> str:
    """Line 4: reading, validating and packing the model, beside explaining with it."""
    times = best_in_turn(
        {"pack": lambda: lm.Explainer(model), "explain": lambda: explainer(X)}, repeats=7
    )
    return (
        f"as_forest + validation + packing of {explainer.forest.n_nodes / 1e6:.2f} million nodes: "
        f"{times['pack'] * 1e3:.0f} ms, explaining {len(X)} rows {times['explain'] * 1e3:.0f} ms, "
        f"ratio {times['pack'] / times['explain']:.2f}"
    )


_FRESH = """
import pickle, sys, time
import localmdi as lm
from benchmarks.memory import peak_bytes
with open(sys.argv[1], "rb") as file:
    model, X = pickle.load(file)
lm.local_mdi(model.estimators_[0], X)  # loads what a first call loads
lm.Explainer(model.estimators_[0])(X)
keeps = sys.argv[2] == "Explainer"
before, start = peak_bytes(), time.thread_time()
if keeps:
    explainer = lm.Explainer(model)
else:
    lm.local_mdi(model, X)
seconds, memory = time.thread_time() - start, peak_bytes() - before
if not keeps:
    explainer = lm.Explainer(model)
start = time.thread_time()
explainer(X)
explaining = time.thread_time() - start
print(seconds / explaining - (0 if keeps else 1), memory / 2**20)
"""


def fresh_processes(model: Any, X: Any, *, n_processes: int = 8) -> str:
    """Line 4 again, where no memory has been touched: each process makes one of the two calls.

    `Explainer(model)` reads, checks and packs, and keeps the packed trees. `local_mdi` does the
    same some trees at a time, and explains; what it takes besides explaining is printed. The two
    kinds of processes take turns, and come in the order in which they ran: a virtual machine that
    returns unused memory to its host (free page reporting) must first get it again, up to 3 ms a MB
    instead of 0.1. Some processes pay for that, others get what these have freed.
    """
    calls = ("Explainer", "local_mdi")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, X)))
        found = [[numbers(_FRESH, path, call) for call in calls] for _ in range(n_processes)]
    lines = []
    for call, turns in zip(calls, zip(*found, strict=True), strict=True):
        ratios, memory = zip(*turns, strict=True)
        lines.append(f"{call} {_line(ratios)} ({max(memory):.0f} MB)")
    return (
        f"The same ratio in {n_processes} fresh processes each (bar: 0.7), of local_mdi what it "
        f"takes besides explaining: {'; '.join(lines)}"
    )


def _line(values: Iterable[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


_ACCOUNT = """
import pickle, sys
import localmdi as lm
from benchmarks.memory import peak_bytes
with open(sys.argv[1], "rb") as file:
    model, X, y = pickle.load(file)
lm.honest_mdi(model, X[:50], y[:50], held_out=True, measure="loss")  # loads what it needs
before = peak_bytes()
result = lm.honest_mdi(model, X, y, measure="loss", n_jobs=1)
print((peak_bytes() - before) / 2**20, result.values.nbytes / 2**20)
"""


def honest(model: Any) -> str:
    """Honest values of all training rows of workload b, beside predicting them; the account's."""
    X, y = (part[:TABLE_TRAINING] for part in table_rows())
    times = best_in_turn(
        {
            "predict": lambda: model.predict_proba(X),
            "gain": lambda: lm.honest_mdi(model, X, y, n_jobs=1),
            "loss": lambda: lm.honest_mdi(model, X, y, measure="loss", n_jobs=1),
        },
        repeats=5,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, X, y)))
        peak, values = numbers(_ACCOUNT, path)
    return (
        f"Honest values of {len(X):,} training rows (b): "
        f"{times['gain'] * 1e3:.0f} ms, predict_proba {times['predict'] * 1e3:.0f} ms, "
        f"ratio {times['gain'] / times['predict']:.2f} (bar: 3); the account "
        f"{times['loss'] * 1e3:.0f} ms, over the gain {times['loss'] / times['gain']:.2f} "
        f"(bar: 1.2), {peak:.0f} MB beyond what was there, {values:.0f} of them values"
    )


def node_statistics(model: Any) -> str:
    """Statistics of all nodes from the rows of workload b, beside finding their leaves."""
    X, y = table_rows()
    forest = lm.as_forest(model)
    weight = np.random.default_rng(0).random(len(X))
    times = best_in_turn(
        {
            "apply": lambda: model.apply(X),
            "classes": lambda: forest.with_statistics(X, y, n_jobs=1),
            "weighted": lambda: forest.with_statistics(X, y, sample_weight=weight, n_jobs=1),
            "numbers": lambda: forest.with_statistics(X, y, criterion="variance", n_jobs=1),
        },
        repeats=3,
    )
    ratios = [f"{name} {times[name] / times['apply']:.2f}" for name in list(times)[1:]]
    return (
        f"with_statistics of {len(X):,} rows over apply (b, {times['apply'] * 1e3:.0f} ms): "
        f"{', '.join(ratios)} (bar: 1)"
    )


def two_threads(name: str, model: Any, *, explainer: lm.Explainer, X: Any) -> str:
    """Line 5: wall time of one thread over two, ours and predict_proba's."""

    def predict(n_jobs: int) -> None:
        model.set_params(n_jobs=n_jobs)
        model.predict_proba(X)

    times = best_in_turn(
        {
            "ours1": lambda: explainer(X, n_jobs=1),
            "ours2": lambda: explainer(X, n_jobs=2),
            "theirs1": lambda: predict(1),
            "theirs2": lambda: predict(2),
        },
        repeats=2,
        clock=time.perf_counter,
    )
    model.set_params(n_jobs=1)
    return (
        f"Two threads over one ({name}, wall time): ours {times['ours1'] / times['ours2']:.2f}, "
        f"predict_proba {times['theirs1'] / times['theirs2']:.2f}"
    )
