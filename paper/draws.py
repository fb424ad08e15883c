"""What K means: features drawn by scikit-learn's max_features against the theory's.

The two agree for K = 1 and K = p. In between the exact curves are so close that only many trees,
or a test on the whole figure, tell which of them scikit-learn's forests follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from paper import drawing, measures
from paper.data import load
from paper.piece import EXACT, INTERVAL, NOT_REPRODUCED, Claim, Picture, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Fit", "chi_square", "exact_curve", "run"]

DRAWS = ("sklearn", "theory")
_LABELS = {"sklearn": "K as in scikit-learn", "theory": "K as in the theory"}
# Not the colours of the measures.
_COLOURS = {"sklearn": "#1a1a1a", "theory": "#9467bd"}
# Our own trees are fast enough to see the difference: this many times the paper's number.
_MORE_TREES = 20
_LEVEL = 0.01


@dataclass(frozen=True, eq=False)
class Fit:
    """How well the mean over trees agrees with an exact importance: χ² and the largest |z|."""

    chi_square: float
    degrees: int
    largest_z: float

    @property
    def p_value(self) -> float:
        """Probability of a χ² at least as large if the exact importance is the expectation."""
        from scipy.stats import chi2

        return float(chi2.sf(self.chi_square, self.degrees))


@cache
def exact_curve(draw: str) -> np.ndarray:
    """Return the exact importances on led for K = 1..7, (7, 7), as shares of H(Y).

    Examples
    --------
    >>> exact_curve("sklearn").sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    law = _led_law()
    values = [lm.theory.population_mdi(law, K, draw=draw) for K in range(1, 8)]
    shares = np.array(values) / lm.theory.entropy(law, "y")
    shares.setflags(write=False)
    return shares


def chi_square(trees: np.ndarray, expected: np.ndarray) -> Fit:
    """Compare the mean of per-tree importances, (n_trees, p), with its expectation.

    All trees have the same sum, so that one of the p differences follows from the others: χ² has
    p - 1 degrees of freedom, with the covariance estimated from the trees.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(500, 1))
    >>> fit = chi_square(np.hstack([0.5 + noise, 0.5 - noise]), np.array([0.5, 0.5]))
    >>> fit.degrees, fit.p_value > 0.01
    (1, True)
    """
    n_trees, p = trees.shape
    off = trees.mean(axis=0) - expected
    covariance = np.cov(trees[:, :-1], rowvar=False).reshape(p - 1, p - 1) / n_trees
    error = trees.std(axis=0, ddof=1) / np.sqrt(n_trees)
    return Fit(
        float(off[:-1] @ np.linalg.solve(covariance, off[:-1])),
        p - 1,
        float(np.abs(off / error).max()),
    )


def run(settings: Settings, store: Store) -> Piece:
    """Test which meaning of K scikit-learn's forests follow, and show both with many trees."""
    fits = _fits(settings)
    n_trees = _MORE_TREES * settings.n_trees
    caption = (
        "Not in the paper: how far importances on led lie from the exact ones with K as in "
        "scikit-learn, in thousandths of the total. Lines: exact importances in both meanings of "
        f"K. Points with 95 % intervals: forests of {n_trees} trees of this library that draw "
        "features in either way. At K = 1 and K = 7 the two are one."
    )
    return Piece(
        name="draws",
        title="What K means",
        figures=(Picture("figure-1-draws", caption, _picture(n_trees)),),
        tables=(_table(fits, settings),),
        claims=tuple(_claims(fits, settings)),
    )


def _led_law() -> lm.theory.Distribution:
    return lm.theory.Distribution.from_samples(*lm.datasets.make_led())


def _fits(settings: Settings) -> dict[tuple[str, int], Fit]:
    led, found = load("led"), {}
    for K in settings.led_max_features:
        forest = measures.recipe(led, K, settings=settings).grow()
        trees = np.array(
            [tree.tree_.compute_feature_importances(normalize=False) for tree in forest.estimators_]
        )
        shares = trees / trees.sum(axis=1, keepdims=True)
        for draw in DRAWS:
            found[draw, K] = chi_square(shares, exact_curve(draw)[K - 1])
    return found


def _together(fits: Iterable[Fit]) -> Fit:
    """Join independent fits: the forests of different K share no tree."""
    found = list(fits)
    return Fit(
        sum(fit.chi_square for fit in found),
        sum(fit.degrees for fit in found),
        max(fit.largest_z for fit in found),
    )


def _claims(fits: dict[tuple[str, int], Fit], settings: Settings) -> Iterable[Claim]:
    first = fits["theory", 1]
    yield Claim(
        "Theorem 1, Figure 1",
        "With K = 1 the global MDI of scikit-learn's forest estimates the Shapley values.",
        "asymptotically equal",
        _sentence(first),
        INTERVAL if first.p_value > _LEVEL else NOT_REPRODUCED,
    )
    joint = {
        draw: _together(fit for (name, _), fit in fits.items() if name == draw) for draw in DRAWS
    }
    yield Claim(
        "Figure 1, all points",
        "Which K the figure shows: the exact curves of infinitely many trees go through all points "
        "when K counts features as scikit-learn does.",
        "not said; the theory's K counts only features not yet on the branch",
        f"K as in scikit-learn: {_sentence(joint['sklearn'])}. "
        f"K as in the theory: {_sentence(joint['theory'])}",
        INTERVAL if joint["sklearn"].p_value > _LEVEL else NOT_REPRODUCED,
    )
    led, worst = load("led"), 0.0
    for K in settings.led_max_features:
        total = measures.global_mdi(led, K, settings=settings).sum()
        worst = max(worst, abs(total - np.log2(10)))
    yield Claim(
        "Section 2, sum of the importances; Section 3.2, efficiency for K > 1",
        "The importances sum to I(Y;V) for every K: on led log2 10.",
        f"{np.log2(10):.6f}",
        f"{np.log2(10):.6f} for every K; largest difference {worst:.0e}",
        EXACT if worst < 1e-9 else NOT_REPRODUCED,
    )


def _sentence(fit: Fit) -> str:
    return (
        f"χ² = {fit.chi_square:.1f} on {fit.degrees} degrees of freedom, p = {fit.p_value:.2g}; "
        f"largest |z| = {fit.largest_z:.2f}"
    )


def _table(fits: dict[tuple[str, int], Fit], settings: Settings) -> Table:
    rows: list[tuple[str, ...]] = []
    for K in (*settings.led_max_features, None):
        cells = [str(K or "all")]
        for draw in DRAWS:
            fit = _together(f for (name, k), f in fits.items() if name == draw and K in (k, None))
            cells += [f"{fit.chi_square:.2f}", f"{fit.p_value:.2g}", f"{fit.largest_z:.2f}"]
        rows.append((*cells, str(fit.degrees)))
    columns = [f"{what}, {_LABELS[draw]}" for draw in DRAWS for what in ("χ²", "p", "max |z|")]
    return Table(
        "figure-1-draws",
        f"Do the points of figure 1 ({settings.n_trees} Extra-Trees of scikit-learn) agree with "
        "the exact curves? χ² with the covariance of the trees, and the largest difference of a "
        "feature in standard errors.",
        ("K", *columns, "degrees of freedom"),
        tuple(rows),
    )


def _many_trees(n_trees: int, draw: str) -> tuple[np.ndarray, np.ndarray]:
    """Return shares and their standard errors for K = 1..7, each (7, 7), from our own forests."""
    X, y = lm.datasets.make_led()
    results = []
    for K in range(1, 8):
        forest = lm.RandomizedForestClassifier(
            n_trees, max_features=K, draw=draw, categorical_features=range(7), random_state=K
        )
        results.append(lm.global_mdi(forest.fit(X, y)))
    entropy = np.log2(10)
    return (
        np.array([result.values for result in results]) / entropy,
        np.array([result.standard_error for result in results]) / entropy,
    )


def _picture(n_trees: int) -> Figure:
    numbers = np.arange(1, 8)
    zero = exact_curve("sklearn")
    found = {draw: _many_trees(n_trees, draw) for draw in DRAWS}
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 1.75)
        panels = figure.subplots(1, 7, sharey=True)
        for m, ax in enumerate(panels):
            for draw, shift in zip(DRAWS, (-0.12, 0.12), strict=True):
                colour = _COLOURS[draw]
                shares, error = found[draw]
                line = 1000 * (exact_curve(draw) - zero)[:, m]
                points = 1000 * (shares - zero)[:, m]
                ax.plot(numbers, line, color=colour, lw=1.0)
                ax.errorbar(
                    numbers + shift,
                    points,
                    yerr=1960 * error[:, m],
                    fmt="o" if draw == "sklearn" else "s",
                    color=colour,
                    ms=2.4,
                    elinewidth=0.7,
                    label=_LABELS[draw],
                )
            ax.set(title=f"$X_{m + 1}$", xticks=(1, 4, 7), xlabel="K")
        panels[0].set_ylabel("distance in ‰")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
