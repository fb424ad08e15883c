"""The infinite forest: the lattice line of the speed table, and the ways against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.memory import measure
from benchmarks.timing import best_in_turn
from localmdi import infinite_mdi

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Print every line that concerns the infinite forest."""
    lattice()
    all_rows_at_once()
    few_distinct_rows()
    beside_shapiq()


def make_sample(n_rows: int, n_features: int, *, arity: int = 2) -> tuple[Any, Any]:
    """Return categories of which six tell about an output of ten classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, arity, (n_rows, n_features))
    return X, (X[:, :6].sum(axis=1) + rng.integers(0, 3, n_rows)) % 10


_MEMORY = """
import sys
from benchmarks.infinite import make_sample
from benchmarks.memory import peak_bytes
from localmdi import infinite_mdi
infinite_mdi([[0], [1]], [0, 1])  # loads what a first call loads
X, y = make_sample(2000, int(sys.argv[1]))
before = peak_bytes()
infinite_mdi(X, y, X[:1], method="exact")
print((peak_bytes() - before) / 2**20)
"""


def lattice() -> None:
    """Exact values at one row."""
    infinite_mdi([[0], [1]], [0, 1])  # loads what a first call loads
    for p in (20, 24):
        X, y = make_sample(2000, p)
        call = {"exact": lambda X=X, y=y: infinite_mdi(X, y, X[:1], method="exact")}
        seconds = best_in_turn(call)["exact"]
        print(
            f"Infinite forest, one row, 2000 rows, 10 classes, p={p}: {seconds * 1e3:.0f} ms, "
            f"{measure(_MEMORY, p):.1f} MB"
        )


def all_rows_at_once(n_single: int = 20) -> None:
    """All training rows in one call against one call per row."""
    X, y = make_sample(2000, 14)

    def single() -> None:
        for i in range(n_single):
            infinite_mdi(X, y, X[i : i + 1])

    times = best_in_turn({"all": lambda: infinite_mdi(X, y), "single": single}, repeats=2)
    ratio = times["single"] * len(X) / n_single / times["all"]
    print(
        f"All 2000 rows at p=14: {times['all']:.2f} s, {ratio:.0f} times faster than 2000 calls "
        f"(from {n_single})"
    )


def few_distinct_rows() -> None:
    """Row dual."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (12, 5000)), np.arange(12) % 3
    seconds = best_in_turn({"dual": lambda: infinite_mdi(X, y)})["dual"]
    print(f"p=5000 with 12 distinct rows, all rows: {seconds:.2f} s")


def beside_shapiq(n_features: int = 14) -> None:
    """One row beside a general exact computer that gets the same game as a Python function."""
    try:
        from shapiq import ExactComputer
    except ImportError:
        print("shapiq is not installed: its line is left out")
        return
    X, y = make_sample(2000, n_features)
    game = python_game(X, y)

    def theirs() -> Any:
        return ExactComputer(n_players=n_features, game=game)("SV")

    def ours() -> Any:
        return infinite_mdi(X, y, X[:1], method="exact")

    found = np.array([theirs()[(j,)] for j in range(n_features)])
    assert np.abs(found - ours().values[0]).max() < 1e-9
    times = best_in_turn({"theirs": theirs, "ours": ours})
    print(
        f"One row at p={n_features}: {times['theirs'] / times['ours']:.0f} times faster than "
        f"shapiq's exact computer ({times['theirs']:.2f} s)"
    )


def python_game(X: Any, y: Any) -> Callable[[Any], Any]:
    """Return v(S) = H(Y) - H(Y | S = x_S) at the first row, for many coalitions at a time."""
    differs = X[0] != X
    classes = np.eye(10)[y]

    def entropy(counts: Any) -> Any:
        share = counts / counts.sum(axis=1, keepdims=True)
        return -(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)

    root = entropy(classes.sum(axis=0)[np.newaxis])[0]

    def game(coalitions: Any) -> Any:
        inside = (np.asarray(coalitions, dtype=float) @ differs.T) == 0
        return root - entropy(inside @ classes)

    return game


if __name__ == "__main__":
    main()
