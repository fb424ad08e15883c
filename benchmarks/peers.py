"""What an explanation costs beside a prediction by the same model: ours and the other libraries'.

Each explainer is measured against the predict of the model that it explains, because models and
libraries predict at different speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

import localmdi as lm
from benchmarks.libraries import lightgbm_model, xgboost_model
from benchmarks.timing import best_in_turn
from paper.authors_code import authors_local_mdi

Call = Callable[[Any], Any]
# Predictions and the quick explainers get all rows; the others this many, scaled to all.
N_ROWS = 20_000


class Peer(NamedTuple):
    """One explainer: the package and its call; n_rows if it is too slow for all of them."""

    package: str
    what: str
    explain: Call
    n_rows: int = N_ROWS


def main(n_rows: int = N_ROWS, *, n_trees: int = 100, depth: int = 8, n_features: int = 20) -> None:
    """Print a line per explainer, for three models of the same table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
    print(
        f"| {n_trees} trees of depth {depth}, {n_rows:,} rows | version | predict µs a row "
        "| explanation µs a row | explanation ÷ prediction |\n|---|---|---|---|---|",
        flush=True,
    )
    for name, (predict, peers) in _models(X, y, n_trees=n_trees, depth=depth):
        for peer in peers:
            times = _in_all(
                {"predict": (predict, n_rows), "explain": (peer.explain, min(peer.n_rows, n_rows))},
                X,
            )
            each = {what: seconds / n_rows * 1e6 for what, seconds in times.items()}
            print(
                f"| {name}: {peer.what} | {peer.package} {version(peer.package)} "
                f"| {each['predict']:,.1f} | {each['explain']:,.1f} "
                f"| {_ratio(each['explain'] / each['predict'])} |",
                flush=True,
            )


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _in_all(calls: dict[str, tuple[Call, int]], X: Any) -> dict[str, float]:
    """Return the CPU seconds of each call for all rows, from the first n of them.

    What more rows cost is found from two sizes: what a call costs whatever its rows is not scaled.
    """
    sized = {}
    for name, (call, n) in calls.items():
        for size in {n, n // 10 if n < len(X) else n}:
            sized[f"{name} {size}"] = lambda call=call, rows=X[:size]: call(rows)
    times = best_in_turn(sized, repeats=3)
    out = {}
    for name, (_, n) in calls.items():
        out[name] = times[f"{name} {n}"]
        if n < len(X):
            per_row = (out[name] - times[f"{name} {n // 10}"]) / (n - n // 10)
            out[name] += max(per_row, 0.0) * (len(X) - n)
    return out


def _models(
    X: Any, y: Any, *, n_trees: int, depth: int
) -> Iterator[tuple[str, tuple[Call, list[Peer]]]]:
    yield "random forest", _forest(X, y, n_trees=n_trees, depth=depth)
    for name, make in (("XGBoost", xgboost_model), ("LightGBM", lightgbm_model)):
        model, predict, contributions = make(X, y, n_trees=n_trees, depth=depth)
        ours = lm.Explainer(lm.as_forest(model).with_statistics(X, y, criterion="entropy"))
        peers = [
            Peer("localmdi", "local MDI", ours),
            Peer(name.lower(), "its own contributions (TreeSHAP)", contributions, 1000),
        ]
        yield name, (predict, peers + _woodelf(model))


def _forest(X: Any, y: Any, *, n_trees: int, depth: int) -> tuple[Call, list[Peer]]:
    import shap
    import shapiq
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_trees, max_depth=depth, random_state=0, n_jobs=1).fit(X, y)
    tree_shap = shap.TreeExplainer(model)
    interactions = shapiq.TreeExplainer(model, index="SV", max_order=1, class_index=1)

    def by_row(rows: Any) -> None:
        for row in rows:
            interactions.explain(row)

    forest = lm.as_forest(model)
    peers = [
        Peer("localmdi", "local MDI", lm.Explainer(model)),
        Peer("localmdi", "Saabas", lambda rows: lm.saabas(forest, rows, n_jobs=1)),
        Peer(
            "numba", "the authors' loop, transcribed", lambda rows: authors_local_mdi(model, rows)
        ),
        Peer(
            "shap",
            "TreeSHAP",
            lambda rows: tree_shap.shap_values(rows, check_additivity=False),
            200,
        ),
        Peer(
            "shap",
            "Saabas (approximate)",
            lambda rows: tree_shap.shap_values(rows, approximate=True, check_additivity=False),
            1000,
        ),
        Peer("shapiq", "TreeSHAP", by_row, 20),
    ]
    return model.predict_proba, peers + _treeinterpreter(model) + _woodelf(model)


def _treeinterpreter(model: Any) -> list[Peer]:
    if not _is_installed("treeinterpreter"):
        return []
    from treeinterpreter import treeinterpreter

    return [
        Peer("treeinterpreter", "Saabas", lambda rows: treeinterpreter.predict(model, rows), 1000)
    ]


def _woodelf(model: Any) -> list[Peer]:
    if not _is_installed("woodelf_explainer"):
        return []
    import pandas as pd
    from woodelf.explainer import WoodelfExplainer

    explainer = WoodelfExplainer(model)
    return [
        Peer(
            "woodelf_explainer",
            "TreeSHAP",
            lambda rows: explainer.shap_values(pd.DataFrame(rows), verbose=False),
        )
    ]


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        print(f"| {package}: not installed, left out | | | | |", flush=True)
        return False
    return True
