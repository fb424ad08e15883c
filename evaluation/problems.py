"""Simulated problems whose answer is known: which features decide about each row.

A feature decides about a row if another value of it, the others left as they are, would change the
row's expected answer, or how widely answers spread around it. Syn1 to Syn6 are those of INVASE
(Yoon, Jordon and van der Schaar, ICLR 2019) with the formulas of its published programs; "Li" is
the classification problem of Li, Wang, Basu, Kumbier and Yu (NeurIPS 2019). The others put one
difficulty each in the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "DIFFICULTIES",
    "INVASE",
    "PROBLEMS",
    "SPREAD",
    "Drawn",
    "Problem",
    "Rule",
    "Sample",
    "draw",
]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, their answers, and for each row the features that decide about it."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Rule:
    """How answers come about: their log-odds or mean, and the features that decide, row by row.

    With a `spread` answers are numbers, and that is their standard deviation.
    """

    signal: Callable[[np.ndarray], np.ndarray]
    truth: Callable[[np.ndarray], np.ndarray]
    spread: Callable[[np.ndarray], np.ndarray] | None = None


@dataclass(frozen=True, eq=False)
class Drawn:
    """Training rows, new rows to explain, and the rule behind both."""

    train: Sample
    rows: Sample
    rule: Rule
    regression: bool = False


@dataclass(frozen=True)
class Problem:
    """What a simulated problem asks, in a sentence, and how it is drawn."""

    text: str
    covariates: Callable[[np.random.Generator, int], np.ndarray]
    rule: Callable[[np.random.Generator], Rule]
    flipped: float = 0.0
    n_train: int | None = None


def draw(name: str, n_train: int, *, n_rows: int, seed: int) -> Drawn:
    """Return a sample of a simulated problem; some problems have their own number of training rows.

    Examples
    --------
    >>> drawn = draw("Syn1", 20, n_rows=3, seed=0)
    >>> drawn.train.X.shape, drawn.rows.truth.sum(axis=1)
    ((20, 11), array([2, 2, 2]))
    """
    problem = PROBLEMS[name]
    n_train = problem.n_train or n_train
    # A problem's draws do not depend on its place in the table.
    rng = np.random.default_rng([seed, *name.encode()])
    rule = problem.rule(rng)
    # scikit-learn's trees compare float32 rows; all measures get what the trees see.
    X = problem.covariates(rng, n_train + n_rows).astype(np.float32)
    if rule.spread is None:
        y = rng.random(len(X)) < 1 / (1 + np.exp(-rule.signal(X)))
        y = (y ^ (rng.random(len(X)) < problem.flipped)).astype(np.int64)
    else:
        y = rule.signal(X) + rule.spread(X) * rng.normal(size=len(X))
    truth = rule.truth(X)
    first, second = slice(0, n_train), slice(n_train, None)
    return Drawn(
        Sample(X[first], y[first], truth[first]),
        Sample(X[second], y[second], truth[second]),
        rule,
        regression=rule.spread is not None,
    )


def _everywhere(features: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    def truth(X: np.ndarray) -> np.ndarray:
        return np.tile(np.isin(np.arange(X.shape[1]), features), (len(X), 1))

    return truth


def _branches(switch: int, below: Rule, *, above: Rule) -> Rule:
    """Return a rule where the sign of a feature says which of two rules holds."""

    def signal(X: np.ndarray) -> np.ndarray:
        return np.where(X[:, switch] < 0, below.signal(X), above.signal(X))

    def truth(X: np.ndarray) -> np.ndarray:
        low = X[:, [switch]] < 0
        return np.where(low, below.truth(X), above.truth(X)) | _everywhere((switch,))(X)

    return Rule(signal, truth)


# INVASE: P(Y = 1) = 1 / (1 + exp(e)), e one of three expressions of eleven normal features.
_PRODUCT = Rule(lambda X: -X[:, 0] * X[:, 1], _everywhere((0, 1)))
_SQUARES = Rule(lambda X: 4 - (X[:, 2:6] ** 2).sum(axis=1), _everywhere((2, 3, 4, 5)))
_SUM = Rule(
    lambda X: 10 * np.sin(0.2 * X[:, 6]) - np.abs(X[:, 7]) - X[:, 8] - np.exp(-X[:, 9]) + 2.4,
    _everywhere((6, 7, 8, 9)),
)


def _line(feature: int, slope: float) -> Rule:
    return Rule(lambda X: slope * X[:, feature], _everywhere((feature,)))


# Two numbers of different size, so that the switch decides about every row.
_COIN = Rule(lambda X: 3.0 * X[:, 1] - 1.5, _everywhere((1,)))
_XOR = Rule(lambda X: 5.0 * (X[:, 2] != X[:, 3]) - 2.5, _everywhere((2, 3)))


def _wide(X: np.ndarray) -> np.ndarray:
    """Return a standard deviation four times as large where X_1 is above 0."""
    return np.where(X[:, 0] > 0, 2.0, 0.5)


def _normal(p: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.normal(size=(n, p))


def _with_doubles(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return three features, a double of each with correlation 0.9, and six more."""
    own = rng.normal(size=(n, 3))
    doubles = 0.9 * own + np.sqrt(1 - 0.9**2) * rng.normal(size=(n, 3))
    return np.hstack([own, doubles, rng.normal(size=(n, 6))])


def _with_many_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a sign, three coins, and eight columns with 2 to 10,000 values."""
    sign, coins = rng.choice([-1, 1], size=(n, 1)), rng.integers(0, 2, size=(n, 3))
    many = [rng.integers(0, size, n) for size in (2, 4, 10, 30, 100, 1000, 10_000, 10_000)]
    return np.column_stack([sign, coins, *many]).astype(float)


def _rising(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return fifty features; feature j takes the values 0 to j."""
    return np.column_stack([rng.integers(0, j + 1, n) for j in range(1, 51)]).astype(float)


def _five_of_ten(rng: np.random.Generator) -> Rule:
    chosen = np.sort(rng.choice(10, 5, replace=False))
    return Rule(
        lambda X: 0.4 * (X[:, chosen] / (chosen + 1)).sum(axis=1) - 1, _everywhere(tuple(chosen))
    )


def _always(rule: Rule) -> Callable[[np.random.Generator], Rule]:
    return lambda rng: rule


def _invase(text: str, rule: Rule, *, flipped: float = 0.0) -> Problem:
    return Problem(text, _normal(11), _always(rule), flipped)


INVASE = ("Syn1", "Syn2", "Syn3", "Syn4", "Syn5", "Syn6")
SPREAD = ("spread alone", "mean and spread")
DIFFICULTIES = ("switch", "doubles", "many values", "wrong labels")
_SYN4 = _branches(10, _PRODUCT, above=_SQUARES)
PROBLEMS = MappingProxyType(
    {
        "Syn1": _invase("a product of two features", _PRODUCT),
        "Syn2": _invase("a sum of four squares", _SQUARES),
        "Syn3": _invase("a sum of four curves", _SUM),
        "Syn4": _invase("X_11 switches between Syn1 and Syn2", _SYN4),
        "Syn5": _invase("X_11 switches between Syn1 and Syn3", _branches(10, _PRODUCT, above=_SUM)),
        "Syn6": _invase("X_11 switches between Syn2 and Syn3", _branches(10, _SQUARES, above=_SUM)),
        "switch": Problem(
            "X_1 switches between X_2 and X_3; seven features are noise",
            _normal(10),
            _always(_branches(0, _line(1, 4.0), above=_line(2, 3.0))),
        ),
        "doubles": Problem(
            "the same switch; its three features have doubles with correlation 0.9 that decide "
            "nothing",
            _with_doubles,
            _always(_branches(0, _line(1, 4.0), above=_line(2, 3.0))),
        ),
        "many values": Problem(
            "X_1 switches between a coin and the XOR of two; noise columns have up to 10,000 "
            "values",
            _with_many_values,
            _always(_branches(0, _COIN, above=_XOR)),
        ),
        "wrong labels": _invase("Syn4 with one label of five flipped", _SYN4, flipped=0.2),
        "spread alone": Problem(
            "numbers around 0 whose standard deviation is 2 where X_1 is above 0, else 0.5; seven "
            "features are noise",
            _normal(8),
            _always(Rule(lambda X: np.zeros(len(X)), _everywhere((0,)), _wide)),
        ),
        "mean and spread": Problem(
            "the same around a mean of 2 where X_2 is above 0, else 0; six features are noise",
            _normal(8),
            _always(Rule(lambda X: 2.0 * (X[:, 1] > 0), _everywhere((0, 1)), _wide)),
        ),
        "rare": Problem(
            "about one label of twenty is 1; two of ten features add up to its log-odds, the "
            "others are noise",
            _normal(10),
            _always(Rule(lambda X: 1.2 * (X[:, 0] + X[:, 1]) - 4.0, _everywhere((0, 1)))),
        ),
        "rare, many values": Problem(
            "about one label of twenty is 1; a sign and a coin decide, noise columns have up to "
            "10,000 values",
            _with_many_values,
            _always(Rule(lambda X: 1.2 * X[:, 0] + 1.5 * X[:, 1] - 4.3, _everywhere((0, 1)))),
        ),
        "Li": Problem(
            "five of the ten features with the fewest values matter; feature j of fifty has j + 1 "
            "values, 200 rows",
            _rising,
            _five_of_ten,
            n_train=200,
        ),
    }
)
