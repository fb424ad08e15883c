"""Tables of scikit-learn with their own answers: two classes or numbers, and one of ten classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.problems import Drawn, Rule, Sample
from evaluation.responses import covariates

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLES", "draw_table"]


def _nothing(rows: np.ndarray) -> np.ndarray:
    return np.zeros(rows.shape, dtype=bool)


# Nobody knows which features are true here.
_UNKNOWN = Rule(lambda rows: np.zeros(len(rows)), _nothing)
# Name → covariates, and what is asked of their answers.
TABLES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "breast cancer": ("breast cancer", lambda y: y),
    "wine, second cultivar": ("wine", lambda y: (y == 1).astype(np.int64)),
    "digits, odd": ("digits", lambda y: y % 2),
    "digits": ("digits", lambda y: y),
    "diabetes": ("diabetes", lambda y: y),
}


def draw_table(name: str, n_rows: int, *, seed: int) -> Drawn:
    """Return a table with its own answers; `n_rows`, at most a third, are left to be explained.

    Examples
    --------
    >>> drawn = draw_table("diabetes", 42, seed=0)
    >>> drawn.train.X.shape, drawn.rows.X.shape, drawn.regression
    ((400, 9), (42, 9), True)
    """
    from sklearn import datasets

    table, answers = TABLES[name]
    X = covariates(table)
    y = answers(getattr(datasets, f"load_{table.replace(' ', '_')}")().target)
    order = np.random.default_rng([seed, *name.encode()]).permutation(len(X))
    n_rows = min(n_rows, len(X) // 3)
    train, rows = (Sample(X[at], y[at], _nothing(X[at])) for at in (order[n_rows:], order[:n_rows]))
    return Drawn(train, rows, _UNKNOWN, regression=table == "diabetes")
