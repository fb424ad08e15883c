"""Synthetic answers on real covariates: the protocol of Local MDI+ (arXiv 2506.08928).

The covariates come from scikit-learn's own data, so that features depend on each other as real ones
do; the answer is made from four of them, with 40 % of its variance explained. The same features
count as true for every row, as in the protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from evaluation.problems import Drawn, Rule, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["COVARIATES", "RESPONSES", "RealProblem", "covariates", "real_problems"]

COVARIATES = ("diabetes", "breast cancer", "digits")
RESPONSES = ("linear", "locally spiky", "interactions")
_EXPLAINED = 0.4
_N_LEFT = 40


@dataclass(frozen=True)
class RealProblem:
    """One response on one table of covariates, with so many training rows."""

    data: str
    response: str
    n_train: int

    @property
    def name(self) -> str:
        """The problem in a few words."""
        return f"{self.response}, {self.data}, {self.n_train} rows"

    def draw(self, n_rows: int, *, seed: int) -> Drawn:
        """Return a sample: which features are true, which rows train and the noise are drawn."""
        X = covariates(self.data)
        rng = np.random.default_rng([seed, self.n_train, *self.data.encode()])
        X = X[rng.permutation(len(X))[: self.n_train + n_rows]]
        rule = _RULES[self.response](rng.choice(X.shape[1], 4, replace=False))
        signal = rule.signal(X)
        noise = np.sqrt(signal.var() * (1 / _EXPLAINED - 1))
        y = signal + noise * rng.normal(size=len(X))
        truth = rule.truth(X)
        first, second = slice(0, self.n_train), slice(self.n_train, None)
        return Drawn(
            Sample(X[first], y[first], truth[first]),
            Sample(X[second], y[second], truth[second]),
            rule,
            regression=True,
        )


def real_problems(tables: Sequence[str], sizes: Sequence[int]) -> list[RealProblem]:
    """Return every response on every one of the tables that has enough rows.

    Examples
    --------
    >>> [problem.name for problem in real_problems(COVARIATES, (1000,))][0]
    'linear, digits, 1000 rows'
    """
    return [
        RealProblem(data, response, n)
        for n in sizes
        for response in RESPONSES
        for data in tables
        if len(covariates(data)) >= n + _N_LEFT and (data != "digits" or n >= 1000)
    ]


@cache
def covariates(data: str) -> np.ndarray:
    """Return a table of scikit-learn's: columns that vary, with mean 0 and variance 1."""
    from sklearn import datasets

    readers = {
        "diabetes": datasets.load_diabetes,
        "breast cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "wine": datasets.load_wine,
    }
    X = np.asarray(readers[data]().data, dtype=float)
    # A pixel that is black in all but a few images cannot carry an answer.
    X = X[:, np.median(np.abs(X - np.median(X, axis=0)), axis=0) > 0]
    # Nothing lies exactly on a cut halfway between two values: scikit-learn and shap's
    # interventional kernel round differently there.
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    # scikit-learn's trees compare float32 rows; all measures get what the trees see. With an even
    # last bit the cut between two neighbours is a float32 too: shap's interventional kernel rounds
    # cuts to float32, and must not round one up to the larger neighbour.
    X = (X.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFFFFE)).view(np.float32)
    X.setflags(write=False)
    return X


def _rule(chosen: np.ndarray, signal: Callable[[np.ndarray], np.ndarray]) -> Rule:
    return Rule(signal, lambda X: np.tile(np.isin(np.arange(X.shape[1]), chosen), (len(X), 1)))


def _linear(chosen: np.ndarray) -> Rule:
    return _rule(chosen, lambda X: X[:, chosen].sum(axis=1))


def _spiky(chosen: np.ndarray) -> Rule:
    """Pairs of features speak only where both are above their means."""
    high = chosen.reshape(2, 2)
    return _rule(chosen, lambda X: (X[:, high] > 0).all(axis=2).sum(axis=1).astype(float))


def _interactions(chosen: np.ndarray) -> Rule:
    pairs = chosen.reshape(2, 2)
    return _rule(chosen, lambda X: X[:, pairs].prod(axis=2).sum(axis=1))


_RULES = {"linear": _linear, "locally spiky": _spiky, "interactions": _interactions}
