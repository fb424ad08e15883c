"""Computing times of the measures side by side: the paper says local MDI costs no extra time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import localmdi as lm
from paper import drawing
from paper.authors_code import NOTEBOOK, authors_local_mdi
from paper.data import load
from paper.measures import recipe
from paper.piece import Picture, Piece, Table
from paper.rivals import interpreter_values
from paper.time_claims import (
    AUTHORS,
    GLOBAL,
    GROWING,
    INTERPRETER,
    LOCAL,
    PREDICTION,
    SAABAS,
    SAGE,
    TREESHAP,
    Seconds,
    statements,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.ensemble import ExtraTreesClassifier

    from paper.settings import Settings
    from paper.store import Store

__all__ = ["measure", "run"]

_DATASETS = ("led", "iris", "wine", "breast_cancer", "digits")
_SHOWN = (PREDICTION, LOCAL, AUTHORS, SAABAS, INTERPRETER, TREESHAP, SAGE)
_REPEATS = 3


def run(settings: Settings, store: Store) -> Piece:
    """Time every measure on every dataset, one thread, one process, one run."""
    times = {name: measure(name, settings) for name in _DATASETS}
    note = "" if settings.is_full else " Quick mode: fewer rows for the slow ones."
    caption = (
        "Seconds of processor time from the fitted forest to the values of all rows (1000 trees, "
        "K = 1, one thread); the fast ones as the best of three turns. SAGE explains the "
        "dataset, not its rows, and is run on led as in the paper, with its default threshold of "
        f"convergence. ≈: scaled from {2 * settings.n_rows_timed} rows (treeinterpreter: "
        f"{20 * settings.n_rows_timed}). These numbers differ from run to run.{note}"
    )
    return Piece(
        name="times",
        title="Computing times",
        figures=(Picture("times", caption, _picture(times)),),
        tables=(
            Table(
                "times",
                "The seconds of the figure, beside those of growing the forest. The authors' "
                "algorithm is their published loop over trees, rows and nodes, compiled by numba. "
                "The last line holds the durations in the authors' notebook, on another machine: "
                f"K = 64, by the wall clock, the forest grown on all cores.{note}",
                ("dataset", "rows", GROWING, GLOBAL, *_SHOWN),
                _table_rows(times),
            ),
        ),
        claims=tuple(statement.claim(times) for statement in statements(times)),
    )


def measure(name: str, settings: Settings) -> dict[str, Seconds]:
    """Return the computing times on one dataset."""
    import shap

    data = load(name)
    X = data.X
    forest, growing = _grow(name, settings)
    fast = {
        PREDICTION: lambda: forest.predict_proba(X),
        LOCAL: lambda: lm.local_mdi(forest, X),
        AUTHORS: lambda: authors_local_mdi(forest, X),
        SAABAS: lambda: lm.saabas(forest, X),
        GLOBAL: lambda: lm.global_mdi(forest),
    }
    authors_local_mdi(forest, X[:1])  # compiles it
    found = {GROWING: Seconds(growing), **_in_turn(fast)}
    found[TREESHAP] = _of_rows(
        lambda rows: shap.TreeExplainer(forest).shap_values(rows), X, some=settings.n_rows_timed
    )
    interpreter = interpreter_values()
    if interpreter is not None:
        # It lists all paths of all trees first: a few rows would show nothing else.
        found[INTERPRETER] = _of_rows(
            lambda rows: interpreter(forest, rows), X, some=10 * settings.n_rows_timed
        )
    if name == "led":
        found[SAGE] = Seconds(_cpu(lambda: _sage(forest, X, y=data.y)))
    return found


def _table_rows(times: dict[str, dict[str, Seconds]]) -> tuple[tuple[object, ...], ...]:
    heads = (GROWING, GLOBAL, *_SHOWN)
    rows: list[tuple[object, ...]] = [
        (load(name).title, len(load(name).X), *(str(found.get(what, "")) for what in heads))
        for name, found in times.items()
    ]
    stored = {
        GROWING: NOTEBOOK["growing"],
        AUTHORS: NOTEBOOK["Local MDI"],
        INTERPRETER: NOTEBOOK["Saabas"],
        TREESHAP: NOTEBOOK["TreeSHAP"],
    }
    digits = load("digits")
    title = f"{digits.title}, the authors' notebook"
    return (*rows, (title, len(digits.X), *(str(stored.get(what, "")) for what in heads)))


def _grow(name: str, settings: Settings) -> tuple[ExtraTreesClassifier, float]:
    from sklearn.ensemble import ExtraTreesClassifier

    data = load(name)
    forest = ExtraTreesClassifier(**recipe(data, 1, settings=settings).parameters)
    return forest, _cpu(lambda: forest.fit(data.X, data.y))


def _sage(forest: ExtraTreesClassifier, X: np.ndarray, *, y: np.ndarray) -> None:
    import sage

    estimator = sage.PermutationEstimator(
        sage.MarginalImputer(forest, X), "cross entropy", random_state=0
    )
    estimator(X, y, bar=False)


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _in_turn(calls: dict[str, Callable[[], object]]) -> dict[str, Seconds]:
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(_REPEATS):
        for name, call in calls.items():
            best[name] = min(best[name], _cpu(call))
    return {name: Seconds(value) for name, value in best.items()}


def _of_rows(call: Callable[[np.ndarray], object], X: np.ndarray, *, some: int) -> Seconds:
    """Time a slow explainer; what a call costs whatever its rows is not scaled with them."""
    if len(X) <= 2 * some:
        return Seconds(_cpu(lambda: call(X)))
    fewer, more = _cpu(lambda: call(X[:some])), _cpu(lambda: call(X[: 2 * some]))
    each = max(more - fewer, 0.0) / some
    return Seconds(more + each * (len(X) - 2 * some), scaled=True)


def _picture(times: dict[str, dict[str, Seconds]]) -> Figure:
    shown = [found[what].value for found in times.values() for what in _SHOWN if what in found]
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 2.4)
        panels = figure.subplots(1, len(times), sharey=True, sharex=True)
        for ax, (name, found) in zip(panels, times.items(), strict=True):
            for at, what in enumerate(_SHOWN):
                if what in found:
                    _draw_bar(ax, found[what], at=at, what=what)
            data = load(name)
            ax.set(xscale="log", title=f"{data.title}\n{len(data.X)} rows", xlabel="seconds")
            ax.set(xlim=(min(shown) / 3, max(shown) * 60), xticks=(0.01, 1, 100))
            ax.grid(axis="x", color="#e6e6e6", linewidth=0.5)
            ax.set_axisbelow(True)
        panels[0].set(yticks=range(len(_SHOWN)), yticklabels=_SHOWN)
        panels[0].invert_yaxis()
    return figure


def _draw_bar(ax: Axes, seconds: Seconds, *, at: int, what: str) -> None:
    measure, _, package = what.partition(" (")
    ax.barh(
        at,
        max(seconds.value, 1e-6),
        color=drawing.MEASURE_COLOURS.get(measure, drawing.GREY),
        hatch="////" if package.startswith(("treeinterpreter", "authors")) else None,
        edgecolor="white",
        linewidth=0,
    )
    ax.text(seconds.value * 1.25, at, str(seconds), va="center", fontsize=6.5)
